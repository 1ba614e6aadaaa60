#include "formats/coreml/program/export/broadcast.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace nn::coreml::program {
namespace {

// How often each axis of y repeats the one of x; nullopt if that is not known.
std::optional<std::vector<int64_t>> Repeats(const Type& x, const Type& y) {
  std::vector<int64_t> repeats;
  const int more = y.rank() - x.rank();
  for (int axis = 0; axis < y.rank(); ++axis) {
    const Dim from = axis < more ? Dim(1) : x.dim(axis - more);
    const Dim& to = y.dim(axis);
    if (from == to)
      repeats.push_back(1);
    else if (from == Dim(1) && to.is_const())
      repeats.push_back(to.value());
    else
      return std::nullopt;
  }
  return repeats;
}

// x with axes of size 1 before the others, up to `rank`.
Result<std::string> WithLeadingAxes(ExportContext& ctx, const Node& node, const Value* x,
                                    int rank) {
  const int more = rank - x->type().rank();
  if (more == 0) return ctx.NameFor(x);
  std::vector<int64_t> axes;
  Dims dims(static_cast<size_t>(more), Dim(1));
  for (int axis = 0; axis < more; ++axis) axes.push_back(axis);
  dims.insert(dims.end(), x->type().dims->begin(), x->type().dims->end());
  return ctx.Add("expand_dims")
      .In("x", x)
      .Ints("axes", axes)
      .Helper(x->type().WithDims(std::move(dims)), node);
}

}  // namespace

Status WriteBroadcast(ExportContext& ctx, const Node& node, const Value* x, const Value* shape,
                      std::string name) {
  const Type y = x->type().WithDims(*node.output()->type().dims);
  const auto to = [&](OperationWriter& op) {
    return op.To(std::span(&name, 1), std::span(&y, 1), node);
  };
  const auto sizes = [&] { return shape != nullptr ? ctx.NameFor(shape) : ctx.AddSizes(*y.dims); };
  if (y.rank() == 0) return to(ctx.Add("identity").In("x", x));
  if (x->is_constant() && x->type().rank() == 0) {
    NN_ASSIGN(const std::string all, sizes());
    return to(ctx.Add("fill").In("shape", all).In("value", x));
  }
  if (const auto repeats = Repeats(x->type(), y)) {
    NN_ASSIGN(const std::string aligned, WithLeadingAxes(ctx, node, x, y.rank()));
    return to(ctx.Add("tile").In("x", aligned).Ints("reps", *repeats));
  }
  NN_ASSIGN(const std::string all, sizes());
  const bool is_bool = x->dtype() == DType::kBool;
  NN_ASSIGN(TensorBuilder neutral, TensorBuilder::Create(x->dtype(), {}));
  neutral.SetDouble(0, is_bool ? 0 : 1);
  NN_ASSIGN(const std::string same,
            ctx.Add("fill").In("shape", all).Const("value", neutral.Finish()).Helper(y, node));
  return to(ctx.Add(is_bool ? "logical_or" : "mul").In("x", x).In("y", same));
}

}  // namespace nn::coreml::program

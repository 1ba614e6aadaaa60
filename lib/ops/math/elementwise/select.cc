// select: chooses between two operands, element by element.
#include <cstring>

#include "ops/families.h"
#include "ops/math/elementwise/impl.h"
#include "ops/support/broadcast.h"
#include "ops/support/types.h"

namespace nn {
namespace {

void InferSelected(InferContext& ctx) {
  const auto c = ctx.elements(0);
  const auto a = ctx.elements(1);
  const auto b = ctx.elements(2);
  if (!c || !a || !b || c->empty() || a->empty() || b->empty()) return;
  const size_t n = std::max({c->size(), a->size(), b->size()});
  Dims out;
  for (size_t i = 0; i < n; ++i) {
    const auto at = [&](const Dims& d) { return d[d.size() == 1 ? 0 : i]; };
    const Dim condition = at(*c);
    if (!condition.is_const()) return;
    out.push_back(condition.value() != 0 ? at(*a) : at(*b));
  }
  ctx.set_out_elements(0, std::move(out));
}

Status InferSelect(InferContext& ctx) {
  const DType condition = ctx.in(0).dtype;
  if (condition != DType::kBool && condition != DType::kUnknown)
    return ModelError("the condition is {}; must be bool", DTypeName(condition));
  NN_ASSIGN(const DType dtype, SameDType(ctx, {1, 2}));
  Type out;
  out.dtype = dtype;
  NN_ASSIGN(out.dims, BroadcastInputs(ctx));
  const bool vector = out.dims && out.dims->size() <= 1 && IsInteger(dtype);
  ctx.set_out(0, std::move(out));
  if (vector) InferSelected(ctx);
  return {};
}

// Operands and result must have the same quantization, or none.
Status CheckMapping(const EvalContext& ctx) {
  const auto& y = ctx.out_type().quant;
  for (const size_t i : {1, 2}) {
    const auto& x = ctx.in_type(i).quant;
    if (x == y) continue;
    if (x == nullptr || y == nullptr || !x->SameMapping(*y))
      return UnsupportedError("{} to {} is not supported, because their quantization differs",
                              ctx.in_type(i).ToString(), ctx.out_type().ToString());
  }
  return {};
}

Status EvalSelect(EvalContext& ctx) {
  NN_RETURN_IF_ERROR(CheckMapping(ctx));
  const Tensor& c = ctx.in(0);
  const Tensor& a = ctx.in(1);
  const Tensor& b = ctx.in(2);
  const auto condition = c.As<uint8_t>();
  const auto dims = ctx.out_type().const_dims();
  if (!dims) return UnsupportedError("the output shape is not known");
  const auto each = [&](auto put) {
    ForEachBroadcast<3>(*dims, {c.dims(), a.dims(), b.dims()}, [&](int64_t i, const auto& at) {
      const bool yes = condition[static_cast<size_t>(at[0])] != 0;
      put(i, yes ? a : b, yes ? at[1] : at[2]);
    });
  };
  if (a.dtype() == DType::kString) {
    std::vector<std::string> strings(static_cast<size_t>(Tensor(DType::kI8, *dims, {}).elements()));
    each([&](int64_t i, const Tensor& from, int64_t k) {
      strings[static_cast<size_t>(i)] = from.strings()[static_cast<size_t>(k)];
    });
    ctx.set_out(0, Tensor(*dims, std::move(strings)));
    return {};
  }
  NN_ASSIGN(TensorBuilder out, ctx.NewOutput());
  const int bits = DTypeBits(a.dtype());
  if (bits < 8) {
    each([&](int64_t i, const Tensor& from, int64_t k) {
      if (IsFloat(a.dtype()))
        out.SetDouble(i, from.GetDouble(k));
      else
        out.SetInt(i, from.GetInt(k));
    });
  } else {
    const auto size = static_cast<size_t>(bits / 8);
    each([&](int64_t i, const Tensor& from, int64_t k) {
      std::memcpy(out.data() + static_cast<size_t>(i) * size,
                  from.blob().data() + static_cast<size_t>(k) * size, size);
    });
  }
  ctx.set_out(0, out.Finish());
  return {};
}

}  // namespace

void RegisterElementwiseSelectOps(OpRegistry& ops) {
  OpDef op;
  op.name = "select";
  op.summary = "condition ? a : b, element by element";
  op.category = Category::kArithmetic;
  op.selects = Selection{.inputs = 0b110};
  op.inputs = {{"condition", Arity::kRequired, Elements::kBool, /*has_own_type=*/true},
               {"a", Arity::kRequired, Elements::kAny},
               {"b", Arity::kRequired, Elements::kAny}};
  op.infer = InferSelect;
  op.eval = EvalSelect;
  op.change_axes = ChangeBroadcastAxes;
  op.formats = {{"mil", "select", 1, {}},
                {"onnx", "Where", 9, {}},
                {"tflite", "SELECT_V2", 1, {}},
                {"coreml", "whereBroadcastable", 1, {}}};
  ops.Add(std::move(op));
}

}  // namespace nn

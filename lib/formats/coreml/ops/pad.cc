// Borders that are added or cut off.
#include <algorithm>
#include <limits>
#include <numeric>

#include "formats/coreml/export/integer_range.h"
#include "formats/coreml/family.h"
#include "formats/coreml/import/window.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape_of.h"
#include "ops/support/term_ops.h"
#include "passes/facts/ranges.h"

namespace nn::coreml {

// ==== From Core ML ===============================================================================

namespace {

// Crops H and W: at the borders, or to the size of a second input.
Status ImportCrop(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  const int rank = x->type().rank();
  if (rank < 3) return ModelError("the input must have rank 3 or more, not {}", rank);
  SliceAttrs a;
  a.axes = {-2, -1};
  if (ctx.input_count() == 1) {
    NN_ASSIGN(std::vector<int64_t> amounts, BorderPads(p.Sub("cropAmounts")));
    amounts.resize(4, 0);
    a.starts = {amounts[0], amounts[1]};
    for (const size_t i : {2, 3})
      a.ends.push_back(amounts[i] == 0 ? std::numeric_limits<int64_t>::max() : -amounts[i]);
    return ctx.Emit("slice", {x}, std::move(a));
  }
  NN_ASSIGN(a.starts, p.Sizes("offset", 2, 0));
  const Value* const like = ctx.input(1);
  const int like_rank = like->type().rank();
  if (like_rank < 3)
    return ModelError("the second input must have rank 3 or more, not {}", like_rank);
  for (const int i : {2, 1}) {
    const Dim& size = like->type().dim(like_rank - i);
    if (!size.is_const()) return UnsupportedError("a crop to a dynamic size is unsupported");
    a.ends.push_back(a.starts[static_cast<size_t>(2 - i)] + size.value());
  }
  return ctx.Emit("slice", {x}, std::move(a));
}

Status ImportPadding(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  const size_t rank = x->type().dims->size();
  if (rank < 2) return ModelError("the input must have rank 2 or more, not {}", rank);
  NN_ASSIGN(std::vector<int64_t> amounts, BorderPads(p.Sub("paddingAmounts")));
  amounts.resize(4, 0);
  PadAttrs a;
  a.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < 2; ++i) {
    a.pads[rank - 2 + i] = amounts[i];
    a.pads[2 * rank - 2 + i] = amounts[2 + i];
  }
  const std::string_view type = p.OneOf("PaddingType");
  if (type == "reflection") a.mode = PadMode::kReflect;
  if (type == "replication") a.mode = PadMode::kEdge;
  const float value = p.Sub("constant").Float("value");
  if (type == "constant" && value != 0) return ctx.Emit("pad", {x, value}, std::move(a));
  return ctx.Emit("pad", {x}, std::move(a));
}

// Amounts that depend on the run, before and after each axis in turn.
Status EmitOpenPad(ImportContext& ctx, Value* x) {
  const Fields& p = ctx.params();
  const Dim rank(x->type().rank());
  // Of floats, none is negative afterwards.
  Value* const given = ctx.input(1);
  Term amounts = IsFloat(given->dtype()) ? Cast(Maximum(given, 0), DType::kI64) : Term(given);
  amounts = Reshape(std::move(amounts), {rank, Dim(2)});
  if (p.Bool("padToGivenOutputSizeMode")) {
    const Term zero = Tensor::Scalar<int64_t>(0);
    const Term sizes = Reshape(Apply("shape_of", {x}, ShapeOfAttrs{}), {rank, Dim(1)});
    amounts = Select(Equal(amounts, zero), zero, Maximum(amounts - sizes, zero));
  }
  amounts = Reshape(Transpose(amounts, {1, 0}), {Dim(2) * rank});
  const float value = p.Float("value");
  return ctx.Emit("pad", {x, value == 0 ? Term() : value, amounts}, PadAttrs{});
}

// Amounts before and after each axis. In the other mode, the nonzero one is the size that padding
// on that side gives the axis.
Status ImportConstantPad(ImportContext& ctx) {
  const Fields& p = ctx.params();
  Value* const x = ctx.input(0);
  NN_ASSIGN(const auto known, ctx.KnownInts(1, p.Ints("padAmounts")));
  if (!known) return EmitOpenPad(ctx, x);
  const std::vector<int64_t>& amounts = *known;
  const size_t rank = x->type().dims->size();
  if (amounts.size() != 2 * rank)
    return ModelError("padAmounts has {} entries for {} axes", amounts.size(), rank);
  PadAttrs a;
  a.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i)
    for (const size_t side : {0, 1}) {
      const int64_t amount = amounts[2 * i + side];
      if (amount < 0 || amount > std::numeric_limits<int32_t>::max())
        return ModelError("padAmounts[{}] is {}, which is out of range", 2 * i + side, amount);
      int64_t& pad = a.pads[side * rank + i];
      pad = amount;
      if (!p.Bool("padToGivenOutputSizeMode") || amount == 0) continue;
      const Dim& size = (*x->type().dims)[i];
      if (!size.is_const())
        return UnsupportedError("padding of a dynamic size to a given one is unsupported");
      pad = std::max<int64_t>(0, amount - size.value());
    }
  if (p.Float("value") == 0) return ctx.Emit("pad", {x}, std::move(a));
  return ctx.Emit("pad", {x, p.Float("value")}, std::move(a));
}

}  // namespace

// ==== To Core ML =================================================================================

namespace {

// The axes of computed amounts: first what is before them, then what is after.
std::vector<int64_t> AxesOfPads(const Node& node) {
  const int rank = node.input(0)->type().rank();
  std::vector<int64_t> axes;
  if (const Tensor* const given = ConstantOf(node, 3)) {
    axes = given->ToInts();
  } else {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes)
    if (axis < 0) axis += rank;
  return axes;
}

Status WriteComputedPad(ExportContext& ctx, const Node& node) {
  const std::vector<int64_t> axes = AxesOfPads(node);
  // In the layer, before and after each axis in turn.
  std::vector<int64_t> places(2 * static_cast<size_t>(node.input(0)->type().rank()), -1);
  for (size_t i = 0; i < axes.size(); ++i)
    for (const size_t side : {0, 1})
      places[2 * static_cast<size_t>(axes[i]) + side] =
          static_cast<int64_t>(i + side * axes.size());
  const std::string amounts = ctx.Arrange(ctx.NameOf(node.input(2)), places);
  const Tensor* value = ConstantOf(node, 1);
  ctx.AddLayer(node, "constantPad", {ctx.NameOf(node.input(0)), amounts},
               {ctx.NameOf(node.output())})
      .Float("value", value == nullptr ? 0.0f : static_cast<float>(value->GetDouble(0)));
  return {};
}

Status WritePad(ExportContext& ctx, const Node& node) {
  if (node.input(2) != nullptr) return WriteComputedPad(ctx, node);
  const auto& a = node.attrs<PadAttrs>();
  const size_t rank = a.pads.size() / 2;
  if (a.mode == PadMode::kConstant) {
    std::vector<int64_t> amounts;
    for (size_t i = 0; i < rank; ++i) amounts.insert(amounts.end(), {a.pads[i], a.pads[rank + i]});
    const Tensor* value = ConstantOf(node, 1);
    Writer p = ctx.AddLayer(node, "constantPad", 1);
    p.Float("value", value == nullptr ? 0.0f : static_cast<float>(value->GetDouble(0)));
    p.Ints("padAmounts", amounts);
    return {};
  }
  Writer p = ctx.AddLayer(node, "padding", 1);
  p.Sub(a.mode == PadMode::kReflect ? "reflection" : "replication");
  WriteBorderPads(p.Sub("paddingAmounts"),
                  {a.pads[rank - 2], a.pads[rank - 1], a.pads[2 * rank - 2], a.pads[2 * rank - 1]});
  return {};
}

std::optional<std::string> WhyNotComputedPad(const Node& node) {
  const Value* const pads = node.input(2);
  if (node.input(3) != nullptr && !node.input(3)->is_constant()) return "its axes must be constant";
  if (node.attrs<PadAttrs>().mode != PadMode::kConstant) return "computed pads need mode constant";
  if (pads->type().rank() != 1 || Ranges().Of(pads).min < 0)
    return "its computed pads may be negative";
  return std::nullopt;
}

std::optional<std::string> WhyNotPad(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  const DType dtype = node.output()->dtype();
  if (dtype != DType::kF32 && !IsExactArithmetic(node)) return WhyNotComputed(dtype);
  if (node.input(1) != nullptr && ConstantOf(node, 1) == nullptr)
    return "its value must be constant";
  if (node.input(2) != nullptr) return WhyNotComputedPad(node);
  if (auto reason = WhyNotPads(a.pads)) return reason;
  if (a.mode == PadMode::kConstant) return std::nullopt;
  if (a.mode != PadMode::kReflect && a.mode != PadMode::kEdge)
    return fmt::format("Core ML has no padding mode {}", EnumName(a.mode));
  const size_t rank = a.pads.size() / 2;
  if (rank < 3) return "reflect and edge padding need rank 3 or more";
  for (size_t i = 0; i + 2 < rank; ++i)
    if (a.pads[i] != 0 || a.pads[rank + i] != 0)
      return "reflect and edge padding must be on the last two axes";
  return std::nullopt;
}

}  // namespace

namespace {

constexpr ImportRow kPadImports[] = {
    {.layer = "crop", .import = ImportCrop, .inputs = "a?a"},
    {.layer = "padding", .import = ImportPadding, .inputs = "f"},
    {.layer = "constantPad", .import = ImportConstantPad, .inputs = "f?p"},
};

constexpr ExportRow kPadExports[] = {
    {.op = "pad", .write = WritePad, .why_not = WhyNotPad, .types = Types::kAny},
};

}  // namespace

Family PadFamily() {
  return {.imports = kPadImports, .exports = kPadExports};
}

}  // namespace nn::coreml

#include <algorithm>
#include <limits>

#include "formats/tflite/export.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/slice.h"
#include "ops/types.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

Status WriteConcat(ExportContext& ctx, const Node& node) {
  ctx.AddOperator(Op::CONCATENATION, ctx.InputsOf(node), ctx.ResultsOf(node),
                  fb::CreateConcatenationOptions(
                      ctx.builder(), static_cast<int32_t>(node.attrs<ConcatAttrs>().axis)));
  return {};
}

// The parts' sizes, which their types know.
std::optional<std::vector<int64_t>> PartSizes(const Node& node) {
  const auto axis = NormalizeAxis(node.attrs<SplitAttrs>().axis, node.input(0)->type().rank());
  if (!axis) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const Value* part : node.outputs()) {
    if (!part->type().ranked() || !part->type().dim(*axis).is_const()) return std::nullopt;
    sizes.push_back(part->type().dim(*axis).value());
  }
  return sizes;
}

Status WriteSplit(ExportContext& ctx, const Node& node) {
  const auto sizes = PartSizes(node);
  const auto count = static_cast<int32_t>(node.outputs().size());
  NN_ASSIGN(const TensorIndex axis, ctx.AddInt(node.attrs<SplitAttrs>().axis, "axis"));
  const TensorIndex x = ctx.TensorOf(node.input(0));
  if (sizes && std::count(sizes->begin(), sizes->end(), sizes->front()) == count) {
    ctx.AddOperator(Op::SPLIT, {axis, x}, ctx.ResultsOf(node),
                    fb::CreateSplitOptions(ctx.builder(), count));
    return {};
  }
  TensorIndex parts = kNoTensor;
  if (sizes) {
    NN_ASSIGN(parts, ctx.AddInts(*sizes, "sizes"));
  } else {
    parts = ctx.TensorAs(node.input(1), DType::kI32);
  }
  ctx.AddOperator(Op::SPLIT_V, {x, parts, axis}, ctx.ResultsOf(node),
                  fb::CreateSplitVOptions(ctx.builder(), count));
  return {};
}

std::optional<std::string> WhyNotSplit(const Node& node) {
  if (!node.input(0)->type().ranked()) return "unknown rank";
  if (!PartSizes(node) && node.input(1) == nullptr) return "the parts' sizes are not known";
  return std::nullopt;
}

// ---- Slices -------------------------------------------------------------------------------------

// What STRIDED_SLICE takes: numbers for each axis, masks for axes that begin or end with x.
struct Strided {
  std::vector<int64_t> begin, end, strides;
  int32_t begin_mask = 0, end_mask = 0;
};

// nullopt where ONNX's rule, which the graph has, cannot be said without knowing the size.
std::optional<Strided> StridedOf(const Node& node) {
  const auto& a = node.attrs<SliceAttrs>();
  const Type& x = node.input(0)->type();
  const auto rank = static_cast<size_t>(x.rank());
  Strided s{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0),
            std::vector<int64_t>(rank, 1), 0, 0};
  const auto all = static_cast<int32_t>((uint32_t{1} << rank) - 1);
  s.begin_mask = s.end_mask = all;
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const int64_t axis = a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i];
    const auto at = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    const Dim& size = x.dim(static_cast<int>(at));
    int64_t begin = a.starts[i], end = a.ends[i];
    if (size.is_const()) {
      const auto range = RangeOf(begin, end, step, size.value());
      if (!range) return std::nullopt;
      begin = range->start;
      end = range->start + range->count * range->step;
    } else if (step < 0) {
      return std::nullopt;
    }
    const auto bit = static_cast<int32_t>(uint32_t{1} << at);
    if (step > kMax || step < -kMax || begin > kMax || begin < -kMax) return std::nullopt;
    const bool to_last = end > kMax || (size.is_const() && end < 0);
    s.begin[at] = begin;
    s.end[at] = to_last ? 0 : std::max(end, -kMax);
    s.strides[at] = step;
    s.begin_mask &= ~bit;
    if (!to_last) s.end_mask &= ~bit;
  }
  return s;
}

Status WriteStrided(ExportContext& ctx, const Node& node, const Strided& s) {
  NN_ASSIGN(const TensorIndex begin, ctx.AddInts(s.begin, "begin"));
  NN_ASSIGN(const TensorIndex end, ctx.AddInts(s.end, "end"));
  NN_ASSIGN(const TensorIndex strides, ctx.AddInts(s.strides, "strides"));
  ctx.AddOperator(Op::STRIDED_SLICE, {ctx.TensorOf(node.input(0)), begin, end, strides},
                  ctx.ResultsOf(node),
                  fb::CreateStridedSliceOptions(ctx.builder(), s.begin_mask, s.end_mask));
  return {};
}

// SLICE where it can say it: steps of 1 and known sizes.
Status WriteSlice(ExportContext& ctx, const Node& node) {
  if (node.inputs().size() > 1) {
    TensorIndex strides = kNoTensor;
    if (node.input(4) != nullptr) {
      strides = ctx.TensorAs(node.input(4), DType::kI32);
    } else {
      const auto count = static_cast<size_t>(*KnownLength(node.input(1)->type()));
      NN_ASSIGN(strides, ctx.AddInts(std::vector<int64_t>(count, 1), "strides"));
    }
    ctx.AddOperator(Op::STRIDED_SLICE,
                    {ctx.TensorOf(node.input(0)), ctx.TensorAs(node.input(1), DType::kI32),
                     ctx.TensorAs(node.input(2), DType::kI32), strides},
                    ctx.ResultsOf(node), fb::CreateStridedSliceOptions(ctx.builder()));
    return {};
  }
  const Strided s = *StridedOf(node);
  const Dims& to = *node.output()->type().dims;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < to.size(); ++i) {
    const auto bit = static_cast<int32_t>(uint32_t{1} << i);
    const bool rest = (s.end_mask & bit) != 0;
    if (s.strides[i] != 1 || s.begin[i] < 0 || (!to[i].is_const() && !rest))
      return WriteStrided(ctx, node, s);
    sizes.push_back(to[i].is_const() ? to[i].value() : -1);
  }
  NN_ASSIGN(const TensorIndex begin, ctx.AddInts(s.begin, "begin"));
  NN_ASSIGN(const TensorIndex size, ctx.AddInts(sizes, "size"));
  ctx.AddOperator(Op::SLICE, {ctx.TensorOf(node.input(0)), begin, size}, ctx.ResultsOf(node),
                  fb::CreateSliceOptions(ctx.builder()));
  return {};
}

// With inputs for its bounds only forwards and over the first axes, where the rules agree.
std::optional<std::string> WhyNotSlice(const Node& node) {
  if (!node.input(0)->type().ranked()) return "unknown rank";
  if (node.input(0)->type().rank() > 8) return "a rank above 8";
  if (node.inputs().size() == 1) {
    if (!StridedOf(node)) return "a step backwards along an axis of unknown size";
    return std::nullopt;
  }
  if (node.input(1) == nullptr || node.input(2) == nullptr) return "bounds that are partly known";
  const auto known = [](const Value* v) {
    const auto e = KnownElements(v);
    return e ? ConstDims(*e) : std::nullopt;
  };
  if (node.input(3) != nullptr) {
    const auto axes = known(node.input(3));
    for (size_t i = 0; axes && i < axes->size(); ++i)
      if ((*axes)[i] != static_cast<int64_t>(i)) return "bounds of other axes than the first";
    if (!axes) return "its axes are not constant";
  }
  if (node.input(4) != nullptr) {
    const auto steps = known(node.input(4));
    if (!steps) return "its steps are not constant";
    if (std::any_of(steps->begin(), steps->end(), [](int64_t s) { return s < 1; }))
      return "a step backwards with bounds that are not constant";
  } else if (!KnownLength(node.input(1)->type())) {
    return "bounds of a number of axes that is not known";
  }
  return std::nullopt;
}

// ---- Padding ------------------------------------------------------------------------------------

Status WritePad(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  const size_t rank = a.pads.size() / 2;
  std::vector<int32_t> pairs;
  for (size_t i = 0; i < rank; ++i)
    for (const size_t k : {i, rank + i}) pairs.push_back(static_cast<int32_t>(a.pads[k]));
  const TensorIndex pads =
      ctx.AddConstant(Tensor::Of({static_cast<int64_t>(rank), 2}, pairs), "paddings");
  std::vector<TensorIndex> inputs = {ctx.TensorOf(node.input(0)), pads};
  if (a.mode != PadMode::kConstant) {
    ctx.AddOperator(Op::MIRROR_PAD, inputs, ctx.ResultsOf(node),
                    fb::CreateMirrorPadOptions(ctx.builder(), a.mode == PadMode::kReflect
                                                                  ? fb::MirrorPadMode::REFLECT
                                                                  : fb::MirrorPadMode::SYMMETRIC));
  } else if (node.input(1) != nullptr) {
    inputs.push_back(ctx.TensorOf(node.input(1)));
    ctx.AddOperator(Op::PADV2, inputs, ctx.ResultsOf(node), fb::CreatePadV2Options(ctx.builder()));
  } else {
    ctx.AddOperator(Op::PAD, inputs, ctx.ResultsOf(node), fb::CreatePadOptions(ctx.builder()));
  }
  return {};
}

std::optional<std::string> WhyNotPad(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (node.input(2) != nullptr) return "its pads are not constant";
  if (a.mode == PadMode::kEdge || a.mode == PadMode::kWrap)
    return fmt::format("padding mode {}", EnumName(a.mode));
  if (std::any_of(a.pads.begin(), a.pads.end(), [](int64_t p) { return p < 0; }))
    return "pads that take elements away";
  if (node.input(0)->dtype() == DType::kString) return "padding of strings";
  if (a.mode == PadMode::kConstant) return std::nullopt;
  const Dims& dims = *node.input(0)->type().dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t most = std::max(a.pads[i], a.pads[dims.size() + i]);
    const int64_t edge = a.mode == PadMode::kReflect ? 1 : 0;
    if (most > 0 && (!dims[i].is_const() || most > dims[i].value() - edge))
      return "mirrored padding of more than the axis";
  }
  return std::nullopt;
}

Status WriteReverse(ExportContext& ctx, const Node& node) {
  NN_ASSIGN(const TensorIndex axes, ctx.AddInts(node.attrs<ReverseAttrs>().axes, "axes"));
  ctx.AddOperator(Op::REVERSE_V2, {ctx.TensorOf(node.input(0)), axes}, ctx.ResultsOf(node),
                  fb::CreateReverseV2Options(ctx.builder()));
  return {};
}

}  // namespace

void AddSliceExports(std::vector<ExportRow>& rows) {
  rows.push_back({"concat", WriteConcat});
  rows.push_back({"split", WriteSplit, WhyNotSplit});
  rows.push_back({"slice", WriteSlice, WhyNotSlice});
  rows.push_back({"pad", WritePad, WhyNotPad});
  rows.push_back({"reverse", WriteReverse});
}

}  // namespace nn::tflite

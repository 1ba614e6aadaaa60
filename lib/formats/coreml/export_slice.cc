#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "formats/coreml/export.h"
#include "formats/coreml/window.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/select.h"
#include "ops/slice.h"
#include "ops/types.h"

namespace nn::coreml {
namespace {

// concatND has two inputs at least.
Status WriteConcat(ExportContext& ctx, const Node& node) {
  if (node.inputs().size() == 1) {
    ctx.AddLayer(node, "copy");
    return {};
  }
  ctx.AddLayer(node, "concatND").Int("axis", node.attrs<ConcatAttrs>().axis);
  return {};
}

// ---- Split --------------------------------------------------------------------------------------

std::optional<std::vector<int64_t>> PartSizes(const Node& node) {
  const auto axis = NormalizeAxis(node.attrs<SplitAttrs>().axis, node.input(0)->type().rank());
  if (!axis) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const Value* v : node.outputs()) {
    const Dim& d = v->type().dim(*axis);
    if (!d.is_const()) return std::nullopt;
    sizes.push_back(d.value());
  }
  return sizes;
}

Status WriteSplit(ExportContext& ctx, const Node& node) {
  Writer p = ctx.AddLayer(node, "splitND", 1);
  p.Int("axis", node.attrs<SplitAttrs>().axis);
  p.Int("numSplits", static_cast<int64_t>(node.outputs().size()));
  p.Ints("splitSizes", *PartSizes(node));
  return {};
}

std::optional<std::string> WhyNotSplit(const Node& node) {
  const auto sizes = PartSizes(node);
  if (!sizes) return "parts whose size varies";
  if (sizes->size() < 2) return "a single part";
  if (std::any_of(sizes->begin(), sizes->end(), [](int64_t n) { return n == 0; }))
    return "a part without elements";
  return std::nullopt;
}

// ---- Slice --------------------------------------------------------------------------------------

// The bounds along one axis; a masked one is the border.
struct Bounds {
  int64_t begin = 0, end = 0, stride = 1;
  bool begin_mask = true, end_mask = true;
};

// Of an axis whose size varies: bounds that mean the same in both.
std::optional<Bounds> OpenBounds(int64_t start, int64_t end, int64_t step) {
  if (step < 1) return std::nullopt;
  Bounds b{start, end, step, start == 0, end == std::numeric_limits<int64_t>::max()};
  if (b.end_mask) b.end = 0;
  return b;
}

Bounds KnownBounds(const SliceRange& r) {
  const int64_t end = r.start + r.count * r.step;
  return {r.start, std::max<int64_t>(end, 0), r.step, false, end < 0};
}

std::optional<std::vector<Bounds>> BoundsOf(const Node& node) {
  const auto& a = node.attrs<SliceAttrs>();
  const Dims& dims = *node.input(0)->type().dims;
  std::vector<Bounds> out(dims.size());
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const auto axis = NormalizeAxis(a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i],
                                    static_cast<int>(dims.size()));
    if (!axis) return std::nullopt;
    const Dim& size = dims[static_cast<size_t>(*axis)];
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    std::optional<Bounds> b;
    if (size.is_const()) {
      const auto range = RangeOf(a.starts[i], a.ends[i], step, size.value());
      if (range && range->count > 0) b = KnownBounds(*range);
    } else {
      b = OpenBounds(a.starts[i], a.ends[i], step);
    }
    if (!b) return std::nullopt;
    out[static_cast<size_t>(*axis)] = *b;
  }
  return out;
}

Status WriteSlice(ExportContext& ctx, const Node& node) {
  std::vector<int64_t> begins, ends, strides;
  std::vector<bool> begin_masks, end_masks;
  const std::vector<Bounds> bounds = *BoundsOf(node);
  for (const Bounds& b : bounds) {
    begins.push_back(b.begin);
    ends.push_back(b.end);
    strides.push_back(b.stride);
    begin_masks.push_back(b.begin_mask);
    end_masks.push_back(b.end_mask);
  }
  Writer p = ctx.AddLayer(node, "sliceStatic");
  p.Ints("beginIds", begins);
  p.Ints("endIds", ends);
  p.Ints("strides", strides);
  p.Bools("beginMasks", begin_masks);
  p.Bools("endMasks", end_masks);
  p.Bools("squeezeMasks", std::vector<bool>(begins.size(), false));
  return {};
}

std::optional<std::string> WhyNotSlice(const Node& node) {
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (node.input(i) != nullptr) return "bounds that are only known in a run";
  if (!BoundsOf(node)) return "bounds that take nothing, or go backward over a size that varies";
  return std::nullopt;
}

Status WriteReverse(ExportContext& ctx, const Node& node) {
  const int rank = node.input(0)->type().rank();
  std::vector<bool> flags(static_cast<size_t>(rank), false);
  for (const int64_t axis : node.attrs<ReverseAttrs>().axes)
    flags[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  ctx.AddLayer(node, "reverse").Bools("reverseDim", flags);
  return {};
}

Status WriteReverseSequence(ExportContext& ctx, const Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  Writer p = ctx.AddLayer(node, "reverseSeq");
  p.Int("batchAxis", a.batch_axis);
  p.Int("sequenceAxis", a.time_axis);
  return {};
}
std::optional<std::string> WhyNotReverseSequence(const Node& node) {
  const auto& a = node.attrs<ReverseSequenceAttrs>();
  if (a.batch_axis >= a.time_axis) return "a batch axis after the time axis";
  return std::nullopt;
}

// ---- Pad ----------------------------------------------------------------------------------------

Status WritePad(ExportContext& ctx, const Node& node) {
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

std::optional<std::string> WhyNotPad(const Node& node) {
  const auto& a = node.attrs<PadAttrs>();
  if (node.input(2) != nullptr || node.input(3) != nullptr)
    return "amounts that are only known in a run";
  if (auto reason = WhyNotPads(a.pads)) return reason;
  if (node.input(1) != nullptr && ConstantOf(node, 1) == nullptr)
    return "a value that is no constant";
  if (a.mode == PadMode::kConstant) return std::nullopt;
  if (a.mode != PadMode::kReflect && a.mode != PadMode::kEdge)
    return fmt::format("padding of mode {}", EnumName(a.mode));
  const size_t rank = a.pads.size() / 2;
  if (rank < 3) return "padding of a matrix by its own elements";
  for (size_t i = 0; i + 2 < rank; ++i)
    if (a.pads[i] != 0 || a.pads[rank + i] != 0)
      return "padding by own elements on other axes than the last two";
  return std::nullopt;
}

}  // namespace

void AddSliceExports(std::vector<ExportRow>& rows) {
  rows.push_back({"concat", WriteConcat, nullptr, Types::kAny});
  rows.push_back({"split", WriteSplit, WhyNotSplit, Types::kAny});
  rows.push_back({"slice", WriteSlice, WhyNotSlice, Types::kAny});
  rows.push_back({"reverse", WriteReverse, nullptr, Types::kAny});
  rows.push_back({"reverse_sequence", WriteReverseSequence, WhyNotReverseSequence, Types::kAny});
  rows.push_back({"pad", WritePad, WhyNotPad});
}

}  // namespace nn::coreml

// Expansions of padding.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/array/arrange/slice.h"
#include "ops/support/term_ops.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

// The elements that padding by `count` adds before an axis of the size, or after it; nullopt if the
// pattern repeats them.
struct Part {
  int64_t first = 0;  // of the elements of x
  int64_t end = 0;
  bool reversed = false;
  int64_t times = 1;
};
std::optional<Part> PartOf(PadMode mode, int64_t count, int64_t size, bool after) {
  switch (mode) {
    case PadMode::kEdge:
      if (size == 0) return std::nullopt;
      return after ? Part{size - 1, size, false, count} : Part{0, 1, false, count};
    case PadMode::kSymmetric:
      if (count > size) return std::nullopt;
      return after ? Part{size - count, size, true} : Part{0, count, true};
    case PadMode::kReflect:
      if (count >= size) return std::nullopt;
      return after ? Part{size - 1 - count, size - 1, true} : Part{1, count + 1, true};
    case PadMode::kWrap:
      if (count > size) return std::nullopt;
      return after ? Part{0, count, false} : Part{size - count, size, false};
    case PadMode::kConstant:
      break;
  }
  return std::nullopt;
}

}  // namespace

Result<bool> PadAsSlices(Graph& graph, Node& node) {
  // Limit of expansions: copies of an edge that a pad adds.
  constexpr int64_t kMaxCopies = 1024;
  const auto& a = node.attrs<PadAttrs>();
  const auto dims = node.input(0)->type().const_dims();
  const bool removes = std::any_of(a.pads.begin(), a.pads.end(), [](int64_t n) { return n < 0; });
  if (!IsPlainF32(node) || node.input(2) != nullptr || node.input(3) != nullptr || !dims ||
      a.pads.size() != 2 * dims->size() || (a.mode == PadMode::kConstant && !removes))
    return false;
  // Elements are removed first.
  SliceAttrs rest;
  std::vector<int64_t> sizes = *dims, adds = a.pads;
  const auto rank = static_cast<int64_t>(dims->size());
  for (int64_t axis = 0; axis < rank; ++axis) {
    const auto i = static_cast<size_t>(axis);
    int64_t &before = adds[i], &after = adds[i + dims->size()];
    const int64_t first = std::max<int64_t>(-before, 0);
    const int64_t end = sizes[i] - std::max<int64_t>(-after, 0);
    if (first >= end) return false;
    before = std::max<int64_t>(before, 0);
    after = std::max<int64_t>(after, 0);
    if (first == 0 && end == sizes[i]) continue;
    rest.axes.push_back(axis);
    rest.starts.push_back(first);
    rest.ends.push_back(end);
    rest.steps.push_back(1);
    sizes[i] = end - first;
  }
  for (size_t i = 0; i < adds.size() && a.mode != PadMode::kConstant; ++i) {
    const bool after = i >= dims->size();
    if (adds[i] == 0) continue;
    const auto part = PartOf(a.mode, adds[i], sizes[i % dims->size()], after);
    if (!part || part->times > kMaxCopies) return false;
  }
  Term y = node.input(0);
  if (!rest.axes.empty()) y = Apply("slice", {y}, std::move(rest));
  Expansion e(graph, node);
  if (a.mode == PadMode::kConstant) {
    std::vector<Term> operands = {y};
    if (node.input(1) != nullptr) operands.push_back(node.input(1));
    return e.Replace(Apply("pad", std::move(operands), PadAttrs{adds, a.mode}));
  }
  for (int64_t axis = 0; axis < rank; ++axis) {
    const auto i = static_cast<size_t>(axis);
    std::vector<Term> parts;
    for (const bool after : {false, true}) {
      if (after) parts.push_back(y);
      const int64_t count = adds[after ? i + dims->size() : i];
      if (count == 0) continue;
      const Part part = *PartOf(a.mode, count, sizes[i], after);
      Term piece = Slice(y, axis, part.first, part.end);
      if (part.reversed && count > 1) piece = Apply("reverse", {piece}, ReverseAttrs{{axis}});
      parts.insert(parts.end(), static_cast<size_t>(part.times), piece);
    }
    y = Concat(std::move(parts), axis);
  }
  return e.Replace(y);
}

}  // namespace nn

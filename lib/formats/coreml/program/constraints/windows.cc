// Constraints on convolutions and pools.
#include <algorithm>
#include <string>

#include "base/checked_math.h"
#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

void CheckChannelsOfGroups(const ConstraintAt& c) {
  const int64_t channels = c.SizeOf(0, 1);
  const auto groups = c.Int(2);
  if (!groups || channels == kAnySize) return;
  if (*groups <= 0 || channels % *groups != 0)
    return c.Add("input {} has {} channels, which is no multiple of {}, {}", c.Name(0), channels,
                 c.Name(2), *groups);
  c.NeedSize(1, 1, channels / *groups, "the channels of a group");
}

void CheckConstantIfDilated(const ConstraintAt& c) {
  const auto weight = c.facts().Values(c.Name(0));
  const auto dilations = c.Has(1) ? c.Ints(1) : std::nullopt;
  if (weight.empty() || weight[0].is_constant || weight[0].constant != nullptr || !dilations)
    return;
  if (std::ranges::any_of(*dilations, [](int64_t d) { return d > 1; }))
    c.Add("input {} is not a constant, but {} has numbers above 1", c.Name(0), c.Name(1));
}

// What windows along the axes after the channels are.
struct Windows {
  Sizes x, kernel;
  std::vector<int64_t> strides, dilations, pads;
  std::string mode;
  bool rounds_up = false;
};

// Lists are as long as x has such axes, pads twice as long.
bool IsWhole(const Windows& w) {
  const size_t n = w.x.size();
  const auto is_positive = [](int64_t i) { return i > 0; };
  return w.kernel.size() == n && w.strides.size() == n && w.dilations.size() == n &&
         w.pads.size() == 2 * n && std::ranges::all_of(w.strides, is_positive);
}

// The size of a dilated kernel along axis i; kAnySize if it is not known.
int64_t ReachOf(const Windows& w, size_t i) {
  if (w.kernel[i] == kAnySize || w.kernel[i] == 0) return kAnySize;
  return AddSizes(MultiplySizes(w.kernel[i] - 1, w.dilations[i]), 1);
}

// The sum of the padding before and after axis i.
int64_t PadOf(const Windows& w, size_t i, int64_t reach) {
  if (w.mode == "custom") return w.pads[2 * i] + w.pads[2 * i + 1];
  if (!w.mode.starts_with("same")) return 0;
  const int64_t stride = w.strides[i];
  return std::max(int64_t{0}, RoundUp(w.x[i], stride) - w.x[i] + reach - stride);
}

// The number of windows along axis i, which may be below 1; kAnySize if it is not known.
std::optional<int64_t> CountOf(const Windows& w, size_t i) {
  const int64_t reach = ReachOf(w, i);
  if (w.x[i] == kAnySize || reach == kAnySize) return std::nullopt;
  const int64_t pad = PadOf(w, i, reach), stride = w.strides[i];
  const int64_t room = w.x[i] + pad - reach;
  if (!w.rounds_up) return FloorDiv(room, stride) + 1;
  const int64_t count = FloorDiv(room + stride - 1, stride) + 1;
  // The last window begins inside, not in the padding after the end.
  const bool is_outside = pad > 0 && 2 * (count - 1) * stride >= 2 * w.x[i] + pad;
  return is_outside ? count - 1 : count;
}

// [batch, channels, windows...]
void NeedWindows(const ConstraintAt& c, const Windows& w, int64_t batch, int64_t channels) {
  Sizes out{batch, channels};
  for (size_t i = 0; i < w.x.size(); ++i) {
    const auto count = CountOf(w, i);
    if (count && *count <= 0)
      return c.Add("no window fits into axis {}, which has size {}", i + 2, w.x[i]);
    out.push_back(count.value_or(kAnySize));
  }
  c.NeedResult(0, out);
}

// The windows of an operation on x; nullopt if an operand is not known. Positions of operands:
// strides, and from `pads` on pad and pad_type.
std::optional<Windows> WindowsOf(const ConstraintAt& c, Sizes kernel, size_t strides, size_t pads) {
  const auto x = c.facts().SizesOf("x");
  if (!x || x->size() < 2) return std::nullopt;
  const auto n = static_cast<int64_t>(x->size()) - 2;
  auto stride = c.Ints(strides, n), pad = c.Ints(pads, 2 * n);
  auto mode = c.Text(pads + 1);
  if (!stride || !pad || !mode) return std::nullopt;
  return Windows{{x->begin() + 2, x->end()},
                 std::move(kernel),
                 *std::move(stride),
                 std::vector<int64_t>(static_cast<size_t>(n), 1),
                 *std::move(pad),
                 *std::move(mode)};
}

// Those of a weight, from strides, dilations, pad and pad_type; nullopt if they are not known.
std::optional<Windows> WindowsOfWeight(const ConstraintAt& c, const std::optional<Sizes>& weight) {
  if (!weight || weight->size() < 2) return std::nullopt;
  auto windows = WindowsOf(c, {weight->begin() + 2, weight->end()}, 1, 3);
  if (!windows) return std::nullopt;
  const auto dilations = c.Ints(2, static_cast<int64_t>(windows->x.size()));
  if (!dilations) return std::nullopt;
  windows->dilations = *dilations;
  return IsWhole(*windows) ? windows : std::nullopt;
}

// weight, strides, dilations, pad, pad_type
void CheckWindowFits(const ConstraintAt& c) {
  const auto weight = c.SizesOf(0);
  if (const auto windows = WindowsOfWeight(c, weight))
    NeedWindows(c, *windows, c.facts().SizeOf("x", 0), (*weight)[0]);
}

// kernel_sizes, strides, pad, pad_type, ceil_mode
void CheckPoolFits(const ConstraintAt& c) {
  const auto kernel = c.Ints(0);
  const auto ceil_mode = c.Bool(4);
  auto windows = kernel && ceil_mode ? WindowsOf(c, *kernel, 1, 2) : std::nullopt;
  if (!windows) return;
  windows->rounds_up = *ceil_mode;
  if (IsWhole(*windows))
    NeedWindows(c, *windows, c.facts().SizeOf("x", 0), c.facts().SizeOf("x", 1));
}

// x, pad, pad_type, ceil_mode
void CheckCeilModePadding(const ConstraintAt& c) {
  if (c.Bool(3) != true) return;
  if (const auto rank = c.RankOf(0); rank && *rank > 4)
    c.Add("{} is true, but input {} has rank {}, which is above 4", c.Name(3), c.Name(0), *rank);
  if (c.Text(2) == "same") c.Add("{} is true, but {} is same", c.Name(3), c.Name(2));
  const auto pad = c.Has(1) ? c.Ints(1) : std::nullopt;
  for (size_t i = 0; pad && i + 1 < pad->size(); i += 2)
    if ((*pad)[i] != (*pad)[i + 1])
      return c.Add("{} is true, but input {} has {} before and {} after an axis", c.Name(3),
                   c.Name(1), (*pad)[i], (*pad)[i + 1]);
}

// ---- Transposed convolutions --------------------------------------------------------------------

// weight is [C_in, C_out / groups, ...].
int64_t TransposedChannels(const ConstraintAt& c, std::string_view weight) {
  return MultiplySizes(c.facts().SizeOf(weight, 1),
                       std::max(c.facts().Int("groups").value_or(kAnySize), kAnySize));
}

void CheckTransposedBias(const ConstraintAt& c) {
  if (c.Has(0)) c.NeedSize(0, 0, TransposedChannels(c, c.Name(1)), "one for each output channel");
}

void CheckTransposedGroups(const ConstraintAt& c) {
  const int64_t channels = c.SizeOf(0, 1);
  const auto groups = c.Int(2);
  if (groups && channels != kAnySize && (*groups <= 0 || channels % *groups != 0))
    c.Add("input {} has {} channels, which is no multiple of {}, {}", c.Name(0), channels,
          c.Name(2), *groups);
  c.NeedSize(1, 0, channels, "the channels of x");
}

// The size along an axis.
int64_t TransposedSize(const Windows& w, size_t i) {
  const int64_t reach = ReachOf(w, i);
  if (w.x[i] == kAnySize || w.x[i] == 0 || reach == kAnySize) return kAnySize;
  if (w.mode == "same") return MultiplySizes(w.strides[i], w.x[i]);
  const int64_t pad = w.mode == "custom" ? w.pads[2 * i] + w.pads[2 * i + 1] : 0;
  return OffsetSize(MultiplySizes(w.strides[i], w.x[i] - 1), reach - pad);
}

// The result has the sizes of output_shape, with the batch and the channels of the operation.
void NeedOutputShape(const ConstraintAt& c, const Sizes& first) {
  const auto shape = c.Ints(5);
  if (!shape || shape->size() < first.size()) return;
  for (size_t i = 0; i < first.size(); ++i)
    if (!MayEqual((*shape)[i], first[i]))
      return c.Add("input {} has {} at {} instead of {}", c.Name(5), (*shape)[i], i, first[i]);
  c.NeedResult(0, *shape);
}

// weight, strides, dilations, pad, pad_type, output_shape
void CheckTransposedShape(const ConstraintAt& c) {
  Sizes out{c.facts().SizeOf("x", 0), TransposedChannels(c, c.Name(0))};
  if (c.Has(5)) return NeedOutputShape(c, out);
  const auto windows = WindowsOfWeight(c, c.SizesOf(0));
  if (!windows) return;
  for (size_t i = 0; i < windows->x.size(); ++i) out.push_back(TransposedSize(*windows, i));
  c.NeedResult(0, out);
}

constexpr ConstraintRow kWindowConstraints[] = {
    {Label::kChannelsOfGroups, CheckChannelsOfGroups},
    {Label::kConstantIfDilated, CheckConstantIfDilated},
    {Label::kWindowFits, CheckWindowFits},
    {Label::kPoolFits, CheckPoolFits},
    {Label::kCeilModePadding, CheckCeilModePadding},
    {Label::kTransposedBiasLength, CheckTransposedBias},
    {Label::kTransposedGroups, CheckTransposedGroups},
    {Label::kTransposedShape, CheckTransposedShape},
};

}  // namespace

std::span<const ConstraintRow> WindowConstraintRows() {
  return kWindowConstraints;
}

}  // namespace nn::coreml::program

#include "ops/support/window.h"

#include "ops/support/window_shape.h"

namespace nn {
namespace {

Result<int64_t> ItemOr(const std::vector<int64_t>& list, size_t i, size_t rank, int64_t fallback,
                       std::string_view name) {
  if (list.empty()) return fallback;
  if (list.size() != rank)
    return ModelError("{} has {} entries for {} spatial axes", name, list.size(), rank);
  if (list[i] < 1) return ModelError("{}[{}] is {}; must be at least 1", name, i, list[i]);
  return list[i];
}

// Output size for explicit padding.
Dim OutputSize(const Window& w, bool ceil_mode) {
  const Dim padding = w.pad_begin + w.pad_end, extent = w.extent(), stride = w.stride;
  if (!ceil_mode) return WindowCount(w.input, padding, extent, stride);
  const Dim size = WindowCountUp(w.input, padding, extent, stride);
  if (size.is_const() && w.input.is_const()) {
    const bool beyond = (size.value() - 1) * w.stride >= (w.input + w.pad_begin).value();
    return beyond ? size - Dim(1) : size;
  }
  // The largest count whose last window starts at or before the last input element.
  return Dim::Min(size, SameWindowCount(w.input + w.pad_begin, stride));
}

// A list per spatial axis, or of begins and ends, for `added` more axes before the others.
AttrValue WithUnitAxes(std::string_view name, const AttrValue& value, size_t added) {
  if (name == "pads") {
    auto v = std::get<std::vector<int64_t>>(value);
    if (v.empty()) return v;
    v.insert(v.begin() + static_cast<ptrdiff_t>(v.size() / 2), added, 0);
    v.insert(v.begin(), added, 0);
    return v;
  }
  // Any size keeps the aspect of a single axis (resize), but not that of two.
  if (name == "aspect") return EnumValue{"stretch"};
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    auto v = *list;
    if (!v.empty()) v.insert(v.begin(), added, name == "output_padding" ? 0 : 1);
    return v;
  }
  if (const auto* list = std::get_if<std::vector<float>>(&value);
      list != nullptr && name != "roi") {
    auto v = *list;
    if (!v.empty()) v.insert(v.begin(), added, 1.0f);
    return v;
  }
  if (const auto* dims = std::get_if<Dims>(&value)) {
    auto v = *dims;
    if (!v.empty()) v.insert(v.begin(), added, Dim(1));
    return v;
  }
  return value;
}

}  // namespace

Result<std::vector<Window>> ResolveWindows(const WindowSpec& spec, const Dims& spatial_input) {
  const size_t rank = spatial_input.size();
  if (spec.kernel.size() != rank)
    return ModelError("kernel has {} axes for {} spatial axes", spec.kernel.size(), rank);
  if (!spec.pads.empty() && spec.pads.size() != 2 * rank)
    return ModelError("pads has {} entries for {} spatial axes; must have {}", spec.pads.size(),
                      rank, 2 * rank);
  for (size_t i = 0; i < spec.pads.size(); ++i)
    if (spec.pads[i] < 0) return ModelError("pads[{}] is {}; must be at least 0", i, spec.pads[i]);
  std::vector<Window> out(rank);
  for (size_t i = 0; i < rank; ++i) {
    Window& w = out[i];
    w.input = spatial_input[i];
    w.kernel = spec.kernel[i];
    if (w.kernel < 1)
      return ModelError("kernel size {} on spatial axis {} is less than 1", w.kernel, i);
    NN_ASSIGN(w.stride, ItemOr(spec.strides, i, rank, 1, "strides"));
    NN_ASSIGN(w.dilation, ItemOr(spec.dilations, i, rank, 1, "dilations"));
    if (w.kernel > (int64_t{1} << 31) || w.dilation > (int64_t{1} << 31))
      return ModelError("kernel or dilation on spatial axis {} is out of range", i);
    switch (spec.padding) {
      case Padding::kExplicit:
        if (!spec.pads.empty()) {
          w.pad_begin = Dim(spec.pads[i]);
          w.pad_end = Dim(spec.pads[rank + i]);
        }
        w.output = OutputSize(w, spec.ceil_mode);
        break;
      case Padding::kValid:
        w.output = OutputSize(w, spec.ceil_mode);
        break;
      case Padding::kSameUpper:
      case Padding::kSameLower: {
        w.output = SameWindowCount(w.input, Dim(w.stride));
        const Dim total =
            Dim::Max((w.output - Dim(1)) * Dim(w.stride) + Dim(w.extent()) - w.input, Dim(0));
        const Dim half = Dim::FloorDiv(total, Dim(2));
        w.pad_begin = spec.padding == Padding::kSameUpper ? half : total - half;
        w.pad_end = total - w.pad_begin;
        break;
      }
    }
    if (w.output.is_const() && w.output.value() < 1 && !(w.input == 0))
      return ModelError("a window of {} elements does not fit spatial axis {} of size {}",
                        w.extent(), i, w.input.ToString());
    if (w.output.is_const() && w.output.value() < 0) w.output = Dim(0);
  }
  return out;
}

Result<std::vector<ConstWindow>> ConstWindows(const std::vector<Window>& windows) {
  std::vector<ConstWindow> out;
  for (const Window& w : windows) {
    if (!w.input.is_const() || !w.output.is_const() || !w.pad_begin.is_const() ||
        !w.pad_end.is_const())
      return UnsupportedError("the size of a spatial axis is not known");
    out.push_back({w.input.value(), w.kernel, w.stride, w.dilation, w.pad_begin.value(),
                   w.pad_end.value(), w.output.value()});
  }
  return out;
}

Result<Attrs> WithUnitAxes(const Attrs& attrs, size_t added) {
  Attrs out = attrs;
  for (const AttrField& f : attrs.info().fields) {
    NN_ASSIGN(out, out.With(f.name, WithUnitAxes(f.name, attrs.Get(f), added)));
  }
  return out;
}

Dims SpatialDims(const Dims& dims, Layout layout) {
  const auto first = dims.begin() + FirstSpatialAxis(layout);
  return Dims(first, first + static_cast<std::ptrdiff_t>(dims.size()) - 2);
}

std::optional<Layout> FlipLayout(Layout layout, int rank, const AxisMap& map) {
  if (map.IsIdentity()) return layout;
  if (layout == Layout::kNcx && map == AxisMap::ChannelsLast(rank)) return Layout::kNxc;
  if (layout == Layout::kNxc && map == AxisMap::ChannelsFirst(rank)) return Layout::kNcx;
  return std::nullopt;
}

}  // namespace nn

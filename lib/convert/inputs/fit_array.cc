#include "convert/inputs/fit_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/eval.h"
#include "ir/graph.h"
#include "ops/math/elementwise/elementwise.h"
#include "tensorio/compare.h"

namespace nn {
namespace {

bool IsNumeric(DType type) {
  return IsFloat(type) || IsInteger(type) || type == DType::kBool;
}

// ---- Types

struct Whole {
  bool negative = false;
  uint64_t magnitude = 0;

  bool operator==(const Whole&) const = default;
};

// The element as an integer, nullopt if it is not one.
std::optional<Whole> WholeAt(const Tensor& t, int64_t i) {
  if (IsFloat(t.dtype())) {
    const double v = t.GetDouble(i);
    if (std::floor(v) != v || std::fabs(v) >= 0x1p64) return std::nullopt;
    return Whole{v < 0, static_cast<uint64_t>(std::fabs(v))};
  }
  const int64_t v = t.GetInt(i);
  const auto bits = static_cast<uint64_t>(v);
  const bool negative = IsSigned(t.dtype()) && v < 0;
  return Whole{negative, negative ? 0 - bits : bits};
}

bool IsNan(const Tensor& t, int64_t i) {
  return IsFloat(t.dtype()) && std::isnan(t.GetDouble(i));
}

bool SameNumber(const Tensor& a, const Tensor& b, int64_t i) {
  if (IsFloat(a.dtype()) && IsFloat(b.dtype()))
    return a.GetDouble(i) == b.GetDouble(i) || (IsNan(a, i) && IsNan(b, i));
  const auto x = WholeAt(a, i);
  return x && x == WholeAt(b, i);
}

int64_t Saturated(const Whole& v, DType to) {
  if (v.negative) {
    const auto most = 0 - static_cast<uint64_t>(MinInteger(to));
    return v.magnitude >= most ? MinInteger(to) : -static_cast<int64_t>(v.magnitude);
  }
  const uint64_t most = to == DType::kU64 ? std::numeric_limits<uint64_t>::max()
                                          : static_cast<uint64_t>(MaxInteger(to));
  return static_cast<int64_t>(std::min(v.magnitude, most));
}

// NaN becomes 0.
int64_t NearestInteger(const Tensor& t, int64_t i, DType to) {
  if (!IsFloat(t.dtype())) return Saturated(*WholeAt(t, i), to);
  const double v = std::nearbyint(t.GetDouble(i));
  if (std::isnan(v)) return 0;
  if (std::fabs(v) >= 0x1p64) return Saturated({v < 0, ~uint64_t{0}}, to);
  return Saturated({v < 0, static_cast<uint64_t>(std::fabs(v))}, to);
}

// As real numbers or bools: the conversion of ONNX's Cast.
Result<Tensor> CastByOperator(const Tensor& t, DType to) {
  Graph graph;
  Value* const x = graph.AddInput("x", Type(t.dtype(), ToDims(t.dims())));
  NN_ASSIGN(Node* const node,
            graph.Append("cast", {x}, CastAttrs{.to = to, .round_mode = PowerRounding::kNearest}));
  NN_ASSIGN(std::vector<Tensor> y, EvalNode(*node, {&t}));
  return std::move(y[0]);
}

Result<Tensor> Nearest(const Tensor& t, DType to) {
  if (!IsInteger(to)) return CastByOperator(t, to);
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(to, t.dims()));
  for (int64_t i = 0; i < out.elements(); ++i) out.SetInt(i, NearestInteger(t, i, to));
  return out.Finish();
}

// Real numbers with all digits that distinguish them from those of wider types.
std::string NumberText(const Tensor& t, int64_t i) {
  return IsFloat(t.dtype()) ? ElementText(Tensor::Scalar(t.GetDouble(i)), 0) : ElementText(t, i);
}

tl::unexpected<Error> Changes(const Tensor& from, const Tensor& to, int64_t i) {
  const std::string element =
      fmt::format("element {} of the {} array is {}", IndexText(i, from.dims()),
                  DTypeName(from.dtype()), NumberText(from, i));
  if (IsNan(from, i))
    return UsageError("{}, which {} does not have", element, DTypeName(to.dtype()));
  return UsageError("{}, which is not a value of {}; --cast-inputs makes it {}", element,
                    DTypeName(to.dtype()), NumberText(to, i));
}

// ---- Axes

// The shapes that fit `dims` and have the sizes other than 1 of `sizes`, in order; at most two.
class OtherAxes {
 public:
  OtherAxes(const Dims& dims, const std::vector<int64_t>& sizes) : dims_(dims) {
    std::ranges::copy_if(sizes, std::back_inserter(sizes_), [](int64_t n) { return n != 1; });
    fits_.assign((dims_.size() + 1) * (sizes_.size() + 1), false);
    for (size_t i = dims_.size() + 1; i-- > 0;)
      for (size_t k = sizes_.size() + 1; k-- > 0;)
        fits_[At(i, k)] = i == dims_.size() ? k == sizes_.size() : OneFits(i, k) || SizeFits(i, k);
  }

  std::vector<std::vector<int64_t>> Find() {
    if (fits_[0]) Add(0, 0);
    return std::move(found_);
  }

 private:
  size_t At(size_t i, size_t k) const { return i * (sizes_.size() + 1) + k; }
  // Whether dimension i may be 1, or size k, and the rest fits.
  bool OneFits(size_t i, size_t k) const {
    return (!dims_[i].is_const() || dims_[i] == 1) && fits_[At(i + 1, k)];
  }
  bool SizeFits(size_t i, size_t k) const {
    return k < sizes_.size() && (!dims_[i].is_const() || dims_[i] == sizes_[k]) &&
           fits_[At(i + 1, k + 1)];
  }

  // Extends the shape by the dimensions from i and the sizes from k, which fit. Each way gives
  // another shape, because the sizes are not 1.
  void Add(size_t i, size_t k) {
    if (found_.size() == 2) return;
    if (i == dims_.size()) {
      found_.push_back(shape_);
      return;
    }
    const auto extend = [&](int64_t size, size_t next) {
      shape_.push_back(size);
      Add(i + 1, next);
      shape_.pop_back();
    };
    if (OneFits(i, k)) extend(1, k);
    if (SizeFits(i, k)) extend(sizes_[k], k + 1);
  }

  const Dims& dims_;
  std::vector<int64_t> sizes_;
  std::vector<bool> fits_;
  std::vector<int64_t> shape_;
  std::vector<std::vector<int64_t>> found_;
};

std::string AxesText(const std::vector<size_t>& axes, std::string_view state) {
  if (axes.empty()) return "";
  return fmt::format(", {} {} of size 1 {} {}", axes.size() == 1 ? "axis" : "axes",
                     fmt::join(axes, ", "), axes.size() == 1 ? "is" : "are", state);
}

// "axis 0 of size 1 is missing".
std::string AxisChange(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::vector<size_t> missing, extra;
  size_t k = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    while (to[i] != 1 && from[k] != to[i]) extra.push_back(k++);
    if (k < from.size() && from[k] == to[i])
      ++k;
    else
      missing.push_back(i);
  }
  for (; k < from.size(); ++k) extra.push_back(k);
  return (AxesText(missing, "missing") + AxesText(extra, "extra")).substr(2);
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return ToString(ToDims(shape));
}

}  // namespace

Result<Tensor> FitType(const Tensor& array, const Type& type, Casting casting) {
  const DType from = array.dtype();
  if (from == type.dtype || type.dtype == DType::kUnknown) return array;
  if (!IsNumeric(from) || !IsNumeric(type.dtype))
    return UsageError("the array is {}, but the model requires {}", DTypeName(from),
                      DTypeName(type.dtype));
  if (type.quantized() && IsFloat(from))
    return UsageError(
        "the array has real numbers ({}), but the model requires quantized integers ({})",
        DTypeName(from), type.ToString());
  const Tensor aligned = array.Aligned();
  NN_ASSIGN(Tensor out, Nearest(aligned, type.dtype));
  const bool rounds =
      casting == Casting::kNearest || (casting == Casting::kReals && IsFloat(type.dtype));
  if (rounds && !IsFloat(from)) return out;
  for (int64_t i = 0; i < out.elements(); ++i)
    if (!SameNumber(aligned, out, i) && (!rounds || IsNan(aligned, i)))
      return Changes(aligned, out, i);
  return out;
}

Result<Tensor> FitImage(const Tensor& array, const Type& type, ImageColors colors) {
  if (Compatible(Type(type.dtype, ToDims(array.dims())), type)) return array;
  const int64_t channels = colors == ImageColors::kGray ? 1 : 3;
  std::vector<int64_t> hwc = array.dims();
  if (hwc.size() == 2) hwc.push_back(1);
  if (hwc.size() == 4 && hwc[0] == 1) hwc.erase(hwc.begin());
  if (hwc.size() != 3 || hwc[2] != channels) return array;
  const std::vector<int64_t> shape = {1, channels, hwc[0], hwc[1]};
  if (!Compatible(Type(type.dtype, ToDims(shape)), type)) return array;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(array.dtype(), shape));
  const int64_t pixels = hwc[0] * hwc[1];
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t from = colors == ImageColors::kBgr ? channels - 1 - c : c;
    for (int64_t i = 0; i < pixels; ++i) out.Copy(c * pixels + i, array, i * channels + from);
  }
  return out.Finish();
}

Result<Tensor> FitAxes(const Tensor& array, const Type& type, bool reshape) {
  if (Compatible(Type(type.dtype, ToDims(array.dims())), type)) return array;
  const auto shapes = OtherAxes(*type.dims, array.dims()).Find();
  if (shapes.empty()) return array;
  if (shapes.size() > 1)
    return UsageError(
        "a tensor of shape {} does not fit {}: with other axes of size 1, it could be {} or {}; "
        "set "
        "the shape with --input-shape",
        ShapeText(array.dims()), type.ToString(), ShapeText(shapes[0]), ShapeText(shapes[1]));
  if (reshape) return array.Reshaped(shapes[0]);
  return UsageError("a tensor of shape {} does not fit {}: {}; --reshape-inputs makes it {}",
                    ShapeText(array.dims()), type.ToString(), AxisChange(array.dims(), shapes[0]),
                    ShapeText(shapes[0]));
}

}  // namespace nn

#include "ir/types/type.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

namespace nn {
namespace {

bool ZeroPointsEqual(const Quant& a, const Quant& b) {
  for (size_t i = 0; i < a.scales.size(); ++i)
    if (a.zero_point(i) != b.zero_point(i)) return false;
  return true;
}

template <typename T, typename Fn>
std::string ListText(const std::vector<T>& values, Fn text) {
  if (values.size() == 1) return text(values[0]);
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i == 0 ? "" : ", ") + text(values[i]);
  return out + "]";
}

}  // namespace

std::string FloatText(float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

bool Quant::SameMapping(const Quant& other) const {
  return scales == other.scales && axis == other.axis && ZeroPointsEqual(*this, other);
}

std::shared_ptr<const Quant> Quant::PerTensor(float scale, int64_t zero_point) {
  auto q = std::make_shared<Quant>();
  q->scales = {scale};
  q->zero_points = {zero_point};
  return q;
}

std::string Type::ToString() const {
  std::string out(DTypeName(dtype));
  out += dims ? nn::ToString(*dims) : "[*]";
  if (quant != nullptr) {
    out += "{";
    if (quant->per_axis()) out += fmt::format("axis={}, ", quant->axis);
    out += "scale=" + ListText(quant->scales, FloatText);
    if (!quant->zero_points.empty())
      out += ", zp=" + ListText(quant->zero_points, [](int64_t v) { return std::to_string(v); });
    if (!quant->min.empty()) out += ", min=" + ListText(quant->min, FloatText);
    if (!quant->max.empty()) out += ", max=" + ListText(quant->max, FloatText);
    out += "}";
  }
  return out;
}

bool operator==(const Type& a, const Type& b) {
  if (a.dtype != b.dtype || a.dims != b.dims) return false;
  if ((a.quant == nullptr) != (b.quant == nullptr)) return false;
  return a.quant == nullptr || *a.quant == *b.quant;
}

bool Compatible(const Type& declared, const Type& actual) {
  if (declared.dtype != DType::kUnknown && actual.dtype != DType::kUnknown &&
      declared.dtype != actual.dtype)
    return false;
  if (!declared.dims || !actual.dims) return true;
  if (declared.dims->size() != actual.dims->size()) return false;
  for (size_t i = 0; i < declared.dims->size(); ++i) {
    const Dim& a = (*declared.dims)[i];
    const Dim& b = (*actual.dims)[i];
    if (a.is_const() && b.is_const() && a.value() != b.value()) return false;
  }
  return true;
}

Type Refine(const Type& preferred, const Type& other) {
  Type out = preferred;
  if (out.dtype == DType::kUnknown) out.dtype = other.dtype;
  if (out.quant == nullptr) out.quant = other.quant;
  if (!out.dims) {
    out.dims = other.dims;
  } else if (other.dims && other.dims->size() == out.dims->size() && !(other.dims == out.dims)) {
    Dims dims = *out.dims;
    for (size_t i = 0; i < dims.size(); ++i)
      if (!dims[i].is_const() && (*other.dims)[i].is_const()) dims[i] = (*other.dims)[i];
    out.dims = std::move(dims);
  }
  return out;
}

}  // namespace nn

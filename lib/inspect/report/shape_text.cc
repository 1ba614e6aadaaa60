#include "inspect/report/shape_text.h"

#include <algorithm>
#include <memory>
#include <set>

#include "ir/op_def.h"

namespace nn::inspect {
namespace {

template <typename List, typename Fn>
std::string ListText(const List& list, Fn text) {
  std::string out;
  for (const auto& v : list) out += (out.empty() ? "" : ", ") + text(v);
  return "[" + out + "]";
}

}  // namespace

std::string SizeText(const Dim& size) {
  std::set<std::string> symbols;
  size.CollectSymbols(symbols);
  const bool known = std::none_of(symbols.begin(), symbols.end(), InferContext::IsNewSymbol);
  return known ? size.ToString() : "?";
}

std::string ShapeText(const Type& type) {
  return type.dims ? ListText(*type.dims, SizeText) : "[*]";
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return ListText(shape, [](int64_t d) { return std::to_string(d); });
}

std::string ComparableText(const Type& type) {
  std::string out = std::string(DTypeName(type.dtype)) + ShapeText(type);
  if (type.quant == nullptr) return out;
  auto quant = std::make_shared<Quant>(*type.quant);
  const auto& points = quant->zero_points;
  if (std::all_of(points.begin(), points.end(), [](int64_t v) { return v == 0; }))
    quant->zero_points.clear();
  quant->min.clear();
  quant->max.clear();
  Type only(type.dtype, Dims());
  only.quant = std::move(quant);
  const std::string text = only.ToString();
  return out + text.substr(text.find('{'));
}

}  // namespace nn::inspect

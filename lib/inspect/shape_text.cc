#include "inspect/shape_text.h"

#include <algorithm>
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

}  // namespace nn::inspect

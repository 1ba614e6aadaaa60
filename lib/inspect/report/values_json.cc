#include <string>
#include <utility>

#include "inspect/report/parts_json.h"
#include "inspect/report/shape_text.h"

namespace nn::inspect {
namespace {

Json ShapeJson(const Dims& dims) {
  Json shape = Json::array();
  for (const Dim& d : dims) {
    const std::string text = SizeText(d);
    if (d.is_const())
      shape.push_back(d.value());
    else if (text == "?")
      shape.push_back(nullptr);
    else if (const auto symbol = d.symbol())
      shape.push_back(*symbol);
    else
      shape.push_back(text);
  }
  return shape;
}

// "scale=0.5, zp=3".
std::string QuantText(const Type& type) {
  const std::string text = type.ToString();
  const size_t begin = text.rfind('{') + 1;
  return text.substr(begin, text.size() - begin - 1);
}

Json TypeJson(const ValueType& type) {
  Json tensor = {{"elem", ElementName(type.tensor.dtype)}};
  if (type.tensor.dims) tensor["shape"] = ShapeJson(*type.tensor.dims);
  if (type.tensor.quantized()) tensor["quantization"] = QuantText(type.tensor);
  switch (type.kind) {
    case ValueType::Kind::kTensor:
      return tensor;
    case ValueType::Kind::kSparse:
      return {{"sparse", std::move(tensor)}};
    case ValueType::Kind::kSequence:
      return {{"sequence", TypeJson(type.inner())}};
    case ValueType::Kind::kOptional:
      return {{"optional", TypeJson(type.inner())}};
    case ValueType::Kind::kMap:
      return {{"map", TypeJson(type.inner())}, {"key", ElementName(type.tensor.dtype)}};
    case ValueType::Kind::kUnknown:
    case ValueType::Kind::kOpaque:
      break;
  }
  return nullptr;
}

}  // namespace

Json ValuesJson(const std::vector<ValueEntry>& values) {
  Json list = Json::array();
  for (const ValueEntry& v : values)
    list.push_back({{"name", v.name},
                    {"scope", v.scope},
                    {"role", ValueEntry::NameOf(v.role)},
                    {"type", TypeJson(v.type)}});
  return list;
}

}  // namespace nn::inspect

#include "formats/coreml/program/operation_line.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "formats/coreml/program/import/values.h"
#include "formats/coreml/program/spec/sizes.h"
#include "formats/coreml/program/spec/words.h"

namespace nn::test {
namespace {

namespace mil = coreml::pb::mil;

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The parts between commas outside of brackets. A comma of a text has no space behind it.
std::vector<std::string_view> PartsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    const bool ends = c == ',' && depth == 0 && (i + 1 >= text.size() || text[i + 1] == ' ');
    if (!ends && i < text.size()) continue;
    if (const auto part = Trimmed(text.substr(start, i - start)); !part.empty())
      parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

std::vector<double> NumbersIn(std::string_view text) {
  std::vector<double> numbers;
  for (text = Trimmed(text); !text.empty(); text = Trimmed(text)) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    REQUIRE_MESSAGE(error == std::errc(), std::string(text));
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return numbers;
}

bool TakeWord(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text = Trimmed(text.substr(word.size()));
  return true;
}

Tensor TensorOf(const mil::ValueType& type, std::string_view text) {
  const auto sizes = coreml::program::SizesOf(type);
  REQUIRE(sizes.has_value());
  if (type.tensortype().datatype() == mil::STRING) return Tensor({}, {std::string(text)});
  const std::vector<double> numbers = NumbersIn(text);
  auto out = TensorBuilder::Create(coreml::program::DTypeOf(type.tensortype().datatype()), *sizes);
  REQUIRE(out.has_value());
  REQUIRE(out->elements() == static_cast<int64_t>(numbers.size()));
  for (size_t i = 0; i < numbers.size(); ++i) out->SetDouble(static_cast<int64_t>(i), numbers[i]);
  return out->Finish();
}

}  // namespace

mil::ValueType MilTypeOf(std::string_view text) {
  mil::ValueType type;
  if (TakeWord(text, "list ")) {
    *type.mutable_listtype()->mutable_type() = MilTypeOf(text);
    return type;
  }
  if (TakeWord(text, "state ")) {
    *type.mutable_statetype()->mutable_wrappedtype() = MilTypeOf(text);
    return type;
  }
  const bool is_any = TakeWord(text, "any ");
  const size_t end = std::min(text.find('['), text.size());
  mil::TensorType* const tensor = type.mutable_tensortype();
  const auto* const word = std::ranges::find(coreml::program::kTypes, text.substr(0, end),
                                             &coreml::program::TypeWord::word);
  REQUIRE_MESSAGE(word != std::end(coreml::program::kTypes), std::string(text));
  tensor->set_datatype(word->type);
  const auto sizes = PartsOf(end < text.size() ? text.substr(end + 1, text.size() - end - 2) : "");
  tensor->set_rank(is_any ? -1 : static_cast<int64_t>(sizes.size()));
  for (const std::string_view size : sizes) {
    mil::Dimension* const d = tensor->add_dimensions();
    if (size == "?")
      d->mutable_unknown();
    else
      d->mutable_constant()->set_size(static_cast<uint64_t>(NumbersIn(size).at(0)));
  }
  return type;
}

OperationLine::OperationLine(const std::string& line, coreml::program::Opset opset) {
  const size_t open = line.find('('), close = line.rfind(") ->");
  REQUIRE_MESSAGE(close != std::string::npos, line);
  operation_.set_type(line.substr(0, open));
  for (const std::string_view part :
       PartsOf(std::string_view(line).substr(open + 1, close - open - 1)))
    AddOperand(part);
  for (const std::string_view part : PartsOf(std::string_view(line).substr(close + 4)))
    *operation_.add_outputs()->mutable_type() = MilTypeOf(part);
  view_.operation = &operation_;
  view_.opset = opset;
  view_.definition = coreml::program::Find(operation_.type(), opset);
  REQUIRE_MESSAGE(view_.definition != nullptr, line);
}

void OperationLine::AddOperand(std::string_view text) {
  const size_t equals = text.find(" =");
  std::string_view declared = Trimmed(text.substr(0, equals));
  const size_t space = std::min(declared.find(' '), declared.size());
  const std::string_view name = names_.emplace_back(declared.substr(0, space));
  declared = Trimmed(declared.substr(space));
  coreml::program::BoundValue value;
  value.is_constant = TakeWord(declared, "const ") || equals != std::string_view::npos;
  value.type = &types_.emplace_back(MilTypeOf(declared.empty() ? "str" : declared));
  if (equals != std::string_view::npos)
    value.constant =
        &constants_.emplace_back(TensorOf(*value.type, Trimmed(text.substr(equals + 2))));
  auto& operands = view_.operands;
  if (operands.empty() || operands.back().name != name) operands.push_back({name, {}});
  operands.back().values.push_back(value);
}

}  // namespace nn::test

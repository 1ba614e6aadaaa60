#include "formats/coreml/program/spec/facts.h"

#include <algorithm>
#include <numeric>

#include "coreml_mil.pb.h"
#include "formats/coreml/program/spec/defaults.h"

namespace nn::coreml::program {

namespace mil = pb::mil;

std::span<const BoundValue> OperationFacts::Values(std::string_view name) const {
  const OperandView* const operand = view_.Operand(name);
  return operand == nullptr ? std::span<const BoundValue>() : std::span(operand->values);
}

const mil::ValueType* OperationFacts::TypeOf(std::string_view name) const {
  const auto values = Values(name);
  return values.empty() ? nullptr : values.front().type;
}

std::optional<Sizes> OperationFacts::SizesOf(std::string_view name) const {
  const mil::ValueType* const type = TypeOf(name);
  return type == nullptr ? std::nullopt : program::SizesOf(*type);
}

std::optional<int64_t> OperationFacts::RankOf(std::string_view name) const {
  const auto sizes = SizesOf(name);
  return sizes ? std::optional(static_cast<int64_t>(sizes->size())) : std::nullopt;
}

std::optional<mil::DataType> OperationFacts::ElementOf(std::string_view name) const {
  const mil::ValueType* const type = TypeOf(name);
  if (type == nullptr || !type->has_tensortype()) return std::nullopt;
  return type->tensortype().datatype();
}

int64_t OperationFacts::SizeOf(std::string_view name, int64_t axis) const {
  const auto sizes = SizesOf(name);
  if (!sizes) return kAnySize;
  const auto rank = static_cast<int64_t>(sizes->size());
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? (*sizes)[static_cast<size_t>(axis)] : kAnySize;
}

const Tensor* OperationFacts::Constant(std::string_view name, int64_t most) const {
  const auto values = Values(name);
  if (values.empty() || values.front().constant == nullptr) return nullptr;
  const Tensor* const constant = values.front().constant;
  return constant->elements() <= most ? constant : nullptr;
}

std::string_view OperationFacts::DefaultOf(std::string_view name) const {
  const spec::Operand* const operand = Has(name) ? nullptr : definition().Input(name);
  return operand == nullptr ? std::string_view() : operand->default_text;
}

std::optional<std::vector<double>> OperationFacts::Doubles(std::string_view name,
                                                           int64_t count) const {
  if (const Tensor* const constant = Constant(name)) {
    if (constant->dtype() == DType::kString) return std::nullopt;
    return constant->ToDoubles();
  }
  if (Has(name)) return std::nullopt;
  const std::string_view text = DefaultOf(name);
  if (text.empty() || count > kMostElements) return std::nullopt;
  return DefaultNumbers(text, static_cast<int>(count));
}

std::optional<std::vector<int64_t>> OperationFacts::Ints(std::string_view name,
                                                         int64_t count) const {
  // Sums of a few numbers within these limits are exact.
  constexpr int64_t kLimit = int64_t{1} << 48;
  std::vector<int64_t> out;
  if (const Tensor* const constant = Constant(name)) {
    if (constant->dtype() == DType::kString) return std::nullopt;
    out = constant->ToInts();
  } else {
    const auto numbers = Doubles(name, count);
    if (!numbers) return std::nullopt;
    out.assign(numbers->begin(), numbers->end());
  }
  for (int64_t& n : out) n = std::clamp(n, -kLimit, kLimit);
  return out;
}

std::optional<int64_t> OperationFacts::Int(std::string_view name) const {
  const auto list = Ints(name);
  return list && list->size() == 1 ? std::optional(list->front()) : std::nullopt;
}

std::optional<bool> OperationFacts::Bool(std::string_view name) const {
  const auto number = Int(name);
  return number ? std::optional(*number != 0) : std::nullopt;
}

bool OperationFacts::IsAnyCase(std::string_view name) const {
  const Constraint* const any_case = definition().Find(Label::kAnyCase);
  return any_case != nullptr &&
         std::ranges::find(any_case->operands, name) != any_case->operands.end();
}

std::optional<std::string> OperationFacts::Text(std::string_view name) const {
  std::string text(DefaultOf(name));
  if (Has(name)) {
    const Tensor* const constant = Constant(name, 1);
    if (constant == nullptr || constant->dtype() != DType::kString || constant->elements() != 1)
      return std::nullopt;
    text = constant->strings()[0];
  }
  if (text.empty() && !Has(name)) return std::nullopt;
  if (IsAnyCase(name))
    for (char& c : text)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::optional<int64_t> OperationFacts::Axis(std::string_view name, int64_t rank) const {
  const auto axis = Int(name);
  if (!axis || *axis < -rank || *axis >= rank) return std::nullopt;
  return *axis < 0 ? *axis + rank : *axis;
}

std::optional<std::vector<int64_t>> OperationFacts::Axes(std::string_view name,
                                                         int64_t rank) const {
  if (!Has(name)) {
    std::vector<int64_t> all(static_cast<size_t>(rank));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  auto axes = Ints(name);
  if (!axes) return std::nullopt;
  for (int64_t& axis : *axes) {
    if (axis < -rank || axis >= rank) return std::nullopt;
    if (axis < 0) axis += rank;
  }
  return axes;
}

size_t OperationFacts::results() const {
  return static_cast<size_t>(operation().outputs_size());
}

const mil::ValueType* OperationFacts::ResultType(size_t i) const {
  return i < results() ? &operation().outputs(static_cast<int>(i)).type() : nullptr;
}

}  // namespace nn::coreml::program

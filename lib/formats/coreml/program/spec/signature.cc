#include "formats/coreml/program/spec/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "formats/common/spec/table.h"
#include "formats/coreml/program/spec/words.h"

namespace nn::coreml::program {
namespace {

static_assert(std::size(kOpsetWords) == kOpsets);

// Of iOS15.
constexpr int kFirstSpecificationVersion = 6;
constexpr std::string_view kOpsetFileNames[kOpsets] = {"CoreML5", "CoreML6", "CoreML7", "CoreML8",
                                                       "CoreML9"};

// "conv" of "coreml/program/spec/conv.spec".
std::string_view StemOf(const spec::Text& text) {
  const std::string_view name = text.file.substr(text.file.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

Constraint ConstraintOf(const spec::Label& label) {
  Constraint c{static_cast<Label>(spec::PositionOf(kLabelWords, label.name)), {}, label.published};
  spec::Cursor in(label.parameters);
  for (in.Skip(); !in.AtEnd(); in.Skip()) {
    c.operands.push_back(in.Word());
    in.Take(',');
  }
  return c;
}

Definition DefinitionFrom(const spec::Row& row, const spec::Text& text) {
  Definition d;
  d.op = row.name;
  d.opset = static_cast<Opset>(row.first_version - 1);
  d.module = row.option.empty() ? StemOf(text) : row.option;
  d.inputs = {row.inputs.begin(), row.inputs.end()};
  d.outputs = {row.outputs.begin(), row.outputs.end()};
  d.output_counts = {row.output_counts.begin(), row.output_counts.end()};
  d.parameters = {row.parameters.begin(), row.parameters.end()};
  d.variables = {row.variables.begin(), row.variables.end()};
  for (const spec::Label& label : row.labels) d.constraints.push_back(ConstraintOf(label));
  return d;
}

struct ByOperation {
  bool operator()(const Definition& a, std::string_view op) const { return a.op < op; }
  bool operator()(std::string_view op, const Definition& a) const { return op < a.op; }
};

}  // namespace

std::string_view NameOf(Opset opset) {
  return kOpsetWords[static_cast<size_t>(opset)];
}

std::string_view FileNameOf(Opset opset) {
  return kOpsetFileNames[static_cast<size_t>(opset)];
}

int SpecificationVersionOf(Opset opset) {
  return kFirstSpecificationVersion + static_cast<int>(opset);
}

std::optional<Opset> OpsetOfTarget(std::string_view target) {
  const int position = spec::PositionOf(kOpsetWords, target);
  return position < 0 ? std::nullopt : std::optional(static_cast<Opset>(position));
}

std::optional<Opset> OpsetNamed(std::string_view file_name) {
  const int position = spec::PositionOf(kOpsetFileNames, file_name);
  return position < 0 ? std::nullopt : std::optional(static_cast<Opset>(position));
}

const spec::Operand* Definition::Input(std::string_view name) const {
  for (const spec::Operand& o : inputs)
    if (o.name == name) return &o;
  return nullptr;
}

const Constraint* Definition::Find(Label label) const {
  for (const Constraint& c : constraints)
    if (c.label == label) return &c;
  return nullptr;
}

spec::TypeBits Definition::TypesOf(const spec::Operand& operand) const {
  if (operand.variable == spec::Operand::kNone) return operand.types;
  return variables[static_cast<size_t>(operand.variable)].types;
}

bool Definition::Takes(const spec::Operand& operand, pb::mil::DataType type) const {
  const spec::TypeBits types = TypesOf(operand);
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i].type == type) return types.Has(static_cast<int>(i));
  return false;
}

std::string Definition::Clause() const {
  return fmt::format("coremltools, {}/{}.py: {}", NameOf(opset), module, op);
}

std::span<const Definition> Definitions() {
  static const std::vector<Definition> definitions = [] {
    std::vector<Definition> list;
    for (const spec::Text& text : SpecTexts())
      spec::EachRow(text.text, kWords,
                    [&](const spec::Row& row) { list.push_back(DefinitionFrom(row, text)); });
    // The rows of an operation are in the order of the opsets.
    std::stable_sort(list.begin(), list.end(),
                     [](const Definition& a, const Definition& b) { return a.op < b.op; });
    return list;
  }();
  return definitions;
}

std::span<const Definition> DefinitionsOf(std::string_view op) {
  const std::span<const Definition> all = Definitions();
  const auto [first, last] = std::equal_range(all.begin(), all.end(), op, ByOperation());
  return {first, last};
}

const Definition* Find(std::string_view op, Opset opset) {
  const Definition* found = nullptr;
  for (const Definition& d : DefinitionsOf(op))
    if (d.opset <= opset) found = &d;
  return found;
}

std::optional<pb::mil::DataType> TypeNamed(std::string_view name) {
  for (const TypeWord& t : kTypes)
    if (t.name == name) return t.type;
  return std::nullopt;
}

}  // namespace nn::coreml::program

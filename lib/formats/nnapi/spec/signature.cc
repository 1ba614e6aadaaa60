#include "formats/nnapi/spec/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "formats/common/spec/table.h"
#include "formats/nnapi/spec/words.h"

namespace nn::nnapi {
namespace {

Argument ArgumentOf(const spec::Operand& o) {
  Argument a{.ranks = o.ranks.range,
             .optional = o.presence != spec::Operand::Presence::kRequired,
             .repeats = o.repeats};
  for (size_t i = 0; i < std::size(kKinds); ++i)
    if (o.types.Has(static_cast<int>(i))) a.kind = kKinds[i].kind;
  return a;
}

Signature SignatureOf(const spec::Row& row) {
  Signature s;
  s.type = *Parse<OperationType>(row.name);
  for (const spec::Variable& data : row.variables)
    for (size_t i = 0; i < std::size(kKinds); ++i)
      if (data.types.Has(static_cast<int>(i))) s.data_types.push_back(*kKinds[i].type);
  for (const spec::Operand& o : row.inputs) s.inputs.push_back(ArgumentOf(o));
  for (const spec::Operand& o : row.outputs) s.outputs.push_back(ArgumentOf(o));
  for (const spec::Label& label : row.labels) s.constraints.push_back(*LabelNamed(label.name));
  return s;
}

const std::vector<Signature>& Signatures() {
  static const std::vector<Signature> signatures = [] {
    std::vector<Signature> list;
    for (const spec::Text& text : SpecTexts())
      spec::EachRow(text.text, kWords,
                    [&](const spec::Row& row) { list.push_back(SignatureOf(row)); });
    return list;
  }();
  return signatures;
}

}  // namespace

std::string_view NameOf(Label label) {
  return kLabelWords.at(static_cast<size_t>(label));
}

std::optional<Label> LabelNamed(std::string_view name) {
  const int position = spec::PositionOf(kLabelWords, name);
  return position < 0 ? std::nullopt : std::optional(static_cast<Label>(position));
}

std::optional<OperandType> TypeOf(const Argument& argument, std::optional<OperandType> data) {
  if (argument.kind == Argument::Kind::kData) return data;
  if (argument.kind == Argument::Kind::kBias)
    return data == OperandType::kTensorQuant8Asymm ? OperandType::kTensorInt32
                                                   : OperandType::kTensorFloat32;
  for (const KindWord& k : kKinds)
    if (k.kind == argument.kind) return k.type;
  return std::nullopt;
}

bool Signature::TakesData(OperandType data) const {
  return std::find(data_types.begin(), data_types.end(), data) != data_types.end();
}

bool Signature::Has(Label label) const {
  return std::find(constraints.begin(), constraints.end(), label) != constraints.end();
}

bool Signature::Takes(size_t count) const {
  for (const Argument& a : inputs)
    if (a.repeats) return count >= inputs.size();
  return count == inputs.size();
}

const Argument& Signature::InputAt(size_t i, size_t count) const {
  if (!inputs.front().repeats) return inputs[i];
  const size_t repeated = count - inputs.size() + 1;
  return i < repeated ? inputs.front() : inputs[i - repeated + 1];
}

std::vector<const Signature*> SignaturesOf(OperationType type) {
  std::vector<const Signature*> found;
  for (const Signature& s : Signatures())
    if (s.type == type) found.push_back(&s);
  return found;
}

std::string InputCounts(OperationType type) {
  std::string counts;
  for (const Signature* s : SignaturesOf(type))
    counts += fmt::format("{}{}{}", counts.empty() ? "" : " or ", s->inputs.size(),
                          s->inputs.front().repeats ? " or more" : "");
  return counts;
}

const Signature* FindSignature(OperationType type, size_t inputs) {
  for (const Signature& s : Signatures())
    if (s.type == type && s.Takes(inputs)) return &s;
  return nullptr;
}

}  // namespace nn::nnapi

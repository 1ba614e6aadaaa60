#include "formats/coreml/program/spec/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text/text.h"
#include "coreml_mil.pb.h"
#include "formats/common/spec/cursor.h"
#include "formats/coreml/program/spec/constraint.h"
#include "formats/coreml/program/spec/defaults.h"
#include "formats/coreml/program/spec/words.h"

namespace nn::coreml::program {
namespace {

namespace mil = pb::mil;
using About = Misfit::About;
using Presence = spec::Operand::Presence;

// "fp16, fp32 or int32".
std::string NamesOf(spec::TypeBits types) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (types.Has(static_cast<int>(i))) names.push_back(kTypes[i].name);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

bool HasType(spec::TypeBits types, mil::DataType type) {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i].type == type) return types.Has(static_cast<int>(i));
  return false;
}

// The types of words and groups: "str i64", "ANY17".
spec::TypeBits TypesIn(std::string_view text) {
  spec::TypeBits types;
  spec::Cursor in(text);
  for (in.Skip(); !in.AtEnd(); in.Skip()) {
    const std::string_view word = in.Word();
    if (word.empty()) break;
    for (const spec::TypeGroup& group : kTypeGroups)
      if (group.name == word) types.Add(group.members);
    if (const int type = spec::PositionOf(kTypeWords, word); type >= 0) types.Add(type);
  }
  return types;
}

// What a row encloses: "seq" and "ANY" of "seq(ANY)".
struct Enclosed {
  std::string_view around;  // "" if types are not enclosed
  std::string_view inside;

  explicit Enclosed(std::string_view text) {
    const size_t open = text.find('(');
    if (open == std::string_view::npos) return;
    around = text.substr(0, open);
    inside = text.substr(open + 1, text.find(')') - open - 1);
  }
};

// What a list or state contains; nullptr if it is neither.
const mil::ValueType* ContentsOf(const mil::ValueType& type) {
  if (type.has_listtype()) return &type.listtype().type();
  return type.has_statetype() ? &type.statetype().wrappedtype() : nullptr;
}

// Checks an operation against the row of its definition.
class RowCheck {
 public:
  RowCheck(const OperationFacts& facts, std::vector<Misfit>& out)
      : facts_(facts), definition_(facts.definition()), out_(out) {}

  void Inputs();
  void Operands();
  void Results();

 private:
  template <typename... Args>
  void Add(About about, bool published, fmt::format_string<Args...> format, Args&&... args) {
    out_.push_back(
        {about, std::nullopt, published, fmt::format(format, std::forward<Args>(args)...)});
  }

  void Presences();
  void Blocks();
  void TypesOf(const spec::Operand& operand, const BoundValue& value, const std::string& title);
  void EnclosedTypes(const spec::Operand& operand, const mil::ValueType& type,
                     const std::string& title, About about);
  void Variables();
  // Type inference does not see defaults, and coremltools writes them as fp32.
  bool IsDefault(const spec::Operand& operand) const;
  void Alike(const spec::Operand& operand);
  std::optional<int64_t> RankFrom(const spec::RankRule& rule) const;
  void RankOf(const spec::RankRule& rule, bool published, const mil::ValueType& type,
              const std::string& title, About about);
  void ElementsOf(const spec::Operand& operand);
  void ChoicesOf(const spec::Operand& operand);
  void ResultCount();
  void ResultType(const spec::Operand& operand, const mil::ValueType& type,
                  const std::string& title);
  // The element type that a result has; nullopt if it is not known.
  std::optional<mil::DataType> TypeOfResult(const spec::Operand& operand) const;
  std::optional<mil::DataType> GivenType(const spec::Operand& operand) const;
  // Of the first given input that has the variable.
  std::optional<mil::DataType> VariableType(int variable) const;

  const OperationFacts& facts_;
  const Definition& definition_;
  std::vector<Misfit>& out_;
};

// ---- Which inputs -------------------------------------------------------------------------------

void RowCheck::Inputs() {
  std::set<std::string_view> seen;
  for (const OperandView& operand : facts_.view().operands) {
    if (definition_.Input(operand.name) == nullptr)
      Add(About::kInputs, false, "there is no input {}", Quote(operand.name));
    else if (!seen.insert(operand.name).second)
      Add(About::kInputs, false, "input {} is given twice", operand.name);
  }
  Presences();
  Blocks();
}

void RowCheck::Presences() {
  for (const spec::Operand& input : definition_.inputs) {
    const OperandView* const given = facts_.view().Operand(input.name);
    const bool is_required = input.presence == Presence::kRequired;
    if (given == nullptr) {
      if (is_required) Add(About::kInputs, false, "input {} is missing", input.name);
    } else if (!input.repeats && given->values.size() != 1) {
      Add(About::kInputs, false, "input {} has {} values instead of 1", input.name,
          given->values.size());
    } else if (input.repeats && is_required && given->values.empty()) {
      Add(About::kInputs, false, "input {} has no values", input.name);
    }
  }
}

void RowCheck::Blocks() {
  int blocks = 0;
  for (const spec::Parameter& p : definition_.parameters) blocks += p.kind == "block" ? 1 : 0;
  if (facts_.operation().blocks_size() != blocks)
    Add(About::kInputs, false, "it has {} blocks instead of {}", facts_.operation().blocks_size(),
        blocks);
}

// ---- Types, ranks and values of inputs ----------------------------------------------------------

void RowCheck::Operands() {
  for (const spec::Operand& input : definition_.inputs) {
    const auto values = facts_.Values(input.name);
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string title = values.size() == 1 ? fmt::format("input {}", input.name)
                                                   : fmt::format("input {}[{}]", input.name, i);
      if (input.constant && !values[i].is_constant && values[i].constant == nullptr)
        Add(About::kOperand, false, "{} is not a constant", title);
      if (values[i].type != nullptr) TypesOf(input, values[i], title);
    }
    Alike(input);
    ElementsOf(input);
    ChoicesOf(input);
  }
  Variables();
}

void RowCheck::TypesOf(const spec::Operand& operand, const BoundValue& value,
                       const std::string& title) {
  const mil::ValueType& type = *value.type;
  if (!Enclosed(operand.type_text).around.empty())
    return EnclosedTypes(operand, type, title, About::kOperand);
  RankOf(operand.ranks, false, type, title, About::kOperand);
  RankOf(operand.published_ranks, true, type, title, About::kOperand);
  const spec::TypeBits types = definition_.TypesOf(operand);
  if (types.empty()) return;
  if (!type.has_tensortype())
    Add(About::kOperand, false, "{} is {}, not a tensor", title, TextOf(type));
  else if (!HasType(types, type.tensortype().datatype()))
    Add(About::kOperand, false, "{} is {} instead of {}", title,
        TextOf(type.tensortype().datatype()), NamesOf(types));
}

void RowCheck::EnclosedTypes(const spec::Operand& operand, const mil::ValueType& type,
                             const std::string& title, About about) {
  const Enclosed enclosed(operand.type_text);
  if (enclosed.around == "map") {
    if (!type.has_dictionarytype())
      Add(about, false, "{} is {}, not a dictionary", title, TextOf(type));
    return;
  }
  const bool is_list = enclosed.around == "seq";
  if (is_list ? !type.has_listtype() : !type.has_statetype())
    return Add(about, false, "{} is {}, not a {}", title, TextOf(type), is_list ? "list" : "state");
  const mil::ValueType& inside = *ContentsOf(type);
  const spec::TypeBits types = TypesIn(enclosed.inside);
  if (inside.has_tensortype() && !HasType(types, inside.tensortype().datatype()))
    Add(about, false, "{} is {}; it may contain {}", title, TextOf(type), NamesOf(types));
}

// Inputs of one variable have one type.
void RowCheck::Variables() {
  for (int v = 0; v < static_cast<int>(definition_.variables.size()); ++v) {
    std::string_view first;
    for (const spec::Operand& input : definition_.inputs) {
      if (input.variable != v) continue;
      const auto type = facts_.ElementOf(input.name);
      if (!type || IsDefault(input)) continue;
      if (first.empty()) first = input.name;
      if (const auto other = facts_.ElementOf(first); *type != *other)
        Add(About::kOperand, false, "input {} is {}, but input {} is {}", input.name, TextOf(*type),
            first, TextOf(*other));
    }
  }
}

bool RowCheck::IsDefault(const spec::Operand& operand) const {
  const auto number = DefaultNumber(operand.default_text);
  const Tensor* const constant = facts_.Constant(operand.name, 1);
  return number && constant != nullptr && constant->dtype() == DType::kF32 &&
         constant->elements() == 1 &&
         static_cast<float>(constant->GetDouble(0)) == static_cast<float>(*number);
}

void RowCheck::Alike(const spec::Operand& operand) {
  if (operand.same_as == spec::Operand::kNone) return;
  const std::string_view like = definition_.inputs[static_cast<size_t>(operand.same_as)].name;
  const auto type = facts_.ElementOf(operand.name), other = facts_.ElementOf(like);
  if (type && other && *type != *other)
    Add(About::kOperand, false, "input {} is {}, but input {} is {}", operand.name, TextOf(*type),
        like, TextOf(*other));
}

std::optional<int64_t> RowCheck::RankFrom(const spec::RankRule& rule) const {
  if (rule.like == spec::RankRule::kNone) return std::nullopt;
  if (rule.like >= 0) {
    const spec::Operand& like = definition_.inputs[static_cast<size_t>(rule.like)];
    const auto rank = facts_.RankOf(like.name);
    // Scalars are joined to a vector.
    const bool joins_scalars = like.repeats && rule.more == 0 && rank == 0;
    return rank && !joins_scalars ? std::optional(*rank + rule.more) : std::nullopt;
  }
  int64_t largest = 0;
  for (const spec::Operand& input : definition_.inputs) {
    if (!facts_.Has(input.name)) continue;
    const auto rank = facts_.RankOf(input.name);
    if (!rank) return std::nullopt;
    largest = std::max(largest, *rank);
  }
  return largest + rule.more;
}

void RowCheck::RankOf(const spec::RankRule& rule, bool published, const mil::ValueType& type,
                      const std::string& title, About about) {
  const auto sizes = SizesOf(type);
  if (!sizes) return;
  const auto rank = static_cast<int64_t>(sizes->size());
  const auto want = RankFrom(rule);
  if (!rule.range.Has(rank))
    Add(about, published, "{} has rank {} instead of {}", title, rank, rule.range.ToString());
  else if (want && *want != rank)
    Add(about, published, "{} has rank {} instead of {}", title, rank, *want);
}

void RowCheck::ElementsOf(const spec::Operand& operand) {
  const auto sizes = facts_.SizesOf(operand.name);
  if (!sizes) return;
  const int64_t elements = ElementsIn(*sizes);
  int64_t want = operand.elements;
  const spec::ElementRule& rule = operand.element_rule;
  if (rule.like != spec::RankRule::kNone) {
    const auto rank = facts_.RankOf(definition_.inputs[static_cast<size_t>(rule.like)].name);
    want = rank ? rule.times * *rank + rule.more : spec::Operand::kNone;
  }
  if (want >= 0 && !MayEqual(elements, want))
    Add(About::kOperand, false, "input {} has {} elements instead of {}", operand.name, elements,
        want);
}

// The choices of lists are in the vocabulary.
void RowCheck::ChoicesOf(const spec::Operand& operand) {
  if (operand.choices.empty() || !facts_.Has(operand.name)) return;
  const auto text = facts_.Text(operand.name);
  if (!text) return;
  std::string_view rest = operand.choices;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('|'), rest.size());
    if (rest.substr(0, end) == *text) return;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto names_it = [&](const Constraint& c) {
    return c.label == Label::kKnownValue && c.published &&
           std::ranges::find(c.operands, operand.name) != c.operands.end();
  };
  std::string choices(operand.choices);
  std::ranges::replace(choices, '|', ' ');
  Add(About::kOperand, std::ranges::any_of(definition_.constraints, names_it),
      "input {} is {}, which is none of {}", operand.name, Quote(*text), choices);
}

// ---- Results ------------------------------------------------------------------------------------

void RowCheck::Results() {
  ResultCount();
  for (size_t i = 0; i < facts_.results(); ++i) {
    const bool repeats = !definition_.outputs.empty() && definition_.outputs.back().repeats;
    if (i >= definition_.outputs.size() && !repeats) return;
    const spec::Operand& output = definition_.outputs[std::min(i, definition_.outputs.size() - 1)];
    const mil::ValueType& type = *facts_.ResultType(i);
    const std::string title = fmt::format("result {}", i);
    if (type.type_case() == mil::ValueType::TYPE_NOT_SET)
      Add(About::kResult, false, "{} has no type", title);
    else
      ResultType(output, type, title);
  }
}

void RowCheck::ResultCount() {
  const auto count = static_cast<int>(facts_.results());
  const auto outputs = static_cast<int>(definition_.outputs.size());
  const std::vector<int>& counts = definition_.output_counts;
  const bool repeats = outputs > 0 && definition_.outputs.back().repeats;
  if (!counts.empty() && std::ranges::find(counts, count) == counts.end())
    Add(About::kResult, false, "it has {} results instead of {} or {}", count, counts.front(),
        counts.back());
  else if (counts.empty() && count != outputs && !repeats)
    Add(About::kResult, false, "it has {} results instead of {}", count, outputs);
}

void RowCheck::ResultType(const spec::Operand& operand, const mil::ValueType& type,
                          const std::string& title) {
  if (!Enclosed(operand.type_text).around.empty())
    return EnclosedTypes(operand, type, title, About::kResult);
  if (type.has_tensortype() && type.tensortype().rank() >= 0 &&
      type.tensortype().rank() != type.tensortype().dimensions_size())
    Add(About::kResult, false, "{} has rank {}, but {} dimensions", title, type.tensortype().rank(),
        type.tensortype().dimensions_size());
  RankOf(operand.ranks, false, type, title, About::kResult);
  RankOf(operand.published_ranks, true, type, title, About::kResult);
  const spec::TypeBits types = definition_.TypesOf(operand);
  const auto want = TypeOfResult(operand);
  if (!want && types.empty()) return;
  if (!type.has_tensortype())
    return Add(About::kResult, false, "{} is {}, not a tensor", title, TextOf(type));
  const mil::DataType is = type.tensortype().datatype();
  if (want && is != *want)
    Add(About::kResult, false, "{} is {} instead of {}", title, TextOf(is), TextOf(*want));
  else if (!want && !HasType(types, is))
    Add(About::kResult, false, "{} is {} instead of {}", title, TextOf(is), NamesOf(types));
}

std::optional<mil::DataType> RowCheck::TypeOfResult(const spec::Operand& operand) const {
  if (operand.given_type != spec::Operand::kNone)
    return kTypes[static_cast<size_t>(operand.given_type)].type;
  if (operand.given_by != spec::Operand::kNone) return GivenType(operand);
  if (operand.same_as != spec::Operand::kNone)
    return facts_.ElementOf(definition_.inputs[static_cast<size_t>(operand.same_as)].name);
  return operand.variable == spec::Operand::kNone ? std::nullopt : VariableType(operand.variable);
}

std::optional<mil::DataType> RowCheck::GivenType(const spec::Operand& operand) const {
  const std::string_view by = definition_.inputs[static_cast<size_t>(operand.given_by)].name;
  if (operand.giving == spec::Operand::Giving::kNamed) {
    const auto name = facts_.Text(by);
    return name ? TypeNamed(*name) : std::nullopt;
  }
  if (operand.giving == spec::Operand::Giving::kType) return facts_.ElementOf(by);
  const mil::ValueType* const type = facts_.TypeOf(by);
  const mil::ValueType* const inside = type == nullptr ? nullptr : ContentsOf(*type);
  if (inside == nullptr || !inside->has_tensortype()) return std::nullopt;
  return inside->tensortype().datatype();
}

std::optional<mil::DataType> RowCheck::VariableType(int variable) const {
  for (const spec::Operand& input : definition_.inputs)
    if (input.variable == variable)
      if (const auto type = facts_.ElementOf(input.name)) return type;
  return std::nullopt;
}

}  // namespace

const OperandView* OperationView::Operand(std::string_view name) const {
  const auto it = std::ranges::find(operands, name, &OperandView::name);
  return it == operands.end() ? nullptr : &*it;
}

std::vector<Misfit> MisfitsOf(const OperationView& at) {
  std::vector<Misfit> out;
  const OperationFacts facts(at);
  RowCheck row(facts, out);
  row.Inputs();
  row.Operands();
  row.Results();
  for (const Constraint& constraint : at.definition->constraints)
    if (const ConstraintRow* const check = RowOf(constraint.label))
      check->check(ConstraintAt(facts, constraint, out));
  return out;
}

std::optional<std::string> WhyNotFit(const OperationView& at) {
  for (const Misfit& m : MisfitsOf(at))
    if (!m.published) return m.text;
  return std::nullopt;
}

}  // namespace nn::coreml::program

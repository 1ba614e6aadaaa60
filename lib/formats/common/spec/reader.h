// Reads rows of specifications (row.h), while compiling and at run time.
#pragma once

#include <cstddef>
#include <string_view>

#include "formats/common/spec/cursor.h"
#include "formats/common/spec/row.h"

namespace nn::spec {

// What is wrong with a text, and where. An object without a fault has line 0. The members are
// arrays so that a compiler prints them.
struct Fault {
  int line = 0;
  char what[48] = {};
  char word[48] = {};

  constexpr Fault() = default;
  constexpr Fault(int at, std::string_view reason, std::string_view culprit) : line(at) {
    for (size_t i = 0; i < reason.size() && i + 1 < sizeof(what); ++i) what[i] = reason[i];
    for (size_t i = 0; i < culprit.size() && i + 1 < sizeof(word); ++i) word[i] = culprit[i];
  }
};

// Reads the rows of a text one by one.
class Reader {
 public:
  constexpr Reader(std::string_view text, const Vocabulary& words) : rows_(text), words_(words) {}

  // The next row; false at the end and if there is a fault.
  constexpr bool Next(Row& row);
  constexpr const Fault& fault() const { return fault_; }

 private:
  constexpr bool Parse(Cursor& in, Row& row);
  constexpr bool Versions(Cursor& in, Row& row);
  constexpr int Version(Cursor& in) const;
  constexpr bool Option(Cursor& in, Row& row);
  constexpr bool Counts(Cursor& in, Row& row);
  constexpr bool OperandsOf(Cursor& in, const Operands& inputs, Operands& list);
  constexpr bool Marks(Cursor& in, const Operands& inputs, Operand& o);
  constexpr bool Default(Cursor& in, Operand& o);
  constexpr bool DefaultFits(const Operand& o);
  constexpr bool Choices(Cursor& in, Operand& o);
  constexpr bool Elements(Cursor& in, const Operands& inputs, Operand& o);
  constexpr bool Types(Cursor& in, char end, Operand& o);
  constexpr bool TypeList(std::string_view text, TypeBits& types, TypeBits* scaled);
  constexpr bool AddType(std::string_view word, TypeBits& types);
  constexpr bool Given(Cursor& in, const Operands& inputs, Operand& o);
  constexpr bool Ranks(Cursor& in, const Operands& inputs, RankRule& rule);
  constexpr bool Input(std::string_view name, const Operands& inputs, int& position);
  constexpr bool Parameters(Cursor& in, Row& row);
  constexpr bool Values(Cursor& in, Parameter& p);
  constexpr bool Variables(Cursor& in, Row& row);
  constexpr bool Labels(Cursor& in, Row& row);
  constexpr bool LabelParameters(Cursor& in, const Row& row, Label& label);
  constexpr bool Resolve(const Row& row, Operands& list);
  constexpr bool Follows(const Row& row);

  constexpr bool Fail(std::string_view what, std::string_view culprit) {
    if (fault_.line == 0) fault_ = Fault(rows_.line(), what, culprit.substr(0, culprit.find('\n')));
    return false;
  }

  Rows rows_;
  Vocabulary words_;
  Fault fault_;
  // The row before.
  std::string_view last_name_;
  int last_version_ = 0;
  Range last_count_;
};

constexpr bool Reader::Next(Row& row) {
  if (fault_.line != 0 || rows_.Next().empty()) return false;
  Cursor in(rows_.row());
  row.Clear();
  return Parse(in, row) && Follows(row);
}

constexpr bool Reader::Parse(Cursor& in, Row& row) {
  row.name = in.Word();
  if (row.name.empty() || (!words_.operators.empty() && PositionOf(words_.operators, row.name) < 0))
    return Fail("unknown operator", row.name.empty() ? in.Rest() : row.name);
  if (!Versions(in, row)) return false;
  in.Skip();
  if (in.Take("deprecated")) {
    row.deprecated = true;
  } else {
    if (!Option(in, row) || !OperandsOf(in, row.inputs, row.inputs)) return false;
    in.Skip();
    if (!in.Take("->")) return Fail("-> expected", in.Rest());
    in.Skip();
    if (!Counts(in, row) || !OperandsOf(in, row.inputs, row.outputs) || !Parameters(in, row) ||
        !Variables(in, row) || !Labels(in, row) || !Resolve(row, row.inputs) ||
        !Resolve(row, row.outputs))
      return false;
  }
  in.Skip();
  return in.AtEnd() || Fail("end of the row expected", in.Rest());
}

constexpr bool Reader::Versions(Cursor& in, Row& row) {
  in.Skip();
  if (in.Take("none")) return true;
  row.first_version = Version(in);
  row.last_version = in.Take('+') ? -1 : in.Take('-') ? Version(in) : row.first_version;
  const bool open = row.last_version == -1 && !in.Rest().starts_with('-');
  if (row.first_version < 1 || (!open && row.last_version < row.first_version) ||
      IsWordChar(in.Peek()))
    return Fail("versions expected", in.Rest());
  return true;
}

// -1 if there is none.
constexpr int Reader::Version(Cursor& in) const {
  if (words_.versions.empty()) return in.Number();
  const int position = PositionOf(words_.versions, in.Word());
  return position < 0 ? -1 : position + 1;
}

constexpr bool Reader::Option(Cursor& in, Row& row) {
  in.Skip();
  row.option = in.Word();
  if (!row.option.empty() && PositionOf(words_.options, row.option) < 0)
    return Fail("unknown option", row.option);
  row.needs_option = !row.option.empty() && in.Take('!');
  in.Skip();
  return true;
}

// "1|5" before the outputs.
constexpr bool Reader::Counts(Cursor& in, Row& row) {
  while (in.Peek() != '(') {
    const int count = in.Number();
    if (count < 0 || row.output_counts.full()) return Fail("number of outputs expected", in.Rest());
    row.output_counts.Add() = count;
    if (!in.Take('|')) break;
  }
  if (row.output_counts.size() == 1) return Fail("numbers of outputs expected", in.Rest());
  in.Skip();
  return true;
}

constexpr bool Reader::OperandsOf(Cursor& in, const Operands& inputs, Operands& list) {
  if (!in.Take('(')) return Fail("( expected", in.Rest());
  if (in.Take(')')) return true;
  do {
    in.Skip();
    const std::string_view name = in.Word();
    if (name.empty()) return Fail("operand expected", in.Rest());
    for (const Operand& other : list)
      if (IsSame(other.name, name)) return Fail("operand listed twice", name);
    if (list.full()) return Fail("too many operands", name);
    Operand& o = list.Add();
    o.name = name;
    if (!Marks(in, inputs, o) || !DefaultFits(o)) return false;
  } while (in.Take(','));
  return in.Take(')') || Fail("unknown mark of an operand", in.Rest());
}

constexpr bool Reader::Marks(Cursor& in, const Operands& inputs, Operand& o) {
  using Presence = Operand::Presence;
  bool good = true;
  while (good) {
    if (in.Take('?')) {
      o.presence = Presence::kOptional;
      good = !in.Take('(') || Default(in, o);
    } else if (in.Take('!')) {
      o.constant = true;
    } else if (in.Take('"')) {
      good = Choices(in, o);
    } else if (in.Take('~')) {
      o.presence = Presence::kNullable;
    } else if (in.Take('*')) {
      o.repeats = true;
      o.presence = Presence::kOptional;
      o.own_types = in.Take('*');
    } else if (in.Take('+')) {
      o.repeats = true;
      o.own_types = in.Take('+');
    } else if (in.Take('[')) {
      good = Types(in, ']', o);
    } else if (in.Take('{')) {
      o.checked_late = true;
      good = Types(in, '}', o);
    } else if (in.Take('%')) {
      o.symmetric = true;
    } else if (in.Take('=')) {
      o.same_name = in.Word();
      good = !o.same_name.empty() || Fail("name expected after =", in.Rest());
    } else if (in.Take(':')) {
      good = Input(in.Word(), inputs, o.expected);
    } else if (in.Take('<')) {
      good = Given(in, inputs, o);
    } else if (in.Take("@@")) {
      good = Ranks(in, inputs, o.published_ranks);
    } else if (in.Take('@')) {
      good = Ranks(in, inputs, o.ranks);
    } else if (in.Take('#')) {
      good = Elements(in, inputs, o);
    } else {
      break;
    }
  }
  return good;
}

// What follows "(".
constexpr bool Reader::Default(Cursor& in, Operand& o) {
  o.default_text = in.Until(')', '\n');
  return in.Take(')') || Fail("default without an end", o.default_text);
}

// The default is known after the choices.
constexpr bool Reader::DefaultFits(const Operand& o) {
  for (Cursor in(o.default_text); !in.AtEnd(); in.Take(' ')) {
    std::string_view word = in.Until(' ', ' ');
    if (word.ends_with("...") && in.AtEnd()) word.remove_suffix(3);
    const bool known = o.choices.empty() ? IsNumber(word) || PositionOf(words_.defaults, word) >= 0
                                         : HasChoice(o.choices, word);
    if (!known) return Fail("unknown default", word);
  }
  return true;
}

// What follows the first quotation mark.
constexpr bool Reader::Choices(Cursor& in, Operand& o) {
  const std::string_view rest = in.Rest();
  size_t size = 0;
  do {
    const std::string_view word = in.Word();
    if (word.empty()) return Fail("value expected", in.Rest());
    if (HasChoice(rest.substr(0, size), word)) return Fail("value listed twice", word);
    size = rest.size() - in.Rest().size();
  } while (in.Take('|'));
  o.choices = rest.substr(0, size);
  for (const ChoiceList& list : words_.choices)
    if (IsSame(list.name, o.choices)) o.choices = list.choices;
  return in.Take('"') || Fail("\" expected", in.Rest());
}

// What follows "#".
constexpr bool Reader::Elements(Cursor& in, const Operands& inputs, Operand& o) {
  if (!in.Take('=')) {
    o.elements = in.Number();
    return o.elements >= 0 || Fail("number of elements expected", in.Rest());
  }
  ElementRule& rule = o.element_rule;
  if (const int times = in.Number(); times > 0) rule.times = times;
  if (!Input(in.Word(), inputs, rule.like)) return false;
  if (in.Take('-')) rule.more = -in.Number();
  return rule.more <= 0 || Fail("number expected", in.Rest());
}

constexpr bool Reader::Types(Cursor& in, char end, Operand& o) {
  o.type_text = in.Until(end, end);
  if (!in.Take(end)) return Fail("types without an end", o.type_text);
  return TypeList(o.type_text, o.types, &o.scaled);
}

// `scaled`: null if no type can require a scale.
constexpr bool Reader::TypeList(std::string_view text, TypeBits& types, TypeBits* scaled) {
  bool any = false;
  const std::string_view bad = EachType(text, [&](std::string_view around, std::string_view word) {
    any = true;
    TypeBits enclosed;
    if (!around.empty()) return AddType(word, enclosed);
    if (scaled != nullptr && word.ends_with('q') && PositionOf(words_.types, word) < 0) {
      word.remove_suffix(1);
      if (!AddType(word, *scaled)) return false;
    }
    return AddType(word, types);
  });
  if (!bad.empty()) return Fail("unknown type", bad);
  return any || Fail("no types", text);
}

constexpr bool Reader::AddType(std::string_view word, TypeBits& types) {
  if (const int type = PositionOf(words_.types, word); type >= 0) {
    types.Add(type);
    return true;
  }
  for (const TypeGroup& group : words_.groups)
    if (IsSame(group.name, word)) {
      types.Add(group.members);
      return true;
    }
  return false;
}

constexpr bool Reader::Input(std::string_view name, const Operands& inputs, int& position) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (IsSame(inputs[i].name, name)) {
      position = static_cast<int>(i);
      return true;
    }
  return Fail("no such input", name);
}

constexpr bool Reader::Given(Cursor& in, const Operands& inputs, Operand& o) {
  const std::string_view name = in.Word();
  if (in.Take('(')) {
    if (name != "named" && name != "element") return Fail("named or element expected", name);
    o.giving = name == "named" ? Operand::Giving::kNamed : Operand::Giving::kElement;
    return Input(in.Word(), inputs, o.given_by) && (in.Take(')') || Fail(") expected", in.Rest()));
  }
  o.given_type = PositionOf(words_.types, name);
  return o.given_type >= 0 || Input(name, inputs, o.given_by);
}

constexpr bool Reader::Ranks(Cursor& in, const Operands& inputs, RankRule& rule) {
  if (in.Take('=')) {
    const std::string_view name = in.Word();
    if (name == "largest") {
      rule.like = RankRule::kLargest;
      return true;
    }
    if (in.Take('+')) rule.more = in.Number();
    if (rule.more < 0) return Fail("number expected", in.Rest());
    return Input(name, inputs, rule.like);
  }
  const int low = in.Number();
  if (low < 0) return Fail("rank expected", in.Rest());
  rule.range = low;
  rule.range.ends_only = in.Take('/');
  if (rule.range.ends_only || in.Take('-')) rule.range.high = in.Number();
  const bool bad = rule.range.high < 0 ? rule.range.ends_only : rule.range.high < low;
  return !bad || Fail("ranks expected", in.Rest());
}

constexpr bool Reader::Parameters(Cursor& in, Row& row) {
  for (in.Skip(); IsWordChar(in.Peek()) || in.Peek() == '.'; in.Skip()) {
    if (in.Take("...")) {
      row.open_parameters = true;
      continue;
    }
    const std::string_view name = in.Word();
    for (const Parameter& other : row.parameters)
      if (IsSame(other.name, name)) return Fail("parameter listed twice", name);
    if (row.parameters.full()) return Fail("too many parameters", name);
    Parameter& p = row.parameters.Add();
    p.name = name;
    p.required = in.Take('!');
    if (!in.Take(':')) return Fail("kind of parameter expected", name);
    p.kind = in.Word();
    if (PositionOf(words_.kinds, p.kind) < 0) return Fail("unknown kind of parameter", p.kind);
    if (in.Take('{') && !Values(in, p)) return false;
  }
  return true;
}

// What follows "{".
constexpr bool Reader::Values(Cursor& in, Parameter& p) {
  if (in.Take("unique")) {
    p.unique = true;
    return in.Take('}') || Fail("} expected", in.Rest());
  }
  Cursor numbers = in;
  const bool negative = numbers.Take('-');
  const int least = numbers.Number();
  if (least >= 0 && numbers.Take('-')) {
    p.has_range = true;
    p.least = negative ? -least : least;
    const int most = numbers.Number();
    p.most = most < 0 ? p.least - 1 : most;
    if (most >= 0 && most < p.least) return Fail("range expected", in.Rest());
    in = numbers;
    return in.Take('}') || Fail("} expected", in.Rest());
  }
  const std::string_view rest = in.Rest();
  size_t size = 0;
  do {
    in.Skip();
    if (in.Word().empty()) return Fail("value expected", in.Rest());
    size = rest.size() - in.Rest().size();
  } while (in.Take(','));
  p.choices = rest.substr(0, size);
  return in.Take('}') || Fail("} expected", in.Rest());
}

constexpr bool Reader::Variables(Cursor& in, Row& row) {
  for (in.Skip(); in.Take('|'); in.Skip()) {
    in.Skip();
    const std::string_view name = in.Word();
    if (name.empty() || !in.Take('=')) return Fail("type variable expected", in.Rest());
    for (const Variable& other : row.variables)
      if (IsSame(other.name, name)) return Fail("type variable listed twice", name);
    if (row.variables.full()) return Fail("too many type variables", name);
    Variable& v = row.variables.Add();
    v.name = name;
    v.type_text = in.Until('|', ';');
    if (!TypeList(v.type_text, v.types, nullptr)) return false;
  }
  return true;
}

constexpr bool Reader::Labels(Cursor& in, Row& row) {
  in.Skip();
  if (!in.Take(';')) return true;
  bool published = in.Take(';');
  for (in.Skip(); IsWordChar(in.Peek()) || (!published && in.Peek() == ';'); in.Skip()) {
    if (in.Take(';')) {
      published = in.Take(';');
      in.Skip();
      if (!published || !IsWordChar(in.Peek())) return Fail("published labels expected", in.Rest());
    }
    Label label{in.Word(), {}, published};
    if (PositionOf(words_.labels, label.name) < 0) return Fail("unknown label", label.name);
    if (in.Take('(') && !LabelParameters(in, row, label)) return false;
    for (const Label& other : row.labels)
      if (IsSame(other.name, label.name) && IsSame(other.parameters, label.parameters))
        return Fail("label listed twice", label.name);
    if (row.labels.full()) return Fail("too many labels", label.name);
    row.labels.Add() = label;
  }
  return !row.labels.empty() || Fail("no labels", row.name);
}

// What follows "(".
constexpr bool Reader::LabelParameters(Cursor& in, const Row& row, Label& label) {
  const std::string_view rest = in.Rest();
  size_t size = 0;
  do {
    in.Skip();
    const std::string_view name = in.Word();
    bool found = false;
    for (const Parameter& p : row.parameters) found = found || IsSame(p.name, name);
    for (const Operand& o : row.inputs) found = found || IsSame(o.name, name);
    if (!found) return Fail("no such parameter", name);
    size = rest.size() - in.Rest().size();
  } while (in.Take(','));
  label.parameters = rest.substr(0, size);
  return in.Take(')') || Fail(") expected", in.Rest());
}

// Finds what the names after "=" mean: a type variable, or else an input.
constexpr bool Reader::Resolve(const Row& row, Operands& list) {
  for (size_t n = 0; n < list.size(); ++n) {
    Operand& o = list[n];
    if (o.same_name.empty()) continue;
    for (size_t i = 0; i < row.variables.size(); ++i)
      if (IsSame(row.variables[i].name, o.same_name)) o.variable = static_cast<int>(i);
    if (o.variable == Operand::kNone && !Input(o.same_name, row.inputs, o.same_as)) return false;
  }
  return true;
}

// Compares the row with the one before.
constexpr bool Reader::Follows(const Row& row) {
  const Range count = CountOf(row.inputs);
  if (IsSame(row.name, last_name_) &&
      (row.first_version < last_version_ ||
       (row.first_version == last_version_ && count == last_count_)))
    return Fail("versions out of order, or listed twice", row.name);
  last_name_ = row.name;
  last_version_ = row.first_version;
  last_count_ = count;
  return true;
}

}  // namespace nn::spec

#include "rewrite/rules/formula.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <utility>

#include "base/text/from_chars.h"
#include "ir/op_def.h"
#include "rewrite/rules/formula_parts.h"

namespace nn {
namespace {

using Expression = Formula::Expression;
using Kind = Expression::Kind;

struct Infix {
  std::string_view symbol, op;
};
// By precedence, the weakest first; of one precedence, longer symbols first.
constexpr Infix kComparisonSigns[] = {{"<=", "less_equal"}, {">=", "greater_equal"},
                                      {"==", "equal"},      {"!=", "not_equal"},
                                      {"<", "less"},        {">", "greater"}};
constexpr Infix kSums[] = {{"+", "add"}, {"-", "sub"}};
constexpr Infix kProducts[] = {{"*", "mul"}, {"/", "div"}};
constexpr std::span<const Infix> kInfix[] = {kComparisonSigns, kSums, kProducts};

std::optional<double> NamedNumber(std::string_view name) {
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "pi") return std::numbers::pi;
  if (name == "lowest") return std::numeric_limits<float>::lowest();
  if (name == "largest") return std::numeric_limits<float>::max();
  if (name == "least_normal") return std::numeric_limits<float>::min();
  return std::nullopt;
}

bool IsTypeName(std::string_view name) {
  return name == "float" || name == "integer" || ParseDType(name).has_value();
}

bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

Expression NumberExpression(double number) {
  Expression out;
  out.number = number;
  out.is_number = true;
  return out;
}

}  // namespace

namespace {

// What operators with numbers as operands are.
struct NumberRow {
  std::string_view op;
  size_t operands;
  double (*of)(double a, double b);
  bool compares = false;
};
constexpr NumberRow kNumberRows[] = {
    {"neg", 1, [](double a, double) { return -a; }},
    {"abs", 1, [](double a, double) { return std::fabs(a); }},
    {"add", 2, [](double a, double b) { return a + b; }},
    {"sub", 2, [](double a, double b) { return a - b; }},
    {"mul", 2, [](double a, double b) { return a * b; }},
    {"div", 2, [](double a, double b) { return a / b; }},
    {"less", 2, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {"less_equal", 2, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {"greater", 2, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {"greater_equal", 2, [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"equal", 2, [](double a, double b) { return a == b ? 1.0 : 0.0; }, true},
    {"not_equal", 2, [](double a, double b) { return a != b ? 1.0 : 0.0; }, true},
};

const NumberRow* NumberRowOf(std::string_view op) {
  const auto* const row = std::ranges::find(kNumberRows, op, &NumberRow::op);
  return row == std::end(kNumberRows) ? nullptr : row;
}

}  // namespace

std::optional<double> NumberOf(std::string_view op, const std::vector<double>& x) {
  const NumberRow* const row = NumberRowOf(op);
  if (row == nullptr || row->operands != x.size()) return std::nullopt;
  return row->of(x.front(), x.back());
}

void AddOperands(const Formula::Expression& e, std::vector<size_t>& out) {
  if (e.kind == Kind::kOperand && !std::ranges::count(out, e.index)) out.push_back(e.index);
  for (const Expression& operand : e.operands) AddOperands(operand, out);
}

// Reads a text. The first error stays, and what is read after it is meaningless.
class FormulaReader {
 public:
  FormulaReader(std::string_view text, std::span<const Formula> helpers)
      : text_(text), rest_(text), helpers_(helpers) {}

  Result<Formula> Read(bool is_helper) {
    f_.op_ = Name();
    op_ = Ops().Find(f_.op_);
    if (is_helper == (op_ != nullptr))
      Fail(is_helper ? "is the name of an operator" : "is no operator", f_.op_);
    Expect("(");
    do f_.operands_.push_back(Name());
    while (Skip(","));
    Expect(")");
    if (op_ != nullptr && f_.operands_.size() > op_->inputs.size())
      Fail("has fewer inputs", f_.op_);
    Expect("=");
    ReadBody();
    if (SkipWord("where")) do
        f_.conditions_.push_back(Condition());
      while (Skip(","));
    SkipSpaces();
    if (!rest_.empty()) Fail("is not expected", std::string(rest_));
    NN_RETURN_IF_ERROR(status_);
    return std::move(f_);
  }

 private:
  // ---- Words

  void SkipSpaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool Skip(std::string_view symbol) {
    SkipSpaces();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }
  void Expect(std::string_view symbol) {
    if (!Skip(symbol)) Fail("is expected", std::string(symbol));
  }
  // Empty if there is none.
  std::string_view PeekName() {
    SkipSpaces();
    const auto end = std::ranges::find_if_not(rest_, IsNamePart);
    return rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
  }
  std::string Name() {
    const std::string_view name = PeekName();
    if (name.empty()) Fail("is expected", "a name");
    rest_.remove_prefix(name.size());
    return std::string(name);
  }
  bool SkipWord(std::string_view word) { return PeekName() == word && Skip(word); }
  // The name before '=', which is skipped; empty if there is none.
  std::string NameOfEquation() {
    const std::string_view before = rest_;
    std::string name(PeekName());
    rest_.remove_prefix(name.size());
    SkipSpaces();
    if (!name.empty() && rest_.starts_with("=") && !rest_.starts_with("==")) {
      rest_.remove_prefix(1);
      return name;
    }
    rest_ = before;
    return {};
  }
  void Fail(std::string_view what, const std::string& where) {
    if (status_) status_ = UsageError("formula \"{}\": {} {}", text_, where, what);
    rest_ = {};
  }

  // ---- Parts

  void ReadBody() {
    for (std::string name = NameOfEquation(); !name.empty(); name = NameOfEquation()) {
      if (Find(name)) Fail("has two meanings", name);
      Expression value = Read();
      Expect(";");
      f_.definitions_.push_back({std::move(name), std::move(value)});
    }
    f_.result_ = std::make_unique<Expression>(Read());
    std::vector<size_t> used;
    for (const Formula::Definition& d : f_.definitions_) AddOperands(d.value, used);
    AddOperands(*f_.result_, used);
    f_.uses_all_operands_ = used.size() == f_.operands_.size();
  }

  Expression Read(size_t precedence = 0) {
    if (precedence == std::size(kInfix)) return ReadFactor();
    Expression a = Read(precedence + 1);
    while (true) {
      const auto infix =
          std::ranges::find_if(kInfix[precedence], [&](const Infix& i) { return Skip(i.symbol); });
      if (infix == kInfix[precedence].end()) return a;
      Expression b = Read(precedence + 1);
      a = Call(infix->op, {std::move(a), std::move(b)});
    }
  }

  Expression ReadFactor() {
    if (Skip("-")) return Call("neg", {ReadFactor()});
    if (Skip("(")) {
      Expression out = Read();
      Expect(")");
      return out;
    }
    SkipSpaces();
    double number = 0;
    if (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
      const char* const end = FromChars(rest_.data(), rest_.data() + rest_.size(), number).ptr;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      return NumberExpression(number);
    }
    const std::string name = Name();
    if (Skip("(")) return ReadCall(name);
    if (auto found = Find(name)) return *std::move(found);
    if (!takes_words_) Fail("has no meaning", name);
    Expression word;
    word.kind = Kind::kWord;
    word.name = name;
    return word;
  }

  std::optional<Expression> Find(const std::string& name) const {
    Expression out;
    out.name = name;
    if (const auto it = std::ranges::find(f_.operands_, name); it != f_.operands_.end()) {
      out.kind = Kind::kOperand;
      out.index = static_cast<size_t>(it - f_.operands_.begin());
      out.is_number = in_condition_;
      return out;
    }
    for (size_t i = 0; i < f_.definitions_.size(); ++i)
      if (f_.definitions_[i].name == name) {
        out.kind = Kind::kDefinition;
        out.index = i;
        out.is_number = f_.definitions_[i].value.is_number;
        return out;
      }
    if (const auto number = NamedNumber(name)) return NumberExpression(*number);
    if (op_ == nullptr || !Attrs(op_->attrs).Get(name)) return std::nullopt;
    out.kind = Kind::kAttribute;
    out.is_number = true;
    return out;
  }

  Expression ReadCall(const std::string& name) {
    std::vector<Expression> operands;
    std::vector<Expression::Attribute> attrs;
    do {
      std::string attr = NameOfEquation();
      if (attr.empty())
        operands.push_back(Read());
      else
        attrs.push_back({std::move(attr), ReadAttribute()});
    } while (Skip(","));
    Expect(")");
    const auto helper = std::ranges::find(helpers_, name, &Formula::op);
    if (helper != helpers_.end()) return CallHelper(*helper, std::move(operands));
    Expression out = Call(name, std::move(operands));
    out.attrs = std::move(attrs);
    CheckAttributes(out);
    return out;
  }

  Expression ReadAttribute() {
    if (!Skip("[")) {
      takes_words_ = true;
      Expression out = Read();
      takes_words_ = false;
      return out;
    }
    Expression list;
    list.kind = Kind::kList;
    do list.operands.push_back(Read());
    while (Skip(","));
    Expect("]");
    return list;
  }

  Expression Call(std::string_view op, std::vector<Expression> operands) {
    Expression out;
    out.kind = Kind::kCall;
    out.name = op;
    out.is_number = std::ranges::all_of(operands, &Expression::is_number);
    const bool has_words =
        std::ranges::any_of(operands, [](const Expression& e) { return e.kind == Kind::kWord; });
    const NumberRow* const row = NumberRowOf(op);
    const bool compares = row != nullptr && row->compares;
    if (has_words && !(compares && operands[0].kind == Kind::kAttribute))
      Fail("has no meaning", operands.back().name);
    out.is_number |= has_words;
    const OpDef* const def = Ops().Find(op);
    if (def == nullptr)
      Fail("is no operator", out.name);
    else if (operands.size() > def->inputs.size())
      Fail("has fewer inputs", out.name);
    else if (out.is_number && !NumberOf(op, std::vector<double>(operands.size())))
      Fail("is not computed for numbers", out.name);
    out.operands = std::move(operands);
    return out;
  }

  // Attributes exist, and words are their enumerators or types.
  void CheckAttributes(const Expression& call) {
    const OpDef* const def = Ops().Find(call.name);
    if (def == nullptr) return;
    for (const auto& [name, value] : call.attrs) {
      if (!Attrs(def->attrs).Get(name)) Fail("is no attribute of " + call.name, name);
      if (value.kind == Kind::kWord) CheckWord(*def, name, value.name);
    }
  }
  void CheckWord(const OpDef& op, const std::string& attr, const std::string& word) {
    if (word == "dtype" || ParseDType(word)) return;
    if (!Attrs(op.attrs).With(attr, EnumValue{word})) Fail("is no " + attr, word);
  }

  // Appends the definitions of the helper, with its operands in place.
  Expression CallHelper(const Formula& helper, std::vector<Expression> operands) {
    if (operands.size() != helper.operands_.size()) {
      Fail("has another number of operands", helper.op_);
      return {};
    }
    for (Expression& operand : operands)
      if (operand.kind == Kind::kCall) operand = Define(std::move(operand));
    const size_t first = f_.definitions_.size();
    for (const Formula::Definition& d : helper.definitions_)
      f_.definitions_.push_back({"", Substitute(d.value, operands, first)});
    return Substitute(*helper.result_, operands, first);
  }
  Expression Define(Expression value) {
    Expression out;
    out.kind = Kind::kDefinition;
    out.index = f_.definitions_.size();
    out.is_number = value.is_number;
    f_.definitions_.push_back({"", std::move(value)});
    return out;
  }
  static Expression Substitute(Expression e, const std::vector<Expression>& operands,
                               size_t first) {
    if (e.kind == Kind::kOperand) return operands[e.index];
    if (e.kind == Kind::kDefinition) e.index += first;
    for (Expression& operand : e.operands) operand = Substitute(operand, operands, first);
    return e;
  }

  Expression Condition() {
    if (!IsTypeName(PeekName())) {
      takes_words_ = in_condition_ = true;
      Expression out = Read();
      takes_words_ = in_condition_ = false;
      std::vector<size_t> operands;
      AddOperands(out, operands);
      if (operands.size() > 1) Fail("is about two operands", "a condition");
      if (out.kind == Kind::kCall && !out.operands.empty() && op_ != nullptr &&
          out.operands.back().kind == Kind::kWord)
        CheckWord(*op_, out.operands[0].name, out.operands.back().name);
      if (!out.is_number) Fail("is no number", "a condition");
      return out;
    }
    Expression types;
    types.kind = Kind::kTypes;
    do {
      Expression type;
      type.name = Name();
      if (!IsTypeName(type.name)) Fail("is no type", type.name);
      types.operands.push_back(std::move(type));
    } while (Skip("|"));
    return types;
  }

  std::string_view text_, rest_;
  std::span<const Formula> helpers_;
  Formula f_;
  const OpDef* op_ = nullptr;
  bool takes_words_ = false;
  bool in_condition_ = false;
  Status status_;
};

Formula::Formula() = default;
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;
Formula::~Formula() = default;

Result<Formula> Formula::Parse(std::string_view text, std::span<const Formula> helpers) {
  return FormulaReader(text, helpers).Read(/*is_helper=*/false);
}

Result<Formula> Formula::ParseHelper(std::string_view text, std::span<const Formula> helpers) {
  return FormulaReader(text, helpers).Read(/*is_helper=*/true);
}

}  // namespace nn

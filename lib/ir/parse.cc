#include <fmt/core.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/text.h"
#include "ir/op_def.h"
#include "ir/seeded.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace nn {
namespace {

constexpr int kMaxRegionDepth = 32;

// A lexer that tracks the position for messages.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  tl::unexpected<Error> Fail(std::string_view what) const {
    size_t line = 1;
    size_t column = 1;
    for (size_t i = 0; i < pos_ && i < text_.size(); ++i) {
      if (text_[i] == '\n') {
        ++line;
        column = 1;
      } else {
        ++column;
      }
    }
    return ParseError("line {}, column {}: {}", line, column, what);
  }

  void SkipSpace() {
    while (pos_ < text_.size()) {
      if (text_[pos_] == '#') {
        while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
      } else if (std::isspace(static_cast<unsigned char>(text_[pos_]))) {
        ++pos_;
      } else {
        break;
      }
    }
  }
  char Peek() {
    SkipSpace();
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool AtEnd() { return Peek() == '\0'; }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++pos_;
    return true;
  }
  Status Expect(char c) {
    if (Take(c)) return {};
    return Fail(fmt::format("expected '{}'", c));
  }
  // Consumes the next word if it is `word`.
  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (text_.substr(pos_, word.size()) != word) return false;
    const size_t end = pos_ + word.size();
    if (end < text_.size() && IsWordChar(text_[end])) return false;
    pos_ = end;
    return true;
  }
  // Letters, digits and _ . / : ; empty if there are none. A trailing ':' is not included.
  std::string_view Word() {
    SkipSpace();
    const size_t begin = pos_;
    while (pos_ < text_.size() && IsWordChar(text_[pos_])) ++pos_;
    while (pos_ > begin && text_[pos_ - 1] == ':') --pos_;
    return text_.substr(begin, pos_ - begin);
  }
  Result<std::string> String() {
    NN_RETURN_IF_ERROR(Expect('"'));
    std::string out;
    while (pos_ < text_.size() && text_[pos_] != '"') {
      char c = text_[pos_++];
      if (c == '\\' && pos_ < text_.size()) {
        c = text_[pos_++];
        if (c == 'n') {
          c = '\n';
        } else if (c == 't') {
          c = '\t';
        } else if (c == 'r') {
          c = '\r';
        } else if (c == 'x') {
          int v = 0;
          const auto r = std::from_chars(text_.data() + pos_,
                                         text_.data() + std::min(pos_ + 2, text_.size()), v, 16);
          if (r.ec != std::errc()) return Fail("expected two hexadecimal digits");
          pos_ = static_cast<size_t>(r.ptr - text_.data());
          c = static_cast<char>(v);
        }
      }
      out += c;
    }
    NN_RETURN_IF_ERROR(Expect('"'));
    return out;
  }
  // The text of a number: sign, digits, point, exponent, inf, nan.
  std::string_view Number() {
    SkipSpace();
    const size_t begin = pos_;
    if (pos_ < text_.size() && (text_[pos_] == '-' || text_[pos_] == '+')) ++pos_;
    while (pos_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[pos_])) || text_[pos_] == '.' ||
            ((text_[pos_] == '-' || text_[pos_] == '+') &&
             (text_[pos_ - 1] == 'e' || text_[pos_ - 1] == 'E'))))
      ++pos_;
    return text_.substr(begin, pos_ - begin);
  }
  // The text up to a ',' or ']' outside parentheses and quotes: one dimension.
  std::string_view DimText() {
    SkipSpace();
    const size_t begin = pos_;
    int depth = 0;
    bool quoted = false;
    for (; pos_ < text_.size(); ++pos_) {
      const char c = text_[pos_];
      if (c == '\\' && quoted) {
        ++pos_;
      } else if (c == '\'') {
        quoted = !quoted;
      } else if (!quoted && c == '(') {
        ++depth;
      } else if (!quoted && c == ')') {
        --depth;
      } else if (!quoted && depth == 0 && (c == ',' || c == ']')) {
        break;
      }
    }
    return text_.substr(begin, std::min(pos_, text_.size()) - begin);
  }

 private:
  static bool IsWordChar(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' ||
           c == ':';
  }
  std::string_view text_;
  size_t pos_ = 0;
};

Result<int64_t> ToInt(Lexer& lex, std::string_view text) {
  int64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    return lex.Fail(fmt::format("\"{}\" is not an integer", text));
  return v;
}

Result<double> ToReal(Lexer& lex, std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  double v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || r.ec != std::errc() || r.ptr != text.data() + text.size())
    return lex.Fail(fmt::format("\"{}\" is not a number", text));
  return v;
}

// Parses "item, item]" after the opening bracket.
template <typename Fn>
Status ListRest(Lexer& lex, Fn item) {
  if (lex.Take(']')) return {};
  while (true) {
    NN_RETURN_IF_ERROR(item());
    if (lex.Take(']')) return {};
    NN_RETURN_IF_ERROR(lex.Expect(','));
  }
}

Result<Dims> ParseDims(Lexer& lex) {
  Dims dims;
  NN_RETURN_IF_ERROR(lex.Expect('['));
  NN_RETURN_IF_ERROR(ListRest(lex, [&]() -> Status {
    const std::string_view text = lex.DimText();
    auto d = Dim::Parse(text);
    if (!d) return lex.Fail(d.error().message());
    dims.push_back(*d);
    return {};
  }));
  return dims;
}

// A number or a list of numbers.
template <typename T>
Result<std::vector<T>> Numbers(Lexer& lex) {
  std::vector<T> out;
  const auto one = [&]() -> Status {
    NN_ASSIGN(const double v, ToReal(lex, lex.Number()));
    out.push_back(static_cast<T>(v));
    return {};
  };
  if (lex.Take('[')) {
    NN_RETURN_IF_ERROR(ListRest(lex, one));
  } else {
    NN_RETURN_IF_ERROR(one());
  }
  return out;
}

Result<std::shared_ptr<const Quant>> ParseQuant(Lexer& lex) {
  auto q = std::make_shared<Quant>();
  do {
    const std::string_view key = lex.Word();
    NN_RETURN_IF_ERROR(lex.Expect('='));
    if (key == "axis") {
      NN_ASSIGN(const int64_t axis, ToInt(lex, lex.Number()));
      q->axis = static_cast<int>(axis);
    } else if (key == "zp") {
      NN_ASSIGN(q->zero_points, Numbers<int64_t>(lex));
    } else if (key == "scale" || key == "min" || key == "max") {
      auto& list = key == "scale" ? q->scales : key == "min" ? q->min : q->max;
      NN_ASSIGN(list, Numbers<float>(lex));
    } else {
      return lex.Fail("expected axis, scale, zp, min or max");
    }
  } while (lex.Take(','));
  NN_RETURN_IF_ERROR(lex.Expect('}'));
  if (q->scales.empty()) return lex.Fail("quantization has no scale");
  return std::shared_ptr<const Quant>(std::move(q));
}

Result<Type> ParseTypeAt(Lexer& lex) {
  Type type;
  const std::string_view name = lex.Word();
  if (lex.Take('?') && name.empty()) {
    type.dtype = DType::kUnknown;
  } else if (const auto dtype = ParseDType(name)) {
    type.dtype = *dtype;
  } else {
    return lex.Fail(fmt::format("\"{}\" is not an element type", name));
  }
  NN_RETURN_IF_ERROR(lex.Expect('['));
  if (lex.Take('*')) {
    NN_RETURN_IF_ERROR(lex.Expect(']'));
  } else {
    Dims dims;
    NN_RETURN_IF_ERROR(ListRest(lex, [&]() -> Status {
      auto d = Dim::Parse(lex.DimText());
      if (!d) return lex.Fail(d.error().message());
      dims.push_back(*d);
      return {};
    }));
    type.dims = std::move(dims);
  }
  if (lex.Take('{')) {
    NN_ASSIGN(type.quant, ParseQuant(lex));
  }
  return type;
}

class Parser {
 public:
  explicit Parser(Lexer& lex) : lex_(lex) {}

  Result<Graph> ParseGraphAt(int depth) {
    if (depth > kMaxRegionDepth)
      return LimitError("regions are nested deeper than {}", kMaxRegionDepth);
    if (!lex_.TakeWord("graph")) return lex_.Fail("expected \"graph\"");
    Graph graph;
    if (lex_.Peek() == '"') {
      NN_ASSIGN(graph.name, lex_.String());
    }
    NN_RETURN_IF_ERROR(lex_.Expect('{'));
    while (!lex_.Take('}')) {
      if (lex_.TakeWord("in")) {
        NN_RETURN_IF_ERROR(ParseInput(graph));
      } else if (lex_.TakeWord("const")) {
        NN_RETURN_IF_ERROR(ParseConstant(graph));
      } else if (lex_.TakeWord("out")) {
        NN_RETURN_IF_ERROR(ParseOutput(graph));
      } else if (lex_.Peek() == '%') {
        NN_RETURN_IF_ERROR(ParseNode(graph, depth));
      } else {
        return lex_.Fail("expected in, const, out, a value or \"}\"");
      }
    }
    return graph;
  }

  // "name = value, ...}", after the opening brace.
  Status ParseAttrs(Attrs& attrs) {
    do {
      const std::string name(lex_.Word());
      NN_RETURN_IF_ERROR(lex_.Expect('='));
      const auto current = attrs.Get(name);
      if (!current) return lex_.Fail(fmt::format("no attribute named \"{}\"", name));
      NN_ASSIGN(const AttrValue value, ParseAttr(*current));
      auto with = attrs.With(name, value);
      if (!with) return lex_.Fail(with.error().message());
      attrs = *std::move(with);
    } while (lex_.Take(','));
    return lex_.Expect('}');
  }

 private:
  struct Name {
    std::string reference;
    std::string name;
    bool quoted = false;
  };

  // %ref ["name"]; the name is the reference unless that is a number.
  Result<Name> Definition() {
    NN_RETURN_IF_ERROR(lex_.Expect('%'));
    Name n;
    n.reference = std::string(lex_.Word());
    if (n.reference.empty()) return lex_.Fail("expected a value name");
    if (values_.contains(n.reference))
      return lex_.Fail(fmt::format("%{} is defined twice", n.reference));
    if (!std::isdigit(static_cast<unsigned char>(n.reference[0]))) n.name = n.reference;
    if (lex_.Peek() == '"') {
      NN_ASSIGN(n.name, lex_.String());
    }
    return n;
  }

  Result<Value*> Reference() {
    NN_RETURN_IF_ERROR(lex_.Expect('%'));
    const std::string name(lex_.Word());
    const auto it = values_.find(name);
    if (it == values_.end()) return lex_.Fail(fmt::format("%{} is not defined", name));
    return it->second;
  }

  Status ParseInput(Graph& graph) {
    NN_ASSIGN(const Name name, Definition());
    NN_RETURN_IF_ERROR(lex_.Expect(':'));
    NN_ASSIGN(Type type, ParseTypeAt(lex_));
    values_[name.reference] = graph.AddInput(name.name, std::move(type));
    return {};
  }

  Status ParseOutput(Graph& graph) {
    NN_ASSIGN(std::string name, lex_.String());
    NN_RETURN_IF_ERROR(lex_.Expect('='));
    NN_ASSIGN(Value* const value, Reference());
    graph.AddOutput(std::move(name), value);
    return {};
  }

  Status ParseConstant(Graph& graph) {
    NN_ASSIGN(const Name name, Definition());
    NN_RETURN_IF_ERROR(lex_.Expect(':'));
    NN_ASSIGN(const Type type, ParseTypeAt(lex_));
    const auto dims = type.const_dims();
    if (!dims || type.dtype == DType::kUnknown)
      return lex_.Fail("a constant must have an element type and a static shape");
    NN_RETURN_IF_ERROR(lex_.Expect('='));
    NN_ASSIGN(Tensor tensor, Contents(type.dtype, *dims));
    values_[name.reference] = graph.AddConstant(std::move(tensor), name.name, type.quant);
    return {};
  }

  Result<Tensor> Contents(DType dtype, const std::vector<int64_t>& dims) {
    if (lex_.TakeWord("seeded")) {
      NN_RETURN_IF_ERROR(lex_.Expect('('));
      NN_ASSIGN(const int64_t seed, ToInt(lex_, lex_.Number()));
      double scale = 1;
      if (lex_.Take(',')) {
        NN_ASSIGN(scale, ToReal(lex_, lex_.Number()));
      }
      NN_RETURN_IF_ERROR(lex_.Expect(')'));
      return SeededTensor(dtype, dims, static_cast<uint64_t>(seed), 0, static_cast<float>(scale));
    }
    if (lex_.TakeWord("hex")) return HexContents(dtype, dims);
    if (dtype == DType::kString) return StringContents(dims);
    NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, dims));
    if (lex_.TakeWord("splat")) {
      NN_RETURN_IF_ERROR(lex_.Expect('('));
      const std::string_view text = lex_.Number();
      for (int64_t i = 0; i < b.elements(); ++i) NN_RETURN_IF_ERROR(SetElement(b, i, text));
      NN_RETURN_IF_ERROR(lex_.Expect(')'));
      return b.Finish();
    }
    int64_t count = 0;
    NN_RETURN_IF_ERROR(lex_.Expect('['));
    NN_RETURN_IF_ERROR(ListRest(lex_, [&]() -> Status {
      if (count >= b.elements()) return lex_.Fail(fmt::format("more than {} elements", count));
      return SetElement(b, count++, lex_.Number());
    }));
    if (count != b.elements())
      return lex_.Fail(fmt::format("{} elements, the shape needs {}", count, b.elements()));
    return b.Finish();
  }

  Status SetElement(TensorBuilder& b, int64_t i, std::string_view text) {
    if (IsFloat(b.dtype())) {
      NN_ASSIGN(const double v, ToReal(lex_, text));
      b.SetDouble(i, v);
    } else {
      NN_ASSIGN(const int64_t v, ToInt(lex_, text));
      b.SetInt(i, v);
    }
    return {};
  }

  Result<Tensor> HexContents(DType dtype, const std::vector<int64_t>& dims) {
    NN_RETURN_IF_ERROR(lex_.Expect('('));
    NN_ASSIGN(const std::string digits, lex_.String());
    NN_RETURN_IF_ERROR(lex_.Expect(')'));
    std::vector<uint8_t> bytes(digits.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const char* at = digits.data() + 2 * i;
      if (std::from_chars(at, at + 2, bytes[i], 16).ptr != at + 2)
        return lex_.Fail("expected hexadecimal digits");
    }
    return Tensor::Make(dtype, dims, Blob::CopyOf(bytes));
  }

  Result<Tensor> StringContents(const std::vector<int64_t>& dims) {
    std::vector<std::string> strings;
    NN_RETURN_IF_ERROR(lex_.Expect('['));
    NN_RETURN_IF_ERROR(ListRest(lex_, [&]() -> Status {
      NN_ASSIGN(std::string s, lex_.String());
      strings.push_back(std::move(s));
      return {};
    }));
    const size_t count = strings.size();
    Tensor t(dims, std::move(strings));
    if (static_cast<int64_t>(count) != t.elements())
      return lex_.Fail(fmt::format("{} strings, the shape needs {}", count, t.elements()));
    return t;
  }

  Status ParseNode(Graph& graph, int depth) {
    std::vector<Name> names;
    do {
      NN_ASSIGN(Name name, Definition());
      names.push_back(std::move(name));
    } while (lex_.Take(','));
    NN_RETURN_IF_ERROR(lex_.Expect('='));
    const std::string op_name(lex_.Word());
    const OpDef* op = Ops().Find(op_name);
    if (op == nullptr) return lex_.Fail(fmt::format("no operator named \"{}\"", op_name));
    NN_RETURN_IF_ERROR(lex_.Expect('('));
    std::vector<Value*> inputs;
    if (!lex_.Take(')')) {
      do {
        if (lex_.Take('_')) {
          inputs.push_back(nullptr);
          continue;
        }
        NN_ASSIGN(Value* const v, Reference());
        inputs.push_back(v);
      } while (lex_.Take(','));
      NN_RETURN_IF_ERROR(lex_.Expect(')'));
    }
    Attrs attrs(op->attrs);
    if (lex_.Take('{')) {
      NN_RETURN_IF_ERROR(ParseAttrs(attrs));
    }
    Node* node = graph.AddNode(*op, std::move(inputs), std::move(attrs), names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      node->output(i)->set_name(names[i].name);
      values_[names[i].reference] = node->output(i);
    }
    if (lex_.Peek() == '"') {
      NN_ASSIGN(std::string name, lex_.String());
      node->set_name(std::move(name));
    }
    if (lex_.Take('@')) {
      const auto arithmetic = ParseEnum<Arithmetic>(lex_.Word());
      if (!arithmetic) return lex_.Fail("expected default, tflite or tflite_fixed");
      node->set_arithmetic(*arithmetic);
    }
    if (lex_.Take(':')) {
      size_t i = 0;
      do {
        NN_ASSIGN(Type type, ParseTypeAt(lex_));
        if (i >= names.size()) return lex_.Fail("more types than outputs");
        node->output(i++)->set_type(std::move(type));
      } while (lex_.Take(','));
    }
    if (lex_.TakeWord("regions")) {
      NN_RETURN_IF_ERROR(lex_.Expect('{'));
      while (!lex_.Take('}')) {
        Parser inner(lex_);
        NN_ASSIGN(Graph region, inner.ParseGraphAt(depth + 1));
        node->AddRegion(std::move(region));
      }
    }
    auto inferred = InferNode(*node);
    if (!inferred) return lex_.Fail(inferred.error().message());
    return {};
  }

  // Parses a value of the same kind as `like`.
  Result<AttrValue> ParseAttr(const AttrValue& like) {
    if (std::holds_alternative<int64_t>(like)) return ToInt(lex_, lex_.Number());
    if (std::holds_alternative<float>(like)) {
      NN_ASSIGN(const double v, ToReal(lex_, lex_.Number()));
      return static_cast<float>(v);
    }
    if (std::holds_alternative<bool>(like)) {
      if (lex_.TakeWord("true")) return true;
      if (lex_.TakeWord("false")) return false;
      return lex_.Fail("expected true or false");
    }
    if (std::holds_alternative<EnumValue>(like)) return std::string(lex_.Word());
    if (std::holds_alternative<std::string>(like)) return lex_.String();
    if (std::holds_alternative<DType>(like)) {
      const auto dtype = ParseDType(lex_.Word());
      if (!dtype) return lex_.Fail("expected an element type");
      return *dtype;
    }
    if (std::holds_alternative<Dims>(like)) return ParseDims(lex_);
    if (std::holds_alternative<std::vector<float>>(like)) return Numbers<float>(lex_);
    if (std::holds_alternative<std::vector<int64_t>>(like)) {
      std::vector<int64_t> out;
      NN_RETURN_IF_ERROR(lex_.Expect('['));
      NN_RETURN_IF_ERROR(ListRest(lex_, [&]() -> Status {
        NN_ASSIGN(const int64_t v, ToInt(lex_, lex_.Number()));
        out.push_back(v);
        return {};
      }));
      return out;
    }
    std::vector<std::string> out;
    NN_RETURN_IF_ERROR(lex_.Expect('['));
    NN_RETURN_IF_ERROR(ListRest(lex_, [&]() -> Status {
      NN_ASSIGN(std::string s, lex_.String());
      out.push_back(std::move(s));
      return {};
    }));
    return out;
  }

  Lexer& lex_;
  std::unordered_map<std::string, Value*> values_;
};

}  // namespace

Result<Graph> ParseGraph(std::string_view text) {
  Lexer lex(text);
  Parser parser(lex);
  NN_ASSIGN(Graph graph, parser.ParseGraphAt(0));
  if (!lex.AtEnd()) return lex.Fail("unexpected text after the graph");
  NN_RETURN_IF_ERROR(Verify(graph));
  return graph;
}

Result<Attrs> ParseAttrs(const OpDef& op, std::string_view text) {
  Attrs attrs(op.attrs);
  Lexer lex(text);
  if (lex.AtEnd()) return attrs;
  NN_RETURN_IF_ERROR(lex.Expect('{'));
  if (!lex.Take('}')) NN_RETURN_IF_ERROR(Parser(lex).ParseAttrs(attrs));
  if (!lex.AtEnd()) return lex.Fail("unexpected text after the attributes");
  return attrs;
}

Result<Type> ParseType(std::string_view text) {
  Lexer lex(text);
  NN_ASSIGN(Type type, ParseTypeAt(lex));
  if (!lex.AtEnd()) return lex.Fail("unexpected text after the type");
  return type;
}

}  // namespace nn

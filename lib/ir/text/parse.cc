#include <fmt/core.h>

#include <cctype>
#include <charconv>
#include <unordered_map>

#include "ir/op_def.h"
#include "ir/seeded.h"
#include "ir/text/lexer.h"
#include "ir/text/parse_type.h"
#include "ir/text/text.h"
#include "ir/verify.h"

namespace nn {
namespace {

// Limit of all formats: nested regions in the text of a graph.
constexpr int kMaxRegionDepth = 32;

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

}  // namespace nn

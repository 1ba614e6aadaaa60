#include "formats/onnx/spec/schema.h"

#include <algorithm>
#include <charconv>

#include "base/text/text.h"
#include "formats/onnx/spec/schema_tables.h"

namespace nn::onnx {
namespace {

constexpr int64_t kNewestDefault = 28;
constexpr int64_t kNewestMl = 5;
constexpr int64_t kNewestPreview = 1;

struct TypeGroup {
  std::string_view name;
  std::string_view members;
};

constexpr TypeGroup kGroups[] = {
    {"ANY", "i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 c64 c128 str bool"},
    {"INT", "i8 i16 i32 i64"},
    {"UINT", "u8 u16 u32 u64"},
    {"FLOAT", "f16 f32 f64"},
    {"FLOAT8", "f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz"},
};

// Reads one signature.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<Schema> Read() {
    Schema s;
    s.op = Word();
    NN_ASSIGN(s.since, Number());
    if (Take("deprecated")) {
      s.deprecated = true;
    } else {
      NN_ASSIGN(s.min_inputs, Parameters(s, s.inputs));
      if (!Take("->")) return Bad("-> expected");
      NN_RETURN_IF_ERROR(OutputCounts(s));
      NN_ASSIGN(const int least, Parameters(s, s.outputs));
      s.min_outputs = s.output_counts.empty() ? least : s.output_counts.front();
      NN_RETURN_IF_ERROR(Attributes(s));
      NN_RETURN_IF_ERROR(TypeSets(s));
    }
    if (!rest_.empty()) return Bad("end expected");
    return s;
  }

 private:
  tl::unexpected<Error> Bad(std::string_view what) const {
    return ParseError("{} before {}", what, Quote(rest_.substr(0, 30)));
  }

  void Skip() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  bool Take(std::string_view token) {
    Skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    Skip();
    return true;
  }

  std::string Word() {
    Skip();
    size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_'))
      ++n;
    std::string word(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return word;
  }

  Result<int> Number() {
    int value = 0;
    const std::string word = Word();
    const auto r = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || r.ptr != word.data() + word.size()) return Bad("number expected");
    Skip();
    return value;
  }

  // "1|5" before the parameters.
  Status OutputCounts(Schema& s) {
    const size_t end = std::min(rest_.find('('), rest_.size());
    if (rest_.substr(0, end).find('|') == std::string_view::npos) return {};
    do {
      NN_ASSIGN(const int count, Number());
      s.output_counts.push_back(count);
    } while (Take("|"));
    return {};
  }

  // "2..(a:T, b?:T)"; the result is the smallest count.
  Result<int> Parameters(Schema& s, std::vector<SchemaParameter>& out) {
    using Kind = SchemaParameter::Kind;
    int stated = -1;
    Skip();
    if (!rest_.starts_with('(')) {
      NN_ASSIGN(stated, Number());
      if (!Take("..")) return Bad(".. expected");
    }
    if (!Take("(")) return Bad("( expected");
    int least = 0;
    while (!Take(")")) {
      SchemaParameter p;
      p.name = Word();
      if (Take("**")) {
        p.kind = Kind::kVariadic;
        p.own_type = true;
      } else if (Take("*")) {
        p.kind = Kind::kVariadic;
      } else if (Take("?")) {
        p.kind = Kind::kOptional;
      }
      if (p.name.empty() || !Take(":")) return Bad(": expected");
      if (Take("{")) {
        const size_t end = rest_.find('}');
        if (end == std::string_view::npos) return Bad("} expected");
        p.type = "{" + std::string(rest_.substr(0, end)) + "}";
        rest_.remove_prefix(end + 1);
        NN_RETURN_IF_ERROR(
            AddTypes(std::string_view(p.type).substr(1, p.type.size() - 2), s.types[p.type]));
      } else {
        p.type = Word();
      }
      Take(",");
      out.push_back(std::move(p));
      if (out.back().kind != Kind::kOptional) least = static_cast<int>(out.size());
    }
    return stated >= 0 ? stated : least;
  }

  Status Attributes(Schema& s) {
    for (Skip(); !rest_.empty() && rest_[0] != '|'; Skip()) {
      if (Take("...")) {
        s.open_attributes = true;
        continue;
      }
      const std::string name = Word();
      SchemaAttribute a;
      a.required = Take("!");
      if (name.empty() || !Take(":") || rest_.empty()) return Bad("attribute expected");
      a.type = rest_[0];
      if (std::string_view("fistgpyFIST").find(a.type) == std::string_view::npos)
        return Bad("attribute type expected");
      rest_.remove_prefix(1);
      s.attributes[name] = a;
    }
    return {};
  }

  Status TypeSets(Schema& s) {
    while (Take("|")) {
      const std::string name = Word();
      if (name.empty() || !Take("=")) return Bad("type variable expected");
      const size_t end = std::min(rest_.find('|'), rest_.size());
      NN_RETURN_IF_ERROR(AddTypes(rest_.substr(0, end), s.types[name]));
      rest_.remove_prefix(end);
    }
    return {};
  }

  // "FLOAT i32 seq(ANY)": splits at spaces outside of parentheses.
  static Status AddTypes(std::string_view text, TypeNames& out) {
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && text[i] == '(') ++depth;
      if (i < text.size() && text[i] == ')') --depth;
      if (i < text.size() && (depth > 0 || (text[i] != ' ' && text[i] != '\n'))) continue;
      if (i > start) NN_RETURN_IF_ERROR(AddType(text.substr(start, i - start), out));
      start = i + 1;
    }
    return depth == 0 ? Status() : Status(ParseError("unbalanced parentheses in {}", Quote(text)));
  }

  static Status AddType(std::string_view type, TypeNames& out) {
    if (const size_t open = type.find('('); open != std::string_view::npos) {
      if (!type.ends_with(')')) return ParseError("bad type {}", Quote(type));
      std::string_view inner = type.substr(open + 1, type.size() - open - 2);
      std::string prefix(type.substr(0, open + 1));
      if (prefix == "map(") {
        const size_t colon = inner.find(':');
        if (colon == std::string_view::npos) return ParseError("bad map {}", Quote(type));
        prefix += inner.substr(0, colon + 1);
        inner = inner.substr(colon + 1);
      }
      TypeNames members;
      NN_RETURN_IF_ERROR(AddTypes(inner, members));
      for (const std::string& m : members) out.insert(prefix + m + ")");
      return {};
    }
    for (const TypeGroup& g : kGroups)
      if (type == g.name) return AddTypes(g.members, out);
    out.insert(std::string(type));
    return {};
  }

  std::string_view rest_;
};

using OpVersions = std::map<std::string, std::vector<Schema>, std::less<>>;

// Tests parse all tables, so a line that does not parse cannot occur; it would be skipped here.
const std::map<std::string, OpVersions, std::less<>>& Tables() {
  static const auto* const kTables = [] {
    auto* tables = new std::map<std::string, OpVersions, std::less<>>;
    for (const auto& [domain, text] : SchemaTexts()) {
      auto schemas = ParseSchemas(text);
      if (!schemas) continue;
      for (Schema& s : *schemas) (*tables)[domain][s.op].push_back(std::move(s));
    }
    return tables;
  }();
  return *kTables;
}

}  // namespace

const SchemaParameter* ParameterAt(const std::vector<SchemaParameter>& list, int position) {
  if (position < static_cast<int>(list.size())) return &list[static_cast<size_t>(position)];
  if (!list.empty() && list.back().kind == SchemaParameter::Kind::kVariadic) return &list.back();
  return nullptr;
}

bool IsStandardDomain(std::string_view domain) {
  return SchemaTexts().contains(domain);
}

int64_t NewestOpset(std::string_view domain) {
  if (domain.empty()) return kNewestDefault;
  return domain == "ai.onnx.ml" ? kNewestMl : kNewestPreview;
}

std::vector<std::string> OperatorsIn(std::string_view domain) {
  std::vector<std::string> names;
  if (const auto table = Tables().find(domain); table != Tables().end())
    for (const auto& [op, versions] : table->second) names.push_back(op);
  return names;
}

const Schema* FindSchema(std::string_view domain, std::string_view op, int64_t opset) {
  const auto table = Tables().find(domain);
  if (table == Tables().end()) return nullptr;
  const auto versions = table->second.find(op);
  if (versions == table->second.end()) return nullptr;
  const Schema* found = nullptr;
  for (const Schema& s : versions->second)
    if (s.since <= opset) found = &s;
  return found;
}

Result<std::vector<Schema>> ParseSchemas(std::string_view text) {
  std::vector<Schema> schemas;
  while (!text.empty()) {
    // A signature ends before the next line that is not indented.
    size_t end = 0;
    do {
      end = std::min(text.find('\n', end + 1), text.size());
    } while (end + 1 < text.size() && text[end + 1] == ' ');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.find_first_not_of(" \n") == std::string_view::npos) continue;
    auto schema = Parser(line).Read();
    if (!schema) return ParseError("{}: {}", Quote(line), schema.error().message());
    schemas.push_back(*std::move(schema));
  }
  return schemas;
}

const std::map<std::string, std::string, std::less<>>& SchemaTexts() {
  static const auto* const kTexts = new std::map<std::string, std::string, std::less<>>{
      {"", std::string(kSchemasAToC) + "\n" + kSchemasDToL + "\n" + kSchemasMToR + "\n" +
               kSchemasReduce + "\n" + kSchemasSToZ},
      {"ai.onnx.ml", kSchemasMl},
      {"ai.onnx.preview", kSchemasPreview},
      {"ai.onnx.preview.training", kSchemasTraining},
  };
  return *kTexts;
}

}  // namespace nn::onnx

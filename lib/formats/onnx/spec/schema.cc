#include "formats/onnx/spec/schema.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "formats/common/spec/table.h"
#include "formats/onnx/spec/words.h"

namespace nn::onnx {
namespace {

constexpr int64_t kNewestDefault = 28;
constexpr int64_t kNewestMl = 5;
constexpr int64_t kNewestPreview = 1;

// Adds the types of a list, with each group as its members.
void AddTypes(std::string_view list, TypeNames& out) {
  spec::EachType(list, [&](std::string_view around, std::string_view word) {
    const auto add = [&](std::string_view type) {
      std::string name(around);
      name += type;
      name.append(static_cast<size_t>(std::count(around.begin(), around.end(), '(')), ')');
      out.insert(std::move(name));
    };
    const auto* group = std::find_if(std::begin(kTypeGroups), std::end(kTypeGroups),
                                     [&](const spec::TypeGroup& g) { return g.name == word; });
    if (group == std::end(kTypeGroups)) add(word);
    for (size_t i = 0; group != std::end(kTypeGroups) && i < std::size(kTypeWords); ++i)
      if (group->members.Has(static_cast<int>(i))) add(kTypeWords[i]);
    return true;
  });
}

SchemaParameter ParameterOf(const spec::Operand& o, Schema& schema) {
  using Kind = SchemaParameter::Kind;
  SchemaParameter p;
  p.name = o.name;
  p.own_type = o.own_types;
  if (o.repeats)
    p.kind = Kind::kVariadic;
  else if (o.presence != spec::Operand::Presence::kRequired)
    p.kind = Kind::kOptional;
  p.type = o.same_name;
  if (!o.type_text.empty()) {
    p.type = "{" + std::string(o.type_text) + "}";
    AddTypes(o.type_text, schema.types[p.type]);
  }
  return p;
}

// "a, b" in any lines.
std::vector<std::string_view> WordsOf(std::string_view list) {
  std::vector<std::string_view> words;
  for (spec::Cursor in(list); !in.AtEnd(); in.Skip()) {
    words.push_back(in.Word());
    in.Take(',');
  }
  return words;
}

SchemaAttribute AttributeOf(const spec::Parameter& p) {
  SchemaAttribute a;
  a.is_flag = p.kind == "b";
  a.type = a.is_flag ? 'i' : p.kind.front();
  a.required = p.required;
  a.is_unique = p.unique;
  a.choices = WordsOf(p.choices);
  if (p.has_range) a.range = {p.least, p.most < p.least ? INT64_MAX : p.most};
  return a;
}

Schema SchemaOf(const spec::Row& row) {
  Schema s;
  s.op = row.name;
  s.since = row.first_version;
  s.deprecated = row.deprecated;
  for (const spec::Operand& o : row.inputs) s.inputs.push_back(ParameterOf(o, s));
  for (const spec::Operand& o : row.outputs) s.outputs.push_back(ParameterOf(o, s));
  s.min_inputs = spec::CountOf(row.inputs).low;
  s.output_counts = {row.output_counts.begin(), row.output_counts.end()};
  s.min_outputs =
      s.output_counts.empty() ? spec::CountOf(row.outputs).low : s.output_counts.front();
  s.open_attributes = row.open_parameters;
  for (const spec::Parameter& p : row.parameters) s.attributes.emplace(p.name, AttributeOf(p));
  for (const spec::Variable& v : row.variables) AddTypes(v.type_text, s.types[std::string(v.name)]);
  for (const spec::Label& label : row.labels)
    (label.name == kParallel ? s.parallel : s.alternatives).push_back(WordsOf(label.parameters));
  return s;
}

// An operator, with its signatures once they are asked for.
struct OperatorRows {
  std::string_view rows;
  std::once_flag once;
  std::vector<Schema> schemas;

  const std::vector<Schema>& Read() {
    std::call_once(once, [&] {
      spec::EachRow(rows, kWords, [&](const spec::Row& row) { schemas.push_back(SchemaOf(row)); });
    });
    return schemas;
  }
};

using SchemaTable = std::map<std::string_view, OperatorRows>;

// "ai.onnx.ml" of "onnx/spec/ai.onnx.ml.spec", and "" of the parts of ai.onnx.
std::string_view DomainOf(const spec::Text& text) {
  std::string_view name = text.file.substr(text.file.rfind('/') + 1);
  name.remove_suffix(std::string_view(".spec").size());
  return name.starts_with("ai.onnx.") ? name : std::string_view();
}

std::map<std::string_view, SchemaTable>& Tables() {
  static auto* const kTables = [] {
    auto* tables = new std::map<std::string_view, SchemaTable>;
    const spec::Index index(SpecTexts());
    for (const auto& [op, place] : index.operators())
      (*tables)[DomainOf(*place.text)][op].rows = place.rows;
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
  return Tables().contains(domain);
}

int64_t NewestOpset(std::string_view domain) {
  if (domain.empty()) return kNewestDefault;
  return domain == "ai.onnx.ml" ? kNewestMl : kNewestPreview;
}

std::vector<std::string> OperatorsIn(std::string_view domain) {
  std::vector<std::string> names;
  if (const auto table = Tables().find(domain); table != Tables().end())
    for (const auto& [op, rows] : table->second) names.emplace_back(op);
  return names;
}

std::vector<std::string> StandardDomains() {
  std::vector<std::string> domains;
  for (const auto& [domain, operators] : Tables()) domains.emplace_back(domain);
  return domains;
}

std::span<const Schema> SchemasOf(std::string_view domain, std::string_view op) {
  const auto table = Tables().find(domain);
  if (table == Tables().end()) return {};
  const auto found = table->second.find(op);
  return found == table->second.end() ? std::span<const Schema>() : found->second.Read();
}

const Schema* FindSchema(std::string_view domain, std::string_view op, int64_t opset) {
  const Schema* found = nullptr;
  for (const Schema& s : SchemasOf(domain, op))
    if (s.since <= opset) found = &s;
  return found;
}

}  // namespace nn::onnx

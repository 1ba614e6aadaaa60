#include "validators/fingerprint.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/sha256.h"
#include "base/text/name_map.h"

namespace nn {
namespace {

// Larger constants are identified by their types and shapes alone: reading weights takes long.
constexpr uint64_t kMaxReadBytes = 4096;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (static_cast<unsigned char>(c) >= 0x80);
}

// 16 hexadecimal digits of a hash of the parts.
std::string HashOf(std::span<const std::string> parts) {
  constexpr size_t kPrefix = std::string_view("sha256:").size(), kDigits = 16;
  Sha256 sha;
  for (const std::string& part : parts) sha.Text(part);
  return sha.Finish().substr(kPrefix, kDigits);
}

// "Conv_12" -> "Conv", "x:0" -> "x"; "layer4" is unchanged.
std::string_view WithoutCounter(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1])) --end;
  if (end == name.size()) return name;
  if (end == 0) return {};
  const char before = name[end - 1];
  return before == '_' || before == ':' || before == ' ' || before == '.' ? name.substr(0, end - 1)
                                                                          : name;
}

// Whether a name tells more than a number: it has letters and no counter.
bool IsStable(std::string_view name) {
  return std::any_of(name.begin(), name.end(), IsLetter) &&
         WithoutCounter(name).size() == name.size();
}

std::string WithoutNumbers(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = IsDigit(text[i]) && i > 0 && (text[i - 1] == '[' || text[i - 1] == ' ');
    if (!starts) {
      out += text[i];
      continue;
    }
    while (i + 1 < text.size() && IsDigit(text[i + 1])) ++i;
  }
  return out;
}

// The texts between the quotes of a message (see Quote()).
std::vector<std::string> QuotedNames(std::string_view message) {
  std::vector<std::string> names;
  for (size_t at = message.find('"'); at != std::string_view::npos;
       at = message.find('"', at + 1)) {
    std::string name;
    for (++at; at < message.size() && message[at] != '"'; ++at) {
      if (message[at] == '\\' && at + 1 < message.size()) name += message[at++];
      name += message[at];
    }
    names.push_back(std::move(name));
  }
  return names;
}

// The operators and values of a model by identities that do not depend on their numbers.
class Identities {
 public:
  Identities(const NativeModel& model, const Format& format)
      : summary_(format.describer.Summarize(model).value_or(ModelSummary())) {
    for (size_t i = 0; i < summary_.inputs.size(); ++i)
      Define(summary_.inputs[i].name, "input " + std::to_string(i));
    constants_ = format.describer.TensorsOf(model).value_or(std::vector<TensorEntry>());
    for (const TensorEntry& t : constants_)
      if (!t.is_attribute && !IsStable(t.name)) Define(t.name, OfConstant(t));
    operators_.reserve(summary_.operators.size());
    for (const OperatorSummary& op : summary_.operators) {
      if (op.scope.empty()) main_.push_back(operators_.size());
      operators_.push_back(OfOperator(op));
      for (size_t i = 0; i < op.outputs.size(); ++i)
        Define(op.outputs[i], operators_.back() + "#" + std::to_string(i));
    }
  }

  // Of the operator with a position in the summary, or among those of the main graph.
  std::optional<std::string> Operator(int64_t position) const {
    return position >= 0 && static_cast<size_t>(position) < operators_.size()
               ? std::optional(operators_[static_cast<size_t>(position)])
               : std::nullopt;
  }
  std::optional<std::string> MainOperator(int64_t index) const {
    return index >= 0 && static_cast<size_t>(index) < main_.size()
               ? std::optional(operators_[main_[static_cast<size_t>(index)]])
               : std::nullopt;
  }
  std::string_view NameOf(int64_t position) const {
    return position >= 0 && static_cast<size_t>(position) < operators_.size()
               ? std::string_view(summary_.operators[static_cast<size_t>(position)].name)
               : std::string_view();
  }

  // Of a name in a message.
  std::string Name(std::string_view name) const {
    if (IsStable(name)) return std::string(name);
    const auto known = values_.find(name);
    return known != values_.end() ? known->second : std::string(WithoutCounter(name));
  }

 private:
  void Define(std::string_view name, std::string identity) {
    if (!name.empty() && !IsStable(name)) values_.try_emplace(name, std::move(identity));
  }

  static std::string OfConstant(const TensorEntry& t) {
    std::vector<std::string> parts = {t.type, std::string(WithoutCounter(t.name))};
    for (const int64_t d : t.shape) parts.push_back(std::to_string(d));
    if (t.bytes <= kMaxReadBytes && !t.external)
      if (const auto tensor = t.read())
        parts.emplace_back(reinterpret_cast<const char*>(tensor->blob().data()),
                           tensor->blob().size());
    return HashOf(parts);
  }

  std::string OfOperator(const OperatorSummary& op) const {
    if (IsStable(op.name)) return op.scope + "/" + op.name;
    for (const std::string& name : op.outputs)
      if (IsStable(name)) return op.op + ">" + name;
    std::vector<std::string> parts = {op.op, std::string(WithoutCounter(op.name))};
    for (const auto& [name, value] : op.attributes) parts.insert(parts.end(), {name, value});
    for (const std::string& name : op.inputs) parts.push_back(Name(name));
    return HashOf(parts);
  }

  ModelSummary summary_;
  std::vector<TensorEntry> constants_;  // the names in values_ are not owned
  std::vector<std::string> operators_;
  std::vector<size_t> main_;  // in operators_: those of the main graph
  NameMap<std::string> values_;
};

// "graph.node[3].input[0]" -> 3 and ".input[0]" for the list "graph.node".
std::optional<std::pair<int64_t, std::string_view>> EntryOf(std::string_view list,
                                                            std::string_view element) {
  if (!element.starts_with(list) || element.size() <= list.size() || element[list.size()] != '[')
    return std::nullopt;
  const std::string_view rest = element.substr(list.size() + 1);
  int64_t index = 0;
  const auto r = std::from_chars(rest.data(), rest.data() + rest.size(), index);
  const auto used = static_cast<size_t>(r.ptr - rest.data());
  if (r.ec != std::errc() || used >= rest.size() || rest[used] != ']') return std::nullopt;
  return std::pair(index, rest.substr(used + 1));
}

// The parts that identify a finding, besides its rule.
std::vector<std::string> PartsOf(const Finding& f, const Identities& model,
                                 std::span<const std::string_view> operator_lists) {
  const Location& where = f.location;
  for (const std::string_view list : operator_lists) {
    const auto entry = EntryOf(list, where.element);
    if (!entry) continue;
    const auto op = model.MainOperator(entry->first);
    if (!op) break;
    // Operators of subgraphs are in lists of the same name.
    const std::string_view field = list.substr(list.rfind('.') + 1);
    if (entry->second.find("." + std::string(field) + "[") == std::string_view::npos)
      return {*op, std::string(entry->second)};
    std::vector<std::string> parts = {*op, WithoutNumbers(entry->second)};
    for (const std::string& name : QuotedNames(f.message)) parts.push_back(model.Name(name));
    return parts;
  }
  if (where.element.empty() || where.element == model.NameOf(where.index))
    if (const auto op = model.Operator(where.index)) return {*op};
  std::vector<std::string> parts = {WithoutNumbers(model.Name(where.element))};
  for (const std::string& name : QuotedNames(f.message)) parts.push_back(model.Name(name));
  return parts;
}

void SetFingerprint(Finding& finding, std::vector<std::string> parts) {
  parts.insert(parts.begin(), finding.rule);
  finding.fingerprint = HashOf(parts);
}

}  // namespace

void AddFingerprints(const NativeModel& model, const Format& format,
                     std::span<const std::string_view> operator_lists,
                     std::vector<Finding>& findings) {
  if (findings.empty()) return;
  const Identities identities(model, format);
  for (Finding& f : findings) SetFingerprint(f, PartsOf(f, identities, operator_lists));
}

void AddFingerprint(Finding& finding) {
  SetFingerprint(finding, {});
}

}  // namespace nn

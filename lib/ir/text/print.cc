#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <unordered_map>

#include "base/text/text.h"
#include "ir/op_def.h"
#include "ir/text/text.h"

namespace nn {
namespace {

bool IsPlainName(std::string_view s) {
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0]))) return false;
  return std::all_of(s.begin(), s.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.' || c == '/' || c == ':';
  });
}

std::string Hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    out += kDigits[std::to_integer<int>(b) >> 4];
    out += kDigits[std::to_integer<int>(b) & 15];
  }
  return out;
}

class GraphPrinter {
 public:
  explicit GraphPrinter(const PrintOptions& options) : options_(options) {}

  void Print(const Graph& graph, int depth) {
    NameValues(graph);
    Line(depth, "graph" + (graph.name.empty() ? "" : " " + Quote(graph.name)) + " {");
    for (const Port& p : graph.inputs())
      Line(depth + 1,
           fmt::format("in {}{}: {}", Ref(p.value), PortName(p), p.value->type().ToString()));
    for (const Value& v : graph.values())
      if (v.is_constant() && (!v.uses().empty() || graph.IsOutput(&v)))
        Line(depth + 1, fmt::format("const {}: {} = {}", Definition(v), v.type().ToString(),
                                    Contents(v.constant())));
    for (const Node& n : graph.nodes()) PrintNode(n, depth + 1);
    for (const Port& p : graph.outputs())
      Line(depth + 1, fmt::format("out {} = {}", Quote(p.name), Ref(p.value)));
    Line(depth, "}");
  }

  std::string Take() { return std::move(out_); }

 private:
  void Line(int depth, std::string_view text) {
    out_.append(static_cast<size_t>(depth) * 2, ' ');
    out_ += text;
    out_ += '\n';
  }

  // A value is printed by its name if that is unique and needs no quoting, else by its number.
  void NameValues(const Graph& graph) {
    std::unordered_map<std::string_view, int> count;
    for (const Value& v : graph.values()) ++count[v.name()];
    for (const Value& v : graph.values())
      names_[&v] = IsPlainName(v.name()) && count[v.name()] == 1 ? std::string(v.name())
                                                                 : std::to_string(v.id());
  }

  std::string Ref(const Value* v) const { return v == nullptr ? "_" : "%" + names_.at(v); }
  std::string Definition(const Value& v) const {
    std::string out = Ref(&v);
    if (!v.name().empty() && names_.at(&v) != v.name()) out += " " + Quote(v.name());
    return out;
  }
  std::string PortName(const Port& p) const {
    return names_.at(p.value) == p.name ? "" : " " + Quote(p.name);
  }

  std::string Contents(const Tensor& t) const {
    const bool large = t.elements() > options_.max_elements;
    if (large && !options_.complete) return "...";
    if (t.dtype() == DType::kString) return StringList(t);
    // Decimal text does not preserve NaN bits and is longer.
    if (large || IsComplex(t.dtype()) || (options_.complete && HasNan(t)))
      return fmt::format("hex(\"{}\")", Hex(t.blob().bytes()));
    std::string out = "[";
    for (int64_t i = 0; i < t.elements(); ++i) {
      if (i != 0) out += ", ";
      out += Element(t, i);
    }
    return out + "]";
  }
  static bool HasNan(const Tensor& t) {
    if (!IsFloat(t.dtype())) return false;
    for (int64_t i = 0; i < t.elements(); ++i)
      if (std::isnan(t.GetDouble(i))) return true;
    return false;
  }
  static std::string StringList(const Tensor& t) {
    std::string out = "[";
    for (const std::string& s : t.strings()) out += (out.size() > 1 ? ", " : "") + Quote(s);
    return out + "]";
  }
  static std::string Element(const Tensor& t, int64_t i) {
    if (!IsFloat(t.dtype())) return std::to_string(t.GetInt(i));
    const double v = t.GetDouble(i);
    if (t.dtype() == DType::kF64) return fmt::format("{}", v);
    return FloatText(static_cast<float>(v));
  }

  void PrintNode(const Node& n, int depth) {
    std::string line;
    for (const Value* v : n.outputs()) line += (line.empty() ? "" : ", ") + Definition(*v);
    line += fmt::format(" = {}(", n.op_name());
    for (size_t i = 0; i < n.inputs().size(); ++i) line += (i == 0 ? "" : ", ") + Ref(n.input(i));
    line += ")";
    const std::string attrs = n.attrs().ToString();
    if (!attrs.empty()) line += " " + attrs;
    if (!n.name().empty()) line += " " + Quote(n.name());
    if (n.arithmetic() != Arithmetic::kDefault)
      line += fmt::format(" @{}", EnumName(n.arithmetic()));
    line += " :";
    for (const Value* v : n.outputs())
      line += (v == n.outputs()[0] ? " " : ", ") + v->type().ToString();
    if (n.regions().empty()) {
      Line(depth, line);
      return;
    }
    Line(depth, line + " regions {");
    for (const auto& region : n.regions()) Print(*region, depth + 1);
    Line(depth, "}");
  }

  const PrintOptions options_;
  std::unordered_map<const Value*, std::string> names_;
  std::string out_;
};

}  // namespace

std::string PrintGraph(const Graph& graph, const PrintOptions& options) {
  GraphPrinter printer(options);
  printer.Print(graph, 0);
  return printer.Take();
}

}  // namespace nn

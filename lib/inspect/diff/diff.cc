#include "inspect/diff/diff.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/file/file.h"
#include "base/text/text.h"
#include "formats/common/describe/compare.h"
#include "inspect/diff/diff_form.h"
#include "inspect/diff/match.h"
#include "inspect/report/opaque_reader.h"
#include "inspect/report/shape_text.h"
#include "ir/op_def.h"

namespace nn::inspect {
namespace {

// The common form in which models of two formats are compared. This format has the most operators.
constexpr std::string_view kCommonForm = "onnx";

OperatorRef RefOf(const Node& node) {
  return {node.source().index, std::string(node.source_op()), std::string(node.name())};
}

void AddField(std::string what, const std::string& a, const std::string& b,
              std::vector<FieldDiff>& out) {
  if (a != b) out.push_back({std::move(what), a, b});
}

std::string InterfaceText(const TensorSummary& t) {
  std::string shape;
  if (t.shape)
    for (const std::string& d : *t.shape) shape += (shape.empty() ? "" : ", ") + d;
  return fmt::format("{}: {}{}{}{}", Quote(t.name), t.type, t.shape ? "[" + shape + "]" : "[*]",
                     t.quantization.empty() ? "" : ", ", t.quantization);
}

void DiffInterface(std::string_view role, const std::vector<TensorSummary>& a,
                   const std::vector<TensorSummary>& b, std::vector<FieldDiff>& out) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    AddField(fmt::format("{} {}", role, i), i < a.size() ? InterfaceText(a[i]) : "",
             i < b.size() ? InterfaceText(b[i]) : "", out);
}

void DiffFacts(const ModelSummary& a, const ModelSummary& b, std::vector<FieldDiff>& out) {
  AddField("format", a.format, b.format, out);
  AddField("version", a.version, b.version, out);
  AddField("producer", a.producer, b.producer, out);
  AddField("name", a.name, b.name, out);
  // Keys may repeat: the k-th values are compared with each other.
  std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> keys;
  for (const auto& [key, value] : a.metadata) keys[key].first.push_back(value);
  for (const auto& [key, value] : b.metadata) keys[key].second.push_back(value);
  for (const auto& [key, values] : keys)
    for (size_t i = 0; i < std::max(values.first.size(), values.second.size()); ++i)
      AddField("metadata " + Quote(key), i < values.first.size() ? values.first[i] : "",
               i < values.second.size() ? values.second[i] : "", out);
}

class Differ {
 public:
  Differ(const Graph& a, const Graph& b, OpaqueReader file_a, OpaqueReader file_b)
      : graph_a_(a),
        graph_b_(b),
        file_a_(std::move(file_a)),
        file_b_(std::move(file_b)),
        matching_(MatchNodes(graph_a_, graph_b_)) {
    for (const auto& [x, y] : matching_) counterparts_[y] = x;
  }

  Status Run(ModelDiff& out) {
    for (const Node& n : graph_b_.nodes())
      if (!counterparts_.contains(&n)) out.added.push_back(RefOf(n));
    for (const Node& n : graph_a_.nodes()) {
      const auto it = matching_.find(&n);
      if (it == matching_.end())
        out.removed.push_back(RefOf(n));
      else
        NN_RETURN_IF_ERROR(DiffNodes(n, *it->second, out));
    }
    DiffOutputs(out);
    return {};
  }

 private:
  Status DiffNodes(const Node& a, const Node& b, ModelDiff& out) {
    ++out.matched;
    out.renamed += a.name() != b.name();
    OperatorDiff diff{RefOf(a), RefOf(b), {}};
    out.pairs.emplace_back(diff.a.index, diff.b.index);
    if (a.op().is_opaque) {
      NN_RETURN_IF_ERROR(DiffOpaque(a, b, diff, out));
    } else {
      for (const AttrField& f : a.attrs().info().fields)
        AddField(fmt::format("attribute {}", f.name), ToString(a.attrs().Get(f)),
                 ToString(b.attrs().Get(f)), diff.fields);
    }
    AddField("arithmetic", std::string(EnumName(a.arithmetic())),
             std::string(EnumName(b.arithmetic())), diff.fields);
    for (size_t i = 0; i < std::max(a.inputs().size(), b.inputs().size()); ++i)
      DiffInput(diff, i, a.input(i), b.input(i), out);
    for (size_t i = 0; i < std::max(a.outputs().size(), b.outputs().size()); ++i)
      AddField(fmt::format("output {}", i),
               i < a.outputs().size() ? ComparableText(a.output(i)->type()) : "",
               i < b.outputs().size() ? ComparableText(b.output(i)->type()) : "", diff.fields);
    if (!diff.fields.empty()) out.changed.push_back(std::move(diff));
    return {};
  }

  // For facts missing from the graph, the files are compared.
  Status DiffOpaque(const Node& a, const Node& b, OperatorDiff& diff, ModelDiff& out) {
    const OperatorSummary *op_a = file_a_.Find(a), *op_b = file_b_.Find(b);
    const OpaqueContents in_a = file_a_.Read(a), in_b = file_b_.Read(b);
    const size_t before = diff.fields.size();
    AddField("operator", diff.a.op, diff.b.op, diff.fields);
    if (op_a != nullptr && op_b != nullptr) DiffAttributes(*op_a, *op_b, diff.fields);
    if (diff.fields.size() == before && in_a.structure != in_b.structure)
      diff.fields.push_back({"subgraphs", "operators and their order", "different"});
    AddField("constants", std::to_string(in_a.tensors.size()), std::to_string(in_b.tensors.size()),
             diff.fields);
    for (size_t i = 0; i < std::min(in_a.tensors.size(), in_b.tensors.size()); ++i) {
      NN_ASSIGN(const Tensor x, in_a.tensors[i]());
      NN_ASSIGN(const Tensor y, in_b.tensors[i]());
      const std::string name = fmt::format("constant {}", i);
      const auto type_of = [](const Tensor& t) { return Type(t.dtype(), ToDims(t.dims())); };
      AddField(name, type_of(x).ToString(), type_of(y).ToString(), diff.fields);
      if (type_of(x) == type_of(y)) DiffContents(diff, i, x, y, name, out);
    }
    return {};
  }

  static void DiffAttributes(const OperatorSummary& a, const OperatorSummary& b,
                             std::vector<FieldDiff>& out) {
    std::map<std::string, std::pair<std::string, std::string>> values;
    for (const auto& [name, value] : a.attributes) values[name].first = value;
    for (const auto& [name, value] : b.attributes) values[name].second = value;
    for (const auto& [name, v] : values) AddField("attribute " + name, v.first, v.second, out);
  }

  void DiffInput(OperatorDiff& diff, size_t i, const Value* a, const Value* b, ModelDiff& out) {
    const std::string what = fmt::format("input {}", i);
    if (a != nullptr && b != nullptr && a->is_constant() && b->is_constant()) {
      const std::string type_a = ComparableText(a->type()), type_b = ComparableText(b->type());
      AddField(what, "constant " + type_a, "constant " + type_b, diff.fields);
      const Tensor &x = a->constant(), &y = b->constant();
      if (x.dtype() == y.dtype() && x.dims() == y.dims() && seen_.emplace(a, b).second)
        DiffContents(diff, i, x, y, a->name().empty() ? b->name() : a->name(), out);
      return;
    }
    if (!Corresponds(a, b)) diff.fields.push_back({what, Origin(a, graph_a_), Origin(b, graph_b_)});
  }

  bool Corresponds(const Value* a, const Value* b) const {
    if (a == nullptr || b == nullptr) return a == b;
    if (a->def() != nullptr && b->def() != nullptr) {
      const auto it = matching_.find(a->def());
      return it != matching_.end() && it->second == b->def() && a->def_index() == b->def_index();
    }
    return a->is_input() && b->is_input() && PortOf(a, graph_a_) == PortOf(b, graph_b_);
  }

  static size_t PortOf(const Value* v, const Graph& graph) {
    const auto& ports = graph.inputs();
    return static_cast<size_t>(
        std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.value == v; }) -
        ports.begin());
  }

  static std::string Origin(const Value* v, const Graph& graph) {
    if (v == nullptr) return "none";
    if (v->is_constant()) return "constant " + ComparableText(v->type());
    if (v->def() == nullptr) return fmt::format("model input {}", PortOf(v, graph));
    const OperatorRef r = RefOf(*v->def());
    return fmt::format("output {} of #{} {}{}{}", v->def_index(), r.index, r.op,
                       r.name.empty() ? "" : " ", r.name);
  }

  void DiffContents(const OperatorDiff& diff, size_t input, const Tensor& a, const Tensor& b,
                    std::string_view name, ModelDiff& out) {
    ++out.compared;
    if (!a.Identical(b)) {
      const std::string type = Type(a.dtype(), ToDims(a.dims())).ToString();
      Comparison c = Compare(a, b, {});
      if (!c.identical)
        out.weights.push_back({diff.a, diff.b, input, std::string(name), type, std::move(c)});
    }
    DropResidentPages(a.blob());
    DropResidentPages(b.blob());
  }

  // Compares the sources of the outputs; names and types are in the interface.
  void DiffOutputs(ModelDiff& out) const {
    const auto &a = graph_a_.outputs(), &b = graph_b_.outputs();
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (!(a[i].value->is_constant() && b[i].value->is_constant()) &&
          !Corresponds(a[i].value, b[i].value))
        out.interface.push_back({fmt::format("source of output {}", i),
                                 Origin(a[i].value, graph_a_), Origin(b[i].value, graph_b_)});
  }

  const Graph& graph_a_;
  const Graph& graph_b_;
  OpaqueReader file_a_;
  OpaqueReader file_b_;
  Matching matching_;
  std::unordered_map<const Node*, const Node*> counterparts_;
  std::set<std::pair<const Value*, const Value*>> seen_;  // compared constants
};

}  // namespace

Result<ModelDiff> DiffModels(const LoadedModel& a, const LoadedModel& b) {
  ModelDiff out;
  DiffFacts(a.summary, b.summary, out.facts);
  DiffInterface("input", a.summary.inputs, b.summary.inputs, out.interface);
  DiffInterface("output", a.summary.outputs, b.summary.outputs, out.interface);
  if (a.read.format == b.read.format && !(a.graph && b.graph)) {
    out.by_field = true;
    NN_ASSIGN(const std::vector<FieldDifference> fields,
              CompareModels(a.read, b.read, ModelDiff::kMaxFields));
    for (const FieldDifference& f : fields) out.fields.push_back({f.place, f.a, f.b});
    return out;
  }
  NN_RETURN_IF_ERROR(GraphOf(a));
  NN_RETURN_IF_ERROR(GraphOf(b));
  NN_ASSIGN(std::vector<TensorEntry> tensors_a, TensorsOf(a));
  NN_ASSIGN(std::vector<TensorEntry> tensors_b, TensorsOf(b));
  OpaqueReader file_a(a, std::move(tensors_a)), file_b(b, std::move(tensors_b));
  std::optional<Graph> fitted_a, fitted_b;
  if (a.read.format != b.read.format) {
    out.form = FindFormat(kCommonForm);
    fitted_a = InFormOf(*out.form, *a.graph);
    fitted_b = InFormOf(*out.form, *b.graph);
    if (!fitted_a || !fitted_b) out.form = nullptr;
  }
  const bool fitted = out.form != nullptr;
  NN_RETURN_IF_ERROR(Differ(fitted ? *fitted_a : *a.graph, fitted ? *fitted_b : *b.graph,
                            std::move(file_a), std::move(file_b))
                         .Run(out));
  return out;
}

}  // namespace nn::inspect

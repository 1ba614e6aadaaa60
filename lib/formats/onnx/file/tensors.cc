#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "base/text/name_map.h"
#include "base/text/text.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/file/tensor.h"
#include "formats/onnx/roles.h"
#include "formats/onnx/spec/schema.h"

namespace nn::onnx {
namespace {

// Walks the model in the order of Summarizer, so that operators get the same indices.
class TensorLister {
 public:
  explicit TensorLister(const Model& model) : model_(model) {}

  std::vector<TensorEntry> Run() {
    const pb::GraphProto& g = model_.proto.graph();
    sets_ = &model_.proto.opset_import();
    AddGraph(g, "", kNone);
    for (const pb::FunctionProto& f : model_.proto.functions()) {
      frames_.emplace_back();
      sets_ = &f.opset_import();
      AddNodes(f.node(),
               "function " + (NormalDomain(f.domain()).empty() ? "" : f.domain() + ".") + f.name());
      // Calls are not resolved; a constant that is a result is used by its own node.
      for (const std::string& name : f.output())
        if (const size_t at = Find(name); at != kNone) out_[at].users.push_back(nodes_[at]);
      frames_.pop_back();
    }
    for (TensorEntry& t : out_) {
      std::sort(t.users.begin(), t.users.end());
      t.users.erase(std::unique(t.users.begin(), t.users.end()), t.users.end());
    }
    return std::move(out_);
  }

 private:
  // Maps names of a graph to entries; kNone for values that shadow an outer constant.
  using Frame = NameMap<size_t>;
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  // The operator `owner`, kNone for the main graph, uses the results of its subgraph.
  void AddGraph(const pb::GraphProto& g, const std::string& scope, size_t owner) {
    frames_.emplace_back().reserve(
        static_cast<size_t>(g.input_size() + g.initializer_size() + g.node_size()));
    for (const auto& info : g.input()) frames_.back()[info.name()] = kNone;
    for (const auto& t : g.initializer()) frames_.back()[t.name()] = AddTensor(t, t.name(), scope);
    for (const auto& t : g.sparse_initializer())
      frames_.back()[t.values().name()] = AddSparse(t, t.values().name(), scope);
    AddNodes(g.node(), scope);
    if (owner != kNone)
      for (const auto& output : g.output()) Use(output.name(), owner);
    frames_.pop_back();
  }

  template <typename NodeList>
  void AddNodes(const NodeList& nodes, const std::string& scope) {
    int index = 0;
    for (const pb::NodeProto& node : nodes) AddNode(node, scope, index++);
  }

  void AddNode(const pb::NodeProto& node, const std::string& scope, int index) {
    const size_t number = operators_++;
    for (const std::string& name : node.input()) Use(name, number);
    AddQuantization(node);
    for (const std::string& name : node.output()) frames_.back()[name] = kNone;
    if (node.attribute().empty()) return;
    const bool constant = node.op_type() == "Constant" && node.output_size() == 1;
    const std::string label =
        node.name().empty() ? fmt::format("{} {}", node.op_type(), index) : node.name();
    const std::string inner = (scope.empty() ? "" : scope + "/") + label + ".";
    for (const auto& a : node.attribute()) {
      const size_t before = out_.size();
      const std::string name = constant ? node.output(0) : label + "." + a.name();
      if (a.has_t()) AddTensor(a.t(), name, scope);
      if (a.has_sparse_tensor()) AddSparse(a.sparse_tensor(), name, scope);
      for (int i = 0; i < a.tensors_size(); ++i)
        AddTensor(a.tensors(i), fmt::format("{}[{}]", name, i), scope);
      if (constant && out_.size() > before)
        frames_.back()[node.output(0)] = before;
      else
        for (size_t i = before; i < out_.size(); ++i) Own(out_[i], number);
      if (a.has_g()) AddGraph(a.g(), inner + a.name(), number);
      for (int i = 0; i < a.graphs_size(); ++i)
        AddGraph(a.graphs(i), fmt::format("{}{}[{}]", inner, a.name(), i), number);
    }
  }

  static void Own(TensorEntry& t, size_t number) {
    t.is_attribute = true;
    t.users = {number};
  }

  // Inner graphs see the names of the outer ones.
  void Use(const std::string& name, size_t number) {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      const auto it = frame->find(name);
      if (it == frame->end()) continue;
      if (it->second != kNone) out_[it->second].users.push_back(number);
      return;
    }
  }

  // The constant that a name refers to, or kNone.
  size_t Find(const std::string& name) const {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
      if (const auto it = frame->find(name); it != frame->end()) return it->second;
    return kNone;
  }

  // The scale of the input x of a standard operator is its input x_scale, and likewise its zero
  // point.
  void AddQuantization(const pb::NodeProto& node) {
    const std::string domain(NormalDomain(node.domain()));
    int64_t opset = OpsetVersion(*sets_, domain);
    if (opset == 0 && domain.empty()) opset = OpsetVersion(model_.proto, domain);
    const Schema* schema = FindSchema(domain, node.op_type(), opset);
    if (schema == nullptr) return;
    const auto input = [&](const std::string& name) {
      for (size_t i = 0; i < schema->inputs.size(); ++i)
        if (schema->inputs[i].name == name && static_cast<int>(i) < node.input_size())
          return node.input(static_cast<int>(i));
      return std::string();
    };
    for (const SchemaParameter& p : schema->inputs) {
      const std::string scale = input(p.name + "_scale");
      const size_t at = scale.empty() ? kNone : Find(input(p.name));
      if (at == kNone || out_[at].quantization || IsFloat(DTypeOf(TypeAt(at)))) continue;
      const std::string zero = input(p.name + "_zero_point");
      out_[at].quantization = QuantizationOf(node, scale, zero, out_[at].shape);
    }
  }

  // TensorProto.DataType of a constant.
  int TypeAt(size_t at) const { return protos_[at]->data_type(); }

  std::function<Result<StoredQuantization>()> QuantizationOf(
      const pb::NodeProto& node, const std::string& scale, const std::string& zero,
      const std::vector<int64_t>& shape) const {
    const size_t s = Find(scale), z = zero.empty() ? kNone : Find(zero);
    if (s == kNone || (z == kNone && !zero.empty()))
      return []() -> Result<StoredQuantization> {
        return UnsupportedError("the scale or zero point is computed by a run");
      };
    int64_t axis = protos_[s]->dims_size() == 0 ? -1 : DefaultAxis(node);
    int64_t block = 0;
    for (const auto& a : node.attribute()) {
      if (a.name() == "axis" && axis >= 0) axis = a.i();
      if (a.name() == "block_size") block = a.i();
    }
    if (axis < 0 && protos_[s]->dims_size() > 0) axis += static_cast<int64_t>(shape.size());
    return [model = &model_, scales = protos_[s], points = z == kNone ? nullptr : protos_[z], axis,
            block]() -> Result<StoredQuantization> {
      StoredQuantization out;
      NN_ASSIGN(const Tensor read, ReadTensor(*scales, *model));
      if (!IsFloat(read.dtype())) return ModelError("the scale is {}", DTypeName(read.dtype()));
      for (int64_t i = 0; i < read.elements(); ++i)
        out.scales.push_back(static_cast<float>(read.GetDouble(i)));
      out.axis = out.scales.size() > 1 ? axis : -1;
      out.block = block;
      if (points == nullptr) return out;
      NN_ASSIGN(const Tensor zeros, ReadTensor(*points, *model));
      // Zero points of the 8-bit floats are zero.
      if (IsInteger(zeros.dtype())) out.zero_points = zeros.ToInts();
      const auto is_zero = [](int64_t v) { return v == 0; };
      if (std::all_of(out.zero_points.begin(), out.zero_points.end(), is_zero))
        out.zero_points.clear();
      return out;
    };
  }

  // Of several scales: of a DequantizeLinear without `axis`, and of the operators that multiply.
  static int64_t DefaultAxis(const pb::NodeProto& node) {
    return node.op_type() == "DequantizeLinear" ? 1 : node.op_type() == "QLinearConv" ? 0 : -1;
  }

  size_t AddTensor(const pb::TensorProto& t, const std::string& name, const std::string& scope) {
    TensorEntry e;
    e.name = name;
    e.scope = scope;
    e.type = DataTypeName(t.data_type());
    e.shape.assign(t.dims().begin(), t.dims().end());
    const int64_t elements = CheckedElements(e.shape).value_or(0);
    const DType dtype = DTypeOf(t.data_type());
    if (dtype == DType::kString)
      for (const std::string& s : t.string_data()) e.bytes += s.size();
    else if (elements <= std::numeric_limits<int64_t>::max() / 128)
      e.bytes = ByteSize(dtype, elements);
    Locate(t, e);
    e.read = [this_model = &model_, &t] { return ReadTensor(t, *this_model); };
    out_.push_back(std::move(e));
    protos_.push_back(&t);
    nodes_.push_back(operators_ == 0 ? 0 : operators_ - 1);
    return out_.size() - 1;
  }

  static void Locate(const pb::TensorProto& t, TensorEntry& e) {
    if (t.data_location() != pb::TensorProto::EXTERNAL) return;
    e.external = true;
    std::string location, offset = "0";
    for (const auto& entry : t.external_data()) {
      if (entry.key() == "location") location = entry.value();
      if (entry.key() == "offset") offset = entry.value();
    }
    e.location = fmt::format("{} at {}", location, offset);
  }

  size_t AddSparse(const pb::SparseTensorProto& t, const std::string& name,
                   const std::string& scope) {
    const size_t at = AddTensor(t.values(), name, scope);
    TensorEntry& e = out_[at];
    e.type = fmt::format("sparse({})", e.type);
    e.shape.assign(t.dims().begin(), t.dims().end());
    e.read = [this_model = &model_, &t] { return ReadSparseTensor(t, *this_model); };
    return at;
  }

  const Model& model_;
  std::vector<Frame> frames_;
  size_t operators_ = 0;
  std::vector<TensorEntry> out_;
  std::vector<const pb::TensorProto*> protos_;  // of the entries; of sparse ones, their values
  std::vector<size_t> nodes_;                   // of the entries: the operator that was listed last
  const OperatorSets* sets_ = nullptr;          // of the model or function
};

}  // namespace

Result<std::vector<TensorEntry>> OnnxDescriber::TensorsOf(const NativeModel& native) const {
  return TensorLister(ModelOf(native)).Run();
}

}  // namespace nn::onnx

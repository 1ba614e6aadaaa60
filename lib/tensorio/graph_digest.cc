#include "tensorio/graph_digest.h"

#include <fmt/core.h>

#include <map>
#include <memory>
#include <unordered_map>

#include "base/file/file.h"
#include "base/sha256.h"
#include "ir/op_def.h"
#include "tensorio/digest.h"

namespace nn {
namespace {

// Renames symbols by first occurrence.
class Symbols {
 public:
  Dim Rename(const Dim& dim) {
    if (dim.is_const() || !dim.is_valid()) return dim;
    return dim.Substitute([&](std::string_view name) -> std::optional<Dim> {
      const auto it =
          names_.try_emplace(std::string(name), fmt::format("d{}", names_.size())).first;
      return Dim::Symbol(it->second);
    });
  }
  std::string Text(const Dims& dims) {
    std::string out = "[";
    for (const Dim& d : dims) out += Rename(d).ToString() + ",";
    return out + "]";
  }

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

bool CountsAsStructure(const Value& v) {
  const Tensor& t = v.constant();
  return t.rank() <= 1 && !v.type().quantized() &&
         (IsInteger(t.dtype()) || t.dtype() == DType::kBool);
}

class Digester {
 public:
  explicit Digester(const std::function<OpaqueContents(const Node&)>& opaque) : opaque_(opaque) {
    structure_.Bytes("nn-structure-1\n");
    weights_.Bytes("nn-weights-1\n");
  }

  Status Add(const Graph& graph) {
    Numbers numbers;
    for (size_t i = 0; i < graph.inputs().size(); ++i)
      numbers.inputs.emplace(graph.inputs()[i].value, i);
    structure_.Number(graph.inputs().size());
    for (const Port& p : graph.inputs()) AddType(p.value->type());
    for (const Port& p : graph.outputs()) {
      NN_RETURN_IF_ERROR(Visit(p.value, numbers));
      MeetConstant(p.value, numbers);
    }
    structure_.Text("outputs");
    structure_.Number(graph.outputs().size());
    for (const Port& p : graph.outputs()) AddReference(p.value, numbers);
    return {};
  }

  GraphDigests Finish() { return {structure_.Finish(), weights_.Finish()}; }

 private:
  struct Numbers {
    std::unordered_map<const Value*, size_t> inputs;
    std::unordered_map<const Value*, size_t> constants;
    std::unordered_map<const Node*, size_t> nodes;  // or kOnStack
    size_t nodes_added = 0;
  };
  static constexpr size_t kOnStack = SIZE_MAX;
  // A node on the stack of Visit().
  struct Step {
    const Node* node;
    std::unique_ptr<const OpaqueContents> contents;  // null unless the node is opaque
    size_t next = 0;

    size_t input_count() const {
      return node->inputs().size() + (contents == nullptr ? 0 : contents->captures.size());
    }
    const Value* input(size_t i) const {
      const size_t own = node->inputs().size();
      return i < own ? node->input(i) : contents->captures[i - own];
    }
  };

  Step Begin(const Node& node) const {
    Step step{&node, nullptr};
    if (node.op().is_opaque && opaque_)
      step.contents = std::make_unique<const OpaqueContents>(opaque_(node));
    return step;
  }

  // Whether the node is not yet numbered or on the stack; it is from now on.
  static bool Meet(const Node* node, Numbers& numbers) {
    return node != nullptr && numbers.nodes.try_emplace(node, kOnStack).second;
  }

  // Adds the nodes that `value` depends on and that were not added before.
  Status Visit(const Value* value, Numbers& numbers) {
    if (!Meet(value->def(), numbers)) return {};
    std::vector<Step> stack;
    stack.push_back(Begin(*value->def()));
    while (!stack.empty()) {
      Step& step = stack.back();
      if (step.next == step.input_count()) {
        NN_RETURN_IF_ERROR(AddNode(step, numbers));
        stack.pop_back();
        continue;
      }
      const Value* input = step.input(step.next++);
      // In a malformed file, a captured value may depend on the node that captures it.
      if (input != nullptr && Meet(input->def(), numbers)) stack.push_back(Begin(*input->def()));
    }
    return {};
  }

  Status AddNode(const Step& step, Numbers& numbers) {
    const Node& node = *step.node;
    const size_t inputs = step.input_count();
    for (size_t i = 0; i < inputs; ++i) MeetConstant(step.input(i), numbers);
    numbers.nodes[&node] = numbers.nodes_added++;
    structure_.Text(node.op_name());
    if (!node.op().is_opaque) AddAttrs(node.attrs());
    structure_.Text(step.contents == nullptr ? "" : step.contents->structure);
    structure_.Number(static_cast<uint64_t>(node.arithmetic()));
    structure_.Number(inputs);
    for (size_t i = 0; i < inputs; ++i) AddReference(step.input(i), numbers);
    structure_.Number(node.outputs().size());
    for (const Value* v : node.outputs()) AddQuant(v->type());
    structure_.Number(node.regions().size());
    for (const auto& region : node.regions()) NN_RETURN_IF_ERROR(Add(*region));
    structure_.Number(step.contents == nullptr ? 0 : step.contents->tensors.size());
    if (step.contents == nullptr) return {};
    for (const auto& read : step.contents->tensors) {
      NN_ASSIGN(const Tensor tensor, read());
      AddTensor(tensor);
    }
    return {};
  }

  void AddAttrs(const Attrs& attrs) {
    for (const AttrField& field : attrs.info().fields) {
      structure_.Text(field.name);
      const AttrValue value = attrs.Get(field);
      const auto* dims = std::get_if<Dims>(&value);
      structure_.Text(dims != nullptr ? symbols_.Text(*dims) : ToString(value));
    }
  }

  void MeetConstant(const Value* v, Numbers& numbers) {
    if (v == nullptr || !v->is_constant() ||
        !numbers.constants.try_emplace(v, numbers.constants.size()).second)
      return;
    structure_.Text("constant");
    AddType(v->type());
    if (CountsAsStructure(*v)) AddContents(v->constant(), structure_);
    AddTensor(v->constant());
  }

  void AddTensor(const Tensor& tensor) {
    weights_.Text(DTypeName(tensor.dtype()));
    weights_.Number(static_cast<uint64_t>(tensor.rank()));
    for (const int64_t d : tensor.dims()) weights_.Number(static_cast<uint64_t>(d));
    AddContents(tensor, weights_);
    DropResidentPages(tensor.blob());
  }

  // Whether a type is quantized, and along which axis, is structure.
  void AddQuant(const Type& type) {
    const Quant* q = type.quant.get();
    structure_.Text(q == nullptr ? "" : fmt::format("quantized {}", q->axis));
    if (q == nullptr) return;
    weights_.Number(q->scales.size());
    weights_.Bytes(std::as_bytes(std::span(q->scales)));
    for (size_t i = 0; i < q->scales.size(); ++i)
      weights_.Number(static_cast<uint64_t>(q->zero_point(i)));
  }

  void AddType(const Type& type) {
    structure_.Text(DTypeName(type.dtype));
    structure_.Text(type.dims ? symbols_.Text(*type.dims) : "*");
    AddQuant(type);
  }

  void AddReference(const Value* v, const Numbers& numbers) {
    if (v == nullptr) {
      structure_.Text("-");
    } else if (v->def() != nullptr) {
      structure_.Text("node");
      const auto it = numbers.nodes.find(v->def());
      const bool added = it != numbers.nodes.end() && it->second != kOnStack;
      structure_.Number(added ? it->second : numbers.nodes_added);
      structure_.Number(static_cast<uint64_t>(v->def_index()));
    } else if (v->is_constant()) {
      structure_.Text("constant");
      structure_.Number(numbers.constants.at(v));
    } else {
      structure_.Text("input");
      structure_.Number(numbers.inputs.at(v));
    }
  }

  const std::function<OpaqueContents(const Node&)>& opaque_;
  Symbols symbols_;
  Sha256 structure_;
  Sha256 weights_;
};

}  // namespace

Result<GraphDigests> DigestGraph(const Graph& graph,
                                 const std::function<OpaqueContents(const Node&)>& opaque) {
  Digester digester(opaque);
  NN_RETURN_IF_ERROR(digester.Add(graph));
  return digester.Finish();
}

}  // namespace nn

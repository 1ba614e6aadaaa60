#include "rewrite/scalars.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/op_def.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/shape.h"
#include "ops/control/region.h"
#include "ops/math/matmul.h"
#include "rewrite/expand.h"

namespace nn {
namespace {

bool IsScalar(const Value* v) {
  return v != nullptr && v->type().ranked() && v->type().rank() == 0;
}

bool IsUnitVector(const Type& type) {
  return type.ranked() && type.rank() == 1 && type.dim(0) == 1;
}

Type AsVector(const Type& type) {
  return type.WithDims(Dims{1});
}

// The axis of size 1 without which `more` is `dims`; nullopt if there is none.
std::optional<int> AddedAxis(const Dims& dims, const Dims& more) {
  if (more.size() != dims.size() + 1) return std::nullopt;
  for (size_t axis = 0; axis < more.size(); ++axis) {
    Dims rest = more;
    rest.erase(rest.begin() + static_cast<ptrdiff_t>(axis));
    if (more[axis] == 1 && rest == dims) return static_cast<int>(axis);
  }
  return std::nullopt;
}

// A pass over the nodes in order. The type of a value changes in place, so a node that has not been
// visited may have operands that are vectors already.
class Pass {
 public:
  explicit Pass(Graph& graph) : graph_(graph) {}

  Status Run() {
    for (const Port& p : graph_.inputs())
      if (IsScalar(p.value)) MakeVector(p.value);
    for (auto it = graph_.nodes().begin(); it != graph_.nodes().end();) {
      Node& node = *it++;  // may be erased
      if (IsAffected(node)) NN_RETURN_IF_ERROR(Visit(node));
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const Value* const v = graph_.outputs()[i].value;
      if (!IsScalar(v) || !v->is_constant()) continue;
      NN_ASSIGN(Tensor vector, v->constant().Reshaped({1}));
      graph_.set_output(i, graph_.AddConstant(std::move(vector), v->name(), v->type().quant));
    }
    return {};
  }

 private:
  void MakeVector(Value* v) {
    v->set_type(AsVector(v->type()));
    vectors_.insert(v);
  }

  bool IsAffected(const Node& node) const {
    for (const Value* v : node.inputs())
      if (vectors_.contains(v)) return true;
    for (const Value* v : node.outputs())
      if (IsScalar(v)) return true;
    return !node.regions().empty();
  }

  Status Visit(Node& node) {
    if (node.op().is_opaque) return {};  // what it needs is not known
    if (!node.regions().empty()) return EnterRegions(node);
    if (node.op().is_check) return KeepScalars(node);
    if (node.op().movement == Movement::kInOrder && node.input(0)->type().ranked() &&
        node.output()->type().ranked())
      return Reshape(node);
    NN_ASSIGN(const bool changed, InferAgain(node));
    if (!changed) return KeepScalars(node);
    return IsScalar(node.output()) ? AddAxis(node) : Status();
  }

  // A node that needs scalars gets them from a squeeze.
  Status KeepScalars(Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      Value* const v = node.input(i);
      if (!vectors_.contains(v)) continue;
      Value*& scalar = scalars_[v];
      if (scalar == nullptr) {
        NN_ASSIGN(scalar, Expansion(graph_, node).Add("squeeze", {v}, AxesAttrs{{0}}));
      }
      graph_.SetInput(&node, i, scalar);
    }
    return {};
  }

  // All scalars that are inputs or outputs of regions become vectors, and so do the operands and
  // results of the node.
  Status EnterRegions(Node& node) {
    if (RegionsKeepScalars(node)) return KeepScalars(node);
    NN_RETURN_IF_ERROR(ForEachRegion(node, [](Graph& region) -> Status {
      NN_RETURN_IF_ERROR(Pass(region).Run());
      for (size_t i = 0; i < region.outputs().size(); ++i) {
        Value* const v = region.outputs()[i].value;
        if (!IsScalar(v)) continue;
        NN_ASSIGN(Node* const vector, region.Append("expand_dims", {v}, AxesAttrs{{0}}));
        region.set_output(i, vector->output());
      }
      return {};
    }));
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      Value* v = node.input(i);
      if (!IsScalar(v)) continue;
      if (v->is_constant()) {
        NN_ASSIGN(Tensor vector, v->constant().Reshaped({1}));
        v = graph_.AddConstant(std::move(vector), SharedString(v->name()), v->type().quant);
      } else {
        NN_ASSIGN(v, Expansion(graph_, node).Add("expand_dims", {v}, AxesAttrs{{0}}));
      }
      graph_.SetInput(&node, i, v);
    }
    NN_ASSIGN(const bool changed, InferAgain(node));
    if (!changed) return InternalError("{} has scalars in place of vectors", node.Describe());
    return {};
  }

  // A reshape, squeeze or expand_dims from or to one element.
  Status Reshape(Node& node) {
    const bool to_scalar = IsScalar(node.output());
    const Dims dims = to_scalar ? Dims{1} : *node.output()->type().dims;
    Value* y = node.input(0);
    Expansion b(graph_, node);
    if (*y->type().dims != dims) {
      NN_ASSIGN(y, b.Add("reshape", {y}, ReshapeAttrs{dims}));
    }
    if (to_scalar) vectors_.insert(y);
    b.Replace(y);
    return {};
  }

  // Infers the types of the results from operands that may be vectors now. A result that gains an
  // axis of size 1 is a vector in place of a scalar, or loses the axis again. False, without an
  // effect, if the operator does not take vectors in place of scalars.
  Result<bool> InferAgain(Node& node) {
    std::vector<Type> before;
    for (Value* v : node.outputs()) {
      before.push_back(v->type());
      Type open = v->type();
      open.dims.reset();
      v->set_type(std::move(open));
    }
    bool fits = InferNode(node).has_value();
    std::vector<std::optional<int>> added(before.size());
    for (size_t i = 0; i < before.size() && fits; ++i) {
      const Type &old = before[i], &now = node.output(i)->type();
      if (old == now || !old.ranked()) continue;
      if (now.ranked()) added[i] = AddedAxis(*old.dims, *now.dims);
      fits = added[i].has_value();
    }
    if (!fits) {
      for (size_t i = 0; i < before.size(); ++i) node.output(i)->set_type(before[i]);
      return false;
    }
    for (size_t i = 0; i < before.size(); ++i) {
      Value* const v = node.output(i);
      if (!added[i]) continue;
      if (before[i].rank() == 0) {
        vectors_.insert(v);
        continue;
      }
      const std::vector<Use> uses(v->uses().begin(), v->uses().end());
      std::vector<size_t> ports;
      for (size_t k = 0; k < graph_.outputs().size(); ++k)
        if (graph_.outputs()[k].value == v) ports.push_back(k);
      NN_ASSIGN(Value* const rest,
                Rearrange(graph_, v, AxisMap::Remove(v->type().rank(), *added[i])));
      for (const Use& u : uses) graph_.SetInput(u.node, static_cast<size_t>(u.index), rest);
      for (const size_t k : ports) graph_.set_output(k, rest);
    }
    return true;
  }

  // The result of the node is a scalar whatever its operands are: reduced axes are kept, and one of
  // the operands gets one more axis.
  Status AddAxis(Node& node) {
    std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
    Attrs attrs = node.attrs();
    Expansion b(graph_, node);
    if (node.attrs().Get("keep_dims")) {
      NN_ASSIGN(attrs, attrs.With("keep_dims", true));
    } else if (node.Is<GatherAttrs>() && IsScalar(inputs[1]) && inputs[1]->is_constant()) {
      NN_ASSIGN(Tensor index, inputs[1]->constant().Reshaped({1}));
      inputs[1] = b.Constant(std::move(index));
    } else if (node.Is<GatherNdAttrs>() || node.Is<MatmulAttrs>()) {
      const size_t operand = node.Is<MatmulAttrs>() ? 0 : 1;
      NN_ASSIGN(inputs[operand], b.Add("expand_dims", {inputs[operand]}, AxesAttrs{{0}}));
    } else {
      return KeepScalars(node);
    }
    ExpansionLike like(graph_, node);
    NN_ASSIGN(Value * y, like.Add(node.op_name(), std::move(inputs), std::move(attrs)));
    if (!IsUnitVector(y->type())) {
      NN_ASSIGN(y, b.Add("reshape", {y}, ReshapeAttrs{{1}}));
    }
    vectors_.insert(y);
    b.Replace(y);
    return {};
  }

  Graph& graph_;
  std::unordered_set<const Value*> vectors_;          // that were scalars
  std::unordered_map<const Value*, Value*> scalars_;  // of vectors, for nodes that need them
};

std::vector<bool> AreScalars(const std::vector<Port>& ports) {
  std::vector<bool> out;
  for (const Port& p : ports) out.push_back(IsScalar(p.value));
  return out;
}

void Note(const std::vector<Port>& ports, const std::vector<bool>& scalars,
          std::vector<AxisMap>& maps) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (scalars[i] && !IsScalar(ports[i].value)) maps[i] = AxisMap::Insert(0, 0);
}

}  // namespace

bool RegionsKeepScalars(const Node& node) {
  return std::ranges::any_of(node.outputs(), [](const Value* v) { return !v->type().ranked(); });
}

Status ScalarsAsVectors(Graph& graph) {
  return Pass(graph).Run();
}

Status ScalarPortsAsVectors(Graph& graph) {
  for (const Port& p : graph.inputs()) {
    if (!IsScalar(p.value)) continue;
    const std::vector<Use> uses(p.value->uses().begin(), p.value->uses().end());
    p.value->set_type(AsVector(p.value->type()));
    NN_ASSIGN(Node* const scalar,
              graph.Append("squeeze", {p.value}, AxesAttrs{{0}}, 1, graph.After(p.value)));
    for (const Use& use : uses) graph.SetInput(use.node, use.index, scalar->output());
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      if (graph.outputs()[i].value == p.value) graph.set_output(i, scalar->output());
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Value* const v = graph.outputs()[i].value;
    if (!IsScalar(v)) continue;
    NN_ASSIGN(Node* const vector, graph.Append("expand_dims", {v}, AxesAttrs{{0}}));
    graph.set_output(i, vector->output());
  }
  return {};
}

ScalarPorts::ScalarPorts(const Graph& graph)
    : inputs(AreScalars(graph.inputs())), outputs(AreScalars(graph.outputs())) {}

void ScalarPorts::NoteVectors(const Graph& graph, InterfaceAxes& interface) const {
  Note(graph.inputs(), inputs, interface.inputs);
  Note(graph.outputs(), outputs, interface.outputs);
}

}  // namespace nn

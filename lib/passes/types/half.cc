#include "passes/types/half.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"
#include "passes/core/passes.h"
#include "passes/simplify/simplify.h"
#include "rewrite/compute_in.h"

namespace nn {
namespace {

bool IsPlainFloat32(const Value* v) {
  return v != nullptr && v->dtype() == DType::kF32 && !v->type().quantized();
}

// Whether a number is rounded to infinity.
bool Overflows(const Tensor& tensor, DType type) {
  const double largest = LargestHalf(type);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double x = tensor.GetDouble(i);
    if (std::isfinite(x) && !(std::abs(x) < largest)) return true;
  }
  return false;
}

// Whether the tensor has numbers other than 0, and all are rounded to 0.
bool Vanishes(const Tensor& tensor, DType type) {
  const double smallest = SmallestHalf(type);
  bool has_numbers = false;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double x = std::abs(tensor.GetDouble(i));
    if (!(x <= smallest)) return false;
    has_numbers |= x != 0;
  }
  return has_numbers;
}

bool IsIn(const Tensor& tensor, DType type) {
  return !Overflows(tensor, type) && !Vanishes(tensor, type);
}

// Whether a bound of a clip vanishes: formats hold bounds in the type of the operator.
bool HasSmallBound(const Node& node, DType type) {
  if (node.op().clamp == nullptr) return false;
  const Interval bounds = node.op().clamp(node);
  const auto vanishes = [&](double x) { return x != 0 && std::abs(x) <= SmallestHalf(type); };
  return vanishes(bounds.min) || vanishes(bounds.max);
}

Result<Tensor> HalfOf(const Tensor& tensor, DType type) {
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(type, tensor.dims()));
  for (int64_t i = 0; i < b.elements(); ++i) b.SetDouble(i, tensor.GetDouble(i));
  return b.Finish();
}

// The pass over one graph.
class Halver {
 public:
  Halver(Graph& graph, const HalfOptions& options) : graph_(graph), options_(options) {}

  Result<HalfSummary> Run() {
    FindKept();
    NN_RETURN_IF_ERROR(ChangePorts());
    NN_RETURN_IF_ERROR(options_.weights_only ? StoreWeights() : Compute());
    NN_RETURN_IF_ERROR(RemoveDeadCode(graph_));
    return summary_;
  }

 private:
  void FindKept() {
    for (const Node& node : graph_.nodes())
      if (options_.keeps && options_.keeps(node)) kept_.insert(&node);
    summary_.kept = std::ssize(kept_);
  }

  // Whether the constant may be of the type: kept operators need it in float32.
  bool IsWeight(const Value& v, int64_t least) {
    if (!v.is_constant() || !IsPlainFloat32(&v) || v.uses().empty() || graph_.IsOutput(&v) ||
        v.constant().elements() < least)
      return false;
    if (std::ranges::any_of(v.uses(), [&](const Use& u) { return kept_.contains(u.node); }))
      return false;
    if (IsIn(v.constant(), options_.type)) return true;
    ++summary_.out_of_range;
    return false;
  }

  Status StoreWeights() {
    std::vector<Value*> weights;
    for (Value& v : graph_.values())
      if (IsWeight(v, options_.least_elements)) weights.push_back(&v);
    for (Value* v : weights) {
      NN_ASSIGN(Tensor half, HalfOf(v->constant(), options_.type));
      Value* const stored = graph_.AddConstant(std::move(half), v->name());
      NN_ASSIGN(Node* const wide, graph_.Append("dequantize", {stored}, DequantizeAttrs{}, 1,
                                                &graph_.nodes().front()));
      graph_.ReplaceUses(v, wide->output());
      ++summary_.weights;
    }
    return {};
  }

  Status Compute() {
    std::set<const Value*> outside;
    std::set<const Value*> small;  // results that may vanish
    for (Value& v : graph_.values()) {
      if (!v.is_constant() || !IsPlainFloat32(&v) || v.uses().empty()) continue;
      if (IsIn(v.constant(), options_.type)) continue;
      outside.insert(&v);
      if (Vanishes(v.constant(), options_.type)) small.insert(&v);
    }
    summary_.out_of_range = std::ssize(outside);
    AddSmallResults(small);
    outside.insert(small.begin(), small.end());
    std::vector<Node*> nodes;
    for (Node& node : graph_.nodes()) nodes.push_back(&node);
    for (Node* node : nodes) {
      if (node->Is<CastAttrs>() && !kept_.contains(node)) {
        NN_RETURN_IF_ERROR(ConvertTo(*node));
        continue;
      }
      const bool computes = std::ranges::any_of(node->inputs(), IsPlainFloat32);
      if (!computes || node->op().converts || !node->regions().empty() || kept_.contains(node))
        continue;
      const auto is_outside = [&](const Value* v) { return outside.contains(v); };
      if (std::ranges::any_of(node->inputs(), is_outside) ||
          std::ranges::any_of(node->outputs(), is_outside))
        continue;
      std::vector<std::string> names;
      for (const Value* v : node->outputs()) names.emplace_back(v->name());
      NN_ASSIGN(Node* const half,
                ComputeNodeIn(options_.type, graph_, *node, IsPlainFloat32, options_.accepts));
      ++(half == nullptr ? summary_.unaccepted : summary_.operators);
      if (half != nullptr) NameValues(*half, names);
    }
    NN_RETURN_IF_ERROR(JoinConversions(graph_));
    for (const Value& v : graph_.values())
      if (v.is_constant() && v.dtype() == options_.type && !v.uses().empty()) ++summary_.weights;
    return {};
  }

  // Adds the results of operators on these constants, which may be as small, and of functions of
  // one operand of those results: sqrt(variance + epsilon). Operators that read them then stay in
  // float32.
  void AddSmallResults(std::set<const Value*>& small) {
    for (const Node& node : graph_.nodes()) {
      const auto reads = [&](const Value* v) { return v != nullptr && small.contains(v); };
      const auto varies = [](const Value* v) { return IsPlainFloat32(v) && !v->is_constant(); };
      const Category category = node.op().category;
      const bool is_elementwise = category == Category::kArithmetic ||
                                  category == Category::kActivation ||
                                  category == Category::kMovement;
      if (!is_elementwise || node.outputs().size() != 1 || !IsPlainFloat32(node.output()) ||
          !node.regions().empty() || std::ranges::count_if(node.inputs(), varies) != 1)
        continue;
      if (std::ranges::any_of(node.inputs(), reads) || HasSmallBound(node, options_.type))
        small.insert(node.output());
    }
  }

  // Integers become numbers of the type without those of float32 between.
  Status ConvertTo(Node& node) {
    Value* const x = node.input(0);
    if (!IsPlainFloat32(node.output()) || IsFloat(x->dtype()) || x->type().quantized()) return {};
    NN_ASSIGN(Node* const half,
              graph_.Append("cast", {x}, CastAttrs{.to = options_.type}, 1, &node));
    if (options_.accepts && !options_.accepts(*half)) {
      graph_.Erase(half);
      return {};
    }
    half->set_name(node.name());
    half->set_source(node.source());
    half->output()->set_name(node.output()->name());
    NN_ASSIGN(Node* const wide,
              graph_.Append("cast", {half->output()}, CastAttrs{.to = DType::kF32}, 1, &node));
    graph_.Replace(&node, wide->output());
    return {};
  }

  // The new results have the names of the old ones, and constants keep theirs.
  static void NameValues(Node& half, const std::vector<std::string>& names) {
    for (size_t i = 0; i < names.size(); ++i) half.output(i)->set_name(names[i]);
    for (Value* v : half.inputs())
      if (v != nullptr && v->def() != nullptr && v->def()->Is<CastAttrs>() && v->name().empty() &&
          v->def()->input(0)->is_constant())
        v->set_name(v->def()->input(0)->name());
  }

  // The first of `count` ports that is of the type.
  size_t FirstOfType(size_t count) const {
    return options_.interface ? 0 : count - options_.states;
  }

  // The ports of the type, with casts after inputs and before outputs. An output that is an input
  // stays that input.
  Status ChangePorts() {
    for (size_t i = FirstOfType(graph_.inputs().size()); i < graph_.inputs().size(); ++i) {
      Value* const x = graph_.inputs()[i].value;
      if (!IsPlainFloat32(x)) continue;
      Type type = x->type();
      type.dtype = options_.type;
      x->set_type(std::move(type));
      const std::vector<Use> uses(x->uses().begin(), x->uses().end());
      NN_ASSIGN(Node* const cast,
                graph_.Append("cast", {x}, CastAttrs{.to = DType::kF32}, 1,
                              graph_.nodes().empty() ? nullptr : &graph_.nodes().front()));
      for (const Use& u : uses)
        graph_.SetInput(u.node, static_cast<size_t>(u.index), cast->output());
    }
    for (size_t k = FirstOfType(graph_.outputs().size()); k < graph_.outputs().size(); ++k) {
      Value* const y = graph_.outputs()[k].value;
      if (!IsPlainFloat32(y)) continue;
      NN_ASSIGN(Node* const cast, graph_.Append("cast", {y}, CastAttrs{.to = options_.type}));
      graph_.set_output(k, cast->output());
    }
    return {};
  }

  Graph& graph_;
  const HalfOptions& options_;
  std::set<const Node*> kept_;
  HalfSummary summary_;
};

}  // namespace

double LargestHalf(DType type) {
  // Halfway between the largest number and the next power of two, which is even.
  return type == DType::kF16 ? 65520.0 : std::ldexp(2.0 - std::ldexp(1.0, -8), 127);
}

double SmallestHalf(DType type) {
  // Half of the smallest number, a tie with 0, which is even.
  return std::ldexp(1.0, type == DType::kF16 ? -25 : -134);
}

double SmallestNormalHalf(DType type) {
  return std::ldexp(1.0, type == DType::kF16 ? -14 : -126);
}

Result<HalfSummary> ComputeInHalf(Graph& graph, const HalfOptions& options) {
  HalfOptions inside = options;
  inside.interface = false;
  inside.states = 0;
  HalfSummary total;
  NN_RETURN_IF_ERROR(ForEachRegion(graph, [&](Graph& region) -> Status {
    NN_ASSIGN(const HalfSummary summary, ComputeInHalf(region, inside));
    total.Add(summary);
    return {};
  }));
  NN_ASSIGN(const HalfSummary summary, Halver(graph, options).Run());
  total.Add(summary);
  return total;
}

void HalfSummary::Add(const HalfSummary& other) {
  weights += other.weights;
  operators += other.operators;
  kept += other.kept;
  unaccepted += other.unaccepted;
  out_of_range += other.out_of_range;
}

}  // namespace nn

// QuantizeInt8: operators between dequantize and quantize.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/op_def.h"
#include "ir/value_table.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/int8_rules.h"
#include "ops/quant/quantized.h"
#include "passes/core/passes.h"
#include "passes/qdq/qdq_fit.h"
#include "passes/quantize/quantize.h"

namespace nn {
namespace {

bool IsReal(const Value* v) {
  return v != nullptr && v->dtype() == DType::kF32 && !v->type().quantized() && v->type().ranked();
}
bool IsVariable(const Value* v) {
  return IsReal(v) && !v->is_constant();
}
bool IsRealConstant(const Value* v) {
  return IsReal(v) && v->is_constant();
}

// Whether the rule and the operands permit integer arithmetic, whatever the scales are.
bool MayBeInteger(const Node& node) {
  const OpDef& op = node.op();
  if (op.quant_rule == QuantRule::kNone || op.quant_rule == QuantRule::kStored ||
      node.arithmetic() != Arithmetic::kDefault || !node.regions().empty())
    return false;
  // Other functions have results whose magnitudes differ too much for 8 bits.
  if (op.quant_rule == QuantRule::kElementwise && op.category != Category::kActivation &&
      !op.keeps_integers)
    return false;
  const auto is_other_float = [](const Value* v) {
    return v != nullptr && IsFloat(v->dtype()) && !IsReal(v);
  };
  if (std::ranges::any_of(node.inputs(), is_other_float) ||
      std::ranges::any_of(node.outputs(), is_other_float))
    return false;
  const auto reals = std::ranges::count_if(node.inputs(), IsReal);
  switch (op.quant_rule) {
    case QuantRule::kProduct:
      return IsVariable(node.input(0)) && IsReal(node.input(1)) &&
             (node.input(2) == nullptr || IsRealConstant(node.input(2)));
    case QuantRule::kFree:
      return reals == 1 && IsVariable(node.input(0));
    case QuantRule::kElementwise:
      return reals == std::ssize(node.inputs());
    default:
      return reals > 0;
  }
}

// The only user of a value that is not an output of the graph; null otherwise.
Node* OnlyUserOf(const Graph& graph, const Value* v) {
  return v->uses().size() == 1 && !graph.IsOutput(v) ? v->uses()[0].node : nullptr;
}

bool StaysReal(const Node& node, const QuantizeOptions& options) {
  return (options.keeps && options.keeps(node)) || (options.is_part && options.is_part(node));
}

// Which operators become integer ones. The results of others are not quantized unless an integer
// operator needs them.
class Int8Choice {
 public:
  Int8Choice(const Graph& graph, const QuantizeOptions& options,
             const std::unordered_set<const Node*>& dropped) {
    for (const Node& node : graph.nodes()) {
      if (absorbed_.contains(&node) || dropped.contains(&node) || !MayBeInteger(node)) continue;
      if (StaysReal(node, options)) continue;
      if (node.op().quant_rule != QuantRule::kProduct && !HasIntegerOperand(node)) continue;
      chosen_.insert(&node);
      nodes_.push_back(&node);
      for (const Value* v : node.outputs())
        if (IsReal(v)) integers_.insert(ResultOf(graph, options, v));
    }
  }

  const std::vector<const Node*>& nodes() const { return nodes_; }
  bool Has(const Node* node) const { return chosen_.contains(node); }
  // Whether the node clamps the result of another one to the range of its type.
  bool IsAbsorbed(const Node* node) const { return absorbed_.contains(node); }
  // Whether an integer operator computes the value.
  bool IsComputed(const Value* v) const { return integers_.contains(v); }
  // The value that is quantized in place of a result: after clamps.
  const Value* StoredFor(const Value* v) const {
    const auto it = results_.find(v);
    return it == results_.end() ? v : it->second;
  }

 private:
  // Whether an operand is an integer already, or is one if it is stored as such.
  bool HasIntegerOperand(const Node& node) const {
    bool any_variable = false;
    for (const Value* v : node.inputs()) {
      if (!IsVariable(v)) continue;
      if (v->is_input() || integers_.contains(v)) return true;
      any_variable = true;
    }
    return !any_variable;
  }

  const Value* ResultOf(const Graph& graph, const QuantizeOptions& options, const Value* v) {
    const Value* end = v;
    for (const Node* user = OnlyUserOf(graph, end); user != nullptr && user->op().clamp != nullptr;
         user = OnlyUserOf(graph, end)) {
      if (StaysReal(*user, options)) break;
      absorbed_.insert(user);
      end = user->output();
    }
    if (end != v) results_[v] = end;
    return end;
  }

  std::vector<const Node*> nodes_;
  std::unordered_set<const Node*> chosen_, absorbed_;
  std::unordered_set<const Value*> integers_;
  std::unordered_map<const Value*, const Value*> results_;
};

// Values that have the same scale and zero point.
struct ScaleGroup {
  ValueRange range;
  bool symmetric = false;
  std::shared_ptr<const Quant> fixed;
  std::shared_ptr<const Quant> quant;
};

// Scales and zero points for a choice of operators.
class Int8Types {
 public:
  Int8Types(const Graph& graph, const ValueRanges& ranges, const QuantizeOptions& options)
      : ranges_(ranges), options_(options), parents_(graph) {
    for (const Value& v : graph.values()) parents_[&v] = &v;
  }

  // The nodes whose rules contradict each other or their arithmetic; empty if the types are found.
  Result<std::vector<const Node*>> Find(const Int8Choice& choice) {
    std::vector<const Node*> unfit;
    for (const Node* node : choice.nodes())
      if (node->op().quant_rule == QuantRule::kSame) Join(*node, choice);
    for (const Node* node : choice.nodes()) NN_RETURN_IF_ERROR(AddRanges(*node, choice));
    for (const Node* node : choice.nodes())
      if (!Restrict(*node, choice)) unfit.push_back(node);
    for (auto& [root, group] : groups_)
      group.quant = group.fixed != nullptr
                        ? group.fixed
                        : Int8Quant(group.range, options_.symmetric || group.symmetric);
    for (const Node* node : choice.nodes())
      if (!KeepsRange(*node) || HidesOperand(*node, choice)) unfit.push_back(node);
    for (const Node* node : choice.nodes()) {
      NN_ASSIGN(const bool fits, Fits(*node, choice));
      if (!fits) unfit.push_back(node);
    }
    return unfit;
  }

  const std::shared_ptr<const Quant>& QuantOf(const Value* v) const {
    return groups_.at(Root(v)).quant;
  }

  // The type of operand `i`, which is real.
  Result<Type> OperandType(const Node& node, size_t i, const Int8Choice& choice) {
    const Value* const v = node.input(i);
    if (!v->is_constant()) return Type(DType::kI8, *v->type().dims, QuantOf(v));
    if (node.op().quant_rule == QuantRule::kSame)
      return Type(DType::kI8, *v->type().dims, QuantOf(SameAs(node, choice)));
    if (node.op().quant_rule != QuantRule::kProduct)
      return Type(DType::kI8, *v->type().dims, Int8Quant(RangeOf(v->constant()), false));
    NN_ASSIGN(auto weights, WeightQuant(node));
    const Type w(DType::kI8, *node.input(1)->type().dims, std::move(weights));
    if (i == 1) return w;
    const Type x(DType::kI8, *node.input(0)->type().dims, QuantOf(node.input(0)));
    return Type(DType::kI32, *v->type().dims, ProductQuant(x, w));
  }

 private:
  // A value with the scale that kSame requires of constants, too.
  static const Value* SameAs(const Node& node, const Int8Choice& choice) {
    for (const Value* v : node.inputs())
      if (IsVariable(v)) return v;
    return choice.StoredFor(node.output());
  }

  const Value* Root(const Value* v) const {
    while (parents_[v] != v) v = parents_[v];
    return v;
  }

  void Join(const Node& node, const Int8Choice& choice) {
    const Value* const first = Root(SameAs(node, choice));
    for (const Value* v : node.inputs())
      if (IsVariable(v)) parents_[Root(v)] = first;
    for (const Value* v : node.outputs())
      if (IsReal(v)) parents_[Root(choice.StoredFor(v))] = first;
  }

  // The range of the numbers that are finite.
  static ValueRange RangeOf(const Tensor& t) {
    ValueRange r;
    for (int64_t i = 0; i < t.elements(); ++i) {
      const double x = t.GetDouble(i);
      if (!std::isfinite(x)) continue;
      r.min = std::min(r.min, x);
      r.max = std::max(r.max, x);
    }
    return r;
  }

  static void Extend(ValueRange& range, const ValueRange& other) {
    range.min = std::min(range.min, other.min);
    range.max = std::max(range.max, other.max);
  }

  Status AddRange(const Value* v) {
    const auto it = ranges_.find(v->id());
    if (it == ranges_.end()) return InternalError("value %{} has no range", v->id());
    Extend(groups_[Root(v)].range, it->second);
    return {};
  }

  Status AddRanges(const Node& node, const Int8Choice& choice) {
    for (const Value* v : node.inputs()) {
      if (IsVariable(v)) NN_RETURN_IF_ERROR(AddRange(v));
      if (IsRealConstant(v) && node.op().quant_rule == QuantRule::kSame)
        Extend(groups_[Root(SameAs(node, choice))].range, RangeOf(v->constant()));
    }
    for (const Value* v : node.outputs())
      if (IsReal(v)) NN_RETURN_IF_ERROR(AddRange(choice.StoredFor(v)));
    return {};
  }

  // Notes what the operator requires of the scales; false if another one requires otherwise.
  bool Restrict(const Node& node, const Int8Choice& choice) {
    if (node.op().quant_rule == QuantRule::kProduct && !node.input(1)->is_constant())
      groups_[Root(node.input(1))].symmetric = true;
    auto fixed = FixedResultQuant(node.op());
    if (fixed == nullptr) return true;
    ScaleGroup& group = groups_[Root(choice.StoredFor(node.output()))];
    if (group.fixed != nullptr && !group.fixed->SameMapping(*fixed)) return false;
    group.fixed = std::move(fixed);
    return true;
  }

  // Whether no operand that must have a fixed scale would be saturated.
  bool KeepsRange(const Node& node) const {
    if (node.op().quant_rule != QuantRule::kSame) return true;
    return std::ranges::all_of(node.inputs(), [&](const Value* v) {
      if (!IsVariable(v)) return true;
      const ScaleGroup& group = groups_.at(Root(v));
      if (group.fixed == nullptr) return true;
      const auto scale = static_cast<double>(group.fixed->scale());
      const auto zero = static_cast<double>(group.fixed->zero_point());
      const ValueRange& own = ranges_.at(v->id());
      return own.min >= (-129 - zero) * scale && own.max <= (128 - zero) * scale;
    });
  }

  // Whether an operand has fewer than these steps of the result: the sum of scores and a mask of
  // large negative numbers.
  bool HidesOperand(const Node& node, const Int8Choice& choice) const {
    constexpr double kMinSteps = 8;
    if (!node.op().shares_unit || !IsReal(node.output())) return false;
    const auto step =
        static_cast<double>(groups_.at(Root(choice.StoredFor(node.output()))).quant->scale());
    return std::ranges::any_of(node.inputs(), [&](const Value* v) {
      if (!IsVariable(v)) return false;
      const ValueRange& own = ranges_.at(v->id());
      return own.min < own.max && own.max - own.min < kMinSteps * step;
    });
  }

  Result<std::shared_ptr<const Quant>> WeightQuant(const Node& node) {
    const Value* const w = node.input(1);
    if (!w->is_constant()) return QuantOf(w);
    const auto axes = ProductAxesOf(node);
    const int axis = axes && axes->per_channel && !options_.per_tensor ? axes->weights_output : -1;
    const auto key = std::pair(w->id(), axis);
    auto it = largest_.find(key);
    if (it == largest_.end()) {
      NN_ASSIGN(auto largest, LargestMagnitudes(w->constant(), axis));
      it = largest_.emplace(key, std::move(largest)).first;
    }
    auto quant = std::make_shared<Quant>();
    quant->axis = axis;
    for (const double x : it->second) quant->scales.push_back(static_cast<float>(x / 127));
    // Each bias must be an integer of 32 bits, with room for the sum of products.
    const auto x_scale = static_cast<double>(QuantOf(node.input(0))->scale());
    for (size_t i = 0; i < quant->scales.size(); ++i) {
      double largest = 0;
      if (const Value* const bias = node.input(2); bias != nullptr)
        for (int64_t k = 0; k < bias->constant().elements(); ++k)
          if (axis < 0 || k == static_cast<int64_t>(i))
            largest = std::max(largest, std::fabs(bias->constant().GetDouble(k)));
      const auto least = static_cast<float>(largest / x_scale * 0x1p-29);
      float& scale = quant->scales[i];
      scale = std::max(scale, least);
      if (!(scale >= 0x1p-100f)) scale = 0x1p-10f;  // no weights and no bias
    }
    return std::shared_ptr<const Quant>(std::move(quant));
  }

  Result<bool> Fits(const Node& node, const Int8Choice& choice) {
    std::vector<Type> in(node.inputs().size()), out;
    std::vector<const Type*> inputs, outputs;
    for (size_t i = 0; i < in.size(); ++i) {
      const Value* const v = node.input(i);
      if (IsReal(v)) {
        auto type = OperandType(node, i, choice);
        // An infinite weight.
        if (!type && type.error().code() == ErrorCode::kModel) return false;
        if (!type) return tl::unexpected(type.error());
        in[i] = *std::move(type);
      }
      inputs.push_back(v == nullptr ? nullptr : IsReal(v) ? &in[i] : &v->type());
    }
    out.reserve(node.outputs().size());
    for (const Value* v : node.outputs()) {
      out.push_back(v->type());
      if (IsReal(v)) out.back() = Type(DType::kI8, *v->type().dims, QuantOf(choice.StoredFor(v)));
    }
    for (const Type& type : out) outputs.push_back(&type);
    return HasIntegerArithmetic(node, inputs, outputs);
  }

  const ValueRanges& ranges_;
  const QuantizeOptions& options_;
  ValueTable<const Value*> parents_;
  std::unordered_map<const Value*, ScaleGroup> groups_;  // by their roots
  std::map<std::pair<int64_t, int>, std::vector<double>> largest_;
};

// Inserts quantize and dequantize.
class Int8Writer {
 public:
  Int8Writer(Graph& graph, const Int8Choice& choice, Int8Types& types,
             const QuantizeOptions& options)
      : graph_(graph), choice_(choice), types_(types), options_(options) {}

  Result<QuantizeSummary> Run() {
    Count(graph_);
    std::vector<Value*> values;
    std::unordered_set<const Value*> seen;
    const auto add = [&](const Value* v) {
      if (seen.insert(v).second) values.push_back(const_cast<Value*>(v));
    };
    for (const Node* node : choice_.nodes()) {
      for (const Value* v : node->inputs())
        if (IsVariable(v)) add(v);
      for (const Value* v : node->outputs())
        if (IsReal(v)) add(choice_.StoredFor(v));
    }
    for (const Node* node : choice_.nodes())
      NN_RETURN_IF_ERROR(QuantizeConstants(*const_cast<Node*>(node)));
    for (Value* v : values) NN_RETURN_IF_ERROR(QuantizeValue(v));
    NN_RETURN_IF_ERROR(RemoveDeadCode(graph_));
    return std::move(summary_);
  }

 private:
  void Count(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      for (const auto& region : node.regions()) Count(*region);
      const bool is_integer = choice_.Has(&node) || choice_.IsAbsorbed(&node);
      const bool is_real =
          std::ranges::any_of(node.inputs(), IsReal) || std::ranges::any_of(node.outputs(), IsReal);
      if (is_integer)
        ++summary_.operators;
      else if (options_.keeps && options_.keeps(node))
        ++summary_.kept;
      else if (is_real)
        ++summary_.floats[std::string(node.op_name())];
    }
  }

  static std::string OperatorText(const Value& v) {
    const Node* const node = v.def();
    return node == nullptr ? "input" : std::string(node->source_op());
  }

  Status QuantizeConstants(Node& node) {
    // The type of a bias follows from the weights that the node has now.
    std::vector<std::pair<size_t, Type>> types;
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (IsRealConstant(node.input(i))) {
        NN_ASSIGN(Type type, types_.OperandType(node, i, choice_));
        types.emplace_back(i, std::move(type));
      }
    for (const auto& [i, type] : types) NN_RETURN_IF_ERROR(QuantizeOperand(node, i, type));
    return {};
  }

  Status QuantizeOperand(Node& node, size_t i, const Type& type) {
    const Value* const v = node.input(i);
    for (const auto& [quant, result] : constants_[v])
      if (quant->SameMapping(*type.quant)) {
        graph_.SetInput(&node, i, result);
        return {};
      }
    NN_ASSIGN(QuantizedTensor made, QuantizeConstant(v->constant(), type));
    NN_ASSIGN(const Tensor reals, RealsOf(made));
    Value* const stored =
        graph_.AddConstant(std::move(made.integers), SharedString(v->name()), type.quant);
    summary_.values.push_back({v->id(), stored->id(), std::string(v->name()), "constant",
                               QuantizedTypeText(type), SnrOf(v->constant(), reals)});
    NN_ASSIGN(Node* const real, graph_.Append("dequantize", {stored}, DequantizeAttrs{}, 1, &node));
    graph_.SetInput(&node, i, real->output());
    constants_[v].push_back({type.quant, real->output()});
    ++summary_.weights;
    return {};
  }

  Status QuantizeValue(Value* v) {
    const bool computed = choice_.IsComputed(v);
    std::vector<Use> uses;
    for (const Use& use : v->uses())
      if (computed || choice_.Has(use.node)) uses.push_back(use);
    const Type type(DType::kI8, *v->type().dims, types_.QuantOf(v));
    Node* const before = graph_.After(v);
    Node* const quantize = graph_.AddNode(*Ops().Find("quantize"), {v},
                                          QuantizeAttrs{options_.rounding, true}, 1, before);
    Value* const q = quantize->output();
    q->set_type(type);
    NN_RETURN_IF_ERROR(InferNode(*quantize));
    summary_.values.push_back({v->id(), q->id(), std::string(v->name()), OperatorText(*v),
                               QuantizedTypeText(type), std::nullopt});
    NN_ASSIGN(Node* const real, graph_.Append("dequantize", {q}, DequantizeAttrs{}, 1, before));
    for (const Use& use : uses)
      graph_.SetInput(use.node, static_cast<size_t>(use.index), real->output());
    for (size_t i = 0; computed && i < graph_.outputs().size(); ++i)
      if (graph_.outputs()[i].value == v) graph_.set_output(i, real->output());
    if (computed) {
      q->set_name(v->name());
      v->set_name({});
    }
    return {};
  }

  Graph& graph_;
  const Int8Choice& choice_;
  Int8Types& types_;
  const QuantizeOptions& options_;
  QuantizeSummary summary_;
  std::unordered_map<const Value*, std::vector<std::pair<std::shared_ptr<const Quant>, Value*>>>
      constants_;
};

}  // namespace

std::vector<const Value*> ValuesToCalibrate(const Graph& graph, const QuantizeOptions& options) {
  const Int8Choice choice(graph, options, {});
  std::vector<const Value*> out;
  std::unordered_set<const Value*> seen;
  const auto add = [&](const Value* v) {
    if (seen.insert(v).second) out.push_back(v);
  };
  for (const Node* node : choice.nodes()) {
    for (const Value* v : node->inputs())
      if (IsVariable(v)) add(v);
    for (const Value* v : node->outputs())
      if (IsReal(v)) add(choice.StoredFor(v));
  }
  return out;
}

Status QuantizePorts(Graph& graph) {
  for (const Port& port : graph.inputs()) {
    Value* const x = port.value;
    Node* const quantize = OnlyUserOf(graph, x);
    if (!IsReal(x) || quantize == nullptr || !quantize->Is<QuantizeAttrs>()) continue;
    x->set_type(quantize->output()->type());
    graph.ReplaceUses(quantize->output(), x);
    graph.Erase(quantize);
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Node* const def = graph.outputs()[i].value->def();
    if (def != nullptr && def->Is<DequantizeAttrs>()) graph.set_output(i, def->input(0));
  }
  return RemoveDeadCode(graph);
}

Result<QuantizeSummary> QuantizeInt8(Graph& graph, const ValueRanges& ranges,
                                     const QuantizeOptions& options) {
  std::unordered_set<const Node*> dropped;
  while (true) {
    const Int8Choice choice(graph, options, dropped);
    Int8Types types(graph, ranges, options);
    NN_ASSIGN(const std::vector<const Node*> unfit, types.Find(choice));
    if (unfit.empty()) return Int8Writer(graph, choice, types, options).Run();
    dropped.insert(unfit.begin(), unfit.end());
  }
}

}  // namespace nn

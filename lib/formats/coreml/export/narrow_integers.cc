#include "formats/coreml/export/narrow_integers.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/coreml/export/integer_range.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "rewrite/expand.h"

namespace nn::coreml {
namespace {

bool IsOtherInteger(const Value* v) {
  if (v == nullptr || v->type().quantized()) return false;
  const DType t = v->dtype();
  return IsInteger(t) && t != DType::kI32 && t != DType::kI64;
}

// The bounds of the results if the operands have all integers of their types.
class TypeContext : public RangeContext {
 public:
  using RangeContext::RangeContext;
  Interval Of(const Value* v) override {
    if (v == nullptr || !(IsInteger(v->dtype()) || v->dtype() == DType::kBool)) return {};
    return {static_cast<double>(MinInteger(v->dtype())),
            static_cast<double>(MaxInteger(v->dtype()))};
  }
  Interval OfResult() { return node().op().range(*this, 0); }
};

// Whether the results for i32 are the same integers: elements of the operands, numbers that never
// leave the type, or numbers of another type.
bool KeepsIntegers(const Node& node) {
  if (SelectionOf(node)) return true;
  const OpDef& op = node.op();
  if (std::ranges::none_of(node.outputs(), IsOtherInteger)) return op.wraps_integers;
  return op.wraps_integers && op.range != nullptr &&
         TypeContext(node).Of(node.output()).Contains(TypeContext(node).OfResult());
}

// Whether the results are of u8 or u16, and float32 holds them before they wrap.
bool Wraps(const Node& node) {
  constexpr auto kBound = static_cast<double>(kMaxExact);
  const OpDef& op = node.op();
  const DType t = node.output()->dtype();
  return (t == DType::kU8 || t == DType::kU16) && !node.output()->type().quantized() &&
         op.keeps_integers && op.wraps_integers && op.range != nullptr && !KeepsIntegers(node) &&
         Interval{-kBound, kBound}.Contains(TypeContext(node).OfResult());
}

bool Holds(DType to, DType from) {
  return MinInteger(to) <= MinInteger(from) && MaxInteger(to) >= MaxInteger(from);
}

// Whether a conversion has the same result if it is one to or from i32.
bool ConvertsAll(const Node& cast) {
  const Value *const x = cast.input(0), *const y = cast.output();
  if (!IsOtherInteger(y)) return true;
  if (x->dtype() == DType::kBool) return true;
  if (IsOtherInteger(x)) return Holds(y->dtype(), x->dtype());
  const Node* const bounds = x->def();
  if (bounds == nullptr || !bounds->Is<ClipAttrs>() || bounds->inputs().size() != 1) return false;
  const auto& clip = bounds->attrs<ClipAttrs>();
  return clip.min >= static_cast<float>(MinInteger(y->dtype())) &&
         clip.max <= static_cast<float>(MaxInteger(y->dtype()));
}

class Widening {
 public:
  Widening(Graph& graph, RewriteCounts* counts) : graph_(graph), counts_(counts) {}

  Status Run() {
    for (const Value& v : graph_.values())
      if (IsOtherInteger(&v) && v.is_constant() && !AllExact(v.constant())) KeepType(&v);
    for (const Node& node : graph_.nodes())
      if (node.op().is_opaque || !node.regions().empty() ||
          !(node.Is<CastAttrs>() ? ConvertsAll(node) : KeepsIntegers(node) || Wraps(node)))
        KeepTypes(node);
    while (!open_.empty()) {
      const Value* const v = open_.back();
      open_.pop_back();
      if (v->def() != nullptr) KeepTypes(*v->def());
      for (const Use& use : v->uses()) KeepTypes(*use.node);
    }
    return Apply();
  }

 private:
  bool Widens(const Value* v) const { return IsOtherInteger(v) && !kept_.contains(v); }

  void KeepType(const Value* v) {
    if (kept_.insert(v).second) open_.push_back(v);
  }
  // The values of the node keep their types, and so do the others of the nodes around them.
  void KeepTypes(const Node& node) {
    for (const auto values : {node.inputs(), node.outputs()})
      for (const Value* v : values)
        if (Widens(v)) KeepType(v);
  }

  Status Apply() {
    std::vector<Value*> wide;
    for (Value& v : graph_.values())
      if (Widens(&v)) wide.push_back(&v);
    if (wide.empty()) return {};
    std::vector<std::pair<Node*, DType>> wraps;
    for (Node& node : graph_.nodes()) {
      const auto is_wide = [&](const Value* v) { return Widens(v); };
      if (std::ranges::none_of(node.inputs(), is_wide) &&
          std::ranges::none_of(node.outputs(), is_wide))
        continue;
      if (counts_ != nullptr) ++(*counts_)[{node.op().name, "integers of i32"}];
      if (Widens(node.output()) && Wraps(node)) wraps.emplace_back(&node, node.output()->dtype());
    }
    for (Value* v : wide) {
      const DType from = v->dtype();
      NN_RETURN_IF_ERROR(Widen(*v));
      if (v->is_input() && !wraps.empty() && (from == DType::kU8 || from == DType::kU16))
        NN_RETURN_IF_ERROR(Wrap(v, from, graph_.After(v)));
    }
    for (const auto& [node, from] : wraps)
      NN_RETURN_IF_ERROR(Wrap(node->output(), from, graph_.After(node->output())));
    return {};
  }

  Status Widen(Value& v) {
    if (v.is_constant()) {
      NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(DType::kI32, v.constant().dims()));
      for (int64_t i = 0; i < b.elements(); ++i) b.SetInt(i, v.constant().GetInt(i));
      graph_.ReplaceUses(&v, graph_.AddConstant(b.Finish(), v.name()));
      return {};
    }
    Type type = v.type();
    type.dtype = DType::kI32;
    v.set_type(std::move(type));
    if (Node* const def = v.def(); def != nullptr && def->Is<CastAttrs>())
      def->set_attrs(CastAttrs{.to = DType::kI32});
    return {};
  }

  // Reduces the integers of a value to the bits of a type.
  Status Wrap(Value* v, DType bits, Node* before) {
    const std::vector<Use> uses(v->uses().begin(), v->uses().end());
    const auto size = static_cast<int32_t>(MaxInteger(bits) + 1);
    NN_ASSIGN(Node* const mod,
              graph_.Append("mod", {v, graph_.AddConstant(Tensor::Scalar(size))}, {}, 1, before));
    for (const Use& use : uses) graph_.SetInput(use.node, use.index, mod->output());
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      if (graph_.outputs()[i].value == v && !v->is_input()) graph_.set_output(i, mod->output());
    return {};
  }

  Graph& graph_;
  RewriteCounts* counts_;
  std::unordered_set<const Value*> kept_;
  std::vector<const Value*> open_;  // kept, with neighbors that were not visited
};

}  // namespace

Status WidenIntegers(Graph& graph, RewriteCounts* counts) {
  return Widening(graph, counts).Run();
}

}  // namespace nn::coreml

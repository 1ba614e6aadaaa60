#include "passes/idioms/recurrent.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/array/arrange/slice.h"
#include "ops/recurrent/recurrent.h"
#include "ops/support/term_ops.h"
#include "passes/core/passes.h"
#include "passes/idioms/recurrent_chain.h"
#include "passes/idioms/recurrent_uses.h"

namespace nn {
namespace {

struct LayerKind {
  std::string_view op;
  size_t gates;
  std::array<RecurrentActivation, 3> functions;  // the defaults
};
constexpr LayerKind kLayerKinds[] = {
    {"rnn", 1, {RecurrentActivation::kTanh}},
    {"gru", 3, {RecurrentActivation::kSigmoid, RecurrentActivation::kTanh}},
    {"lstm",
     4,
     {RecurrentActivation::kSigmoid, RecurrentActivation::kTanh, RecurrentActivation::kTanh}},
};

// ---- The layer ----------------------------------------------------------------------------------

// Writes the layer of a chain before its first step.
class LayerBuilder final : public NodeInserter {
 public:
  LayerBuilder(Graph& graph, const RecurrentChain& chain, const ChainUses& uses)
      : graph_(graph),
        chain_(chain),
        uses_(uses),
        kind_(kLayerKinds[static_cast<size_t>(chain.cells[0].kind)]),
        steps_(static_cast<int64_t>(chain.cells.size())),
        units_(chain.cells[0].h->type().dims->back().value()),
        before_(chain.cells[0].h->def()),
        last_(chain.cells.back()) {
    const Dims& dims = *chain.cells[0].h->type().dims;
    batch_ = Product(Dims(dims.begin(), dims.end() - 1));
  }

  // The operator; empty if there is none that `takes`.
  std::string_view Run(const IdiomOptions& options) {
    const auto fits = MakeOperands();
    if (!fits || !*fits) return Undone();
    std::vector<size_t> counts = {1};
    if (uses_.uses_cell_state())
      counts = {3};
    else if (uses_.uses_only_last())
      counts = {2, 1};
    for (const size_t count : counts) {
      auto node = graph_.Append(kind_.op, operands_, MakeAttrs(), count, before_);
      if (!node) return Undone();
      layer_ = *node;
      if (options.takes && !options.takes(*layer_)) {
        graph_.Erase(layer_);
        continue;
      }
      added_.push_back(layer_);
      const auto results = MakeResults();
      if (!results) return Undone();
      layer_->set_source(last_.h->def()->source());
      layer_->set_name(last_.h->def()->name());
      for (const auto& [replaced, v] : *results) graph_.Replace(replaced, v);
      return kind_.op;
    }
    return Undone();
  }

 private:
  Graph& graph_of_terms() override { return graph_; }
  Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                           size_t results) override {
    NN_ASSIGN(Node* const node,
              graph_.Append(op, std::move(inputs), std::move(attrs), results, before_));
    added_.push_back(node);
    return node;
  }

  std::string_view Undone() {
    for (auto node = added_.rbegin(); node != added_.rend(); ++node) graph_.Erase(*node);
    graph_.EraseDeadValues();
    return {};
  }

  // The value with these dimensions, by axes of size 1 if they suffice.
  Result<Value*> Shaped(Value* v, const Dims& dims) {
    const Dims& from = *v->type().dims;
    if (from == dims) return v;
    if (const auto axes = UnitAxes(from, dims)) return Build(Squeeze(v, *axes));
    if (const auto axes = UnitAxes(dims, from)) return Build(ExpandDims(v, *axes));
    return Build(Reshape(v, dims));
  }

  // The axes of size 1 without which the longer list is the shorter one.
  static std::optional<std::vector<int64_t>> UnitAxes(const Dims& longer, const Dims& shorter) {
    std::vector<int64_t> axes;
    size_t at = 0;
    for (size_t i = 0; i < longer.size(); ++i) {
      const bool is_spare = longer.size() - i > shorter.size() - at;
      if (longer[i] == 1 && is_spare)
        axes.push_back(static_cast<int64_t>(i));
      else if (at < shorter.size() && longer[i] == shorter[at])
        ++at;
      else
        return std::nullopt;
    }
    if (at != shorter.size() || axes.empty()) return std::nullopt;
    return axes;
  }

  Result<Value*> Part(Value* v, int64_t axis, int64_t begin, int64_t end) {
    return Add("slice", {v}, SliceAttrs{{axis}, {begin}, {end}, {}});
  }

  // The steps of the chain, [T, B, I], in the order of the sequence that the view is a step of.
  // Null if the sequence has other axes.
  Result<Value*> Sequence(const RowView& view) {
    Value* v = view.value;
    const Dims dims = *v->type().dims;
    const auto axis = dims.begin() + view.axis;
    if (!axis->is_const()) return nullptr;
    const Dim before = Product(Dims(dims.begin(), axis)), length = *axis, columns = dims.back();
    if (view.axis + 1 == v->type().rank()) {
      if (!(before == batch_)) return nullptr;
      NN_ASSIGN(v, Shaped(v, {batch_, length, 1}));
      NN_ASSIGN(v, Build(Transpose(v, {1, 0, 2})));
    } else {
      const Dim behind = Product(Dims(axis + 1, dims.end() - 1));
      if (!(before * behind == batch_)) return nullptr;
      if (before == 1) {
        NN_ASSIGN(v, Shaped(v, {length, batch_, columns}));
      } else if (behind == 1) {
        NN_ASSIGN(v, Shaped(v, {batch_, length, columns}));
        NN_ASSIGN(v, Build(Transpose(v, {1, 0, 2})));
      } else {
        return nullptr;
      }
    }
    const int64_t first = chain_.is_reverse ? view.index - steps_ + 1 : view.index;
    if (first == 0 && length == steps_) return v;
    return Part(v, 0, first, first + steps_);
  }

  // A state, [1, B, H]. Null if it has another size.
  Result<Value*> State(const RowView& view) {
    Value* v = view.value;
    const Dims state = {1, batch_, units_};
    if (view.axis != RowView::kAllRows) {
      NN_ASSIGN(v, Part(v, view.axis, view.index, view.index + 1));
    }
    if (!(Product(*v->type().dims) == Product(state)) || !(v->type().dims->back() == units_))
      return nullptr;
    return Shaped(v, state);
  }

  Result<bool> MakeOperands() {
    std::vector<Term> parts;
    for (const RowView& view : chain_.x) {
      NN_ASSIGN(Value* const part, Sequence(view));
      if (part == nullptr) return false;
      parts.push_back(part);
      columns_.push_back(part->type().dim(2).value());
    }
    operands_.resize(RecurrentInputs::kPeepholes + 1);
    NN_ASSIGN(operands_[RecurrentInputs::kX], Build(Concat(std::move(parts), 2)));
    if (chain_.old_h.value != nullptr) {
      NN_ASSIGN(Value* const h, State(chain_.old_h));
      if (h == nullptr) return false;
      operands_[RecurrentInputs::kInitialH] = h;
    }
    Value* const old_c = chain_.cells[0].old_c;
    if (old_c != nullptr && !IsZeroState(old_c)) {
      NodeSet moved;
      NN_ASSIGN(Value* const c, State(ViewOf(old_c, moved)));
      if (c == nullptr) return false;
      operands_[RecurrentInputs::kInitialC] = c;
    }
    MakeWeights();
    while (operands_.back() == nullptr) operands_.pop_back();
    return true;
  }

  // The second step has all products.
  void MakeWeights() {
    const RecurrentCell& cell = chain_.cells[1];
    std::vector<float> w, r, w_bias, r_bias, peepholes;
    int64_t inputs = 0;
    for (const int64_t n : columns_) inputs += n;
    const auto units = static_cast<size_t>(units_);
    for (const LinearForm& gate : cell.gates) {
      LinearForm form = gate;
      form.columns = units_;  // a gate that is derived from another one has weights of 0
      CellWeights of_gate = WeightsOf(chain_, 1, form);
      of_gate.r.resize(units * units);
      std::vector<float> of_r(units);
      if (&gate == &cell.gates.back() && cell.linear_before_reset == true) {
        CellWeights gated = WeightsOf(chain_, 1, cell.gated);
        of_gate.r = std::move(gated.r);
        of_r = std::move(gated.bias);
      }
      for (size_t u = 0; u < units; ++u)
        for (size_t i = 0; i < columns_.size(); ++i) {
          const auto n = static_cast<size_t>(columns_[i]);
          of_gate.w[i].resize(units * n);
          const auto row = of_gate.w[i].begin() + static_cast<std::ptrdiff_t>(u * n);
          w.insert(w.end(), row, row + static_cast<std::ptrdiff_t>(n));
        }
      r.insert(r.end(), of_gate.r.begin(), of_gate.r.end());
      w_bias.insert(w_bias.end(), of_gate.bias.begin(), of_gate.bias.end());
      r_bias.insert(r_bias.end(), of_r.begin(), of_r.end());
      of_gate.peephole.resize(units);
      peepholes.insert(peepholes.end(), of_gate.peephole.begin(), of_gate.peephole.end());
    }
    const auto rows = static_cast<int64_t>(kind_.gates) * units_;
    const auto constant = [&](std::vector<int64_t> dims, const std::vector<float>& values) {
      return graph_.AddConstant(Tensor::Of<float>(std::move(dims), values));
    };
    operands_[RecurrentInputs::kW] = constant({1, rows, inputs}, w);
    operands_[RecurrentInputs::kR] = constant({1, rows, units_}, r);
    w_bias.insert(w_bias.end(), r_bias.begin(), r_bias.end());
    const auto has_values = [](const std::vector<float>& v) {
      return std::ranges::any_of(v, [](float x) { return x != 0; });
    };
    if (has_values(w_bias)) operands_[RecurrentInputs::kBias] = constant({1, 2 * rows}, w_bias);
    if (kind_.op != "lstm") return;
    peepholes.resize(3 * units);  // the last gate has none
    if (has_values(peepholes))
      operands_[RecurrentInputs::kPeepholes] = constant({1, 3 * units_}, peepholes);
  }

  void SetCommon(RecurrentAttrs& a) const {
    const RecurrentCell& cell = chain_.cells[1];
    if (chain_.is_reverse) a.direction = RecurrentDirection::kReverse;
    a.clip = cell.functions[0].clip;
    bool is_default = true;
    for (size_t i = 0; i < cell.functions.size(); ++i)
      is_default = is_default && cell.functions[i].activation == kind_.functions[i];
    if (is_default) return;
    for (const CellFunction& f : cell.functions) {
      a.activations.emplace_back(EnumName(f.activation));
      a.alpha.push_back(f.alpha);
      a.beta.push_back(f.beta);
    }
  }

  Attrs MakeAttrs() const {
    const RecurrentCell& cell = chain_.cells[1];
    switch (cell.kind) {
      case CellKind::kGru: {
        GruAttrs a;
        SetCommon(a);
        a.linear_before_reset = cell.linear_before_reset == true;
        return a;
      }
      case CellKind::kLstm: {
        LstmAttrs a;
        SetCommon(a);
        a.input_forget = cell.input_forget;
        a.cell_clip = cell.cell_clip;
        return a;
      }
      case CellKind::kRnn:
        break;
    }
    RecurrentAttrs a;
    SetCommon(a);
    return a;
  }

  // The place of a step in y, which has the order of x.
  int64_t PlaceOf(size_t step) const {
    const auto t = static_cast<int64_t>(step);
    return chain_.is_reverse ? steps_ - 1 - t : t;
  }

  Result<Value*> Stacked(const StackedSteps& stack) {
    Term steps = Squeeze(layer_->output(), {1});
    if (stack.is_reversed) steps = Apply("reverse", {steps}, ReverseAttrs{{0}});
    if (stack.is_batch_first) steps = Transpose(steps, {1, 0, 2});
    NN_ASSIGN(Value* const v, Build(steps));
    return Shaped(v, *stack.result->output()->type().dims);
  }

  // The values that replace the results of nodes.
  Result<std::vector<std::pair<Node*, Value*>>> MakeResults() {
    std::vector<std::pair<Node*, Value*>> results;
    for (const StackedSteps& stack : uses_.stacks()) {
      NN_ASSIGN(Value* const v, Stacked(stack));
      results.emplace_back(stack.result, v);
    }
    for (size_t t = 0; t < chain_.cells.size(); ++t) {
      if (!uses_.uses(t)) continue;
      Value* const h = chain_.cells[t].h;
      Value* v = nullptr;
      if (t + 1 == chain_.cells.size() && layer_->outputs().size() > 1) {
        v = layer_->output(1);
      } else {
        NN_ASSIGN(v, Part(layer_->output(), 0, PlaceOf(t), PlaceOf(t) + 1));
      }
      NN_ASSIGN(v, Shaped(v, *h->type().dims));
      results.emplace_back(h->def(), v);
    }
    if (uses_.uses_cell_state()) {
      NN_ASSIGN(Value* const c, Shaped(layer_->output(2), *last_.c->type().dims));
      results.emplace_back(last_.c->def(), c);
    }
    return results;
  }

  Graph& graph_;
  const RecurrentChain& chain_;
  const ChainUses& uses_;
  const LayerKind& kind_;
  int64_t steps_, units_;
  Dim batch_;
  Node* before_;
  const RecurrentCell& last_;
  std::vector<Value*> operands_;
  std::vector<int64_t> columns_;  // of the inputs
  std::vector<Node*> added_;
  Node* layer_ = nullptr;
};

// The operator that takes the place of a chain; empty if none does.
std::string_view FuseChain(Graph& graph, const RecurrentChain& chain, const IdiomOptions& options) {
  const ChainUses uses(graph, chain);
  if (!uses.any() || uses.HasOtherResults()) return {};
  if (options.is_wanted && std::ranges::none_of(uses.nodes(), [&](const Node* node) {
        return options.is_wanted(*node);
      }))
    return {};
  return LayerBuilder(graph, chain, uses).Run(options);
}

}  // namespace

Status FuseRecurrentLayers(Graph& graph, const IdiomOptions& options,
                           std::map<std::string_view, uint64_t>& counts) {
  // A layer's results are the sequence of the next one, whose chain is found in the next round.
  std::set<int64_t> failed;  // by the last h
  bool changed = true;
  while (changed) {
    changed = false;
    for (const RecurrentChain& chain : RecurrentChains(graph)) {
      const int64_t id = chain.cells.back().h->id();
      if (failed.contains(id)) continue;
      const std::string_view op = FuseChain(graph, chain, options);
      if (op.empty()) {
        failed.insert(id);
        continue;
      }
      ++counts[op];
      NN_RETURN_IF_ERROR(RemoveDeadCode(graph));
      changed = true;
      break;
    }
  }
  return {};
}

}  // namespace nn

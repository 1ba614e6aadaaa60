// RNN, LSTM and SVDF: one step each, in elementary operators. The states are inputs and outputs.
#include <cmath>
#include <optional>

#include "formats/nnapi/family.h"
#include "ops/array/arrange/tile.h"
#include "ops/math/matmul.h"
#include "ops/support/term_ops.h"

namespace nn::nnapi {

// ==== From NNAPI =================================================================================

namespace {

// x w^T + bias; `bias` may be absent.
Term Weighted(const Term& x, const Term& w, const Term& bias = {}) {
  const MatmulAttrs a{false, true};
  return bias.is_absent() ? Apply("matmul", {x, w}, a) : Apply("matmul", {x, w, bias}, a);
}

Result<Value*> ActivatedIfGiven(ImportContext& ctx, const Term& term, size_t activation) {
  NN_ASSIGN(Value* const v, ctx.Build(term));
  return ctx.input(activation) == nullptr ? Result<Value*>(v) : ctx.Activated(v, activation);
}

Status ImportRnn(ImportContext& ctx) {
  NN_ASSIGN(const std::vector<Value*> in, ctx.RequiredInputs(5));
  const Term sum = Weighted(in[0], in[1], in[3]) + Weighted(in[4], in[2]);
  NN_ASSIGN(Value* const h, ActivatedIfGiven(ctx, sum, 5));
  ctx.SetOutput(0, h);
  ctx.SetOutput(1, h);
  return {};
}

// ---- LSTM ---------------------------------------------------------------------------------------

class Lstm {
 public:
  explicit Lstm(ImportContext& ctx) : ctx_(ctx) {}

  Status Run() {
    for (const size_t i : {0, 2, 3, 4, 6, 7, 8, 13, 14, 15, 18, 19})
      NN_RETURN_IF_ERROR(ctx_.Required(static_cast<size_t>(i)).map([](Value*) {}));
    Value* const c = ctx_.input(19);
    NN_ASSIGN(const Term forget_sum, Sum(kForget, c));
    const Term forget = Sigmoid(forget_sum);
    std::vector<Term> sums;
    Term input = 1 - forget;
    if (ctx_.input(kInputWeights + kInput) != nullptr) {
      NN_ASSIGN(const Term sum, Sum(kInput, c));
      input = Sigmoid(sum);
      sums.push_back(sum);
    }
    NN_ASSIGN(const Term cell_sum, Sum(kCell));
    NN_ASSIGN(const Term cell, Activate(cell_sum));
    NN_ASSIGN(const Term sum_of_cells, Clip(forget * c + input * cell, 21));
    NN_ASSIGN(Value* const next, ctx_.Build(sum_of_cells));
    NN_ASSIGN(const Term output_sum, Sum(kOutput, next));
    const Term output = Sigmoid(output_sum);
    NN_ASSIGN(const Term shown, Activate(next));
    Term result = output * shown;
    if (Value* const projection = ctx_.input(16)) {
      NN_ASSIGN(result, Clip(Weighted(result, projection, ctx_.input(17)), 22));
    }
    NN_ASSIGN(Value* const h, ctx_.Build(result));
    sums.insert(sums.end(), {forget_sum, cell_sum, output_sum});
    NN_ASSIGN(Value* const scratch, ctx_.Build(Concat(std::move(sums), 1)));
    ctx_.SetOutput(0, scratch);
    ctx_.SetOutput(1, h);
    ctx_.SetOutput(2, next);
    ctx_.SetOutput(3, h);
    return {};
  }

 private:
  // Offsets of a gate from the first operand of a kind. Cells have no peephole.
  enum Gate : size_t { kInput, kForget, kCell, kOutput };
  static constexpr size_t kInputWeights = 1, kStateWeights = 5, kPeepholes = 9, kBiases = 12;

  static Term Sigmoid(const Term& v) { return Apply("sigmoid", {v}); }

  // The weighted input and state, and the cell if the gate has a peephole.
  Result<Term> Sum(Gate gate, Value* c = nullptr) {
    NN_ASSIGN(Value* const w, ctx_.Required(kInputWeights + gate));
    NN_ASSIGN(Value* const r, ctx_.Required(kStateWeights + gate));
    NN_ASSIGN(Value* const bias, ctx_.Required(kBiases + gate));
    const Term sum = Weighted(ctx_.input(0), w, bias) + Weighted(ctx_.input(18), r);
    Value* const peephole =
        c == nullptr ? nullptr
                     : ctx_.input(kPeepholes + (gate == kOutput ? size_t{2} : size_t{gate}));
    return peephole == nullptr ? sum : sum + Term(c) * peephole;
  }

  Result<Term> Activate(const Term& v) {
    constexpr int64_t kTanh = 4, kSigmoid = 6;
    NN_ASSIGN(const int64_t code, ctx_.Int(20));
    if (code == kTanh) return Apply("tanh", {v});
    if (code == kSigmoid) return Sigmoid(v);
    NN_ASSIGN(Value* const x, ctx_.Build(v));
    NN_ASSIGN(Value* const y, ctx_.Activated(x, 20));
    return Term(y);
  }

  // Clips to [-threshold, threshold]; 0 means that there is none.
  Result<Term> Clip(const Term& v, size_t threshold) {
    NN_ASSIGN(const float limit, ctx_.Float(threshold));
    if (!(limit >= 0)) return ModelError("input {} must not be negative", threshold);
    return limit == 0 ? v : nn::Clip(v, -limit, limit);
  }

  ImportContext& ctx_;
};

Status ImportLstm(ImportContext& ctx) {
  return Lstm(ctx).Run();
}

// ---- SVDF ---------------------------------------------------------------------------------------

// The state has the last `memory` features of each filter, of which the last one is free, or
// without the free one.
Status ImportSvdf(ImportContext& ctx) {
  NN_ASSIGN(Value* const x, ctx.Required(0));
  NN_ASSIGN(Value* const feature_weights, ctx.Required(1));
  NN_ASSIGN(Value* const time_weights, ctx.Required(2));
  NN_ASSIGN(Value* const state, ctx.Required(4));
  NN_ASSIGN(const int64_t rank, ctx.Int(5));
  const auto time = time_weights->type().const_dims();
  const auto width = state->type().const_dims();
  if (!time || !width)
    return UnsupportedError("the shapes of the weights and the state must be known");
  if (time->size() != 2 || width->size() != 2 || (*time)[0] < 1 || (*time)[1] < 1)
    return ModelError(
        "the time weights (input 2) and the state must be matrices, and the weights must not be "
        "empty");
  const int64_t filters = (*time)[0], memory = (*time)[1], batch = (*width)[0];
  if (rank < 1 || filters % rank != 0)
    return ModelError("{} filters are not a multiple of rank {}", filters, rank);
  const int64_t slots = (*width)[1] / filters;
  if ((*width)[1] % filters != 0 || (slots != memory && slots != memory - 1) || batch < 1)
    return ModelError("a state of shape {} does not fit {} filters of {} elements",
                      state->type().ToString(), filters, memory);
  const Term feature = Reshape(Weighted(x, feature_weights), {batch, filters, 1});
  const Term before = Reshape(state, {batch, filters, slots});
  const Term kept = slots == memory ? Slice(before, 2, 0, memory - 1) : before;
  const Term all = memory > 1 ? Concat({kept, feature}, 2) : feature;
  Term y = ReduceSum(all * time_weights, {2}, false);
  if (rank > 1) y = ReduceSum(Reshape(y, {batch, filters / rank, rank}), {2}, false);
  if (ctx.input(3) != nullptr) y = y + ctx.input(3);
  NN_ASSIGN(Value* const activated, ActivatedIfGiven(ctx, y, 6));
  std::vector<Term> next;
  if (memory > 1) next.push_back(Slice(all, 2, 1, memory));
  if (slots == memory)
    next.push_back(Apply("expand", {Tensor::Scalar(0.0f)}, ExpandAttrs{{batch, filters, 1}}));
  if (next.empty()) return ModelError("the state has no elements");
  const Term after = Reshape(Concat(std::move(next), 2), {batch, (*width)[1]});
  NN_ASSIGN(Value* const new_state, ctx.Build(after));
  ctx.SetOutput(0, new_state);
  ctx.SetOutput(1, activated);
  return {};
}

constexpr ImportRow kRecurrentImports[] = {
    {.operation = OperationType::kRnn, .import = ImportRnn},
    {.operation = OperationType::kLstm, .import = ImportLstm},
    {.operation = OperationType::kSvdf, .import = ImportSvdf},
};

}  // namespace

Family RecurrentFamily() {
  return {.imports = kRecurrentImports};
}

}  // namespace nn::nnapi

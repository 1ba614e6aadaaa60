// RNN, LSTM and SVDF: one step each, in elementary operators. The states are inputs and outputs.
#include <cmath>
#include <optional>

#include "formats/nnapi/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/arrange/tile.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/math/matmul.h"
#include "ops/reduce/reduce.h"

namespace nn::nnapi {

// ==== From NNAPI =================================================================================

namespace {

// x w^T + bias; `bias` may be null.
Result<Value*> Weighted(ImportContext& ctx, Value* x, Value* w, Value* bias = nullptr) {
  std::vector<Value*> inputs = {x, w};
  if (bias != nullptr) inputs.push_back(bias);
  return ctx.Add("matmul", std::move(inputs), MatmulAttrs{false, true});
}

Result<Value*> ActivatedIfGiven(ImportContext& ctx, Value* v, size_t activation) {
  return ctx.input(activation) == nullptr ? Result<Value*>(v) : ctx.Activated(v, activation);
}

Status ImportRnn(ImportContext& ctx) {
  std::vector<Value*> in;
  for (size_t i = 0; i < 5; ++i) {
    NN_ASSIGN(Value* const v, ctx.Required(i));
    in.push_back(v);
  }
  NN_ASSIGN(Value* const wx, Weighted(ctx, in[0], in[1], in[3]));
  NN_ASSIGN(Value* const rh, Weighted(ctx, in[4], in[2]));
  NN_ASSIGN(Value * h, ctx.Add("add", {wx, rh}));
  NN_ASSIGN(h, ActivatedIfGiven(ctx, h, 5));
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
    NN_ASSIGN(Value* const forget_sum, Sum(kForget, c));
    NN_ASSIGN(Value* const forget, ctx_.Add("sigmoid", {forget_sum}));
    std::vector<Value*> sums;
    Value* input = nullptr;
    if (ctx_.input(kInputWeights + kInput) != nullptr) {
      NN_ASSIGN(Value* const sum, Sum(kInput, c));
      NN_ASSIGN(input, ctx_.Add("sigmoid", {sum}));
      sums.push_back(sum);
    } else {
      NN_ASSIGN(input, ctx_.Add("sub", {Number(1), forget}));
    }
    NN_ASSIGN(Value* const cell_sum, Sum(kCell, nullptr));
    NN_ASSIGN(Value* const cell, Activate(cell_sum));
    NN_ASSIGN(Value* const kept, ctx_.Add("mul", {forget, c}));
    NN_ASSIGN(Value* const added, ctx_.Add("mul", {input, cell}));
    NN_ASSIGN(Value * next, ctx_.Add("add", {kept, added}));
    NN_ASSIGN(next, Clip(next, 21));
    NN_ASSIGN(Value* const output_sum, Sum(kOutput, next));
    NN_ASSIGN(Value* const output, ctx_.Add("sigmoid", {output_sum}));
    NN_ASSIGN(Value* const shown, Activate(next));
    NN_ASSIGN(Value * h, ctx_.Add("mul", {output, shown}));
    if (Value* const projection = ctx_.input(16)) {
      NN_ASSIGN(h, Weighted(ctx_, h, projection, ctx_.input(17)));
      NN_ASSIGN(h, Clip(h, 22));
    }
    sums.insert(sums.end(), {forget_sum, cell_sum, output_sum});
    NN_ASSIGN(Value* const scratch, ctx_.Add("concat", std::move(sums), ConcatAttrs{1}));
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

  Value* Number(float v) { return ctx_.graph().AddConstant(Tensor::Scalar(v)); }

  Result<Value*> Sum(Gate gate, Value* c) {
    NN_ASSIGN(Value* const w, ctx_.Required(kInputWeights + gate));
    NN_ASSIGN(Value* const r, ctx_.Required(kStateWeights + gate));
    NN_ASSIGN(Value* const bias, ctx_.Required(kBiases + gate));
    NN_ASSIGN(Value* const wx, Weighted(ctx_, ctx_.input(0), w, bias));
    NN_ASSIGN(Value* const rh, Weighted(ctx_, ctx_.input(18), r));
    NN_ASSIGN(Value* const sum, ctx_.Add("add", {wx, rh}));
    Value* const peephole =
        c == nullptr ? nullptr
                     : ctx_.input(kPeepholes + (gate == kOutput ? size_t{2} : size_t{gate}));
    if (peephole == nullptr) return sum;
    NN_ASSIGN(Value* const product, ctx_.Add("mul", {c, peephole}));
    return ctx_.Add("add", {sum, product});
  }

  Result<Value*> Activate(Value* v) {
    constexpr int64_t kTanh = 4, kSigmoid = 6;
    NN_ASSIGN(const int64_t code, ctx_.Int(20));
    if (code == kTanh) return ctx_.Add("tanh", {v});
    if (code == kSigmoid) return ctx_.Add("sigmoid", {v});
    return ctx_.Activated(v, 20);
  }

  // Clips to [-threshold, threshold]; 0 means that there is none.
  Result<Value*> Clip(Value* v, size_t threshold) {
    NN_ASSIGN(const float limit, ctx_.Float(threshold));
    if (!(limit >= 0)) return ModelError("input {} must not be negative", threshold);
    return limit == 0 ? Result<Value*>(v) : ctx_.Add("clip", {v}, ClipAttrs{-limit, limit});
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
  const auto slice = [&](Value* v, int64_t begin, int64_t end) {
    return ctx.Add("slice", {v}, SliceAttrs{{2}, {begin}, {end}, {1}});
  };
  const auto reshape = [&](Value* v, Dims dims) {
    return ctx.Add("reshape", {v}, ReshapeAttrs{std::move(dims), false});
  };
  NN_ASSIGN(Value * feature, Weighted(ctx, x, feature_weights));
  NN_ASSIGN(feature, reshape(feature, {batch, filters, 1}));
  Value* all = feature;
  if (memory > 1) {
    NN_ASSIGN(Value * before, reshape(state, {batch, filters, slots}));
    if (slots == memory) {
      NN_ASSIGN(before, slice(before, 0, memory - 1));
    }
    NN_ASSIGN(all, ctx.Add("concat", {before, feature}, ConcatAttrs{2}));
  }
  NN_ASSIGN(Value * y, ctx.Add("mul", {all, time_weights}));
  NN_ASSIGN(y, ctx.Add("reduce_sum", {y}, ReduceAttrs{{2}, false}));
  if (rank > 1) {
    NN_ASSIGN(y, reshape(y, {batch, filters / rank, rank}));
    NN_ASSIGN(y, ctx.Add("reduce_sum", {y}, ReduceAttrs{{2}, false}));
  }
  if (ctx.input(3) != nullptr) {
    NN_ASSIGN(y, ctx.Add("add", {y, ctx.input(3)}));
  }
  NN_ASSIGN(y, ActivatedIfGiven(ctx, y, 6));
  std::vector<Value*> kept;
  if (memory > 1) {
    NN_ASSIGN(Value* const later, slice(all, 1, memory));
    kept.push_back(later);
  }
  if (slots == memory) {
    Value* const zero = ctx.graph().AddConstant(Tensor::Scalar(0.0f));
    NN_ASSIGN(Value* const free, ctx.Add("expand", {zero}, ExpandAttrs{{batch, filters, 1}}));
    kept.push_back(free);
  }
  if (kept.empty()) return ModelError("the state has no elements");
  Value* after = kept[0];
  if (kept.size() > 1) {
    NN_ASSIGN(after, ctx.Add("concat", std::move(kept), ConcatAttrs{2}));
  }
  NN_ASSIGN(after, reshape(after, {batch, (*width)[1]}));
  ctx.SetOutput(0, after);
  ctx.SetOutput(1, y);
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

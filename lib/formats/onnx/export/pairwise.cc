#include "formats/onnx/export/pairwise.h"

#include <algorithm>
#include <span>
#include <vector>

#include "formats/common/regions.h"
#include "formats/onnx/import/ml.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/permute.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/control/loop.h"
#include "ops/math/matmul.h"
#include "ops/reduce/reduce.h"

namespace nn::onnx {
namespace {

// The minimization of p Q p by one coordinate after the other.
class Coupling {
 public:
  Coupling(ImportContext& ctx, int64_t classes) : ctx_(ctx), classes_(classes) {}

  Result<Value*> Run(Value* pairs) {
    NN_RETURN_IF_ERROR(MakeMatrix(pairs));
    NN_ASSIGN(Value * start, Column(pairs, 0));
    NN_ASSIGN(Value* const zero, Number(0));
    NN_ASSIGN(start, ctx_.Add("mul", {start, zero}));
    NN_ASSIGN(start, ctx_.Add("add", {start, Filled(1.0 / static_cast<double>(classes_))}));
    return classes_ == 2 ? Unrolled(start) : Looped(start);
  }

 private:
  // Two classes need at most two iterations, whatever their probability.
  Result<Value*> Unrolled(Value* p) {
    constexpr int kIterations = 3;
    for (int i = 0; i < kIterations; ++i) {
      NN_ASSIGN(const Iteration next, Iterate(p));
      p = next.p;
    }
    return p;
  }

  Result<Value*> Looped(Value* start) {
    const RunIterationFn run = [&](std::span<Value* const> given) -> Result<std::vector<Value*>> {
      NN_ASSIGN(const Iteration next, Iterate(given[1]));
      NN_ASSIGN(Value* const any, ctx_.Add("reduce_any", {next.changes},
                                           ReduceAttrs{.axes = {}, .keep_dims = false}));
      return std::vector<Value*>{any, next.p};
    };
    std::vector<UnsupportedNode> unsupported;
    NN_ASSIGN(LoopRegion loop, TakeLoop(ctx_.graph(), unsupported, {start->type()}, run));
    std::vector<Value*> inputs = {
        ctx_.Constant(Tensor::Scalar<int64_t>(std::max<int64_t>(100, classes_))), nullptr, start};
    inputs.insert(inputs.end(), loop.captured.begin(), loop.captured.end());
    const LoopAttrs attrs{1, "the probabilities determine the number of iterations"};
    NN_ASSIGN(const Node* const node,
              ctx_.AddNode("loop", std::move(inputs), attrs, 1, std::span(&loop.region, 1)));
    return node->output();
  }

  Result<Value*> Number(double v) { return ctx_.Number(DType::kF32, v); }
  // [1, classes]
  Value* Filled(double v) {
    return RealConstant(ctx_, DType::kF32, {1, classes_},
                        std::vector<double>(static_cast<size_t>(classes_), v));
  }
  // [N, 1]
  Result<Value*> Column(Value* v, int64_t i) {
    return ctx_.Add("slice", {v}, SliceAttrs{{1}, {i}, {i + 1}, {}});
  }

  // q: [N, classes, classes] with -r_ij r_ji, and the sums of r_ji^2 over j on the diagonal.
  Status MakeMatrix(Value* pairs) {
    NN_ASSIGN(Value* const one, Number(1));
    NN_ASSIGN(Value* const zero, Number(0));
    NN_ASSIGN(Value* const reverse, ctx_.Add("sub", {one, pairs}));
    NN_ASSIGN(Value * none, Column(pairs, 0));
    NN_ASSIGN(none, ctx_.Add("mul", {none, zero}));
    NN_ASSIGN(Value * r, ctx_.Add("concat", {pairs, reverse, none}, ConcatAttrs{.axis = 1}));
    const int64_t count = classes_ * (classes_ - 1) / 2;
    std::vector<int64_t> places(static_cast<size_t>(classes_ * classes_), 2 * count);
    std::vector<uint8_t> diagonal(places.size(), 0);
    for (int64_t i = 0, pair = 0; i < classes_; ++i) {
      diagonal[static_cast<size_t>(i * classes_ + i)] = 1;
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        places[static_cast<size_t>(i * classes_ + j)] = pair;
        places[static_cast<size_t>(j * classes_ + i)] = count + pair;
      }
    }
    Value* const table = ctx_.Constant(Tensor::Ints(places));
    NN_ASSIGN(r, ctx_.Add("gather", {r, table}, GatherAttrs{.axis = 1}));
    NN_ASSIGN(r, ctx_.Add("reshape", {r}, ReshapeAttrs{Dims{-1, classes_, classes_}}));
    NN_ASSIGN(Value* const transposed, ctx_.Add("transpose", {r}, TransposeAttrs{{0, 2, 1}}));
    NN_ASSIGN(Value * products, ctx_.Add("mul", {r, transposed}));
    NN_ASSIGN(products, ctx_.Add("neg", {products}));
    NN_ASSIGN(Value* const sums, ctx_.Add("reduce_sum_square", {r}, ReduceAttrs{.axes = {1}}));
    Value* const on_diagonal =
        ctx_.Constant(Tensor(DType::kBool, {classes_, classes_}, Blob::CopyOf(diagonal)));
    NN_ASSIGN(q_, ctx_.Add("select", {on_diagonal, sums, products}));
    for (int64_t i = 0; i < classes_; ++i) {
      NN_ASSIGN(Value * row, ctx_.Add("slice", {q_}, SliceAttrs{{1}, {i}, {i + 1}, {}}));
      NN_ASSIGN(row, ctx_.Add("squeeze", {row}, AxesAttrs{{1}}));
      rows_.push_back(row);
    }
    return {};
  }

  struct Iteration {
    Value* changes;  // [N, 1]: whether the row had not converged
    Value* p;        // after all coordinates of such a row
  };
  Result<Iteration> Iterate(Value* p) {
    NN_ASSIGN(Value * qp, ctx_.Add("expand_dims", {p}, AxesAttrs{{2}}));
    NN_ASSIGN(qp, ctx_.Add("matmul", {q_, qp}, MatmulAttrs{}));
    NN_ASSIGN(qp, ctx_.Add("squeeze", {qp}, AxesAttrs{{2}}));
    NN_ASSIGN(Value * pqp, ctx_.Add("mul", {p, qp}));
    NN_ASSIGN(pqp, ctx_.Add("reduce_sum", {pqp}, ReduceAttrs{.axes = {1}}));
    NN_ASSIGN(Value * error, ctx_.Add("sub", {qp, pqp}));
    NN_ASSIGN(error, ctx_.Add("abs", {error}));
    NN_ASSIGN(error, ctx_.Add("reduce_max", {error}, ReduceAttrs{.axes = {1}}));
    NN_ASSIGN(Value* const bound, Number(0.005 / static_cast<double>(classes_)));
    NN_ASSIGN(Value* const changes, ctx_.Add("greater_equal", {error, bound}));
    Value* next = p;
    for (int64_t t = 0; t < classes_; ++t) NN_RETURN_IF_ERROR(Improve(t, next, qp, pqp));
    NN_ASSIGN(next, ctx_.Add("select", {changes, next, p}));
    return Iteration{changes, next};
  }

  // Coordinate t of p, with Q p and p Q p.
  Status Improve(int64_t t, Value*& p, Value*& qp, Value*& pqp) {
    Value* const row = rows_[static_cast<size_t>(t)];
    NN_ASSIGN(Value* const own, Column(row, t));
    NN_ASSIGN(Value* const at, Column(qp, t));
    NN_ASSIGN(Value * change, ctx_.Add("sub", {pqp, at}));
    NN_ASSIGN(change, ctx_.Add("div", {change, own}));
    NN_ASSIGN(Value* const one, Number(1));
    NN_ASSIGN(Value* const sum, ctx_.Add("add", {one, change}));
    std::vector<double> unit(static_cast<size_t>(classes_), 0);
    unit[static_cast<size_t>(t)] = 1;
    NN_ASSIGN(Value * step,
              ctx_.Add("mul", {change, RealConstant(ctx_, DType::kF32, {1, classes_}, unit)}));
    NN_ASSIGN(p, ctx_.Add("add", {p, step}));
    NN_ASSIGN(p, ctx_.Add("div", {p, sum}));
    NN_ASSIGN(Value * growth, ctx_.Add("mul", {change, own}));
    NN_ASSIGN(Value* const twice, ctx_.Add("add", {at, at}));
    NN_ASSIGN(growth, ctx_.Add("add", {growth, twice}));
    NN_ASSIGN(growth, ctx_.Add("mul", {growth, change}));
    NN_ASSIGN(pqp, ctx_.Add("add", {pqp, growth}));
    NN_ASSIGN(Value* const square, ctx_.Add("mul", {sum, sum}));
    NN_ASSIGN(pqp, ctx_.Add("div", {pqp, square}));
    NN_ASSIGN(step, ctx_.Add("mul", {change, row}));
    NN_ASSIGN(qp, ctx_.Add("add", {qp, step}));
    NN_ASSIGN(qp, ctx_.Add("div", {qp, sum}));
    return {};
  }

  ImportContext& ctx_;
  int64_t classes_;
  Value* q_ = nullptr;
  std::vector<Value*> rows_;  // of q_, [N, classes]
};

}  // namespace

Result<Value*> CoupledProbabilities(ImportContext& ctx, Value* pairs, int64_t classes) {
  return Coupling(ctx, classes).Run(pairs);
}

}  // namespace nn::onnx

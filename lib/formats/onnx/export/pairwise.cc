#include "formats/onnx/export/pairwise.h"

#include <algorithm>
#include <span>
#include <vector>

#include "formats/common/regions.h"
#include "formats/onnx/import/ml.h"
#include "ops/array/arrange/slice.h"
#include "ops/control/loop.h"
#include "ops/reduce/reduce.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// The minimization of p Q p by one coordinate after the other.
class Coupling {
 public:
  Coupling(ImportContext& ctx, int64_t classes) : ctx_(ctx), classes_(classes) {}

  Result<Value*> Run(const Term& pairs) {
    NN_RETURN_IF_ERROR(MakeMatrix(pairs));
    NN_ASSIGN(Value* const start,
              ctx_.Build(Column(pairs, 0) * 0 + Filled(1.0 / static_cast<double>(classes_))));
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

  // [1, classes]
  Term Filled(double v) const {
    return RealTensor(DType::kF32, {1, classes_},
                      std::vector<double>(static_cast<size_t>(classes_), v));
  }
  // [N, 1]
  static Term Column(const Term& v, int64_t i) {
    return Apply("slice", {v}, SliceAttrs{{1}, {i}, {i + 1}, {}});
  }

  // q: [N, classes, classes] with -r_ij r_ji, and the sums of r_ji^2 over j on the diagonal.
  Status MakeMatrix(const Term& pairs) {
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
    const Term all = Concat({pairs, 1 - pairs, Column(pairs, 0) * 0}, 1);
    const Term r = Reshape(Gather(all, Tensor::Ints(places), 1), Dims{-1, classes_, classes_});
    const Term products = -(r * Transpose(r, {0, 2, 1}));
    const Term sums = Apply("reduce_sum_square", {r}, ReduceAttrs{.axes = {1}});
    const Tensor on_diagonal(DType::kBool, {classes_, classes_}, Blob::CopyOf(diagonal));
    NN_ASSIGN(q_, ctx_.Build(Select(on_diagonal, sums, products)));
    for (int64_t i = 0; i < classes_; ++i) {
      NN_ASSIGN(rows_.emplace_back(), ctx_.Build(Squeeze(Column(q_, i), {1})));
    }
    return {};
  }

  struct Iteration {
    Value* changes;  // [N, 1]: whether the row had not converged
    Value* p;        // after all coordinates of such a row
  };
  Result<Iteration> Iterate(Value* p) {
    NN_ASSIGN(Value * qp, ctx_.Build(Squeeze(Matmul(q_, ExpandDims(p, {2})), {2})));
    NN_ASSIGN(Value * pqp, ctx_.Build(ReduceSum(p * Term(qp), {1}, true)));
    const Term error =
        Apply("reduce_max", {Apply("abs", {qp - Term(pqp)})}, ReduceAttrs{.axes = {1}});
    NN_ASSIGN(Value* const changes,
              ctx_.Build(GreaterEqual(error, 0.005 / static_cast<double>(classes_))));
    Value* next = p;
    for (int64_t t = 0; t < classes_; ++t) NN_RETURN_IF_ERROR(Improve(t, next, qp, pqp));
    NN_ASSIGN(next, ctx_.Build(Select(changes, next, p)));
    return Iteration{changes, next};
  }

  // Coordinate t of p, with Q p and p Q p.
  Status Improve(int64_t t, Value*& p, Value*& qp, Value*& pqp) {
    const Term row = rows_[static_cast<size_t>(t)];
    const Term own = Column(row, t), at = Column(qp, t);
    const Term change = (pqp - at) / own;
    const Term sum = 1 + change;
    std::vector<double> unit(static_cast<size_t>(classes_), 0);
    unit[static_cast<size_t>(t)] = 1;
    const Term step = change * RealTensor(DType::kF32, {1, classes_}, unit);
    NN_ASSIGN(p, ctx_.Build((p + step) / sum));
    const Term growth = (change * own + (at + at)) * change;
    NN_ASSIGN(pqp, ctx_.Build((pqp + growth) / (sum * sum)));
    NN_ASSIGN(qp, ctx_.Build((qp + change * row) / sum));
    return {};
  }

  ImportContext& ctx_;
  int64_t classes_;
  Value* q_ = nullptr;
  std::vector<Value*> rows_;  // of q_, [N, classes]
};

}  // namespace

Result<Value*> CoupledProbabilities(ImportContext& ctx, const Term& pairs, int64_t classes) {
  return Coupling(ctx, classes).Run(pairs);
}

}  // namespace nn::onnx

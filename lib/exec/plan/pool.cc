// Pooling of float32 and 8-bit integers, channels last.
#include <algorithm>
#include <limits>
#include <optional>

#include "base/checked_math.h"
#include "exec/kernels/elementwise.h"
#include "exec/kernels/window/pool.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "exec/steps/conv/conv_geometry.h"
#include "exec/steps/post_ops.h"
#include "ops/nn/pool.h"
#include "ops/quant/requant.h"

namespace nn {
namespace {

enum class PoolKind : uint8_t { kMaxF32, kAverageF32, kMax8, kAverage8 };

// The taps along one axis for an output position, as in ops/nn/pool.cc.
struct AxisTaps {
  int64_t first = 0;  // position of the first tap that is not padding
  int64_t count = 0;
  int64_t padded = 0;  // kernel positions before the end of the padding
};
AxisTaps TapsAt(const ConstWindow& w, int64_t position) {
  const int64_t start = position * w.stride - w.pad_begin;
  const int64_t begin = std::max<int64_t>(0, CeilDiv(-start, w.dilation));
  const int64_t end = std::min(w.kernel, CeilDiv(w.input - start, w.dilation));
  return {start + begin * w.dilation, std::max<int64_t>(0, end - begin),
          std::min(w.kernel, CeilDiv(w.input + w.pad_end - start, w.dilation))};
}

// |x|^p of the elements, the terms of lp_pool.
class PowersStep : public Step {
 public:
  MemoryView in, out;
  RowPieces pieces;
  float p = 2;

  size_t grid() const override { return pieces.items(); }
  void Run(const Memory& memory, size_t item) const override {
    static const size_t kAbs = *UnaryFunctionId("abs");
    static const size_t kMul = *BinaryFunctionId("mul");
    static const size_t kPow = *BinaryFunctionId("pow");
    const auto part = pieces.At(item);
    for (size_t r = part.first; r < part.end; ++r) {
      const float* x = in.As<const float>(memory) + r * in.row_stride + part.column;
      float* y = out.As<float>(memory) + r * out.row_stride + part.column;
      if (p == 2) {
        RunBinaryF32(kMul, BinaryForm::kVectorVector, x, x, y, part.n);
        continue;
      }
      RunUnaryF32(kAbs, {}, x, y, part.n);
      if (p != 1) RunBinaryF32(kPow, BinaryForm::kVectorScalar, y, &p, y, part.n);
    }
  }
};

// A work item is a piece of a line of outputs.
class PoolStep : public Step {
 public:
  static constexpr size_t kPiece = 32;

  PoolKind kind = PoolKind::kMaxF32;
  bool is_signed = false;
  bool include_pad = false;
  bool sums = false;           // instead of means
  std::optional<float> power;  // the result is the root of this power
  Spatial3 s;
  size_t batch = 0, channels = 0;
  MemoryView in, out;
  size_t pieces = 1;  // pieces per line
  PostOpProgram post_ops;

  size_t grid() const override {
    return batch * static_cast<size_t>(s[0].output * s[1].output) * pieces;
  }

  void Run(const Memory& memory, size_t item) const override {
    if (kind == PoolKind::kMaxF32 || kind == PoolKind::kAverageF32)
      RunItem<float>(memory, item);
    else
      RunItem<uint8_t>(memory, item);
  }

 private:
  template <typename T>
  void RunItem(const Memory& memory, size_t item) const {
    const auto& [d, h, w] = s;
    const size_t line = item / pieces;
    const auto lines = static_cast<size_t>(d.output * h.output);
    const auto first = static_cast<int64_t>(item % pieces * kPiece);
    const int64_t end = std::min(w.output, first + static_cast<int64_t>(kPiece));
    const AxisTaps td = TapsAt(d, static_cast<int64_t>(line % lines) / h.output);
    const AxisTaps th = TapsAt(h, static_cast<int64_t>(line % lines) % h.output);
    const auto stride = static_cast<std::ptrdiff_t>(in.row_stride);
    const T* x =
        in.As<const T>(memory) + line / lines * static_cast<size_t>(InPositions(s)) * in.row_stride;
    std::array<PoolWindow<T>, kPiece> windows;
    for (int64_t p = first; p < end; ++p) {
      const AxisTaps tw = TapsAt(w, p);
      PoolWindow<T>& window = windows[static_cast<size_t>(p - first)];
      window.counts = {td.count, th.count, tw.count};
      const bool empty = td.count * th.count * tw.count == 0;
      if (empty) window.counts = {};
      window.first =
          empty ? x : x + ((td.first * h.input + th.first) * w.input + tw.first) * stride;
      window.divisor = sums          ? 1
                       : include_pad ? td.padded * th.padded * tw.padded
                                     : td.count * th.count * tw.count;
    }
    const size_t row = line * static_cast<size_t>(w.output) + static_cast<size_t>(first);
    PoolRow<T> r;
    r.windows = windows.data();
    r.window_count = static_cast<size_t>(end - first);
    r.steps = {static_cast<ptrdiff_t>(d.dilation * h.input * w.input * stride),
               static_cast<ptrdiff_t>(h.dilation * w.input * stride),
               static_cast<ptrdiff_t>(w.dilation * stride)};
    r.channels = channels;
    r.out = out.As<T>(memory) + row * out.row_stride;
    r.out_stride = out.row_stride;
    RunRow(r);
    if constexpr (std::is_same_v<T, float>) {
      if (power)
        for (size_t i = 0; i < r.window_count; ++i) TakeRoot(r.out + i * r.out_stride);
      post_ops.Run(memory, r.out, r.out_stride, row, r.window_count, 0, channels);
    }
  }
  void TakeRoot(float* y) const {
    static const size_t kSqrt = *UnaryFunctionId("sqrt");
    static const size_t kPow = *BinaryFunctionId("pow");
    const float inverse = 1 / *power;
    if (*power == 2)
      RunUnaryF32(kSqrt, {}, y, y, channels);
    else if (*power != 1)
      RunBinaryF32(kPow, BinaryForm::kVectorScalar, y, &inverse, y, channels);
  }
  void RunRow(const PoolRow<float>& r) const {
    kind == PoolKind::kMaxF32 ? RunMaxPoolF32(r) : RunAveragePoolF32(r);
  }
  void RunRow(const PoolRow<uint8_t>& r) const {
    kind == PoolKind::kMax8 ? RunMaxPool8(r, is_signed) : RunAveragePool8(r, is_signed);
  }
};

// Selects the kernel of a pool of maxima or of means, if there is one.
std::optional<PoolKind> KindOf(const Node& node, bool max) {
  const Type& x = node.input(0)->type();
  const Type& y = node.output()->type();
  if (x.dtype == DType::kF32) return max ? PoolKind::kMaxF32 : PoolKind::kAverageF32;
  if (x.dtype != DType::kU8 && x.dtype != DType::kI8) return std::nullopt;
  if (x.quantized() != y.quantized() || (x.quantized() && !x.quant->SameMapping(*y.quant)))
    return std::nullopt;
  if (max) return PoolKind::kMax8;
  if (!x.quantized() || x.quant->per_axis() || node.arithmetic() != Arithmetic::kTflite)
    return std::nullopt;
  return PoolKind::kAverage8;
}

// Whether every window has a tap, and at most as many as the kernel of 8-bit averages supports.
bool HasTaps(const Spatial3& s) {
  int64_t most = 1;
  for (const ConstWindow& w : s) {
    int64_t largest = 0;
    for (int64_t p = 0; p < w.output; ++p) {
      const int64_t count = TapsAt(w, p).count;
      if (count == 0) return false;
      largest = std::max(largest, count);
    }
    most *= largest;
  }
  return most <= int64_t{1} << 23;
}

// Adds the step that computes powers of the input and returns their view.
MemoryView AddPowers(PlanContext& ctx, const MemoryView& in, float p) {
  constexpr size_t kItemElements = 16384;
  const auto shape = ShapeOf(ctx.node().input(0));
  const auto channels = static_cast<size_t>(shape.back());
  const size_t rows = ElementsOf(shape, 0, shape.size() - 1);
  auto step = std::make_unique<PowersStep>();
  step->label = "powers";
  step->in = in;
  step->out = MemoryView{ctx.AddScratch(rows * channels * sizeof(float)), 0, channels};
  step->pieces = RowPieces(rows, channels, kItemElements);
  step->p = p;
  const MemoryView out = step->out;
  ctx.AddStep(std::move(step), {in.buffer}, {out.buffer});
  return out;
}

// `lp`: the attributes of an lp_pool, otherwise null.
Result<bool> PlanPool(PlanContext& ctx, std::optional<PoolKind> kind, const PoolAttrs& a,
                      bool include_pad, const LpPoolAttrs* lp = nullptr) {
  const Node& node = ctx.node();
  const auto shape = ShapeOf(node.input(0));
  const Type& type = node.input(0)->type();
  if (!kind || a.layout != Layout::kNxc || node.outputs().size() > 1 || shape.size() > 5 ||
      (type.quantized() && type.quant->per_axis()))
    return false;
  NN_ASSIGN(const auto symbolic, PoolWindows(a, ToDims(shape)));
  NN_ASSIGN(const auto windows, ConstWindows(symbolic));
  for (const ConstWindow& w : windows)  // so that counts of taps do not overflow
    if (w.kernel > int64_t{1} << 20) return false;
  auto step = std::make_unique<PoolStep>();
  step->s = ToThree(windows);
  if (*kind == PoolKind::kAverage8 && (include_pad || !HasTaps(step->s))) return false;
  if (!step->post_ops.AddPostOps(ctx)) return false;
  step->kind = *kind;
  step->is_signed = node.input(0)->dtype() == DType::kI8;
  step->include_pad = include_pad;
  step->batch = static_cast<size_t>(shape.front());
  step->channels = static_cast<size_t>(shape.back());
  step->pieces = (static_cast<size_t>(step->s[2].output) + PoolStep::kPiece - 1) / PoolStep::kPiece;
  step->in = ctx.ViewOf(node.input(0));
  step->out = ctx.ViewOf(ctx.group().result());
  if (lp != nullptr) {
    step->sums = !lp->average;
    step->power = lp->p;
    step->in = AddPowers(ctx, step->in, lp->p);
  }
  std::vector<BufferId> reads = step->post_ops.reads();
  reads.push_back(step->in.buffer);
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

Result<bool> PlanMaxPool(PlanContext& ctx) {
  return PlanPool(ctx, KindOf(ctx.node(), true), ctx.node().attrs<MaxPoolAttrs>(), false);
}
Result<bool> PlanAveragePool(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<AveragePoolAttrs>();
  return PlanPool(ctx, KindOf(ctx.node(), false), a, a.count_include_pad);
}

Result<bool> PlanLpPool(PlanContext& ctx) {
  const auto& a = ctx.node().attrs<LpPoolAttrs>();
  // The operator pow computes squares and cubes as products; these powers are not.
  for (const float exponent : {a.p, 1 / a.p})
    if (a.p != 2 && (exponent == 2 || exponent == 3)) return false;
  if (ctx.node().input(0)->dtype() != DType::kF32) return false;
  return PlanPool(ctx, PoolKind::kAverageF32, a, false, &a);
}

}  // namespace

void AddPoolKernels(std::vector<KernelInfo>& kernels) {
  for (const auto& [op, plan] :
       {std::pair("max_pool", &PlanMaxPool), std::pair("average_pool", &PlanAveragePool),
        std::pair("lp_pool", &PlanLpPool)})
    kernels.push_back({.op = op,
                       .plan = plan,
                       .takes_post_ops = true,
                       .strided_input = true,
                       .strided_output = true});
}

}  // namespace nn

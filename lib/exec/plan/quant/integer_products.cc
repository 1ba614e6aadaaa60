// matmul_integer and conv_integer with a constant right operand, on the matrix kernel for 8-bit
// integers. A run computes the zero point of the left operand; the bias of the columns follows from
// it in each work item, which costs a product for a column of a whole block. Sums are modulo 2^32,
// as those of the reference evaluation. Sums that are converted to float32 pass through the rest of
// the group before they leave the cache.
#include "exec/plan/quant/integer_products.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/per_thread.h"
#include "exec/kernels/int8/matrix_i8.h"
#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "exec/steps/conv/conv_geometry.h"
#include "exec/steps/conv/conv_step.h"
#include "exec/steps/conv/pad_lines.h"
#include "exec/steps/post_ops.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/nn/conv.h"

namespace nn {
namespace {

constexpr size_t kLargestRank = 5;  // of convolutions

bool IsByte(const Value* v) {
  return v->dtype() == DType::kU8 || v->dtype() == DType::kI8;
}

bool IsConstantOrAbsent(const Value* v) {
  return v == nullptr || v->is_constant();
}

// Whether the value is absent or has one element.
bool IsOneNumber(const Value* v) {
  if (v == nullptr) return true;
  const auto dims = v->type().const_dims();
  return dims && CheckedElements(*dims) == 1;
}

class IntegerProductStep : public Step {
 public:
  MemoryView in, out;
  std::optional<MemoryView> zero;  // the zero point of the left operand
  bool is_signed = false;          // the left operand
  std::vector<PackedI8> packed;    // one per group
  bool is_real = false;            // results are float32
  PostOpProgram post_ops;
  ProductBlocks blocks;

  size_t grid() const override { return blocks.items(); }

 protected:
  int32_t ZeroPoint(const Memory& memory) const {
    if (!zero) return 0;
    const uint8_t raw = *zero->As<const uint8_t>(memory);
    return is_signed ? static_cast<int8_t>(raw) : raw;
  }

  // Computes a block whose rows and columns are set, at a row and a column of the whole result.
  void Multiply(const Memory& memory, MatrixI8& m, size_t row, size_t column) const {
    static PerThread<std::vector<int32_t>> all_sums;
    std::vector<int32_t>& bias = all_sums.Get();
    const PackedI8& p = *m.packed;
    const auto z = static_cast<uint32_t>(ZeroPoint(memory));
    bias.resize(RoundUp(m.column_count, kPanelWidth));
    for (size_t c = 0; c < bias.size(); ++c)
      bias[c] = static_cast<int32_t>(static_cast<uint32_t>(p.bias[m.first_column + c]) -
                                     z * static_cast<uint32_t>(p.weight_sums[m.first_column + c]));
    m.bias = bias.data();
    m.result.is_signed = is_signed;
    m.out_stride = out.row_stride;
    const size_t at = row * out.row_stride + column;
    if (is_real)
      m.reals = out.As<float>(memory) + at;
    else
      m.sums = out.As<int32_t>(memory) + at;
    RunMatrixI8(m);
    if (!post_ops.empty())
      post_ops.Run(memory, m.reals, out.row_stride, row, m.row_count, column, m.column_count);
  }
};

class IntegerMatmulStep : public IntegerProductStep {
 public:
  size_t depth = 0;

  void Run(const Memory& memory, size_t item) const override {
    const ProductBlocks::Part part = blocks.At(item);
    std::array<const uint8_t*, kMatrixI8Rows> rows;
    const uint8_t* x = in.As<const uint8_t>(memory) + part.row * in.row_stride;
    for (size_t r = 0; r < part.rows; ++r) rows[r] = x + r * in.row_stride;
    MatrixI8 m;
    m.rows = rows.data();
    m.row_pitch = part.rows;
    m.run_length = depth;
    m.row_count = part.rows;
    m.packed = packed.data();
    m.first_column = part.column;
    m.column_count = part.columns;
    Multiply(memory, m, part.row, part.column);
  }
};

class IntegerConvStep : public IntegerProductStep {
 public:
  ConvGeometry g;
  Spatial3 s;
  size_t run_length = 0;  // contiguous elements of a tap

  void Run(const Memory& memory, size_t item) const override {
    static PerThread<std::vector<uint8_t>> paddings;
    const auto [product, first, count, column, columns] = blocks.At(item);
    const size_t group = product % static_cast<size_t>(g.groups);
    const size_t batch = product / static_cast<size_t>(g.groups);
    std::vector<uint8_t>& padding = paddings.Get();
    padding.assign(run_length, static_cast<uint8_t>(ZeroPoint(memory)));
    std::array<const uint8_t*, kMaxTapPointers> pointers;
    FillTapPointers(s,
                    in.As<const uint8_t>(memory) +
                        batch * static_cast<size_t>(InPositions(s)) * in.row_stride +
                        group * static_cast<size_t>(g.in_channels),
                    in.row_stride, padding.data(), first, count, count, 1, pointers.data());
    MatrixI8 m;
    m.rows = pointers.data();
    m.row_pitch = count;
    m.run_count = static_cast<size_t>(Taps(s));
    m.run_length = run_length;
    m.row_count = count;
    m.packed = &packed[group];
    m.first_column = column;
    m.column_count = columns;
    Multiply(memory, m, batch * static_cast<size_t>(OutPositions(s)) + first,
             group * static_cast<size_t>(g.out_channels) + column);
  }
};

std::vector<int32_t> Int32sOf(const Value* v) {
  std::vector<int32_t> out;
  if (v == nullptr) return out;
  for (const int64_t i : v->constant().ToInts()) out.push_back(static_cast<int32_t>(i));
  return out;
}

// The elements of a group of columns; fewer elements than columns are for all groups.
std::vector<int32_t> ColumnsOfGroup(const std::vector<int32_t>& all, size_t group, size_t columns) {
  if (all.size() <= 1) return all;
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(group * columns);
  return {begin, begin + static_cast<std::ptrdiff_t>(columns)};
}

// Packs the groups of the right operand; `w` says where the elements of the first one are, which
// are `group_stride` apart.
void PackGroups(const Node& node, MatrixI8Weights w, size_t groups, size_t group_stride,
                IntegerProductStep& step) {
  const Tensor& b = node.input(1)->constant();
  std::vector<int32_t> zeros = Int32sOf(node.input(3));
  if (zeros.empty()) zeros = {0};
  const std::vector<int32_t> bias = Int32sOf(node.input(4));
  w.is_signed = b.dtype() == DType::kI8;
  for (size_t group = 0; group < groups; ++group) {
    w.b = reinterpret_cast<const uint8_t*>(b.blob().data()) + group * group_stride;
    w.b_zero = ColumnsOfGroup(zeros, group, w.n);
    w.bias = bias.empty() ? bias
                          : std::vector<int32_t>(
                                bias.begin() + static_cast<std::ptrdiff_t>(group * w.n),
                                bias.begin() + static_cast<std::ptrdiff_t>((group + 1) * w.n));
    step.packed.push_back(PackMatrixI8(w, node.input(0)->dtype() == DType::kI8));
    step.packed_bytes += step.packed.back().weights.size();
  }
}

// Compiles the group's post-ops, of which the first one converts; false if they have no kernel.
bool AddConvertedPostOps(PlanContext& ctx, IntegerProductStep& step) {
  const auto& ops = ctx.group().post_ops;
  if (ops.empty()) return true;
  if (!ops[0]->Is<CastAttrs>() || ops[0]->output()->dtype() != DType::kF32) return false;
  step.is_real = true;
  for (size_t i = 1; i < ops.size(); ++i)
    if (!step.post_ops.Add(ctx, ops[i - 1]->output(), *ops[i])) return false;
  return true;
}

void AddProduct(PlanContext& ctx, std::unique_ptr<IntegerProductStep> step, BufferId in) {
  std::vector<BufferId> reads = step->post_ops.reads();
  reads.push_back(in);
  if (step->zero) reads.push_back(step->zero->buffer);
  step->out = ctx.ViewOf(ctx.group().result());
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
}

void SetLeft(PlanContext& ctx, IntegerProductStep& step) {
  const Node& node = ctx.node();
  step.in = ctx.ViewOf(node.input(0));
  step.is_signed = node.input(0)->dtype() == DType::kI8;
  if (node.input(2) != nullptr) step.zero = ctx.ViewOf(node.input(2));
}

Result<bool> PlanMatmulInteger(PlanContext& ctx) {
  const Node& node = ctx.node();
  auto step = std::make_unique<IntegerMatmulStep>();
  if (!HasIntegerKernel(node) || !AddConvertedPostOps(ctx, *step)) return false;
  const auto a = ShapeOf(node.input(0));
  const auto& b = node.input(1)->constant().dims();
  const size_t rows = ElementsOf(a, 0, a.size() - 1);
  if (rows == 0) return false;
  SetLeft(ctx, *step);
  step->depth = static_cast<size_t>(b[0]);
  MatrixI8Weights w;
  w.n_stride = 1;
  w.n = static_cast<size_t>(b[1]);
  for (size_t k = 0; k < step->depth; ++k) w.k_offsets.push_back(k * w.n);
  PackGroups(node, w, 1, 0, *step);
  step->blocks = ProductBlocks(1, rows, w.n, step->depth, kMatrixI8Rows);
  step->multiply_adds = static_cast<int64_t>(rows * w.n * step->depth);
  const BufferId in = step->in.buffer;
  AddProduct(ctx, std::move(step), in);
  return true;
}

Result<bool> PlanConvInteger(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto& a = node.attrs<ConvAttrs>();
  auto step = std::make_unique<IntegerConvStep>();
  if (!HasIntegerKernel(node) || a.layout != Layout::kNxc || !AddConvertedPostOps(ctx, *step))
    return false;
  const Tensor& filter = node.input(1)->constant();
  NN_ASSIGN(step->g, GeometryOf(a, ShapeOf(node.input(0)), filter.dims()));
  const ConvGeometry& g = step->g;
  if (g.batch * g.out_positions() == 0) return false;
  SetLeft(ctx, *step);
  const FilterStrides strides(filter, a.filter_layout);
  MatrixI8Weights w;
  for (size_t tap = 0; tap < static_cast<size_t>(g.taps()); ++tap)
    for (size_t c = 0; c < static_cast<size_t>(g.in_channels); ++c)
      w.k_offsets.push_back(tap * strides.tap + c * strides.input);
  w.n = static_cast<size_t>(g.out_channels);
  w.n_stride = strides.output;
  PackGroups(node, w, static_cast<size_t>(g.groups), w.n * strides.output, *step);
  step->s = ToThree(g.windows);
  step->run_length = static_cast<size_t>(g.in_channels);
  JoinTaps(ctx, g, 1, std::byte{0}, step->s, step->in, step->run_length,
           step->zero ? &*step->zero : nullptr);
  step->blocks = ProductBlocks(
      static_cast<size_t>(g.batch * g.groups), static_cast<size_t>(g.out_positions()), w.n,
      w.k_offsets.size(),
      std::clamp<size_t>(kMaxTapPointers / static_cast<size_t>(Taps(step->s)), 1, kMatrixI8Rows));
  step->multiply_adds =
      g.batch * g.groups * g.out_channels * g.out_positions() * g.taps() * g.in_channels;
  const BufferId in = step->in.buffer;
  AddProduct(ctx, std::move(step), in);
  return true;
}

// Whether the filter, of a convolution with this input, is one that the kernel takes.
bool TakesIntegerFilter(const Node& node, const std::vector<int64_t>& w) {
  const auto& a = node.attrs<ConvAttrs>();
  if (w.size() < 3 || w.size() > kLargestRank) return false;
  const FilterAxes axes = AxesOf(a.filter_layout, static_cast<int>(w.size()));
  int64_t taps = 1;
  for (size_t i = 0; i + 2 < w.size(); ++i) taps *= w[static_cast<size_t>(axes.spatial) + i];
  const bool is_depthwise = a.groups > 1 && w[static_cast<size_t>(axes.input)] == 1 &&
                            w[static_cast<size_t>(axes.output)] == a.groups;
  return !is_depthwise && taps <= static_cast<int64_t>(kMaxTapPointers);
}

}  // namespace

bool HasIntegerKernel(const Node& node) {
  const Value* a = node.input(0);
  const Value* b = node.input(1);
  const Value* zero = node.input(3);
  if (!IsByte(a) || !IsByte(b) || !b->is_constant() || b->constant().elements() == 0 ||
      !IsConstantOrAbsent(zero) || !IsConstantOrAbsent(node.input(4)) ||
      !IsOneNumber(node.input(2)))
    return false;
  const auto& dims = b->constant().dims();
  if (node.Is<ConvAttrs>()) return TakesIntegerFilter(node, dims);
  // The zero points of columns are a vector, or a row.
  const auto is_of_columns = [&] {
    return zero->constant().elements() == 1 ||
           (zero->constant().elements() == dims[1] && zero->constant().dims().back() == dims[1]);
  };
  return dims.size() == 2 && a->type().ranked() && a->type().rank() >= 2 &&
         (zero == nullptr || is_of_columns());
}

void AddIntegerProductKernels(std::vector<KernelInfo>& kernels) {
  const auto add = [&](std::string_view op, PlanFn plan) {
    kernels.push_back({.op = op,
                       .plan = plan,
                       .takes_post_ops = true,
                       .strided_input = true,
                       .strided_output = true,
                       .takes_conversion = true});
  };
  add("matmul_integer", PlanMatmulInteger);
  add("conv_integer", PlanConvInteger);
}

}  // namespace nn

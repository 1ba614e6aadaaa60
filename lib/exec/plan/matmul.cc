// Matrix products on the matrix kernels: float32 with operands of any kind, 8-bit integers with a
// constant right operand.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "base/checked_math.h"
#include "exec/kernels/int8/matrix_i8.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/kernels/move/transpose.h"
#include "exec/plan/families.h"
#include "exec/plan/quant/elementwise_8bit.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "exec/steps/conv/block_panels.h"
#include "exec/steps/post_ops.h"
#include "ops/math/matmul.h"
#include "ops/quant/quantized.h"
#include "ops/quant/requant.h"
#include "ops/support/index.h"

namespace nn {
namespace {

// The layout of a product for the kernels. A matrix of the batch is `m` rows; those of `a` are
// `a_row` elements apart.
struct Product {
  size_t m = 0, n = 0, k = 0;
  size_t a_row = 0;
  // For each matrix of the batch: the offsets of the operands, in elements, and the index of its
  // packed matrix.
  std::vector<int64_t> a_offsets;
  std::vector<size_t> b_index;
  std::vector<int64_t> b_offsets;  // of the distinct matrices of b

  size_t batch() const { return a_offsets.size(); }
};

std::vector<int64_t> OffsetsOf(const std::vector<int64_t>& sizes,
                               const std::vector<int64_t>& steps) {
  std::vector<int64_t> offsets;
  ForEachOffset(sizes, steps, [&](int64_t, int64_t offset) { offsets.push_back(offset); });
  return offsets;
}

// `pitch`: the distance of the rows of a, if k is its last axis.
Product ProductOf(const MatmulGeometry& g, size_t pitch) {
  Product p;
  p.m = static_cast<size_t>(g.m);
  p.n = static_cast<size_t>(g.n);
  p.k = static_cast<size_t>(g.k);
  p.a_row = pitch;
  p.a_offsets = OffsetsOf(g.batch, g.a_batch);
  // Offsets count dense rows; the rows of a may be strided.
  if (g.a_k == 1 && g.k != 0)
    for (int64_t& o : p.a_offsets) o = o / g.k * static_cast<int64_t>(pitch);
  std::unordered_map<int64_t, size_t> matrices;
  for (const int64_t offset : OffsetsOf(g.batch, g.b_batch)) {
    const auto [it, is_new] = matrices.emplace(offset, p.b_offsets.size());
    p.b_index.push_back(it->second);
    if (is_new) p.b_offsets.push_back(offset);
  }
  // With a shared b and contiguous rows the batch is a single matrix.
  bool joins = p.b_offsets.size() == 1 && g.a_k == 1;
  for (size_t i = 0; i < p.batch(); ++i)
    joins &= p.a_offsets[i] == static_cast<int64_t>(i * p.m * p.a_row);
  if (joins) {
    p.m *= p.batch();
    p.a_offsets = {0};
    p.b_index = {0};
  }
  return p;
}

// ---- float32

class MatmulStep : public Step {
 public:
  Product p;
  ProductBlocks blocks;
  MemoryView a, out;
  BufferId panels = 0;
  std::vector<BlockPanels> blocks_of_b;  // instead of `panels`, of the distinct matrices of b
  size_t out_row = 0;                    // elements between rows of the result
  EpilogueF32 epilogue;
  EpilogueSources sources;
  std::optional<MemoryView> bias;  // if it is not constant
  PostOpProgram post_ops;

  size_t grid() const override { return blocks.items(); }

  void Run(const Memory& memory, size_t item) const override {
    const ProductBlocks::Part part = blocks.At(item);
    std::array<const float*, kMatrixF32Rows> rows;
    const float* x = a.As<const float>(memory) + p.a_offsets[part.product] + part.row * p.a_row;
    for (size_t r = 0; r < part.rows; ++r) rows[r] = x + r * p.a_row;
    const size_t row = part.product * p.m + part.row;
    MatrixF32 m;
    m.rows = rows.data();
    m.row_pitch = part.rows;
    m.run_length = p.k;
    m.row_count = part.rows;
    if (blocks_of_b.empty()) {
      m.panels = reinterpret_cast<const float*>(memory.data(panels)) +
                 p.b_index[part.product] * PackedSize(p.k, p.n) + part.column * p.k;
    } else {
      m.blocks = &blocks_of_b[p.b_index[part.product]];
      m.first_panel = part.column / kPanelWidth;
    }
    m.column_count = part.columns;
    m.out = out.As<float>(memory) + row * out_row + part.column;
    m.out_stride = out_row;
    m.epilogue = sources.At(memory, epilogue, row, part.column);
    if (bias) m.epilogue.bias = bias->As<const float>(memory) + part.column;
    RunMatrixF32(m);
    if (!post_ops.empty())
      post_ops.Run(memory, m.out, m.out_stride, row, part.rows, part.column, part.columns);
  }
};

// Packs matrices that are known only at run time; a work item is a block of panels.
class PackStep : public Step {
 public:
  MemoryView b;
  BufferId panels = 0;
  std::vector<int64_t> offsets;
  size_t n = 0, k = 0, k_stride = 0, n_stride = 0;

  size_t grid() const override { return offsets.size() * items(); }
  void Run(const Memory& memory, size_t item) const override {
    const size_t column = item % items() * kBlock;
    const auto start = static_cast<size_t>(offsets[item / items()]);
    float* out = reinterpret_cast<float*>(memory.data(panels)) + item / items() * PackedSize(k, n) +
                 column * k;
    PackPanels(b.As<const std::byte>(memory) + (start + column * n_stride) * sizeof(float), k,
               std::min(kBlock, n - column), k_stride, n_stride, out);
  }

 private:
  static constexpr size_t kBlock = 4 * kPanelWidth;
  size_t items() const { return (n + kBlock - 1) / kBlock; }
};

// Transposes the matrices of a left operand whose rows are not contiguous.
class TransposeRowsStep : public Step {
 public:
  MemoryView a;
  BufferId out = 0;
  std::vector<int64_t> offsets;
  size_t m = 0, k = 0;

  size_t grid() const override { return offsets.size(); }
  void Run(const Memory& memory, size_t item) const override {
    TransposeMatrix(
        a.As<const std::byte>(memory) + static_cast<size_t>(offsets[item]) * sizeof(float), m,
        memory.data(out) + item * m * k * sizeof(float), k, k, m, sizeof(float));
  }
};

// The right operand in panels: a constant, or packed by a step.
BufferId PackRight(PlanContext& ctx, const MatmulGeometry& g, const Product& p) {
  const Value* b = ctx.node().input(1);
  const size_t size = PackedSize(p.k, p.n);
  const size_t bytes = p.b_offsets.size() * size * sizeof(float);
  if (b->is_constant()) {
    Buffer packed(bytes);
    for (size_t i = 0; i < p.b_offsets.size(); ++i)
      PackPanels(b->constant().blob().data() + static_cast<size_t>(p.b_offsets[i]) * sizeof(float),
                 p.k, p.n, static_cast<size_t>(g.b_k), static_cast<size_t>(g.b_n),
                 packed.as<float>().data() + i * size);
    return ctx.AddConstant(Blob(std::move(packed)));
  }
  auto step = std::make_unique<PackStep>();
  step->b = ctx.ViewOf(b);
  step->panels = ctx.AddScratch(bytes);
  step->offsets = p.b_offsets;
  step->n = p.n;
  step->k = p.k;
  step->k_stride = static_cast<size_t>(g.b_k);
  step->n_stride = static_cast<size_t>(g.b_n);
  step->label = "pack";
  const BufferId from = step->b.buffer;
  const BufferId to = step->panels;
  ctx.AddStep(std::move(step), {from}, {to});
  return to;
}

// The right operand in panels of integers; empty unless it is a constant of such.
std::vector<BlockPanels> BlocksOfRight(const Value* b, const MatmulGeometry& g, const Product& p) {
  if (!b->is_constant()) return {};
  size_t begin = 0;
  const auto* weights = b->constant().blob().SourceAs<BlockWeights>(begin);
  if (b->dtype() != DType::kF32 || b->constant().byte_size() < kDeferredWeightsBytes) return {};
  std::vector<BlockPanels> all;
  for (const int64_t offset : p.b_offsets) {
    if (weights == nullptr) break;
    auto panels = PackBlocks({weights, begin / sizeof(float) + static_cast<size_t>(offset),
                              static_cast<size_t>(g.b_k), static_cast<size_t>(g.b_n), p.k, p.n});
    if (!panels) return {};
    all.push_back(*std::move(panels));
  }
  return all;
}

// The left operand with contiguous rows.
MemoryView RowsOfLeft(PlanContext& ctx, const MatmulGeometry& g, Product& p) {
  const MemoryView a = ctx.ViewOf(ctx.node().input(0));
  if (g.a_k == 1) return a;
  auto step = std::make_unique<TransposeRowsStep>();
  step->a = a;
  step->m = p.m;
  step->k = p.k;
  step->offsets = p.a_offsets;
  step->out = ctx.AddScratch(p.batch() * p.m * p.k * sizeof(float));
  step->label = "transpose rows";
  for (size_t i = 0; i < p.batch(); ++i) p.a_offsets[i] = static_cast<int64_t>(i * p.m * p.k);
  p.a_row = p.k;
  const MemoryView rows{step->out, 0, p.k};
  ctx.AddStep(std::move(step), {a.buffer}, {rows.buffer});
  return rows;
}

Result<bool> PlanFloat(PlanContext& ctx, const MatmulGeometry& g, Product p) {
  const Node& node = ctx.node();
  const Value* bias = node.input(2);
  auto step = std::make_unique<MatmulStep>();
  // Rows of the result are rows of the product unless b is a vector.
  const bool has_columns = node.input(1)->type().rank() > 1;
  if (!has_columns && !ctx.group().post_ops.empty()) return false;
  if (!step->post_ops.AddPostOps(ctx)) return false;
  step->out = ctx.ViewOf(ctx.group().result());
  if (!has_columns && !IsDense(step->out, ShapeOf(node.output()))) return false;
  std::vector<BufferId> reads = step->post_ops.reads();
  if (bias != nullptr && bias->is_constant()) {
    step->sources.bias.resize(p.n);
    std::memcpy(step->sources.bias.data(), bias->constant().blob().data(), p.n * sizeof(float));
  } else if (bias != nullptr) {
    step->bias = ctx.ViewOf(bias);
    reads.push_back(step->bias->buffer);
  }
  step->blocks_of_b = BlocksOfRight(node.input(1), g, p);
  for (const BlockPanels& panels : step->blocks_of_b) step->packed_bytes += panels.bytes();
  if (step->blocks_of_b.empty()) {
    step->panels = PackRight(ctx, g, p);
    reads.push_back(step->panels);
  }
  step->a = RowsOfLeft(ctx, g, p);
  step->post_ops.MoveInto(step->epilogue, step->sources);
  step->out_row = has_columns ? step->out.row_stride : 1;
  step->blocks = ProductBlocks(p.batch(), p.m, p.n, p.k, kMatrixF32Rows);
  step->multiply_adds = static_cast<int64_t>(p.batch() * p.m * p.n * p.k);
  step->p = std::move(p);
  reads.push_back(step->a.buffer);
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
  return true;
}

// ---- 8-bit integers

class QuantMatmulStep : public Step {
 public:
  Product p;
  ProductBlocks blocks;
  MemoryView a, out;
  PackedI8 packed;
  ByteResult result;
  // The factors of the sums in double precision; empty: the packed multipliers are used.
  std::vector<double> factors;

  size_t grid() const override { return blocks.items(); }

  void Run(const Memory& memory, size_t item) const override {
    const ProductBlocks::Part part = blocks.At(item);
    std::array<const uint8_t*, kMatrixI8Rows> rows;
    const uint8_t* x = a.As<const uint8_t>(memory) + part.row * p.a_row;
    for (size_t r = 0; r < part.rows; ++r) rows[r] = x + r * p.a_row;
    MatrixI8 m;
    m.rows = rows.data();
    m.row_pitch = part.rows;
    m.run_length = p.k;
    m.row_count = part.rows;
    m.packed = &packed;
    m.first_column = part.column;
    m.column_count = part.columns;
    m.out = out.As<uint8_t>(memory) + part.row * out.row_stride + part.column;
    m.out_stride = out.row_stride;
    m.result = result;
    m.factors = factors.empty() ? nullptr : factors.data();
    RunMatrixI8(m);
  }
};

// Largest magnitude of a bias.
int64_t LargestBias(const Tensor& bias) {
  int64_t largest = 0;
  for (int64_t i = 0; i < bias.elements(); ++i)
    largest = std::max(largest, std::abs(bias.GetInt(i)));
  return largest;
}

// Whether the kernel's int32 sums are exact: each product is less than 2^16.
bool SumsFit(const Product& p, const Value* bias) {
  const int64_t most = static_cast<int64_t>(p.k) << 16;
  return p.k < 32000 && most + (bias == nullptr ? 0 : LargestBias(bias->constant())) <=
                            std::numeric_limits<int32_t>::max();
}

// The factors of the columns, as in ops/math/matmul.cc.
void SetFactors(const Node& node, QuantMatmulStep& step, MatrixI8Weights& w) {
  const Quant& aq = *node.input(0)->type().quant;
  const Quant& bq = *node.input(1)->type().quant;
  const double out = static_cast<double>(node.output()->type().quant->scale());
  for (size_t n = 0; n < w.n; ++n) {
    const float scale = bq.scale(n);
    const double product = static_cast<double>(aq.scale()) * static_cast<double>(scale);
    const double fixed = bq.per_axis() ? product : static_cast<double>(aq.scale() * scale);
    if (node.arithmetic() == Arithmetic::kTflite) step.factors.push_back(product / out);
    w.multipliers.push_back(QuantizeMultiplier(fixed / out));
  }
}

Result<bool> PlanQuant(PlanContext& ctx, const MatmulGeometry& g, Product p) {
  const Node& node = ctx.node();
  const Value* a = node.input(0);
  const Value* b = node.input(1);
  const Value* bias = node.input(2);
  const Type& y = node.output()->type();
  const DType dtype = a->dtype();
  const bool known = dtype == DType::kU8 || dtype == DType::kI8;
  // Weights of fewer bits are widened to bytes.
  const bool is_narrow = dtype == DType::kI8 && IsNarrowSigned(b->dtype());
  if (!known || (b->dtype() != dtype && !is_narrow) || y.dtype != dtype || !b->is_constant() ||
      p.batch() != 1 || g.a_k != 1 || b->type().rank() < 2 ||
      (bias != nullptr && !bias->is_constant()) || !a->type().quantized() ||
      !b->type().quantized() || !y.quantized() || a->type().quant->per_axis() ||
      y.quant->per_axis() ||
      (node.arithmetic() != Arithmetic::kTflite && node.arithmetic() != Arithmetic::kTfliteFixed) ||
      !SumsFit(p, bias))
    return false;
  const Quant& bq = *b->type().quant;
  const int rank = b->type().rank();
  if (bq.per_axis() && (bq.axis != (node.attrs<MatmulAttrs>().transpose_b ? rank - 2 : rank - 1) ||
                        bq.scales.size() != p.n))
    return false;
  const std::optional<ByteResult> result = ByteResultOf(ctx.group());
  if (!result) return false;
  auto step = std::make_unique<QuantMatmulStep>();
  MatrixI8Weights w;
  const Tensor bytes = InBytes(b->constant());
  w.b = reinterpret_cast<const uint8_t*>(bytes.blob().data());
  for (int64_t k = 0; k < g.k; ++k) w.k_offsets.push_back(static_cast<size_t>(k * g.b_k));
  w.n = p.n;
  w.n_stride = static_cast<size_t>(g.b_n);
  w.is_signed = dtype == DType::kI8;
  w.a_zero = static_cast<int32_t>(a->type().quant->zero_point());
  // Per-axis zero points are ignored, as in the reference.
  w.b_zero = {bq.per_axis() ? 0 : static_cast<int32_t>(bq.zero_point())};
  if (bias != nullptr)
    for (int64_t i = 0; i < bias->constant().elements(); ++i)
      w.bias.push_back(static_cast<int32_t>(bias->constant().GetInt(i)));
  SetFactors(node, *step, w);
  step->packed = PackMatrixI8(w, dtype == DType::kI8);
  step->packed_bytes = step->packed.weights.size();
  step->result = *result;
  step->a = ctx.ViewOf(a);
  step->out = ctx.ViewOf(ctx.group().result());
  step->blocks = ProductBlocks(p.batch(), p.m, p.n, p.k, kMatrixI8Rows);
  step->multiply_adds = static_cast<int64_t>(p.m * p.n * p.k);
  step->p = std::move(p);
  const BufferId in = step->a.buffer;
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), {in}, {out});
  return true;
}

Result<bool> PlanMatmul(PlanContext& ctx) {
  const Node& node = ctx.node();
  const auto a_shape = ShapeOf(node.input(0));
  const auto b_shape = ShapeOf(node.input(1));
  const MemoryView a = ctx.ViewOf(node.input(0));
  NN_ASSIGN(const MatmulGeometry g, GeometryOf(node.attrs<MatmulAttrs>(), a_shape, b_shape));
  // Only contiguous rows of `a` may be strided. A transposed `a` of one column has contiguous rows
  // too, but they are not the rows of its axes.
  const bool has_rows = a_shape.size() > 1 && !node.attrs<MatmulAttrs>().transpose_a;
  Product p = ProductOf(g, has_rows ? a.row_stride : static_cast<size_t>(g.k));
  if ((!has_rows && !IsDense(a, a_shape)) ||
      (!node.input(1)->is_constant() && !IsDense(ctx.ViewOf(node.input(1)), b_shape)))
    return false;
  if (node.input(0)->type().quantized()) return PlanQuant(ctx, g, std::move(p));
  if (node.output()->dtype() != DType::kF32) return false;
  return PlanFloat(ctx, g, std::move(p));
}

}  // namespace

void AddMatmulKernels(std::vector<KernelInfo>& kernels) {
  kernels.push_back({.op = "matmul",
                     .plan = PlanMatmul,
                     .takes_post_ops = true,
                     .strided_input = true,
                     .strided_output = true});
}

}  // namespace nn

// rnn, gru, lstm of float32 with constant weights: computes the products with the inputs of all
// steps first, then step by step the products with the state and the gates.
#include <cmath>

#include "exec/plan/families.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/recurrent_steps.h"
#include "ops/recurrent/gates.h"
#include "ops/recurrent/recurrent.h"

namespace nn {
namespace {

using enum RecurrentInputs::Index;

RecurrentSizes SizesOf(const Node& node) {
  const auto x = ShapeOf(node.input(kX));
  const bool batch_first = RecurrentAttrsOf(node).batch_first;
  const auto at = [&](size_t axis) { return static_cast<size_t>(x[axis]); };
  return {at(batch_first ? 1 : 0),
          at(batch_first ? 0 : 1),
          static_cast<size_t>(RecurrentAttrsOf(node).directions()),
          at(2),
          static_cast<size_t>(ShapeOf(node.input(kR))[2]),
          static_cast<size_t>(RecurrentGates(node)),
          batch_first};
}

// The functions of all directions as row kernels; nullopt if one of them has no row kernel.
std::optional<std::vector<RowFunction>> FunctionsOf(const Node& node) {
  std::vector<RowFunction> out;
  for (int64_t d = 0; d < RecurrentAttrsOf(node).directions(); ++d) {
    const auto functions = RecurrentFunctionsOf(node, d);
    if (!functions) return std::nullopt;
    for (const RecurrentFunction& f : *functions) {
      const auto id = UnaryFunctionId(EnumName(f.activation()));
      if (!id) return std::nullopt;
      out.push_back({*id, f.params()});
    }
  }
  return out;
}

std::vector<float> FloatsOf(const Value* constant) {
  if (constant == nullptr) return {};
  const Tensor tensor = constant->constant().Aligned();
  const auto values = tensor.As<float>();
  return {values.begin(), values.end()};
}

// Packs parts of the rows of a matrix [D, rows, k], each as a separate matrix; the parts of a
// direction are consecutive.
BufferId PackRows(PlanContext& ctx, const Value* weights, const std::vector<size_t>& parts,
                  size_t directions, size_t k) {
  size_t size = 0;
  for (const size_t n : parts) size += PackedSize(k, n);
  Buffer packed(directions * size * sizeof(float));
  float* to = packed.as<float>().data();
  const std::byte* from = weights->constant().blob().data();
  for (size_t d = 0; d < directions; ++d)
    for (const size_t n : parts) {
      PackPanels(from, k, n, 1, k, to);
      to += PackedSize(k, n);
      from += n * k * sizeof(float);
    }
  return ctx.AddConstant(Blob(std::move(packed)));
}

// Whether no length exceeds the number of steps, as far as known before the run.
bool LengthsFit(const Node& node, const RecurrentSizes& s) {
  const Value* lengths = node.input(kLengths);
  if (lengths == nullptr) return true;
  if (!lengths->is_constant()) return false;
  for (int64_t b = 0; b < lengths->constant().elements(); ++b)
    if (const int64_t n = lengths->constant().GetInt(b); n < 0 || n > static_cast<int64_t>(s.steps))
      return false;
  return true;
}

// A limit on magnitudes as a row kernel; nullopt if it is infinite.
std::optional<RowFunction> ClipOf(float limit) {
  if (!std::isfinite(limit)) return std::nullopt;
  return RowFunction{*UnaryFunctionId("clip"), {-limit, limit}};
}

std::unique_ptr<RecurrentStep> MakeStep(const Node& node) {
  if (const auto* lstm = LstmAttrsOf(node)) {
    auto step = std::make_unique<LstmStep>();
    step->input_forget = lstm->input_forget;
    step->cell_clip = ClipOf(lstm->cell_clip);
    return step;
  }
  if (const auto* gru = GruAttrsOf(node)) {
    auto step = std::make_unique<GruStep>();
    step->linear_before_reset = gru->linear_before_reset;
    return step;
  }
  return std::make_unique<RnnStep>();
}

Result<bool> PlanRecurrent(PlanContext& ctx) {
  const Node& node = ctx.node();
  const RecurrentAttrs& attrs = RecurrentAttrsOf(node);
  const RecurrentSizes s = SizesOf(node);
  auto functions = FunctionsOf(node);
  if (node.input(kX)->dtype() != DType::kF32 || !functions || s.units == 0) return false;
  if (!HasConstantWeights(node) || !LengthsFit(node, s)) return false;
  const std::vector<float> bias = FloatsOf(node.input(kBias));

  auto products = std::make_unique<InputProductsStep>();
  products->s = s;
  products->blocks = RowBlocks(s.steps * s.batch, InputProductsStep::kRowsPerItem);
  products->x = ctx.ViewOf(node.input(kX));
  products->panels = PackRows(ctx, node.input(kW), {s.rows()}, s.directions, s.inputs);
  products->out = ctx.AddScratch(s.directions * s.steps * s.batch * s.rows() * sizeof(float));
  products->bias = bias;
  products->multiply_adds =
      static_cast<int64_t>(s.directions * s.steps * s.batch * s.rows() * s.inputs);

  auto step = MakeStep(node);
  step->s = s;
  // Sequences of different lengths cannot share steps.
  step->blocks =
      RowBlocks(s.batch, node.input(kLengths) != nullptr ? 1 : RecurrentStep::kRowsPerItem);
  step->products = products->out;
  const std::vector<size_t> parts = GruAttrsOf(node) != nullptr
                                        ? std::vector<size_t>{2 * s.units, s.units}
                                        : std::vector<size_t>{s.rows()};
  for (const size_t n : parts) step->panels_size += PackedSize(s.units, n);
  step->panels = PackRows(ctx, node.input(kR), parts, s.directions, s.units);
  step->Cut(node.input(kLengths) != nullptr);
  const size_t states = step->rounds() > 1 ? 3 : 2;
  step->state = ctx.AddScratch(states * s.directions * s.batch * s.units * sizeof(float));
  step->gates = ctx.AddScratch(s.directions * s.batch * (s.rows() + s.units) * sizeof(float));
  step->bias = bias;
  step->peepholes = FloatsOf(node.input(kPeepholes));
  step->functions = *std::move(functions);
  step->clip = ClipOf(attrs.clip);
  step->reverse = attrs.direction == RecurrentDirection::kReverse;
  step->multiply_adds = static_cast<int64_t>(s.directions * s.steps * s.batch * s.rows() * s.units);

  std::vector<BufferId> reads = {step->products, step->panels};
  std::vector<BufferId> writes = {step->state, step->gates};
  const auto operand = [&](size_t i, std::optional<MemoryView>& view) {
    if (node.input(i) == nullptr) return;
    view = ctx.ViewOf(node.input(i));
    reads.push_back(view->buffer);
  };
  operand(kLengths, step->lengths);
  operand(kInitialH, step->initial_h);
  operand(kInitialC, step->initial_c);
  step->y = ctx.ViewOf(node.output(0));
  writes.push_back(step->y.buffer);
  const auto result = [&](size_t i, std::optional<MemoryView>& view) {
    if (i >= node.outputs().size()) return;
    view = ctx.ViewOf(node.output(i));
    writes.push_back(view->buffer);
  };
  result(1, step->y_h);
  result(2, step->y_c);
  const BufferId x = products->x.buffer;
  const BufferId w = products->panels;
  const BufferId out = products->out;
  ctx.AddStep(std::move(products), {x, w}, {out});
  ctx.AddStep(std::move(step), std::move(reads), std::move(writes));
  return true;
}

}  // namespace

void AddRecurrentKernels(std::vector<KernelInfo>& kernels) {
  for (const std::string_view op : {"rnn", "gru", "lstm"})
    kernels.push_back({.op = op, .plan = PlanRecurrent});
}

}  // namespace nn

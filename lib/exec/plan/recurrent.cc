// rnn, gru, lstm of float32 with constant weights: computes the products with the inputs of all
// steps first, then step by step the products with the state and the gates.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "exec/kernels/elementwise.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/runtime/kernel_table.h"
#include "exec/steps/blocks.h"
#include "ops/recurrent/recurrent.h"

namespace nn {
namespace {

using enum RecurrentInputs::Index;

struct Sizes {
  size_t steps, batch, directions, inputs, units, gates;
  bool batch_first;

  size_t rows() const { return gates * units; }
  // The offsets of the row of a step of a sequence: in x and in the products, and in y.
  size_t RowOf(size_t t, size_t b) const { return batch_first ? b * steps + t : t * batch + b; }
  size_t YRowOf(size_t t, size_t d, size_t b) const {
    return batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
  }
  size_t StateRowOf(size_t d, size_t b) const {
    return batch_first ? b * directions + d : d * batch + b;
  }
};

// Multiplies contiguous rows by a packed matrix.
struct RowProduct {
  const float* rows = nullptr;
  size_t count = 0;
  size_t length = 0;  // of a row
  const float* panels = nullptr;
  size_t columns = 0;
  const float* bias = nullptr;
  const float* added = nullptr;  // to the results, rows added_stride apart
  size_t added_stride = 0;
  float* out = nullptr;
  size_t out_stride = 0;

  void Run() const {
    constexpr size_t kMost = 64;
    std::array<const float*, kMost> starts;
    for (size_t first = 0; first < count; first += kMost) {
      MatrixF32 m;
      m.row_count = std::min(kMost, count - first);
      for (size_t r = 0; r < m.row_count; ++r) starts[r] = rows + (first + r) * length;
      m.rows = starts.data();
      m.row_pitch = m.row_count;
      m.run_length = length;
      m.panels = panels;
      m.column_count = columns;
      m.out = out + first * out_stride;
      m.out_stride = out_stride;
      m.epilogue.bias = bias;
      if (added != nullptr) {
        m.epilogue.residual = added + first * added_stride;
        m.epilogue.residual_stride = added_stride;
      }
      RunMatrixF32(m);
    }
  }
};

// The products of all inputs with w, plus its bias.
class InputProductsStep : public Step {
 public:
  static constexpr size_t kRowsPerItem = kMatrixF32Rows;

  Sizes s;
  RowBlocks blocks;
  MemoryView x;
  BufferId panels = 0, out = 0;
  std::vector<float> bias;  // of all directions, those of w and of r; or empty

  size_t grid() const override { return s.steps * s.batch == 0 ? 0 : s.directions * blocks.items; }

  void Run(const Memory& memory, size_t item) const override {
    const size_t d = item / blocks.items;
    const size_t first = item % blocks.items * blocks.block;
    const size_t rows = s.steps * s.batch;
    RowProduct p;
    p.rows = x.As<const float>(memory) + first * s.inputs;
    p.count = std::min(blocks.block, rows - first);
    p.length = s.inputs;
    p.panels =
        reinterpret_cast<const float*>(memory.data(panels)) + d * PackedSize(s.inputs, s.rows());
    p.columns = s.rows();
    if (!bias.empty()) p.bias = bias.data() + d * 2 * s.rows();
    p.out = reinterpret_cast<float*>(memory.data(out)) + (d * rows + first) * s.rows();
    p.out_stride = s.rows();
    p.Run();
  }
};

// An activation as a row kernel.
struct RowFunction {
  size_t function = 0;
  FunctionParams params = {};
};

// Base of all cells. A work item is one direction of a block of sequences with all steps. If a step
// is long enough to be shared, a round is one step, and a work item has a block of the units.
class RecurrentStep : public Step {
 public:
  static constexpr size_t kRowsPerItem = 16;

  Sizes s;
  RowBlocks blocks;
  ColumnBlocks units;     // of a work item
  BufferId products = 0;  // of InputProductsStep
  BufferId panels = 0;    // of r, by direction
  size_t panels_size = 0;
  // For each direction and sequence: h, c, and h of every other step if steps are rounds; and the
  // gates followed by a row of units.
  BufferId state = 0, gates = 0;
  std::vector<float> bias;             // as in InputProductsStep
  std::vector<float> peepholes;        // or empty
  std::vector<RowFunction> functions;  // by direction
  std::optional<RowFunction> clip;
  bool reverse = false;
  std::optional<MemoryView> lengths, initial_h, initial_c;
  MemoryView y;
  std::optional<MemoryView> y_h, y_c;

  // Whether cells can be computed block by block.
  virtual bool by_units() const { return true; }

  // Splits the units. Call after the other members are set.
  void Cut(bool has_lengths) {
    constexpr size_t kProducts = size_t{1} << 16;  // per work item: fewer are not worth a thread
    const size_t products = s.rows() * s.units * std::min(blocks.block, s.batch);
    // The matrix kernel needs many columns if it has few rows.
    const size_t cuts = std::min(s.units / kMatrixF32ManyColumns, products / kProducts);
    const bool cut = cuts > 1 && s.units % kPanelWidth == 0 && !has_lengths && by_units();
    units = ColumnBlocks(s.units, cut ? cuts : 1);
  }

  size_t grid() const override { return s.batch == 0 ? 0 : items(); }
  // The first round initializes the states.
  size_t rounds() const override { return units.items > 1 ? s.steps + 1 : 1; }

  void Run(const Memory& memory, size_t item) const override {
    const size_t round = item / items();
    Rows rows = RowsOf(memory, item % items());
    if (units.items == 1) {
      Start(memory, rows);
      for (size_t i = 0; i < s.steps; ++i) RunStep(memory, rows, i);
    } else if (round == 0) {
      Start(memory, rows);
    } else {
      const size_t i = round - 1;
      if (i % 2 == 1) std::swap(rows.h, rows.h_next);
      RunStep(memory, rows, i);
    }
    if (round + 1 != rounds()) return;
    Finish(memory, rows, y_h, s.steps == 0 ? rows.h : rows.h_next);
    Finish(memory, rows, y_c, rows.c);
  }

 protected:
  // The sequences of a work item.
  struct Rows {
    size_t direction, first, count;
    size_t steps;    // of each sequence; all have the same number
    size_t unit, n;  // the units [unit, unit + n)
    const float* panels;
    const float* bias;       // of r; or null
    const float* peepholes;  // or null
    float* h;
    float* h_next;  // the same as h if the work item has all units
    float* c;
    float* gates;     // rows s.rows() apart
    float* spare;     // a row of units for each sequence
    const float* wx;  // of this step, rows wx_stride apart
    size_t wx_stride;
    const RowFunction* functions;
  };

  // Computes h_next and c of the next step.
  virtual void StepCells(const Rows& rows) const = 0;

  // f(x) of a row, in place.
  void Apply(const RowFunction& f, float* x, size_t n) const {
    if (clip) RunUnaryF32(clip->function, clip->params, x, x, n);
    RunUnaryF32(f.function, f.params, x, x, n);
  }
  // f(x) of the work item's units of adjacent gates, in place.
  void ApplyGates(const RowFunction& f, const Rows& rows, float* x, size_t gates) const {
    if (rows.n == s.units) return Apply(f, x, gates * s.units);
    for (size_t g = 0; g < gates; ++g) Apply(f, x + g * s.units, rows.n);
  }
  // gates = r h + bias + wx for the work item's units of the first gates.
  void GateProducts(const Rows& rows, size_t gates) const {
    const bool whole = rows.n == s.units;
    for (size_t g = 0; g < (whole ? 1 : gates); ++g) {
      const size_t column = g * s.units + rows.unit;
      RowProduct p;
      p.rows = rows.h;
      p.count = rows.count;
      p.length = s.units;
      p.panels = rows.panels + PackedSize(s.units, column);
      p.columns = whole ? gates * s.units : rows.n;
      if (rows.bias != nullptr) p.bias = rows.bias + column;
      p.added = rows.wx + column;
      p.added_stride = rows.wx_stride;
      p.out = rows.gates + column;
      p.out_stride = s.rows();
      p.Run();
    }
  }

 private:
  size_t items() const { return s.directions * blocks.items * units.items; }

  Rows RowsOf(const Memory& memory, size_t item) const {
    Rows r{};
    r.unit = item % units.items * units.block;
    r.n = std::min(units.block, s.units - r.unit);
    item /= units.items;
    r.direction = item / blocks.items;
    r.first = item % blocks.items * blocks.block;
    r.count = std::min(blocks.block, s.batch - r.first);
    r.steps = lengths ? static_cast<size_t>(lengths->As<const int32_t>(memory)[r.first]) : s.steps;
    r.panels = reinterpret_cast<const float*>(memory.data(panels)) + r.direction * panels_size;
    if (!bias.empty()) r.bias = bias.data() + (r.direction * 2 + 1) * s.rows();
    if (!peepholes.empty()) r.peepholes = peepholes.data() + r.direction * 3 * s.units;
    const size_t row = r.direction * s.batch + r.first;
    r.h = reinterpret_cast<float*>(memory.data(state)) + row * s.units;
    r.c = r.h + s.directions * s.batch * s.units;
    r.h_next = units.items == 1 ? r.h : r.c + s.directions * s.batch * s.units;
    r.gates = reinterpret_cast<float*>(memory.data(gates)) + row * s.rows();
    r.spare = reinterpret_cast<float*>(memory.data(gates)) + s.directions * s.batch * s.rows() +
              row * s.units;
    r.wx_stride = (s.batch_first ? s.steps : 1) * s.rows();
    r.functions = functions.data() + r.direction * functions.size() / s.directions;
    return r;
  }

  void Start(const Memory& memory, const Rows& rows) const {
    for (const auto& [from, to] : {std::pair(initial_h, rows.h), std::pair(initial_c, rows.c)})
      for (size_t b = 0; b < rows.count; ++b) {
        float* row = to + b * s.units + rows.unit;
        if (from)
          std::copy_n(from->As<const float>(memory) +
                          s.StateRowOf(rows.direction, rows.first + b) * s.units + rows.unit,
                      rows.n, row);
        else
          std::fill_n(row, rows.n, 0.0f);
      }
  }

  void RunStep(const Memory& memory, Rows& rows, size_t i) const {
    const bool backward = reverse || rows.direction == 1;
    const size_t t = !backward ? i : i < rows.steps ? rows.steps - 1 - i : i;
    if (i < rows.steps) {
      rows.wx = reinterpret_cast<const float*>(memory.data(products)) +
                (rows.direction * s.steps * s.batch + s.RowOf(t, rows.first)) * s.rows();
      StepCells(rows);
    }
    for (size_t b = 0; b < rows.count; ++b) {
      float* to =
          y.As<float>(memory) + s.YRowOf(t, rows.direction, rows.first + b) * s.units + rows.unit;
      if (i < rows.steps)
        std::copy_n(rows.h_next + b * s.units + rows.unit, rows.n, to);
      else
        std::fill_n(to, rows.n, 0.0f);
    }
  }

  void Finish(const Memory& memory, const Rows& rows, const std::optional<MemoryView>& view,
              const float* from) const {
    if (!view) return;
    for (size_t b = 0; b < rows.count; ++b)
      std::copy_n(from + b * s.units + rows.unit, rows.n,
                  view->As<float>(memory) + s.StateRowOf(rows.direction, rows.first + b) * s.units +
                      rows.unit);
  }
};

const size_t kMul = *BinaryFunctionId("mul");
const size_t kSub = *BinaryFunctionId("sub");

class RnnStep : public RecurrentStep {
  void StepCells(const Rows& rows) const override {
    GateProducts(rows, 1);
    for (size_t b = 0; b < rows.count; ++b) {
      float* gate = rows.gates + b * s.units + rows.unit;
      Apply(rows.functions[0], gate, rows.n);
      std::copy_n(gate, rows.n, rows.h_next + b * s.units + rows.unit);
    }
  }
};

class GruStep : public RecurrentStep {
 public:
  bool linear_before_reset = false;
  // The reset gate of all units must precede the products of the new gate.
  bool by_units() const override { return false; }

 private:
  // Gates z, r, n; the panels of n follow those of z and r.
  void StepCells(const Rows& rows) const override {
    const size_t h = s.units;
    GateProducts(rows, 2);
    RowProduct p;
    p.count = rows.count;
    p.length = h;
    p.panels = rows.panels + PackedSize(h, 2 * h);
    p.columns = h;
    if (rows.bias != nullptr) p.bias = rows.bias + 2 * h;
    p.out = rows.gates + 2 * h;
    p.out_stride = s.rows();
    for (size_t b = 0; b < rows.count; ++b)
      Apply(rows.functions[0], rows.gates + b * s.rows(), 2 * h);
    if (linear_before_reset) {
      p.rows = rows.h;
      p.Run();
      for (size_t b = 0; b < rows.count; ++b) {
        float* gates = rows.gates + b * s.rows();
        RunFmaF32(gates + h, gates + 2 * h, rows.wx + b * rows.wx_stride + 2 * h, gates + 2 * h, h);
      }
    } else {
      for (size_t b = 0; b < rows.count; ++b)
        RunBinaryF32(kMul, BinaryForm::kVectorVector, rows.gates + b * s.rows() + h, rows.h + b * h,
                     rows.spare + b * h, h);
      p.rows = rows.spare;
      p.added = rows.wx + 2 * h;
      p.added_stride = rows.wx_stride;
      p.Run();
    }
    const float one = 1.0f;
    for (size_t b = 0; b < rows.count; ++b) {
      float* z = rows.gates + b * s.rows();
      float* n = z + 2 * h;
      float* rest = rows.spare + b * h;
      Apply(rows.functions[1], n, h);
      RunBinaryF32(kSub, BinaryForm::kScalarVector, &one, z, rest, h);
      RunBinaryF32(kMul, BinaryForm::kVectorVector, rest, n, rest, h);
      RunFmaF32(z, rows.h + b * h, rest, rows.h + b * h, h);
    }
  }
};

class LstmStep : public RecurrentStep {
 public:
  bool input_forget = false;
  std::optional<RowFunction> cell_clip;

 private:
  void StepCells(const Rows& rows) const override {
    GateProducts(rows, s.gates);
    for (size_t b = 0; b < rows.count; ++b) StepCell(rows, b);
  }

  void StepCell(const Rows& rows, size_t b) const {
    const size_t h = s.units;
    const size_t n = rows.n;
    float* in = rows.gates + b * s.rows() + rows.unit;
    float* out = in + h;
    float* forget = out + h;
    float* cell = forget + h;
    float* c = rows.c + b * h + rows.unit;
    const RowFunction* functions = rows.functions;
    const float* peepholes = rows.peepholes == nullptr ? nullptr : rows.peepholes + rows.unit;
    if (peepholes == nullptr) {
      ApplyGates(functions[0], rows, in, 3);
    } else {
      RunFmaF32(peepholes, c, in, in, n);
      RunFmaF32(peepholes + 2 * h, c, forget, forget, n);
      Apply(functions[0], in, n);
      Apply(functions[0], forget, n);
    }
    if (input_forget) {
      const float one = 1.0f;
      RunBinaryF32(kSub, BinaryForm::kScalarVector, &one, in, forget, n);
    }
    Apply(functions[1], cell, n);
    RunBinaryF32(kMul, BinaryForm::kVectorVector, in, cell, cell, n);
    RunFmaF32(forget, c, cell, c, n);
    if (cell_clip) RunUnaryF32(cell_clip->function, cell_clip->params, c, c, n);
    if (peepholes != nullptr) {
      RunFmaF32(peepholes + h, c, out, out, n);
      Apply(functions[0], out, n);
    }
    float* y_row = rows.h_next + b * h + rows.unit;
    std::copy_n(c, n, y_row);
    Apply(functions[2], y_row, n);
    RunBinaryF32(kMul, BinaryForm::kVectorVector, out, y_row, y_row, n);
  }
};

// ---- Planning -----------------------------------------------------------------------------------

size_t GatesOf(const Node& node) {
  return node.Is("lstm") ? 4 : node.Is("gru") ? 3 : 1;
}

Sizes SizesOf(const Node& node) {
  const auto x = ShapeOf(node.input(kX));
  const bool batch_first = RecurrentAttrsOf(node).batch_first;
  const auto at = [&](size_t axis) { return static_cast<size_t>(x[axis]); };
  return {at(batch_first ? 1 : 0),
          at(batch_first ? 0 : 1),
          static_cast<size_t>(RecurrentAttrsOf(node).directions()),
          at(2),
          static_cast<size_t>(ShapeOf(node.input(kR))[2]),
          GatesOf(node),
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
bool LengthsFit(const Node& node, const Sizes& s) {
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
  if (node.Is("lstm")) {
    auto step = std::make_unique<LstmStep>();
    const auto& attrs = node.attrs<LstmAttrs>();
    step->input_forget = attrs.input_forget;
    step->cell_clip = ClipOf(attrs.cell_clip);
    return step;
  }
  if (node.Is("gru")) {
    auto step = std::make_unique<GruStep>();
    step->linear_before_reset = node.attrs<GruAttrs>().linear_before_reset;
    return step;
  }
  return std::make_unique<RnnStep>();
}

Result<bool> PlanRecurrent(PlanContext& ctx) {
  const Node& node = ctx.node();
  const RecurrentAttrs& attrs = RecurrentAttrsOf(node);
  const Sizes s = SizesOf(node);
  auto functions = FunctionsOf(node);
  if (node.input(kX)->dtype() != DType::kF32 || !functions || s.units == 0) return false;
  for (const size_t i : {size_t{kW}, size_t{kR}, size_t{kBias}, size_t{kPeepholes}})
    if (const Value* v = node.input(i); v != nullptr && !v->is_constant()) return false;
  if (!LengthsFit(node, s)) return false;
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
  const std::vector<size_t> parts =
      node.Is("gru") ? std::vector<size_t>{2 * s.units, s.units} : std::vector<size_t>{s.rows()};
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

#include "exec/steps/recurrent_steps.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nn {
namespace {

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
    constexpr size_t kMax = 64;
    std::array<const float*, kMax> starts;
    for (size_t first = 0; first < count; first += kMax) {
      MatrixF32 m;
      m.row_count = std::min(kMax, count - first);
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

const size_t kMul = *BinaryFunctionId("mul");
const size_t kSub = *BinaryFunctionId("sub");

}  // namespace

void InputProductsStep::Run(const Memory& memory, size_t item) const {
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

void RecurrentStep::Cut(bool has_lengths) {
  constexpr size_t kProducts = size_t{1} << 16;  // per work item: fewer are not worth a thread
  const size_t multiplications = s.rows() * s.units * std::min(blocks.block, s.batch);
  // The matrix kernel needs many columns if it has few rows.
  const size_t cuts = std::min(s.units / kMatrixF32ManyColumns, multiplications / kProducts);
  const bool cut = cuts > 1 && s.units % kPanelWidth == 0 && !has_lengths && by_units();
  units = ColumnBlocks(s.units, cut ? cuts : 1);
}

void RecurrentStep::Run(const Memory& memory, size_t item) const {
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

void RecurrentStep::GateProducts(const Rows& rows, size_t count) const {
  const bool whole = rows.n == s.units;
  for (size_t g = 0; g < (whole ? 1 : count); ++g) {
    const size_t column = g * s.units + rows.unit;
    RowProduct p;
    p.rows = rows.h;
    p.count = rows.count;
    p.length = s.units;
    p.panels = rows.panels + PackedSize(s.units, column);
    p.columns = whole ? count * s.units : rows.n;
    if (rows.bias != nullptr) p.bias = rows.bias + column;
    p.added = rows.wx + column;
    p.added_stride = rows.wx_stride;
    p.out = rows.gates + column;
    p.out_stride = s.rows();
    p.Run();
  }
}

RecurrentStep::Rows RecurrentStep::RowsOf(const Memory& memory, size_t item) const {
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

void RecurrentStep::Start(const Memory& memory, const Rows& rows) const {
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

void RecurrentStep::RunStep(const Memory& memory, Rows& rows, size_t i) const {
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

void RecurrentStep::Finish(const Memory& memory, const Rows& rows,
                           const std::optional<MemoryView>& view, const float* from) const {
  if (!view) return;
  for (size_t b = 0; b < rows.count; ++b)
    std::copy_n(from + b * s.units + rows.unit, rows.n,
                view->As<float>(memory) + s.StateRowOf(rows.direction, rows.first + b) * s.units +
                    rows.unit);
}

void RnnStep::StepCells(const Rows& rows) const {
  GateProducts(rows, 1);
  for (size_t b = 0; b < rows.count; ++b) {
    float* gate = rows.gates + b * s.units + rows.unit;
    Apply(rows.functions[0], gate, rows.n);
    std::copy_n(gate, rows.n, rows.h_next + b * s.units + rows.unit);
  }
}

void GruStep::StepCells(const Rows& rows) const {
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
      float* z = rows.gates + b * s.rows();
      RunFmaF32(z + h, z + 2 * h, rows.wx + b * rows.wx_stride + 2 * h, z + 2 * h, h);
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

void LstmStep::StepCells(const Rows& rows) const {
  GateProducts(rows, s.gates);
  for (size_t b = 0; b < rows.count; ++b) StepCell(rows, b);
}

void LstmStep::StepCell(const Rows& rows, size_t b) const {
  const size_t h = s.units;
  const size_t n = rows.n;
  float* in = rows.gates + b * s.rows() + rows.unit;
  float* out = in + h;
  float* forget = out + h;
  float* cell = forget + h;
  float* c = rows.c + b * h + rows.unit;
  const RowFunction* f = rows.functions;
  const float* peephole = rows.peepholes == nullptr ? nullptr : rows.peepholes + rows.unit;
  if (peephole == nullptr) {
    ApplyGates(f[0], rows, in, 3);
  } else {
    RunFmaF32(peephole, c, in, in, n);
    RunFmaF32(peephole + 2 * h, c, forget, forget, n);
    Apply(f[0], in, n);
    Apply(f[0], forget, n);
  }
  if (input_forget) {
    const float one = 1.0f;
    RunBinaryF32(kSub, BinaryForm::kScalarVector, &one, in, forget, n);
  }
  Apply(f[1], cell, n);
  RunBinaryF32(kMul, BinaryForm::kVectorVector, in, cell, cell, n);
  RunFmaF32(forget, c, cell, c, n);
  if (cell_clip) RunUnaryF32(cell_clip->function, cell_clip->params, c, c, n);
  if (peephole != nullptr) {
    RunFmaF32(peephole + h, c, out, out, n);
    Apply(f[0], out, n);
  }
  float* y_row = rows.h_next + b * h + rows.unit;
  std::copy_n(c, n, y_row);
  Apply(f[2], y_row, n);
  RunBinaryF32(kMul, BinaryForm::kVectorVector, out, y_row, y_row, n);
}

}  // namespace nn

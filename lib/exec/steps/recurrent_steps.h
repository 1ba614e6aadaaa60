// The steps of recurrent layers: the products with the inputs of all time steps, then, time step by
// time step, the products with the state and the gates.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "exec/kernels/elementwise.h"
#include "exec/kernels/matrix_f32.h"
#include "exec/runtime/step.h"
#include "exec/steps/blocks.h"

namespace nn {

struct RecurrentSizes {
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

// The products of all inputs with w, plus its bias.
class InputProductsStep : public Step {
 public:
  static constexpr size_t kRowsPerItem = kMatrixF32Rows;

  RecurrentSizes s;
  RowBlocks blocks;
  MemoryView x;
  BufferId panels = 0, out = 0;
  std::vector<float> bias;  // of all directions, those of w and of r; or empty

  size_t grid() const override { return s.steps * s.batch == 0 ? 0 : s.directions * blocks.items; }

  void Run(const Memory& memory, size_t item) const override;
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

  RecurrentSizes s;
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
  void Cut(bool has_lengths);

  size_t grid() const override { return s.batch == 0 ? 0 : items(); }
  // The first round initializes the states.
  size_t rounds() const override { return units.items > 1 ? s.steps + 1 : 1; }

  void Run(const Memory& memory, size_t item) const override;

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
  void ApplyGates(const RowFunction& f, const Rows& rows, float* x, size_t count) const {
    if (rows.n == s.units) return Apply(f, x, count * s.units);
    for (size_t g = 0; g < count; ++g) Apply(f, x + g * s.units, rows.n);
  }
  // gates = r h + bias + wx for the work item's units of the first gates.
  void GateProducts(const Rows& rows, size_t count) const;

 private:
  size_t items() const { return s.directions * blocks.items * units.items; }

  Rows RowsOf(const Memory& memory, size_t item) const;

  void Start(const Memory& memory, const Rows& rows) const;

  void RunStep(const Memory& memory, Rows& rows, size_t i) const;

  void Finish(const Memory& memory, const Rows& rows, const std::optional<MemoryView>& view,
              const float* from) const;
};

class RnnStep : public RecurrentStep {
  void StepCells(const Rows& rows) const override;
};

class GruStep : public RecurrentStep {
 public:
  bool linear_before_reset = false;
  // The reset gate of all units must precede the products of the new gate.
  bool by_units() const override { return false; }

 private:
  // Gates z, r, n; the panels of n follow those of z and r.
  void StepCells(const Rows& rows) const override;
};

class LstmStep : public RecurrentStep {
 public:
  bool input_forget = false;
  std::optional<RowFunction> cell_clip;

 private:
  void StepCells(const Rows& rows) const override;

  void StepCell(const Rows& rows, size_t b) const;
};

}  // namespace nn

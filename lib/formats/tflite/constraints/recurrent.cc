// Preparation of recurrent operators.
#include <algorithm>
#include <initializer_list>

#include "formats/tflite/constraints/operation.h"

namespace nn::tflite::constraints {
namespace {

using Op = fb::BuiltinOperator;

// Inputs of LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM. Gates come in the order input, forget, cell,
// output.
enum LstmInput {
  kX = 0,
  kInputWeights = 1,      // of four gates
  kRecurrentWeights = 5,  // of four gates
  kPeepholes = 9,         // of the gates input, forget and output
  kBiases = 12,           // of four gates
  kProjection = 16,
  kProjectionBias = 17,
  kState = 18,
  kCellState = 19,
  kNorms = 20,  // of four gates
  kLstmInputs = 20,
  kLstmInputsWithNorms = 24,
};

// Checks that `what` has exactly these dimensions, as far as they are known.
bool HasSizes(Operation& o, const Value* v, std::string_view what,
              std::initializer_list<int64_t> sizes) {
  if (v == nullptr || !v->dims) return true;
  bool fits = v->rank() == static_cast<int64_t>(sizes.size());
  size_t i = 0;
  for (const int64_t size : sizes) {
    if (fits) fits = !Differ(v->dim(static_cast<int64_t>(i)), size);
    ++i;
  }
  if (!fits)
    o.Fail(Check::kCellSizes, "the {} have shape {}; expected {}", what, ShapeText(v->dims),
           ShapeText(Dims(sizes)));
  return fits;
}

struct LstmOperands {
  int64_t input = -1;
  int64_t cell = -1;
  int64_t output = -1;
};

void CheckGates(Operation& o, const LstmOperands& n) {
  constexpr std::string_view kGates[] = {"input", "forget", "cell", "output"};
  for (int g = 0; g < 4; ++g) {
    const std::string gate(kGates[g]);
    HasSizes(o, o.in(kInputWeights + g), "weights of the " + gate + " gate", {n.cell, n.input});
    const Value* recurrent = o.in(kRecurrentWeights + g);
    if (recurrent != nullptr && recurrent->rank() == 1)  // diagonal
      HasSizes(o, recurrent, "recurrent weights of the " + gate + " gate", {n.cell});
    else
      HasSizes(o, recurrent, "recurrent weights of the " + gate + " gate", {n.cell, n.output});
    HasSizes(o, o.in(kBiases + g), "biases of the " + gate + " gate", {n.cell});
    if (g < 3) HasSizes(o, o.in(kPeepholes + g), "peephole weights", {n.cell});
    HasSizes(o, o.in(kNorms + g), "normalization coefficients", {n.cell});
  }
  HasSizes(o, o.in(kProjection), "projection weights", {n.output, n.cell});
  HasSizes(o, o.in(kProjectionBias), "projection biases", {n.output});
}

// Inputs that must be present together or not at all.
void CheckTogether(Operation& o) {
  const auto has = [&](int i) { return o.in(i) != nullptr; };
  const bool coupled = !has(kInputWeights);
  if (has(kInputWeights) != has(kRecurrentWeights))
    o.Fail(Check::kCellInputs, "the input gate has only {} weights",
           has(kInputWeights) ? "input" : "recurrent");
  if (coupled == has(kBiases))
    o.Fail(Check::kCellInputs, "the input gate has {}",
           coupled ? "a bias but no weights" : "weights but no bias");
  const bool forget = has(kPeepholes + 1);
  const bool peepholes = forget == has(kPeepholes + 2) &&
                         (coupled ? !has(kPeepholes) || forget : forget == has(kPeepholes));
  if (!peepholes) o.Fail(Check::kCellInputs, "only some gates have peephole weights");
  if (has(kProjectionBias) && !has(kProjection))
    o.Fail(Check::kCellInputs, "there is a projection bias but no projection");
  if (!has(kNorms + 1)) return;
  if (coupled == has(kNorms) || !has(kNorms + 2) || !has(kNorms + 3))
    o.Fail(Check::kCellInputs, "only some gates have normalization coefficients");
}

void CheckStates(Operation& o, const LstmOperands& n, int64_t batch) {
  const Value* state = o.in(kState);
  const Value* cell = o.in(kCellState);
  const auto fits = [&](const Value* v, int64_t units) {
    return v == nullptr || !Differ(v->elements(), Times(batch, units));
  };
  if (!fits(state, n.output) || !fits(cell, n.cell))
    o.Fail(
        Check::kCellState,
        "the output state has {} elements and the cell state {}, which does not match a batch of "
        "{}, {} outputs and {} cells",
        state->elements(), cell->elements(), batch, n.output, n.cell);
  for (const Value* v : {state, cell})
    if (v != nullptr && !v->tensor->is_variable())
      o.Fail(Check::kCellState, "{} is not a variable", v->Text());
}

template <typename Options>
void CheckClips(Operation& o, const Options& options) {
  if (!(options.cell_clip() >= 0) || !(options.proj_clip() >= 0))
    o.Fail(Check::kOptionValues, "cell_clip is {} and proj_clip is {}; expected at least 0",
           options.cell_clip(), options.proj_clip());
}

void FullLstm(Operation& o, bool sequence, bool time_major) {
  if (o.inputs() != kLstmInputs && o.inputs() != kLstmInputsWithNorms)
    return o.Fail(Check::kCellInputs, "the number of inputs is {}; expected {} or {}", o.inputs(),
                  +kLstmInputs, +kLstmInputsWithNorms);
  for (const int i : {kX + 0, 2, 3, 4, 6, 7, 8, 13, 14, 15, 18, 19})
    if (o.in(i) == nullptr) return o.Fail(Check::kCellInputs, "required input {} is absent", i);
  if (o.outputs() != 1)
    return o.Fail(Check::kCellInputs, "the number of outputs is {}; expected 1", o.outputs());
  const Value& x = *o.in(kX);
  const int64_t rank = sequence ? 3 : 2;
  if (x.dims && x.rank() < rank)
    return o.Fail(Check::kCellSizes, "x has rank {}; expected {}", x.rank(), rank);
  if (Differ(x.rank(), rank)) o.Note(Check::kAtRun, "x has rank {}; expected {}", x.rank(), rank);
  const Value& output_weights = *o.in(kInputWeights + 3);
  const Value& recurrent = *o.in(kRecurrentWeights + 3);
  const LstmOperands n{x.dim(sequence ? 2 : 1), output_weights.dim(0),
                       recurrent.rank() == 1 ? recurrent.dim(0) : recurrent.dim(1)};
  CheckGates(o, n);
  CheckTogether(o);
  const int64_t batch = x.dim(sequence && time_major ? 1 : 0);
  CheckStates(o, n, batch);
  if (x.type == fb::TensorType::INT8) {
    const int64_t between = SizeOf(o.at().op->intermediates());
    if (between != 5 && (sequence || between != 12))
      o.Fail(Check::kCellInputs, "the number of intermediates is {}; expected 5{}", between,
             sequence ? "" : " or 12");
  }
  if (!x.dims) return;
  Dims dims = *x.dims;
  dims.back() = n.output;
  o.Give(0, dims);
}

void BasicLstm(Operation& o) {
  if (o.inputs() != 5 || o.outputs() != 4)
    return o.Fail(
        Check::kCellInputs,
        "the numbers of inputs and outputs are {} and {}; the BASIC kernel expects 5 and 4",
        o.inputs(), o.outputs());
  if (!o.AllPresent(5)) return o.Fail(Check::kCellInputs, "a required input is absent");
  const Value& x = *o.in(0);
  const int64_t units = o.in(1)->dim(1);
  const int64_t total = x.dim(1) < 0 || units < 0 ? -1 : x.dim(1) + units;
  HasSizes(o, o.in(1), "previous activations", {x.dim(0), units});
  HasSizes(o, o.in(2), "weights", {Times(4, units), total});
  HasSizes(o, o.in(3), "biases", {Times(4, units)});
  HasSizes(o, o.in(4), "previous states", {x.dim(0), units});
  if (o.failed()) return;
  o.Give(0, Dims{x.dim(0), units});
  o.Give(1, Dims{x.dim(0), units});
  o.Give(2, Dims{x.dim(0), total});
  o.Give(3, Dims{x.dim(0), Times(4, units)});
}

void LstmOperator(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_LSTMOptions();
  if (options == nullptr) return;
  CheckClips(o, *options);
  if (options->kernel_type() == fb::LSTMKernelType::BASIC)
    BasicLstm(o);
  else
    FullLstm(o, false, false);
}

void SequenceLstm(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_UnidirectionalSequenceLSTMOptions();
  if (options != nullptr) CheckClips(o, *options);
  FullLstm(o, true, options != nullptr && options->time_major());
}

// Checks weights, recurrent weights, biases and state, starting at input `first`.
void CheckRnn(Operation& o, int first, int64_t input, int64_t batch) {
  const int64_t units = o.in(first)->dim(0);
  HasSizes(o, o.in(first), "weights", {units, input});
  HasSizes(o, o.in(first + 1), "recurrent weights", {units, units});
  HasSizes(o, o.in(first + 2), "biases", {units});
  HasSizes(o, o.in(first + 3), "states", {batch, units});
  if (!o.in(first + 3)->tensor->is_variable())
    o.Note(Check::kAtRun, "{} is not a variable", o.in(first + 3)->Text());
}

void Rnn(Operation& o) {
  if (!o.AllPresent(5)) return;
  const Value& x = *o.in(0);
  CheckRnn(o, 1, x.dim(1), x.dim(0));
  o.Give(0, Dims{x.dim(0), o.in(1)->dim(0)});
}

void SequenceRnn(Operation& o) {
  if (!o.AllPresent(5)) return;
  const auto* options = o.at().op->builtin_options_as_SequenceRNNOptions();
  const bool time_major = options != nullptr && options->time_major();
  const Value& x = *o.in(0);
  CheckRnn(o, 1, x.dim(2), x.dim(time_major ? 1 : 0));
  o.Give(0, Dims{x.dim(0), x.dim(1), o.in(1)->dim(0)});
}

void BothWaysRnn(Operation& o) {
  if (!o.AllPresent(9)) return;
  const auto* options = o.at().op->builtin_options_as_BidirectionalSequenceRNNOptions();
  const bool time_major = options != nullptr && options->time_major();
  const bool merged = options != nullptr && options->merge_outputs();
  if (o.outputs() != (merged ? 1 : 2))
    return o.Fail(Check::kCellInputs, "the number of outputs is {}; expected {}", o.outputs(),
                  merged ? 1 : 2);
  const Value& x = *o.in(0);
  if (o.inputs() != 12)
    return o.Fail(Check::kCellInputs, "the number of inputs is {}; expected 12", o.inputs());
  for (const int first : {1, 5}) {
    const int64_t units = o.in(first)->dim(0);
    HasSizes(o, o.in(first + 1), "recurrent weights", {units, units});
    HasSizes(o, o.in(first + 2), "biases", {units});
    HasSizes(o, o.in(first + 3), "states", {x.dim(time_major ? 1 : 0), units});
  }
}

void Svdf(Operation& o) {
  const auto* options = o.at().op->builtin_options_as_SVDFOptions();
  if (options == nullptr || !o.AllPresent(3) || o.in(4) == nullptr) return;
  const Value& x = *o.in(0);
  const int64_t filters = o.in(1)->dim(0);
  const int64_t rank = options->rank();
  if (rank < 1 || (filters >= 0 && filters % rank != 0))
    return o.Fail(Check::kOptionValues, "rank {} does not divide the number of filters, {}", rank,
                  filters);
  const int64_t units = filters < 0 ? -1 : filters / rank;
  const int64_t memory = o.in(2)->dim(1);
  HasSizes(o, o.in(1), "feature weights", {filters, x.dim(1)});
  HasSizes(o, o.in(2), "time weights", {filters, memory});
  HasSizes(o, o.in(3), "biases", {units});
  HasSizes(o, o.in(4), "states", {x.dim(0), Times(memory, filters)});
  if (!o.in(4)->tensor->is_variable())
    o.Note(Check::kAtRun, "{} is not a variable", o.in(4)->Text());
  o.Give(0, Dims{x.dim(0), units});
}

constexpr Preparation kRecurrentPreparations[] = {
    {Op::LSTM, LstmOperator},
    {Op::UNIDIRECTIONAL_SEQUENCE_LSTM, SequenceLstm},
    {Op::RNN, Rnn},
    {Op::UNIDIRECTIONAL_SEQUENCE_RNN, SequenceRnn},
    {Op::BIDIRECTIONAL_SEQUENCE_RNN, BothWaysRnn},
    {Op::SVDF, Svdf},
};

}  // namespace

std::span<const Preparation> RecurrentPreparations() {
  return kRecurrentPreparations;
}

}  // namespace nn::tflite::constraints

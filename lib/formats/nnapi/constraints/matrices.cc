// Constraints on matrix products and recurrent operations.
#include <algorithm>
#include <map>

#include "formats/nnapi/spec/constraint.h"

namespace nn::nnapi {
namespace {

// Dimensions of operands as letters: "bi" is [batch, input], and a digit multiplies the letter
// before it. A letter stands for the size that most operands give it, so that the operand that
// deviates is reported.
class Sizes {
 public:
  explicit Sizes(const OperationAt& op) : op_(op) {}

  // Operands without letters or dimensions are skipped.
  void Inputs(const std::vector<std::string_view>& list) {
    for (size_t i = 0; i < list.size(); ++i) Input(i, list[i]);
  }
  void Outputs(const std::vector<std::string_view>& list) {
    for (size_t i = 0; i < list.size(); ++i) Output(i, list[i]);
  }
  void Input(size_t i, std::string_view letters) { Take({op_.InputDims(i), letters, true, i}); }
  void Output(size_t i, std::string_view letters) { Take({op_.OutputDims(i), letters, false, i}); }
  // Sets the size of a letter, whatever the operands have.
  void Bind(char letter, uint32_t size) { bound_[letter] = size; }

  // The size of a letter; 0 if unknown.
  uint32_t Of(char letter) const {
    const auto sizes = Vote();
    const auto it = sizes.find(letter);
    return it != sizes.end() ? it->second : 0;
  }

  void Report(Misfits& f) const {
    const std::map<char, uint32_t> sizes = Vote();
    for (const Row& row : rows_) {
      Shape want;
      for (const char c : row.letters) {
        if (IsFactor(c))
          want.back() *= static_cast<uint32_t>(c - '0');
        else
          want.push_back(sizes.at(c));
      }
      if (!Agree(want, *row.dims))
        f.Add(row.input ? op_.AtInput(row.i) : op_.AtOutput(row.i), "{} has shape {} instead of {}",
              row.input ? op_.InputTitle(row.i) : op_.OutputTitle(row.i), DimsText(*row.dims),
              DimsText(want));
    }
  }

 private:
  struct Row {
    const Shape* dims;
    std::string_view letters;
    bool input;
    size_t i;
  };

  static bool IsFactor(char c) { return c >= '2' && c <= '9'; }

  void Take(const Row& row) {
    if (row.dims != nullptr && !row.letters.empty()) rows_.push_back(row);
  }

  // The size of each letter, 0 if unknown. Sizes with a factor are not counted.
  std::map<char, uint32_t> Vote() const {
    std::map<char, std::vector<uint32_t>> votes;
    for (const Row& row : rows_)
      for (size_t k = 0, dim = 0; k < row.letters.size(); ++k) {
        if (IsFactor(row.letters[k])) continue;
        const bool multiplied = k + 1 < row.letters.size() && IsFactor(row.letters[k + 1]);
        std::vector<uint32_t>& list = votes[row.letters[k]];
        if (const uint32_t d = (*row.dims)[dim++]; d != 0 && !multiplied) list.push_back(d);
      }
    std::map<char, uint32_t> sizes;
    for (const auto& vote : votes) {
      const std::vector<uint32_t>& list = vote.second;
      const auto most = std::max_element(list.begin(), list.end(), [&](uint32_t x, uint32_t y) {
        return std::count(list.begin(), list.end(), x) < std::count(list.begin(), list.end(), y);
      });
      sizes[vote.first] = most != list.end() ? *most : 0;
    }
    for (const auto& [letter, size] : bound_) sizes[letter] = size;
    return sizes;
  }

  const OperationAt& op_;
  std::vector<Row> rows_;
  std::map<char, uint32_t> bound_;
};

// The elements of an input of FULLY_CONNECTED, and how many of them its weights multiply at a time;
// nullopt if either is unknown.
struct InputRows {
  uint64_t elements;
  uint32_t length;
};

std::optional<InputRows> InputRowsOf(const OperationAt& op) {
  const Shape* in = op.InputDims(0);
  const Shape* weights = op.InputDims(1);
  if (in == nullptr || weights == nullptr || (*weights)[1] == 0) return std::nullopt;
  InputRows rows{1, (*weights)[1]};
  for (const uint32_t d : *in)
    if (__builtin_mul_overflow(rows.elements, d, &rows.elements)) return std::nullopt;
  return rows;
}

void RowLength(const OperationAt& op, Misfits& f) {
  const auto rows = InputRowsOf(op);
  if (rows && rows->elements % rows->length != 0)
    f.Add(op.AtInput(1), "{} cannot multiply its input {} by weights {}", op.Title(),
          DimsText(*op.InputDims(0)), DimsText(*op.InputDims(1)));
}

void ProductShape(const OperationAt& op, Misfits& f) {
  const auto rows = InputRowsOf(op);
  const Shape* out = op.OutputDims(0);
  if (!rows || rows->elements % rows->length != 0 || out == nullptr) return;
  const Shape want = {static_cast<uint32_t>(rows->elements / rows->length), (*op.InputDims(1))[0]};
  if (!Agree(want, *out))
    f.Add(op.AtOutput(0), "{} has shape {} instead of {}", op.OutputTitle(0), DimsText(*out),
          DimsText(want));
}

void RnnFits(const OperationAt& op, Misfits& f) {
  Sizes sizes(op);
  sizes.Inputs({"bi", "ui", "uu", "u", "bu"});
  sizes.Outputs({"bu", "bu"});
  sizes.Report(f);
}

// The filters of SVDF, whose number is units * rank; nullopt if unknown or invalid.
struct Filters {
  uint32_t count = 0;
  uint32_t rank = 1;
  uint32_t units() const { return count / rank; }
};

std::optional<Filters> FiltersOf(const OperationAt& op) {
  const Shape* feature = op.InputDims(1);
  const auto rank = op.Int(5);
  if (feature == nullptr || (*feature)[0] == 0 || !rank || *rank < 1) return std::nullopt;
  return Filters{(*feature)[0], static_cast<uint32_t>(*rank)};
}

void SvdfFilters(const OperationAt& op, Misfits& f) {
  const auto filters = FiltersOf(op);
  if (filters && filters->count % filters->rank != 0)
    f.Add(op.AtInput(1), "{} has {} filters, which is not a multiple of its rank {}", op.Title(),
          filters->count, filters->rank);
}

void SvdfFits(const OperationAt& op, Misfits& f) {
  Sizes sizes(op);
  sizes.Inputs({"bi", "fi", "fm"});
  const auto filters = FiltersOf(op);
  if (filters && filters->count % filters->rank == 0) {
    sizes.Bind('u', filters->units());
    sizes.Input(3, "u");
    sizes.Output(1, "bu");
  }
  sizes.Report(f);
}

// types.hal has memory - 1 state elements for each filter; all published examples and Android's
// executor have memory elements. Both are accepted.
void SvdfState(const OperationAt& op, Misfits& f) {
  const Shape* in = op.InputDims(0);
  const Shape* time = op.InputDims(2);
  const uint32_t batch = in != nullptr ? (*in)[0] : 0;
  const auto check = [&](const Shape* state, const Site& where) {
    if (state == nullptr) return;
    const uint64_t width = (*state)[1];
    const bool known =
        width != 0 && time != nullptr && time->size() == 2 && (*time)[0] != 0 && (*time)[1] != 0;
    const uint64_t memory = known ? uint64_t{(*time)[0]} * (*time)[1] : 0;
    if (!Agree((*state)[0], batch) || (known && width != memory && width != memory - (*time)[0]))
      f.Add(where, "the state of {} has shape {} instead of {}", op.Title(), DimsText(*state),
            DimsText({batch, static_cast<uint32_t>(memory)}));
  };
  const Shape* before = op.InputDims(4);
  const Shape* after = op.OutputDims(0);
  check(before, op.AtInput(4));
  if (before != nullptr && after != nullptr && !Agree(*before, *after))
    f.Add(op.AtOutput(0), "the output state of {} has shape {}; the input state has shape {}",
          op.Title(), DimsText(*after), DimsText(*before));
  else if (before == nullptr)
    check(after, op.AtOutput(0));
}

// True if the inputs may all be given, or may all be omitted.
bool Together(const OperationAt& op, const std::vector<size_t>& inputs) {
  bool all = true;
  bool none = true;
  for (const size_t i : inputs) {
    const auto given = op.Given(i);
    all = all && given.value_or(true);
    none = none && !given.value_or(false);
  }
  return all || none;
}

// The weights and bias of LSTM's input gate. Without them the gate is coupled to the forget gate.
const std::vector<size_t> kInputGate = {1, 5, 12};

// Batch, input, units and output of an LSTM.
Sizes LstmSizes(const OperationAt& op) {
  Sizes sizes(op);
  sizes.Inputs({"bi", "ui", "ui", "ui", "ui", "uo", "uo", "uo", "uo", "u",
                "u",  "u",  "u",  "u",  "u",  "u",  "ou", "o",  "bo", "bu"});
  sizes.Outputs({"", "bo", "bu", "bo"});
  return sizes;
}

// The scratch buffer has four sizes of units, or three without an input gate.
bool HasFourGates(const OperationAt& op, uint32_t units) {
  if (const auto given = op.Given(1)) return *given;
  const Shape* scratch = op.OutputDims(0);
  return scratch == nullptr || (*scratch)[1] != uint64_t{units} * 3;
}

void LstmFits(const OperationAt& op, Misfits& f) {
  Sizes sizes = LstmSizes(op);
  if (Together(op, kInputGate)) sizes.Output(0, HasFourGates(op, sizes.Of('u')) ? "bu4" : "bu3");
  sizes.Report(f);
}

void LstmUnprojected(const OperationAt& op, Misfits& f) {
  const Sizes sizes = LstmSizes(op);
  const uint32_t units = sizes.Of('u');
  const uint32_t output = sizes.Of('o');
  if (op.Given(16) == false && !Agree(units, output))
    f.Add(op.AtInput(16), "{} has {} units and output size {}, but no projection weights",
          op.Title(), units, output);
}

void LstmInputGate(const OperationAt& op, Misfits& f) {
  if (Together(op, kInputGate)) return;
  // Report the inputs that deviate from the majority.
  const auto given = std::count_if(kInputGate.begin(), kInputGate.end(),
                                   [&](size_t i) { return op.Given(i) == true; });
  const bool most = given >= 2;
  for (const size_t i : kInputGate)
    if (const auto has = op.Given(i); has && *has != most)
      f.Add(op.AtInput(i), "input {} of {} is {}, but other inputs of the input gate are {}", i,
            op.Title(), *has ? "given" : "omitted", most ? "given" : "omitted");
}

void LstmPeepholes(const OperationAt& op, Misfits& f) {
  if (!Together(op, {10, 11})) {
    f.Add(op.AtInput(op.Given(10) == true ? 11 : 10),
          "{} has only one of the peephole weights of inputs 10 and 11", op.Title());
    return;
  }
  const auto input_gate = op.Given(1);
  const auto peepholes = op.Given(10);
  const auto weights = op.Given(9);
  if (!weights || !Together(op, kInputGate)) return;
  if (*weights && (peepholes == false || input_gate == false))
    f.Add(op.AtInput(9), "{} has cell-to-input weights but no {}", op.Title(),
          peepholes == false ? "other peephole weights" : "input gate");
  if (!*weights && peepholes == true && input_gate == true)
    f.Add(op.AtInput(9), "{} has peephole weights and an input gate, but no cell-to-input weights",
          op.Title());
}

void LstmProjection(const OperationAt& op, Misfits& f) {
  if (op.Given(16) == false && op.Given(17) == true)
    f.Add(op.AtInput(17), "{} has a projection bias but no projection weights", op.Title());
}

void LstmActivation(const OperationAt& op, Misfits& f) {
  if (const auto a = op.Int(20); a && *a != 0 && *a != 1 && *a != 3 && *a != 4 && *a != 6)
    f.Add(op.AtInput(20), "the activation of {} is {} instead of 0, 1, 3, 4 or 6", op.Title(), *a);
}

void LstmThresholds(const OperationAt& op, Misfits& f) {
  for (const size_t i : {size_t{21}, size_t{22}})
    if (const auto clip = op.Float(i); clip && !(*clip >= 0))
      f.Add(op.AtInput(i), "{} is {}; a clipping threshold must not be negative", op.InputTitle(i),
            *clip);
}

constexpr Constraint kMatrices[] = {
    {.label = Label::kRowLength, .check = RowLength},
    {.label = Label::kProductShape, .check = ProductShape},
    {.label = Label::kRnnSizes, .check = RnnFits},
    {.label = Label::kSvdfFilters, .check = SvdfFilters},
    {.label = Label::kSvdfSizes, .check = SvdfFits},
    {.label = Label::kSvdfState, .check = SvdfState},
    {.label = Label::kLstmSizes, .check = LstmFits},
    {.label = Label::kLstmUnprojected, .check = LstmUnprojected},
    {.label = Label::kLstmInputGate, .check = LstmInputGate},
    {.label = Label::kLstmActivation, .check = LstmActivation},
    {.label = Label::kLstmPeepholes, .check = LstmPeepholes},
    {.label = Label::kLstmProjection, .check = LstmProjection},
    {.label = Label::kLstmClip, .check = LstmThresholds},
};

}  // namespace

std::span<const Constraint> MatrixConstraints() {
  return kMatrices;
}

}  // namespace nn::nnapi

// Rules of matrix products and recurrent operations.
#include <algorithm>
#include <map>

#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

// Dimensions of operands in letters, as in "bi" for [batch, input]; a digit after a letter
// multiplies it. A letter is the size that most operands give it, so that the one that differs from
// all others is found.
class Sizes {
 public:
  explicit Sizes(const OperationAt& op) : op_(op) {}

  // Operands without letters or dimensions are passed over.
  void Inputs(const std::vector<std::string_view>& list) {
    for (size_t i = 0; i < list.size(); ++i) Input(i, list[i]);
  }
  void Outputs(const std::vector<std::string_view>& list) {
    for (size_t i = 0; i < list.size(); ++i) Output(i, list[i]);
  }
  void Input(size_t i, std::string_view letters) { Take({op_.InputDims(i), letters, true, i}); }
  void Output(size_t i, std::string_view letters) { Take({op_.OutputDims(i), letters, false, i}); }
  // Says what a letter is, whatever operands have.
  void Bind(char letter, uint32_t size) { bound_[letter] = size; }

  // What a letter is; 0 if no operand knows.
  uint32_t Of(char letter) const {
    const auto sizes = Vote();
    const auto it = sizes.find(letter);
    return it != sizes.end() ? it->second : 0;
  }

  void Report(Findings& f) const {
    const std::map<char, uint32_t> sizes = Vote();
    for (const Row& row : rows_) {
      Dims want;
      for (const char c : row.letters) {
        if (IsFactor(c))
          want.back() *= static_cast<uint32_t>(c - '0');
        else
          want.push_back(sizes.at(c));
      }
      if (!Agree(want, *row.dims))
        f.Add(row.input ? op_.AtInput(row.i) : op_.AtOutput(row.i), "{} is {} instead of {}",
              row.input ? op_.InputTitle(row.i) : op_.OutputTitle(row.i), DimsText(*row.dims),
              DimsText(want));
    }
  }

 private:
  struct Row {
    const Dims* dims;
    std::string_view letters;
    bool input;
    size_t i;
  };

  static bool IsFactor(char c) { return c >= '2' && c <= '9'; }

  void Take(const Row& row) {
    if (row.dims != nullptr && !row.letters.empty()) rows_.push_back(row);
  }

  // 0 for what no operand knows. Sizes that come with a factor have no vote.
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

void FullyConnectedFits(const Subject& s, Findings& f) {
  EachOperation(s, kFullyConnected, [&](const OperationAt& op) {
    const Dims* in = op.InputDims(0);
    const Dims* weights = op.InputDims(1);
    if (in == nullptr || weights == nullptr) return;
    uint64_t elements = 1;
    for (const uint32_t d : *in)
      if (__builtin_mul_overflow(elements, d, &elements)) return;
    const uint32_t size = (*weights)[1];
    if (size == 0) return;
    if (elements % size != 0) {
      f.Add(op.AtInput(1), "{} multiplies {} by weights {}", op.Title(), DimsText(*in),
            DimsText(*weights));
      return;
    }
    const Dims want = {static_cast<uint32_t>(elements / size), (*weights)[0]};
    const Dims* out = op.OutputDims(0);
    if (out != nullptr && !Agree(want, *out))
      f.Add(op.AtOutput(0), "{} gives {}, its output is {}", op.Title(), DimsText(want),
            DimsText(*out));
  });
}

void RnnFits(const Subject& s, Findings& f) {
  EachOperation(s, kRnn, [&](const OperationAt& op) {
    Sizes sizes(op);
    sizes.Inputs({"bi", "ui", "uu", "u", "bu"});
    sizes.Outputs({"bu", "bu"});
    sizes.Report(f);
  });
}

// The filters of SVDF are as many as units times rank; nullopt if that is not known or wrong.
struct Filters {
  uint32_t count = 0;
  uint32_t rank = 1;
  uint32_t units() const { return count / rank; }
};

std::optional<Filters> FiltersOf(const OperationAt& op) {
  const Dims* feature = op.InputDims(1);
  const auto rank = op.Int(5);
  if (feature == nullptr || (*feature)[0] == 0 || !rank || *rank < 1) return std::nullopt;
  return Filters{(*feature)[0], static_cast<uint32_t>(*rank)};
}

void SvdfFits(const Subject& s, Findings& f) {
  EachOperation(s, kSvdf, [&](const OperationAt& op) {
    Sizes sizes(op);
    sizes.Inputs({"bi", "fi", "fm"});
    const auto filters = FiltersOf(op);
    if (filters && filters->count % filters->rank != 0) {
      f.Add(op.AtInput(1), "{} has {} filters of rank {}", op.Title(), filters->count,
            filters->rank);
    } else if (filters) {
      sizes.Bind('u', filters->units());
      sizes.Input(3, "u");
      sizes.Output(1, "bu");
    }
    sizes.Report(f);
  });
}

// The text has a state of memory - 1 elements for each filter, all published examples and Android's
// executor one of memory elements.
void SvdfState(const Subject& s, Findings& f) {
  EachOperation(s, kSvdf, [&](const OperationAt& op) {
    const Dims* in = op.InputDims(0);
    const Dims* time = op.InputDims(2);
    const uint32_t batch = in != nullptr ? (*in)[0] : 0;
    const auto check = [&](const Dims* state, const Location& where) {
      if (state == nullptr) return;
      const uint64_t width = (*state)[1];
      const bool known =
          width != 0 && time != nullptr && time->size() == 2 && (*time)[0] != 0 && (*time)[1] != 0;
      const uint64_t memory = known ? uint64_t{(*time)[0]} * (*time)[1] : 0;
      if (!Agree((*state)[0], batch) || (known && width != memory && width != memory - (*time)[0]))
        f.Add(where, "the state of {} is {} instead of {}", op.Title(), DimsText(*state),
              DimsText({batch, static_cast<uint32_t>(memory)}));
    };
    const Dims* before = op.InputDims(4);
    const Dims* after = op.OutputDims(0);
    check(before, op.AtInput(4));
    if (before != nullptr && after != nullptr && !Agree(*before, *after))
      f.Add(op.AtOutput(0), "{} has state {} before and {} after", op.Title(), DimsText(*before),
            DimsText(*after));
    else if (before == nullptr)
      check(after, op.AtOutput(0));
  });
}

// True if all inputs may be there, or all left out.
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

// The weights and bias of LSTM's input gate: without them it is coupled to the forget gate.
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
  const Dims* scratch = op.OutputDims(0);
  return scratch == nullptr || (*scratch)[1] != uint64_t{units} * 3;
}

void LstmFits(const Subject& s, Findings& f) {
  EachOperation(s, kLstm, [&](const OperationAt& op) {
    Sizes sizes = LstmSizes(op);
    if (Together(op, kInputGate)) sizes.Output(0, HasFourGates(op, sizes.Of('u')) ? "bu4" : "bu3");
    sizes.Report(f);
  });
}

void LstmUnprojected(const Subject& s, Findings& f) {
  EachOperation(s, kLstm, [&](const OperationAt& op) {
    const Sizes sizes = LstmSizes(op);
    const uint32_t units = sizes.Of('u');
    const uint32_t output = sizes.Of('o');
    if (op.Given(16) == false && !Agree(units, output))
      f.Add(op.AtInput(16), "{} has {} units, outputs of {}, and no projection weights", op.Title(),
            units, output);
  });
}

void LstmInputGate(const Subject& s, Findings& f) {
  EachOperation(s, kLstm, [&](const OperationAt& op) {
    if (Together(op, kInputGate)) return;
    // Named are those that differ from most.
    const auto given = std::count_if(kInputGate.begin(), kInputGate.end(),
                                     [&](size_t i) { return op.Given(i) == true; });
    const bool most = given >= 2;
    for (const size_t i : kInputGate)
      if (const auto has = op.Given(i); has && *has != most)
        f.Add(op.AtInput(i), "input {} of {} has {} value, others of the input gate have {}", i,
              op.Title(), *has ? "a" : "no", most ? "one" : "none");
  });
}

void LstmPeepholes(const Subject& s, Findings& f) {
  EachOperation(s, kLstm, [&](const OperationAt& op) {
    if (!Together(op, {10, 11})) {
      f.Add(op.AtInput(op.Given(10) == true ? 11 : 10),
            "{} has only one of the peephole weights 10 and 11", op.Title());
      return;
    }
    const auto input_gate = op.Given(1);
    const auto peepholes = op.Given(10);
    const auto weights = op.Given(9);
    if (!weights || !Together(op, kInputGate)) return;
    if (*weights && (peepholes == false || input_gate == false))
      f.Add(op.AtInput(9), "{} has cell-to-input weights without {}", op.Title(),
            peepholes == false ? "other peephole weights" : "an input gate");
    if (!*weights && peepholes == true && input_gate == true)
      f.Add(op.AtInput(9), "{} has peepholes and an input gate without cell-to-input weights",
            op.Title());
  });
}

void LstmProjection(const Subject& s, Findings& f) {
  EachOperation(s, kLstm, [&](const OperationAt& op) {
    if (op.Given(16) == false && op.Given(17) == true)
      f.Add(op.AtInput(17), "{} has a projection bias without weights", op.Title());
  });
}

void LstmActivation(const Subject& s, Findings& f) {
  EachOperation(s, kLstm, [&](const OperationAt& op) {
    if (const auto a = op.Int(20); a && *a != 0 && *a != 1 && *a != 3 && *a != 4 && *a != 6)
      f.Add(op.AtInput(20), "the activation of {} is {}", op.Title(), *a);
  });
}

void LstmThresholds(const Subject& s, Findings& f) {
  EachOperation(s, kLstm, [&](const OperationAt& op) {
    for (const size_t i : {size_t{21}, size_t{22}})
      if (const auto clip = op.Float(i); clip && !(*clip >= 0))
        f.Add(op.AtInput(i), "threshold {} of {} is {}", i, op.Title(), *clip);
  });
}

constexpr Rule kRules[] = {
    {{"NNAPI-MATRIX-001", Severity::kError, "Weights of FULLY_CONNECTED fit input and output.",
      "types.hal, OperationType.FULLY_CONNECTED", true,
      "Weights are [units, inputs]; the output is [batch, units]."},
     FullyConnectedFits},
    {{"NNAPI-MATRIX-002", Severity::kError, "Operands of RNN have the sizes of its units.",
      "types.hal, OperationType.RNN", true,
      "Weights are [units, inputs] and [units, units], states [batch, units]."},
     RnnFits},
    {{"NNAPI-MATRIX-003", Severity::kError,
      "Operands of SVDF have the sizes of its filters, which are units times rank.",
      "types.hal, OperationType.SVDF", true,
      "Weights are [filters, inputs] and [filters, memory]."},
     SvdfFits},
    {{"NNAPI-MATRIX-004", Severity::kError, "Operands of LSTM have the sizes of its units.",
      "types.hal, OperationType.LSTM", true, "Weights are [units, inputs] and [units, outputs]."},
     LstmFits},
    {{"NNAPI-MATRIX-005", Severity::kError,
      "Weights and bias of LSTM's input gate are all given or all left out.",
      "types.hal, OperationType.LSTM", true,
      "Without all three, the input gate is coupled to the forget gate."},
     LstmInputGate},
    {{"NNAPI-MATRIX-006", Severity::kError,
      "The activation of LSTM is 0 (none), 1 (Relu), 3 (Relu6), 4 (Tanh) or 6 (Sigmoid).",
      "types.hal, OperationType.LSTM", false, "Tanh (4) is the usual one."},
     LstmActivation},
    {{"NNAPI-MATRIX-007", Severity::kError,
      "Cell-to-gate weights of LSTM are all given or all left out, those to the input gate only "
      "where there is one.",
      "types.hal, OperationType.LSTM", true,
      "Without an input gate there are two of them, otherwise three."},
     LstmPeepholes},
    {{"NNAPI-MATRIX-008", Severity::kError,
      "A projection bias of LSTM goes with projection weights.", "types.hal, OperationType.LSTM",
      true, "Leave out the bias, or give the weights."},
     LstmProjection},
    {{"NNAPI-MATRIX-009", Severity::kError, "Clipping thresholds of LSTM are not negative.",
      "types.hal, OperationType.LSTM", true, "0 clips nothing."},
     LstmThresholds},
    {{"NNAPI-MATRIX-010", Severity::kError,
      "Without projection weights an LSTM gives as many elements as it has units.",
      "types.hal, OperationType.LSTM", false, "Give projection weights [outputs, units]."},
     LstmUnprojected},
    {{"NNAPI-MATRIX-011", Severity::kError,
      "States of SVDF have the size of its memory, before and after.",
      "types.hal, OperationType.SVDF", true, "States are [batch, memory * filters]."},
     SvdfState},
};

}  // namespace

std::span<const Rule> MatrixRules() {
  return kRules;
}

}  // namespace nn::nnapi

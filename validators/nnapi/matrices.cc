// Rules of matrix products and recurrent operations.
#include <map>

#include "validators/nnapi/rules.h"

namespace nn::nnapi {
namespace {

using enum OperationType;

template <typename Visit>
void Each(const Subject& s, OperationType type, const Visit& visit) {
  for (const OperationAt& op : s.operations())
    if (op.operation->type == type && op.signature != nullptr) visit(op);
}

// Sizes by letter, bound by the first operand that has them, as in "bi" for [batch, input].
class Sizes {
 public:
  Sizes(const OperationAt& op, Findings& f) : op_(op), findings_(f) {}

  // A letter is a size, a digit after it multiplies it.
  void Check(const Dims* dims, std::string_view letters, std::string_view list, size_t i) {
    if (dims == nullptr) return;
    Dims want;
    for (const char c : letters) {
      if (c >= '2' && c <= '9' && !want.empty())
        want.back() *= static_cast<uint32_t>(c - '0');
      else
        want.push_back(sizes_[c]);
    }
    if (!Agree(want, *dims))
      findings_.Add(op_.Where(fmt::format("{}[{}]", list, i)), "{} {} of {} is {} instead of {}",
                    list, i, op_.Title(), DimsText(*dims), DimsText(want));
    for (size_t k = 0; k < letters.size() && k < dims->size(); ++k)
      if (letters.find_first_of("23456789") == std::string_view::npos && sizes_[letters[k]] == 0)
        sizes_[letters[k]] = (*dims)[k];
  }
  void Inputs(const std::vector<std::string_view>& list) {
    for (size_t i = 0; i < list.size(); ++i)
      if (!list[i].empty()) Check(op_.InputDims(i), list[i], "inputs", i);
  }
  void Outputs(const std::vector<std::string_view>& list) {
    for (size_t i = 0; i < list.size(); ++i)
      if (!list[i].empty()) Check(op_.OutputDims(i), list[i], "outputs", i);
  }

 private:
  const OperationAt& op_;
  Findings& findings_;
  std::map<char, uint32_t> sizes_;
};

void FullyConnectedFits(const Subject& s, Findings& f) {
  Each(s, kFullyConnected, [&](const OperationAt& op) {
    const Dims* in = op.InputDims(0);
    const Dims* weights = op.InputDims(1);
    if (in == nullptr || weights == nullptr || weights->size() != 2) return;
    uint64_t elements = 1;
    for (const uint32_t d : *in)
      if (__builtin_mul_overflow(elements, d, &elements)) return;
    const uint32_t size = (*weights)[1];
    if (size == 0) return;
    if (elements % size != 0) {
      f.Add(op.Where("inputs[1]"), "{} multiplies {} by weights {}", op.Title(), DimsText(*in),
            DimsText(*weights));
      return;
    }
    const Dims want = {static_cast<uint32_t>(elements / size), (*weights)[0]};
    const Dims* out = op.OutputDims(0);
    if (out != nullptr && !Agree(want, *out))
      f.Add(op.Where("outputs[0]"), "{} gives {}, its output is {}", op.Title(), DimsText(want),
            DimsText(*out));
  });
}

void RnnFits(const Subject& s, Findings& f) {
  Each(s, kRnn, [&](const OperationAt& op) {
    Sizes sizes(op, f);
    sizes.Inputs({"bi", "ui", "uu", "u", "bu"});
    sizes.Outputs({"bu", "bu"});
  });
}

void SvdfFits(const Subject& s, Findings& f) {
  Each(s, kSvdf, [&](const OperationAt& op) {
    Sizes sizes(op, f);
    // The filters are units times rank.
    sizes.Inputs({"bi", "fi", "fm"});
    const Dims* feature = op.InputDims(1);
    const auto rank = op.Int(5);
    if (rank && *rank < 1) f.Add(op.Where("inputs[5]"), "the rank of {} is {}", op.Title(), *rank);
    if (!rank || *rank < 1 || feature == nullptr) return;
    const uint32_t filters = (*feature)[0];
    const uint32_t r = static_cast<uint32_t>(*rank);
    if (filters % r != 0)
      f.Add(op.Where("inputs[1]"), "{} has {} filters of rank {}", op.Title(), filters, r);
    const Dims* in = op.InputDims(0);
    const Dims units = {filters / r};
    if (const Dims* bias = op.InputDims(3); bias != nullptr && !Agree(units, *bias))
      f.Add(op.Where("inputs[3]"), "the bias of {} is {} instead of {}", op.Title(),
            DimsText(*bias), DimsText(units));
    const Dims want = {in != nullptr ? (*in)[0] : 0, units[0]};
    if (const Dims* out = op.OutputDims(1); out != nullptr && !Agree(want, *out))
      f.Add(op.Where("outputs[1]"), "{} gives {}, its output is {}", op.Title(), DimsText(want),
            DimsText(*out));
    const Dims* before = op.InputDims(4);
    const Dims* after = op.OutputDims(0);
    if (before != nullptr && after != nullptr && !Agree(*before, *after))
      f.Add(op.Where("outputs[0]"), "{} has state {} before and {} after", op.Title(),
            DimsText(*before), DimsText(*after));
  });
}

// Whether an optional input has a value. A model input can still be left out by a request: nullopt.
std::optional<bool> Given(const OperationAt& op, size_t input) {
  const Operand* o = op.Input(input);
  if (o != nullptr && o->lifetime == LifeTime::kModelInput) return std::nullopt;
  return o != nullptr;
}

void LstmFits(const Subject& s, Findings& f) {
  Each(s, kLstm, [&](const OperationAt& op) {
    Sizes sizes(op, f);
    sizes.Check(op.InputDims(18), "bo", "inputs", 18);
    sizes.Check(op.InputDims(19), "bu", "inputs", 19);
    sizes.Inputs({"bi", "ui", "ui", "ui", "ui", "uo", "uo", "uo", "uo", "u", "u", "u", "u", "u",
                  "u", "u", "ou", "o"});
    if (const auto input_gate = Given(op, 1))
      sizes.Check(op.OutputDims(0), *input_gate ? "bu4" : "bu3", "outputs", 0);
    sizes.Outputs({"", "bo", "bu", "bo"});
  });
}

// True if all inputs may be there, or all left out.
bool Together(const OperationAt& op, const std::vector<size_t>& inputs) {
  bool all = true;
  bool none = true;
  for (const size_t i : inputs) {
    const auto given = Given(op, i);
    all = all && given.value_or(true);
    none = none && !given.value_or(false);
  }
  return all || none;
}

void LstmParts(const Subject& s, Findings& f) {
  Each(s, kLstm, [&](const OperationAt& op) {
    const bool gate = Together(op, {1, 5, 12});
    if (!gate)
      f.Add(op.Where("inputs"), "{} has only some of the input gate's weights and bias",
            op.Title());
    if (!Together(op, {10, 11}))
      f.Add(op.Where("inputs"), "{} has only one of the peephole weights 10 and 11", op.Title());
    const auto input = Given(op, 1);
    const auto peephole = Given(op, 10);
    const auto cell = Given(op, 9);
    if (gate && input && peephole && cell && *cell != (*peephole && *input))
      f.Add(op.Where("inputs[9]"), "cell-to-input weights of {} go with peepholes and input gate",
            op.Title());
    if (Given(op, 16) == false && Given(op, 17) == true)
      f.Add(op.Where("inputs[17]"), "{} has a projection bias without weights", op.Title());
  });
}

void LstmValues(const Subject& s, Findings& f) {
  Each(s, kLstm, [&](const OperationAt& op) {
    // None, Relu, Relu6, Tanh, Sigmoid.
    if (const auto a = op.Int(20); a && *a != 0 && *a != 1 && *a != 3 && *a != 4 && *a != 6)
      f.Add(op.Where("inputs[20]"), "the activation of {} is {}", op.Title(), *a);
    for (const size_t i : {21, 22})
      if (const auto clip = op.Float(i); clip && !(*clip >= 0))
        f.Add(op.Where(fmt::format("inputs[{}]", i)), "threshold {} of {} is {}", i, op.Title(),
              *clip);
  });
}

constexpr Rule kRules[] = {
    {{"NNAPI-MATRIX-001", Severity::kError, "Weights of FULLY_CONNECTED fit input and output.",
      "types.hal, OperationType.FULLY_CONNECTED", true, ""},
     FullyConnectedFits},
    {{"NNAPI-MATRIX-002", Severity::kError, "Operands of RNN have the sizes of its units.",
      "types.hal, OperationType.RNN", true, ""},
     RnnFits},
    {{"NNAPI-MATRIX-003", Severity::kError, "Operands of SVDF have the sizes of its filters.",
      "types.hal, OperationType.SVDF", true, ""},
     SvdfFits},
    {{"NNAPI-MATRIX-004", Severity::kError, "Operands of LSTM have the sizes of its units.",
      "types.hal, OperationType.LSTM", true, ""},
     LstmFits},
    {{"NNAPI-MATRIX-005", Severity::kError,
      "Optional parts of LSTM are complete: input gate, peepholes, projection.",
      "types.hal, OperationType.LSTM", true, ""},
     LstmParts},
    {{"NNAPI-MATRIX-006", Severity::kError,
      "LSTM has an activation that exists and thresholds that are not negative.",
      "types.hal, OperationType.LSTM", true, ""},
     LstmValues},
};

}  // namespace

std::span<const Rule> MatrixRules() {
  return kRules;
}

}  // namespace nn::nnapi

// Constraints on recurrent layers.
#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

// Whether a weight of `gates` gates is [gates * hidden, ...].
void NeedGates(const ConstraintAt& c, size_t i, int64_t gates) {
  if (c.Has(i))
    c.NeedSize(i, 0, MultiplySizes(gates, c.SizeOf(1, 1)),
               fmt::format("{} for each hidden element", gates));
}

void CheckGruWeights(const ConstraintAt& c) {
  NeedGates(c, 0, 3);
  NeedGates(c, 1, 3);
}

void CheckLstmWeights(const ConstraintAt& c) {
  NeedGates(c, 0, 4);
  NeedGates(c, 1, 4);
}

void CheckGateBias(const ConstraintAt& c) {
  if (c.Has(0) && c.Has(1)) c.NeedSize(0, 0, c.SizeOf(1, 0), "one for each row of the weight");
}

void CheckPeepholes(const ConstraintAt& c) {
  if (c.Has(0) && c.Has(1))
    c.NeedSize(0, 0, MultiplySizes(3, c.SizeOf(1, 1)), "3 for each hidden element");
}

// x, output_sequence. The results are the sequence, and the last states.
void CheckSequenceLength(const ConstraintAt& c) {
  const auto x = c.SizesOf(0);
  const auto all = c.Bool(1);
  const auto direction = c.facts().Text("direction");
  if (!x || x->size() != 3 || !all || !direction) return;
  const int64_t hidden =
      MultiplySizes(c.facts().SizeOf("weight_hh", 1), *direction == "bidirectional" ? 2 : 1);
  const int64_t batch = (*x)[1];
  c.NeedResult(0, Sizes{*all ? (*x)[0] : 1, batch, hidden});
  for (size_t i = 1; i < c.facts().results(); ++i) c.NeedResult(i, Sizes{batch, hidden});
}

constexpr ConstraintRow kRecurrentConstraints[] = {
    {Label::kGruWeights, CheckGruWeights},
    {Label::kLstmWeights, CheckLstmWeights},
    {Label::kGateBias, CheckGateBias},
    {Label::kPeepholes, CheckPeepholes},
    {Label::kSequenceLength, CheckSequenceLength},
};

}  // namespace

std::span<const ConstraintRow> RecurrentConstraintRows() {
  return kRecurrentConstraints;
}

}  // namespace nn::coreml::program

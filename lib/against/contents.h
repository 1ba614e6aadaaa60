// Pairs values by their numbers in a run, where pairs by names or structure seem to be errors.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "against/drift.h"
#include "base/status.h"
#include "exec/stepper.h"
#include "ir/tensor.h"

namespace nn::against {

// A pair that was compared.
struct ComparedPair {
  CounterpartId pair;
  bool agrees = false;
  bool suspect = false;  // an uncertain pair that does not
};

// For each suspect, a value of the reference with the same shape, up to the order of axes, and
// nearly equal numbers, among those that are in no other pair; else a value of the model without a
// counterpart, or of another suspect, to which the suspect's counterpart is equal in this sense. No
// value is in two of these pairs; they are in the order of the model's values. They may still
// differ: what is compared here is only sums and bounds of the numbers. Runs both.
Result<std::vector<CounterpartId>> PairByContents(Stepper& model, const std::vector<Tensor>& inputs,
                                                  Reference& reference,
                                                  std::span<const ComparedPair> compared,
                                                  const DriftOptions& options);

}  // namespace nn::against

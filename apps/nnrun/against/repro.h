// The operators that compute the first difference (--write-repro).
#pragma once

#include <string>

#include "against/drift.h"
#include "apps/nnrun/against/report.h"
#include "apps/nnrun/options.h"
#include "base/status.h"
#include "exec/stepper.h"
#include "ir/tensor.h"

namespace nn::app {

// Writes the operators that compute the first value that differs although its inputs agree, as
// model.onnx in the folder, with inputs.npz, got.npz and, with the numbers of the counterpart,
// want.npz. `model` is started; `want` is what Reference::Take() returns. Operators that ONNX
// cannot express are a warning, and there is no model.onnx.
Status WriteRepro(Stepper& model, const against::ValueDrift& first, const Tensor& want,
                  const AgainstSummary& summary, const std::string& folder, RunReport& report);

}  // namespace nn::app

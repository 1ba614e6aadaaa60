// Imports and runs models of TensorFlow Lite in the notation of the examples of rules
// (validators/tflite/doc/example_text.h).
#pragma once

#include <string>
#include <vector>

#include "formats/format.h"

namespace nn::test {

Result<ImportedModel> ImportTfliteText(const std::string& text);

// The reason why the model is not imported; "" if it is.
std::string WhyNotImported(const std::string& text);

// The outputs on these inputs, flat, on all backends (RunEverywhere). A failed REQUIRE if the model
// is not imported.
std::vector<std::vector<double>> OutputsOfTflite(const std::string& text,
                                                 const std::vector<std::vector<double>>& inputs);

}  // namespace nn::test

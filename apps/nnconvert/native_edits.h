// What the report says of edits of the model before it is copied, dumped or converted.
#pragma once

#include <string>
#include <vector>

#include "edit/apply.h"

namespace nn::app {

// Sentences of the report.
std::vector<std::string> NativeEditTexts(const edit::EditReport& edit);

}  // namespace nn::app

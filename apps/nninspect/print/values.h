// All values of a model as text and CSV.
#pragma once

#include <string>
#include <vector>

#include "formats/common/describe/value_type.h"
#include "inspect/report/values.h"

namespace nn::app {

std::string ValuesText(const std::vector<ValueEntry>& values);
std::string ValuesCsv(const std::vector<ValueEntry>& values);

}  // namespace nn::app

// What nninspect does with a model file, without printing it.
#pragma once

#include <string>

namespace nn::test {

// Summary, tables, cost and tree as text and JSON, and the picture as SVG and DOT. Empty, or an
// error of the kind kInternal, or a raw control byte among what would be printed.
std::string ExerciseInspection(const std::string& path);

}  // namespace nn::test

// The operations of nninspect on a model file, without printing.
#pragma once

#include <string>

namespace nn::test {

// Summary, tables, cost and tree as text and JSON, and the picture as SVG and DOT. Returns "", or
// describes a kInternal error or an unescaped control byte in the output.
std::string ExerciseInspection(const std::string& path);

}  // namespace nn::test

// Models of one operator of ai.onnx.ml.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/text.h"

namespace nn::test::onnx_ml {

using onnx_text::Int;
using onnx_text::Ints;
using onnx_text::kF32;
using onnx_text::kI64;
using onnx_text::Values;
inline constexpr int kU8 = 2, kI32 = 6, kF16 = 10, kF64 = 11;
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Attributes.
std::string Text(std::string_view name, std::string_view value);
std::string Texts(std::string_view name, const std::vector<std::string>& values);
std::string Number(std::string_view name, double v);
std::string Numbers(std::string_view name, const std::vector<double>& values);
std::string Vector(std::string_view name, int type, const std::vector<double>& values);

struct Model {
  std::string op, attributes;
  std::vector<std::string> types;  // of the inputs
  int outputs = 1;
  int version = 3;

  std::string text() const;
};

// The type of a matrix.
std::string Rows(int element, int64_t rows, int64_t columns);

// Imports and runs the model. The tolerance is relative to max(1, |expected|).
void Check(const Model& model, const Values& inputs, const Values& want, double tolerance = 2e-6);
// The first output, of strings.
std::vector<std::string> LabelsOf(const Model& model, const Values& inputs);
bool Refused(const Model& model, std::string_view why);

double Sigmoid(double x);

}  // namespace nn::test::onnx_ml

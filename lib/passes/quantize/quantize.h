// Quantization of float32 graphs: of weights only, or of operators with the ranges of their values.
// Design: docs/design/028-quantization.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/types/dtype.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn {

// The real numbers that a quantized type must represent, besides 0.
struct ValueRange {
  double min = 0, max = 0;
};
using ValueRanges = std::map<int64_t, ValueRange>;  // by Value::id()

struct QuantizeOptions {
  bool per_tensor = false;  // weights have one scale, not one for each output channel
  // Whether an operator stays in float32, with its weights. Null: none.
  std::function<bool(const Node&)> keeps = nullptr;
  // Of QuantizeInt8():
  // Whether an operator is a part of a function that stays in float32. Null: none.
  std::function<bool(const Node&)> is_part = nullptr;
  bool symmetric = false;                   // the zero points of activations are 0
  Rounding rounding = Rounding::kHalfEven;  // of activations
  // Of QuantizeWeights():
  DType type = DType::kI8;  // or kI4
  int table_bits = 0;       // not 0: in place of integers, the nearest of 2^table_bits numbers
  double zeros = 0;         // not 0: this part of the numbers of a tensor becomes 0, the smallest
  int64_t block = 0;        // weights that share a scale, along the input channels; 0: all of them
};

// A value of the float graph and its integers in the quantized one, by Value::id().
struct QuantizedValue {
  int64_t real = 0, integers = 0;
  std::string name;
  std::string op;  // that computes it, as in the file; "input" or "constant" without one
  std::string type;
  // 10 log10(sum x^2 / sum (x - y)^2), where y are the numbers that the integers represent; nullopt
  // if it is not known yet, because a run computes the value.
  std::optional<double> snr_db;
};

struct QuantizeSummary {
  int64_t weights = 0;                    // quantized constants
  int64_t operators = 0;                  // computed with integers
  int64_t kept = 0;                       // that stay by QuantizeOptions::keeps
  std::map<std::string, int64_t> floats;  // the other operators on float32, by name
  std::vector<QuantizedValue> values;     // in the order of the graph
};

// The zero point is the integer nearest to the one that represents 0 exactly.
std::shared_ptr<const Quant> Int8Quant(const ValueRange& range, bool symmetric);

// The values whose ranges QuantizeInt8() needs.
std::vector<const Value*> ValuesToCalibrate(const Graph& graph, const QuantizeOptions& options);

// Puts quantize and dequantize around the operators for which TensorFlow Lite has int8 arithmetic,
// as its 8-bit quantization specification requires: activations are i8 per tensor; weights i8 with
// one scale for each output channel and zero point 0; biases i32 with the products of the scales of
// input and weights; operators that move, select or average elements have the scales of their
// operands; softmax, sigmoid, tanh and others have fixed ones. Not quantized are operators whose
// results span magnitudes (division, exponentials, roots), those that only follow operators on
// float32, and those in regions, whose values no sample shows. FuseQdq() (passes/qdq/qdq.h) makes
// the rest operators on quantized types.
Result<QuantizeSummary> QuantizeInt8(Graph& graph, const ValueRanges& ranges,
                                     const QuantizeOptions& options);

// Makes inputs that are only quantized, and outputs that are only dequantized, integers.
Status QuantizePorts(Graph& graph);

// Smaller constants stay in float32: the node and the scales take more bytes than they save.
inline constexpr int64_t kMinQuantizedWeight = 256;

// Stores float32 constants of at least two axes as integers with zero point 0; a dequantize node
// yields the numbers. The scales are those of output channels, or for constants that are not
// weights of a product, of the axis with the smallest error. With blocks, dequantize is followed by
// a reshape. Goes into regions. With QuantizeOptions::table_bits or zeros, constants stay in
// float32.
Result<QuantizeSummary> QuantizeWeights(Graph& graph, const QuantizeOptions& options);

// A constant as integers.
struct QuantizedTensor {
  Tensor integers;
  std::shared_ptr<const Quant> quant;
};
// The largest magnitude for each index of `axis`, or of all numbers if it is negative. kModel if a
// number is infinite or NaN.
Result<std::vector<double>> LargestMagnitudes(const Tensor& tensor, int axis);
// The nearest integers; numbers out of range saturate. Integers with zero point 0 do not use the
// smallest one of the type.
Result<QuantizedTensor> QuantizeConstant(const Tensor& tensor, const Type& type);
// With zero point 0, and scales for which the largest magnitude has the largest integer. Scales
// have at most 16 significant bits, so that products with the integers are exact in float32.
Result<QuantizedTensor> QuantizeSymmetric(const Tensor& tensor, int axis, DType type);
// The numbers that the integers represent.
Result<Tensor> RealsOf(const QuantizedTensor& tensor);
// "i8, scale 0.5, zero point 3", or "i4, 64 scales".
std::string QuantizedTypeText(const Type& type);
// QuantizedValue::snr_db of a constant.
double SnrOf(const Tensor& want, const Tensor& got);

// Scales the channels between two products, of which the second one is the only user of the first
// but for operators that scale with their operand (relu), so that the weights of both have equal
// ranges: what the graph computes changes by rounding only. Returns the number of pairs.
Result<int64_t> EqualizeChannels(Graph& graph, const std::function<bool(const Node&)>& keeps);

}  // namespace nn

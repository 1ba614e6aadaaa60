// Converts between the two forms of a quantized model: operators on quantized types, as in
// TensorFlow Lite, and float operators between dequantize and quantize ("QDQ"), as in ONNX. In both
// forms the types of the quantized values hold scales and zero points, so the conversion is
// lossless.
//
// Design: docs/design/027-quantized-forms.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "nnsuite/unsupported_node.h"

namespace nn {

// Whether an input or output of the node is quantized; false for dequantize, and for quantize of a
// float input.
bool OnQuantizedTypes(const Node& node);

// Converts every operator on quantized types to dequantize -> float operator -> quantize. A
// constant bias gets the product of the input and filter scales, unless its own scale equals that
// up to rounding. Unchanged are operators on the stored integers (cast), and those with an operand
// that dequantize does not support. Operators that round between their steps become these steps, or
// with kDropped one float operator without such roundings.
enum class InnerRounding : uint8_t { kKept, kDropped };
Status UnfuseQdq(Graph& graph, InnerRounding inner = InnerRounding::kKept);

// The inverse: converts dequantize -> operator -> quantize to the operator on quantized types with
// TensorFlow Lite's arithmetic, if TensorFlow Lite has a kernel for it: all float inputs come from
// dequantize, each result has a single quantize as its user (relu and clip in between are
// included), and the kernel supports the scales and zero points. A constant float bias may be
// multiples of the product of the scales, as that of a format that does not dequantize i32. Other
// nodes are unchanged.
Status FuseQdq(Graph& graph);

// Turns quantized i8 into u8 with larger zero points, which represents the same real numbers, and
// scales that are equal for all channels into one. Inputs and outputs change, too. If an operator
// has no arithmetic on u8, the graph is unchanged.
Status MakeUnsigned(Graph& graph);

// Turns matmul_integer and conv_integer of quantized values, whose zero points are those of the
// types and whose results are only dequantized, into float operators between dequantize nodes,
// which they round differently.
Status IntegerProductsAsReals(Graph& graph);
// FuseQdq, also of those integer products that it makes operators on quantized types.
Status FuseQuantized(Graph& graph);

// Evaluates dequantize on constants, which FoldConstants skips because files store quantized
// weights.
Status DequantizeConstants(Graph& graph);
// The same for one node, as a rewrite (rewrite/target.h): false if it is not such a node.
Result<bool> DequantizeConstant(Graph& graph, Node& node);

// Turns a quantized model, in either form, into the float model that it approximates: constants are
// dequantized; inputs, outputs and all values between them become f32; quantize, dequantize and
// dynamic_fake_quantize disappear. Values are no longer limited to the range of a quantized type,
// with one exception: a type that has no negative numbers (zero point at the lower end of the
// integers) acts as the activation of a convolution, product, normalization or arithmetic operator,
// and becomes a relu unless the model has a bound there. Float16 weights stay. Biases are those of
// UnfuseQdq.
//
// Returns the nodes that have no float form: those on stored integers (cast, opaque nodes), and
// those with operands that dequantize does not support. If there are any, the graph is as after
// UnfuseQdq.
Result<std::vector<nnsuite::UnsupportedNode>> Dequantize(Graph& graph);

// Whether a value has a quantized type.
bool IsQuantized(const Graph& graph);

}  // namespace nn

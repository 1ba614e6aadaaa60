// Pairs the values of two graphs that should have equal contents, up to the order of axes.
// Design: docs/design/055-comparing-models.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace nn::against {

// Why two values are a pair.
enum class PairedBy : uint8_t {
  kInterface,    // outputs of the models
  kComputation,  // the same operators compute both from the inputs
  kName,
  kConstants,  // an operator with the same constants computes both
  kOrder,      // the same operators surround both
  kContents,   // both have the same numbers in a run
};

// "interface", "computation", ...
std::string_view PairedByName(PairedBy by);

// Whether a difference of the pair alone shows that the models part: not if the pair may be an
// error.
bool IsCertain(PairedBy by);

struct ValuePair {
  const Value* a = nullptr;
  const Value* b = nullptr;
  PairedBy by = PairedBy::kOrder;
};

// The inputs of `b` that get the contents of inputs of `a`, and the outputs with equal meaning, by
// position.
struct PortPair {
  size_t a = 0;
  size_t b = 0;
};

// The position in `names` of the name that a value of `a` has in `b`; nullopt if there is none, or
// not one.
using FindName = std::function<std::optional<size_t>(std::string_view name)>;
using MakeFindName = std::function<FindName(const std::vector<std::string>& names)>;

// If one of the graphs has operators on quantized types, operators between dequantize and quantize
// become such operators in both, because results inside of these are not limited to the range of a
// quantized type.
Status ComputeAlike(Graph& a, Graph& b);

// The values that are compared: those that nodes compute, in order, except quantized ones inside an
// operator of the file, such as the sums before its activation; then outputs that are constants or
// inputs.
std::vector<const Value*> ComparedValues(const Graph& graph);

// The pairs of ComparedValues(), in the order of `a`. No value of `a` is in two pairs, and a value
// of `b` only if two outputs of `a` are paired with it.
std::vector<ValuePair> PairValues(const Graph& a, const Graph& b, std::span<const PortPair> inputs,
                                  std::span<const PortPair> outputs, const MakeFindName& names);

}  // namespace nn::against

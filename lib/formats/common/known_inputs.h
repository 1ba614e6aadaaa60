// What is known about the inputs of every run before a model is imported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn {

using SymbolSizes = std::map<std::string, int64_t, std::less<>>;
using ListLengths = std::map<std::string, int64_t, std::less<>>;
inline constexpr int64_t kAbsent = -1;

// An input with so few numbers can be stated before the import, and may then decide about bounds,
// lengths and trip counts.
inline constexpr int64_t kFewNumbers = 64;

// The name of an element of a sequence that is an input or output of a model: "x[2]".
std::string ElementName(std::string_view list, size_t index);

struct KnownInputs {
  SymbolSizes sizes = {};  // of symbols, which the graph does not have then
  // Contents of inputs, which become constants; by position among the inputs of
  // ModelImporter::Import.
  std::map<size_t, Tensor> constants = {};
  // Of inputs that are sequences or optionals, by name: the number of elements, or kAbsent for an
  // optional without a value. Each element is an input of the graph (ElementName).
  ListLengths lengths = {};
  StatePorts states = StatePorts::kNone;

  // Whether neither sizes nor contents are known.
  bool empty() const { return sizes.empty() && constants.empty(); }
  // The type with the sizes in its dimensions.
  Type WithSizes(const Type& type) const;
  // Adds input `position` of the model, or its constant, to the graph. kUsage if the constant does
  // not fit the type.
  Result<Value*> AddInput(Graph& graph, size_t position, std::string name, const Type& type) const;
};

}  // namespace nn

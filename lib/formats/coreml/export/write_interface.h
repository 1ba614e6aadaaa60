// Writes the description of a model: features, metadata, and the classifier fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "formats/coreml/file/fields.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/types/type.h"

namespace nn::coreml {

// The field of Model for the network: that of a classifier if the graph's metadata has classes and
// identifies an output with their scores.
std::string_view NetworkKind(const Graph& graph);

// The lowest specification version that supports the features of inputs and outputs.
int64_t InterfaceVersion(const Graph& graph);

// Which arrays the inputs and outputs are.
enum class ArrayTypes : uint8_t {
  kOfNetworks,     // of 32 bits
  kOfOldPrograms,  // for all types that programs convert
  kOfPrograms,     // of float16 in addition
};

// How a kind of model describes its inputs and outputs.
struct InterfaceForm {
  std::map<std::string, std::string> names = {};  // in the file, of ports that have another one
  ArrayTypes array_types = ArrayTypes::kOfNetworks;
  size_t states = 0;  // the last inputs and outputs, which WriteDescription() leaves out
};

// kUnsupported for inputs and outputs that Core ML arrays cannot represent.
Status WriteDescription(const Graph& graph, const ExportOptions& options, const InterfaceForm& form,
                        Writer description);

// The array type of a feature. Outputs with dynamic sizes have no declared shape. kUnsupported for
// types that Core ML arrays cannot represent.
Status WriteArray(const Type& type, bool input, Writer array,
                  ArrayTypes types = ArrayTypes::kOfNetworks);
// Records the dimensions of an input, with their symbols.
void WriteDims(const std::string& input, const Dims& dims, Writer metadata);

// The output with the label of a classifier, and which outputs are the label and the scores.
void DescribeClasses(const Classes& classes, const InterfaceForm& form, Writer root);
// Does nothing for networks that are not classifiers.
void WriteClassifier(const Graph& graph, Writer root, Writer network);

}  // namespace nn::coreml

// Arrays in files for the inputs or outputs of a graph.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/edits/port_finder.h"
#include "convert/inputs/fit_array.h"
#include "convert/verify/verify.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "nnsuite/inputs.h"
#include "tensorio/named_tensor.h"

namespace nn {

using nnsuite::ArrayOptions;
using nnsuite::ImageOptions;

// For the inputs of a model of this format (see ModelImporter::RoundsInputs).
Casting CastingFor(const ArrayOptions& options, const Format& format);

// A port as it was when the arrays were read: graphs that are bound to their shapes change.
struct PortType {
  std::string name;
  Type type;
  std::optional<ImageColors> colors;  // of an input that is an image
};
std::vector<PortType> TypesOf(const std::vector<Port>& ports);
// `format` is that of the model that was imported as `graph`.
std::vector<PortType> InputTypes(const Graph& graph, const Format& format);

// By port.
using PortArrays = std::vector<std::optional<Tensor>>;

// Adds the arrays of an .npz or .safetensors file to `arrays`. kUsage for arrays that match no
// port, or one that has an array; the others are added nevertheless. With `skip_strings`, arrays of
// strings that match no port are ignored.
Status ReadPortArrays(const std::string& path, const std::vector<PortType>& ports,
                      const PortFinder& finder, const ReadLimits& limits, PortArrays& arrays,
                      bool skip_strings = false);

// The same for arrays in memory.
Status AddPortArrays(std::span<const NamedTensor> named, const std::vector<PortType>& ports,
                     const PortFinder& finder, PortArrays& arrays, bool skip_strings = false);

// Adds the array of NAME=VALUE, where VALUE is a literal (tensorio/literal.h) or the path of a
// tensor file or a picture (ReadImage()). kUsage if no input has the name, or if it has an array.
Status ReadPortValue(const std::string& text, const std::vector<PortType>& ports,
                     const PortFinder& finder, PortArrays& arrays, const ImageOptions& images);

// FitType(), FitImage() for images, and FitAxes() for each array; errors name the input.
Status FitTypes(const std::vector<PortType>& inputs, Casting casting, PortArrays& arrays);
Status FitShapes(const std::vector<PortType>& inputs, bool reshape, PortArrays& arrays);

// The error; if it is kUsage, with a table of the ports and of what was given for them. `kind` is
// "input" or "output".
Error WithPorts(const Error& error, std::string_view kind, const std::vector<PortType>& ports,
                const PortArrays& given);

// Takes sets of inputs from files, in order. Each of `paths` is
//   an .npz or .safetensors file   one set; ReadPortArrays()
//   NAME=FILE                      one input; adjacent ones of different inputs are one set
//   a tensor file                  the same for a model with one input (ReadTensorFile)
//   a folder                       one set for each .npz and .safetensors file in it, one for all
//   of
//                                  its tensor files, named like an input and with an extension, and
//                                  those of its subfolders, in order of their names. Tensor files
//                                  named output_K are ignored.
// Names are those of PortFinder, by position in_K and, in folders, input_K. FitTypes() and
// FitShapes() are applied. kUsage for files that match no input, and if a folder has no set.
// Each set is in memory only until `take` returns.
Status ForEachInputSet(const std::vector<std::string>& paths, const Graph& graph,
                       const Format& format, const ArrayOptions& options, const ReadLimits& limits,
                       const std::function<Status(VerifyInputs)>& take);
// All of them.
Result<std::vector<VerifyInputs>> ReadInputSets(const std::vector<std::string>& paths,
                                                const Graph& graph, const Format& format,
                                                const ArrayOptions& options,
                                                const ReadLimits& limits);

}  // namespace nn

// The inputs of a run: what is given for them, and a graph that fits it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "convert/inputs/port_arrays.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "formats/test_set.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "nnsuite/inputs.h"
#include "nnsuite/shapes.h"
#include "ops/support/domain.h"

namespace nn {

// The options of the inputs of a model.
struct RunInputs : nnsuite::InputOptions {
  std::string model = {};                   // its path
  nnsuite::InputShapes shapes = {};         // that are set
  bool may_lack = false;                    // the file of inputs may lack some, even without a seed
  std::vector<NamedTensor> in_memory = {};  // InputOptions::tensors
  // No option: the inputs that ImportForInputs() made constants, by position among all.
  std::map<size_t, PortType> fixed = {};
};

// Imports the model again if one of the shapes has another rank than the graph's input of that
// name, and the format may allow it (formats/given_inputs.h).
Status FitRanks(Graph& graph, const ReadModel& read, const std::string& path,
                const InputShapes& shapes);

// What an import is told: what is known, and the set shapes, which take precedence.
InputSettings KnownWith(const InputSettings& known, const nnsuite::InputShapes& shapes);
// Names the ports of the imported graph, and binds it to the set shapes.
Status BindSetShapes(Graph& graph, const ReadModel& read, const RunInputs& inputs);

// What an array says about an input that has it.
struct GivenShape {
  std::vector<int64_t> shape;
  bool is_constant = true;  // the input has the contents of the array whenever the graph runs
};
using GivenShapeOf = std::function<GivenShape(const Graph& graph, size_t input, const Type& type,
                                              const Tensor& array)>;

// Imports the model. If it is not supported, or runs decide about its branches and loops, the
// shapes of the given inputs are known to the import; if it is still not supported, those with few
// integers, which may decide about sizes and branches, become constants, and `inputs.fixed` lists
// them. Without `shape_of`, inputs are their arrays.
Result<ImportedModel> ImportForInputs(const ReadModel& read, const InputImporter& import,
                                      RunInputs& inputs, const GivenShapeOf& shape_of = nullptr);

// The inputs from files and literals, in the types and shapes of the graph. Binds the graph's
// shapes to theirs; a symbolic batch without a size becomes 1, and `batch`, unless it is null, has
// its symbols then, also if there is an error. `read` is the model of the graph, for formats whose
// inputs take arrays of other ranks or types.
Result<PortArrays> GivenInputs(Graph& graph, const ReadModel& read, const RunInputs& inputs,
                               std::vector<std::string>* batch = nullptr);
// The two parts of GivenInputs(): the arrays as they are given, and those that fit the graph.
Result<PortArrays> ReadGiven(const Graph& graph, const RunInputs& inputs);
Result<PortArrays> BindGiven(Graph& graph, const ReadModel& read, const RunInputs& inputs,
                             const PortArrays& given, std::vector<std::string>* batch = nullptr);

// All inputs of a run: the given ones, and seeded ones from `domains` (InputDomains()) for the
// rest.
Result<std::vector<Tensor>> CompleteInputs(const Graph& graph, std::span<const Domain> domains,
                                           PortArrays given, uint64_t seed);

}  // namespace nn

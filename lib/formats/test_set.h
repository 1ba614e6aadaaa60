// Test sets of ONNX models: folders with input_0.pb, output_0.pb and so on, a tensor, a sequence or
// an optional each.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/common/tensor_list.h"
#include "formats/given_inputs.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// The file of one input or output of the model.
struct TestFile {
  std::string path;
  std::optional<TensorList> list;  // its contents, unless they are a tensor
};

// Up to the first file that is missing.
struct TestSet {
  std::vector<TestFile> inputs;
  std::vector<TestFile> outputs;
};

// kUsage if there are more files than inputs or outputs; the errors of the readers of lists.
Result<TestSet> FindTestSet(const std::string& folder, const PortKinds& kinds);

// Where the array of one input of a graph comes from.
struct TestSource {
  std::string path;
  std::optional<Tensor> element = {};  // of a list
};

// A graph, and the sources of its first inputs; an input has none if its file is missing.
struct ModelForSet {
  Graph graph;
  std::vector<TestSource> sources;
};

// Imports a model with what is known about its inputs.
using InputImporter = std::function<Result<ImportedModel>(const InputSettings&)>;

// Those of arrays with few integers or booleans, which may decide about lengths and positions, by
// position.
std::map<size_t, Tensor> DecidingArrays(const std::vector<std::optional<Tensor>>& arrays);

// Imports the model of a set with the lengths of its lists. If it is not supported then, it is
// imported with the shapes of the inputs, and at last with those of few integers, which may decide
// about lengths and positions, as constants.
Result<ModelForSet> ImportForSet(const TestSet& set, const PortKinds& kinds,
                                 const InputImporter& import);
// By input; nullopt for a missing file.
Result<std::vector<std::optional<Tensor>>> ReadInputs(const ModelForSet& model);

// The arrays that a set expects, by output of the graph, and how many elements the lists have.
struct MatchedOutputs {
  struct Length {
    std::string name;  // of an output of the model
    size_t want = 0;
    size_t got = 0;
  };
  std::vector<std::optional<Tensor>> arrays;
  std::vector<Length> lengths;
};
Result<MatchedOutputs> MatchOutputs(const TestSet& set, const PortKinds& kinds, const Graph& graph);

}  // namespace nn

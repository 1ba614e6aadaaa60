// A model as nninspect looks at it: as its file has it, and as a graph where it can be imported.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/model.h"
#include "formats/format.h"

namespace nn::app {

struct LoadedModel {
  std::string path;
  std::optional<uint64_t> file_bytes;  // nullopt for standard input
  ReadModel read = {};
  ModelSummary summary;
  // With the shapes asked for; nullopt: `import_error` says why, or it was not asked for.
  std::optional<Graph> graph;
  std::vector<Obstacle> obstacles;
  std::optional<Error> import_error;
};

struct LoadOptions {
  ReadLimits limits = {};
  bool in_full = false;  // attributes are not cut
  bool graph = true;     // imported as well; always where shapes are given
};

// Shapes that are given stand in the summary's inputs and outputs as well; they are errors where
// the model cannot be imported.
Result<LoadedModel> Load(const std::string& path, const ShapeOptions& shapes,
                         const LoadOptions& options);

// The graph, or the error that the model has none. Requires that it was asked for.
Result<const Graph*> GraphOf(const LoadedModel& model);

// The constant tensors; kUnsupported for a format that does not list them.
Result<std::vector<TensorEntry>> TensorsOf(const LoadedModel& model);

// Types of the values that the model names, in the main graph; of no others is a name unambiguous.
std::map<std::string, const Type*, std::less<>> TypesByName(const LoadedModel& model);

// A number or an expression; "?" for sizes that are known in the run only.
std::string SizeText(const Dim& size);

// "[1, 3, batch]"; "[*]" for an unknown rank.
std::string ShapeText(const Type& type);
std::string ShapeText(const std::vector<int64_t>& shape);

// The model's operators by name or "#12". kUsage if there is none.
Result<std::vector<size_t>> FindOperators(const ModelSummary& summary, const std::string& name);

}  // namespace nn::app

// A model for nninspect: its native form, and its graph if it can be imported.
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
  // With the requested shapes; nullopt if not requested, or if `import_error` is set.
  std::optional<Graph> graph;
  std::vector<Obstacle> obstacles;
  std::optional<Error> import_error;
};

struct LoadOptions {
  ReadLimits limits = {};
  bool in_full = false;  // attributes are not truncated
  bool graph = true;     // import the graph; always done if shapes are given
};

// Given shapes also appear in the summary's inputs and outputs; they are errors if the model cannot
// be imported.
Result<LoadedModel> Load(const std::string& path, const ShapeOptions& shapes,
                         const LoadOptions& options);

// The graph, or the import error. Requires that the graph was requested.
Result<const Graph*> GraphOf(const LoadedModel& model);

// The constant tensors; kUnsupported if the format cannot list them.
Result<std::vector<TensorEntry>> TensorsOf(const LoadedModel& model);

// Types of the named values of the main graph; only there are names unambiguous.
std::map<std::string, const Type*, std::less<>> TypesByName(const LoadedModel& model);

// A number or an expression; "?" for sizes known only at run time.
std::string SizeText(const Dim& size);

// "[1, 3, batch]"; "[*]" for an unknown rank.
std::string ShapeText(const Type& type);
std::string ShapeText(const std::vector<int64_t>& shape);

// The model's operators by name or "#12". kUsage if there is none.
Result<std::vector<size_t>> FindOperators(const ModelSummary& summary, const std::string& name);

}  // namespace nn::app

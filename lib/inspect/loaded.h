// A model loaded for inspection: its native form, its summary, and its graph if it can be imported.
//
// The functions in this folder do not modify a LoadedModel, so several threads may use one at the
// same time. Results own their contents, except for pointers into the model, which their comments
// mention and which stay valid when the model is moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "ir/graph.h"
#include "rewrite/legalize.h"

namespace nn::inspect {

struct LoadedModel {
  std::string path;                    // as given
  std::optional<uint64_t> file_bytes;  // nullopt for standard input
  ReadModel read = {};
  ModelSummary summary;
  // With the requested shapes; nullopt if not requested, or if `import_error` is set.
  std::optional<Graph> graph;
  std::vector<UnsupportedNode> unsupported;
  std::optional<Error> import_error;
  bool bound = false;  // shapes were set (LoadOptions::bind)
};

struct LoadOptions {
  ReadLimits limits = {};
  std::string function = {};  // WithFunction()
  bool in_full = false;       // attributes are not truncated
  bool graph = true;          // import the graph; always done if `bind` is set
  InputSettings inputs = {};  // that `bind` will set: they may decide about control flow
  // Sets the shapes of the inputs of the imported graph, for instance with BindInputs
  // (passes/core/ports.h). Inputs and outputs have names when it is called. The resulting shapes
  // also appear in the summary's inputs and outputs. Null: the shapes of the file.
  std::function<Status(Graph&)> bind = nullptr;
};

// Describes a model that was read from `path`, which is for messages; of `options`, `limits` and
// `function` do not apply. Errors as below.
Result<LoadedModel> LoadFrom(ReadModel read, const std::string& path, const LoadOptions& options);

// Reads standard input for the path "-". The errors of ReadModelFile, and kUnsupported for formats
// that cannot be inspected. If `bind` is set, also its errors and those of the import, which are
// otherwise stored in `import_error`.
Result<LoadedModel> Load(const std::string& path, const LoadOptions& options = {});

// The graph, which belongs to the model, or the import error; kUsage if it was not requested.
Result<const Graph*> GraphOf(const LoadedModel& model);

// The constant tensors of a model that was read from `path`, in file order; kUnsupported if the
// format cannot list them. Their `read` refers to the native model.
Result<std::vector<TensorEntry>> TensorsOf(const ReadModel& read, const std::string& path);
Result<std::vector<TensorEntry>> TensorsOf(const LoadedModel& model);

// Types of the named values of the main graph; only there are names unambiguous. They belong to the
// model's graph; empty without one.
std::map<std::string, const Type*, std::less<>> TypesByName(const LoadedModel& model);

// The operators with a name, as indices into ModelSummary::operators; if there are none, those with
// an output of that name.
std::vector<size_t> OperatorsNamed(const ModelSummary& summary, std::string_view name);

}  // namespace nn::inspect

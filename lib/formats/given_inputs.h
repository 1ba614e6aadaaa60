// What is known about the inputs of a run when a model is imported: sizes of dynamic dimensions,
// and ranks or types other than the declared ones, for formats whose runtimes accept them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/common/describe/port_kind.h"
#include "formats/common/known_inputs.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn {

// Shapes by the name of the input.
using InputShapes = std::map<std::string, std::vector<int64_t>>;

struct InputSettings {
  InputShapes shapes = {};
  ListLengths lengths = {};           // KnownInputs::lengths
  std::optional<int64_t> batch = {};  // the size of the symbolic first dimensions (BatchSymbols)
  // The contents of inputs that become constants, by position among those of the graph, which may
  // have no names (NameUnnamed). Types and shapes must fit those of the inputs. Null: none.
  std::function<Result<std::map<size_t, Tensor>>(const Graph&)> constants = nullptr;

  StatePorts states = StatePorts::kNone;

  // Whether neither sizes nor contents are known.
  bool empty() const { return shapes.empty() && !batch && !constants; }
};

// ModelImporter::Import. If there are constants, or if something is unsupported or decided by runs
// and the shapes set symbols in the types of the inputs, imports the model again with what is
// known: it may decide about branches, trip counts and sizes. Shapes that do not fit are ignored.
Result<ImportedModel> ImportWith(const ReadModel& read, const InputSettings& settings,
                                 bool as_float = false);

// The kinds of the inputs, in the order of the graph's, and of the outputs.
PortKinds PortKindsOf(const ReadModel& read);

// ImportGraph() by ImportWith().
Result<Graph> ImportGraph(const ReadModel& read, const std::string& path,
                          const InputSettings& settings);

// ImportWith(); unsupported nodes are an error of kind kUnsupported that lists them all.
Result<ImportedModel> ImportModel(const ReadModel& read, const std::string& path,
                                  const InputSettings& settings);

// ImportGraph() by ModelImporter::ImportWithShapes.
Result<Graph> ImportGraph(const ReadModel& read, const std::string& path,
                          const InputShapes& shapes);

}  // namespace nn

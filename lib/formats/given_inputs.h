// What is known about the inputs of a run when a model is imported: sizes of dynamic dimensions,
// and ranks or types other than the declared ones, for formats whose runtimes accept them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"

namespace nn {

// Shapes by the name of the input.
using InputShapes = std::map<std::string, std::vector<int64_t>>;

// The shapes, and the size of the symbolic first dimensions (BatchSymbols).
struct InputSizes {
  InputShapes shapes = {};
  std::optional<int64_t> batch = {};

  bool empty() const { return shapes.empty() && !batch; }
};

// Format::import, or Format::import_as_float where there is one. If something is unsupported, and
// the sizes set symbols in the types of the inputs, imports the model again with these symbols set:
// they may decide about branches and trip counts. Sizes that do not fit are ignored.
Result<ImportedModel> ImportWithSizes(const ReadModel& read, const InputSizes& sizes,
                                      bool as_float = false);

// ImportGraph() by ImportWithSizes().
Result<Graph> ImportGraph(const ReadModel& read, const std::string& path, const InputSizes& sizes);

// Whether the inputs of a model may be given with more axes than it declares.
bool TakesOtherRanks(const Format& format);

// Whether the format's runtime rounds arrays of other numeric types to the real numbers of the
// inputs, as Core ML's does, which keeps a multi-array of doubles as float32 or float16. The inputs
// of other formats take only arrays of their own type; programs convert others if no value changes.
bool ConvertsInputs(const Format& format);

// ImportGraph() for inputs of these shapes. Shapes that cannot replace the declared ones are
// ignored. Requires TakesOtherRanks() of the format.
Result<Graph> ImportGraph(const ReadModel& read, const std::string& path,
                          const InputShapes& shapes);

}  // namespace nn

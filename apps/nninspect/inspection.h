// What nninspect finds out about a model, and how it is told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/model.h"
#include "base/json.h"
#include "formats/format.h"

namespace nn::app {

struct InspectOptions {
  std::string model;
  ReadLimits limits;
  std::string output = "-";
  std::string format = "text";
  bool nodes = false;
  bool dump = false;
  DumpWeights weights = DumpWeights::kBase64;
  ShapeOptions shapes;
};

// A kind of operator that cannot be imported.
struct Unsupported {
  std::string op;
  std::string reason;
  uint64_t count = 0;
};

// One axis of an input or output whose size the file leaves open.
struct DynamicAxis {
  bool is_output;
  std::string tensor;
  size_t axis;
};

struct Inspection {
  std::string path;
  std::optional<uint64_t> file_bytes;
  ModelSummary summary;
  std::vector<std::pair<std::string, uint64_t>> histogram;  // most frequent first, then by name
  // Of the operators that could be imported, sub-graphs counted once; nullopt: not known.
  std::optional<uint64_t> multiply_adds;
  bool complete = false;           // whether those are all operators
  std::vector<std::string> notes;  // on the multiply-adds
  std::vector<Unsupported> unsupported;
  // By symbol; the empty symbol has the axes without name.
  std::map<std::string, std::vector<DynamicAxis>> dynamic;
};

// Shapes that the options give are used for the multiply-adds and stand in the summary's inputs and
// outputs.
Result<Inspection> Inspect(const InspectOptions& options);

// The number that an entry of TensorSummary::shape is; nullopt for symbols.
std::optional<int64_t> FixedSize(const std::string& size);

std::string InspectionText(const Inspection& inspection, bool nodes);
// As schemas/nninspect.schema.json has it.
Json InspectionJson(const Inspection& inspection, bool nodes);

}  // namespace nn::app

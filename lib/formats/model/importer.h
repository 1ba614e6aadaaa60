// The part of a format that makes graphs of models.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/model/native_model.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "rewrite/legalize.h"

namespace nn {

struct KnownInputs;

// Which values that a run leaves for the next one become inputs and outputs of the graph. The
// others begin each run with their initial values.
enum class StatePorts : uint8_t {
  kNone,
  kResources,  // resource variables, which a model has only for the sake of the next run
  kAll,        // also the states of layers, which applications reset before a sequence
};

// A value that a run leaves for the next one, with its ports in the graph.
struct ModelState {
  std::string name;
  std::string input;   // name of the input with the value before a run
  std::string output;  // name of the output with the value after it
  // Before the first run; nullopt: zeros (the zero point, if the input is quantized).
  std::optional<Tensor> initial;
};

// A graph and the unsupported parts of the file. Each of them has an "opaque" node in the
// graph.
struct ImportedModel {
  Graph graph;
  std::vector<UnsupportedNode> unsupported;
  // Float operators in place of hybrid kernels, which quantize their float inputs in each run:
  // those of ModelImporter::Import `as_float`, and those of blockwise weights.
  int64_t hybrids = 0;
  std::vector<ModelState> states = {};  // that are ports, as StatePorts requires
  // What the import did not take as the file states it, a sentence each.
  std::vector<std::string> notes = {};
};

// The channels of an image, in the order in which the input has them.
enum class ImageColors : uint8_t { kGray, kRgb, kBgr };

// The outputs of a classifier. The label is not an output of the graph.
struct Classes {
  std::string scores;  // name of the output with a score for each class
  std::string label;   // name of the output with the label of the class with the highest score
  Tensor labels;       // of the classes: strings or i64, one axis
};

class ModelImporter {
 public:
  virtual ~ModelImporter() = default;

  // The graph of a model whose inputs are known in part. `as_float`: hybrid kernels, which multiply
  // integer weights by float inputs that they quantize in each run, become float operators on
  // dequantized weights.
  virtual Result<ImportedModel> Import(const NativeModel& model, const KnownInputs& known,
                                       bool as_float) const = 0;
  // With nothing known.
  Result<ImportedModel> Import(const NativeModel& model) const;

  // Whether inputs may have other ranks than the declared ones.
  virtual bool TakesOtherRanks() const { return false; }
  // The graph for inputs of these shapes, by name. Shapes that cannot replace the declared ones are
  // ignored, and so are all of them unless the format takes other ranks.
  virtual Result<ImportedModel> ImportWithShapes(
      const NativeModel& model, const std::map<std::string, std::vector<int64_t>>& shapes) const;

  // Whether the format's runtime rounds arrays of other numeric types to the real numbers of the
  // inputs, as Core ML's does, which keeps a multi-array of doubles as float32 or float16. The
  // inputs of other formats take only arrays of their own type; programs convert others if no value
  // changes.
  virtual bool RoundsInputs() const { return false; }
  // The colors of an input [1, C, H, W] of an imported graph; nullopt if the model does not declare
  // it as an image.
  virtual std::optional<ImageColors> ImageColorsOf(const Graph& graph,
                                                   const std::string& input) const;
  // The classes of an imported graph; nullopt if it is not a classifier.
  virtual std::optional<Classes> ClassesOf(const Graph& graph) const;
};

}  // namespace nn

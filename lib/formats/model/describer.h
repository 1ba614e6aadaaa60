// The part of a format that tells what is in a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/common/describe/value_type.h"
#include "formats/model/native_model.h"
#include "ir/tensor.h"
#include "ir/types/type.h"
#include "nnsuite/options.h"
#include "nnsuite/summary.h"

namespace nn {

class DumpWriter;
struct Holding;
struct MicroModel;
struct PortKinds;

using nnsuite::DumpOptions;
using nnsuite::DumpWeights;
using nnsuite::ModelSummary;
using nnsuite::OperatorSummary;
using nnsuite::TensorSummary;

// How the elements that a tensor stores represent real numbers: scale * (stored - zero point) +
// bias, or table[stored].
struct StoredQuantization {
  std::vector<float> scales;         // one; or one for each index of `axis`, or for each block
  std::vector<int64_t> zero_points;  // empty: zero; else one, or as many as scales
  std::vector<float> biases;         // the same
  std::vector<float> table;          // without scales
  int64_t axis = -1;                 // of several scales; -1: unknown
  int64_t block = 0;                 // consecutive elements with one scale; 0: no blocks
  bool operator==(const StoredQuantization&) const = default;
};

// A constant tensor in a file: an initializer, a buffer, the weights of a layer, or a tensor
// attribute of an operator.
struct TensorEntry {
  std::string name;
  std::string scope;           // as in OperatorSummary
  std::string type;            // the format's own name
  std::vector<int64_t> shape;  // as stored, valid or not
  uint64_t bytes = 0;          // stored size
  bool external = false;       // stored in another file
  std::string location;        // "w.bin at 4096", "buffer 12"; may be empty
  // The operators that use it, as ascending indices into ModelSummary::operators.
  std::vector<size_t> users;
  bool is_attribute = false;  // of its only user
  // Reads the contents: dense, and as real numbers if the format stores them packed. No contents
  // are read before this call. The model must outlive the entry.
  std::function<Result<Tensor>()> read;
  // Null if the file does not say that the tensor is quantized. Reads the scales if they are
  // tensors of their own; kUnsupported if a run computes them.
  std::function<Result<StoredQuantization>()> quantization = nullptr;
};

// The names of a model's inputs and outputs, in the order of the imported graph's.
struct PortNames {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  bool operator==(const PortNames&) const = default;
};

// An error in the types of a model's values.
struct TypeDefect {
  enum class Kind : uint8_t {
    kInference,    // an operator does not accept its inputs
    kElementType,  // a declared element type or kind differs from the inferred one
    kShape,        // a declared shape differs from the inferred one
  };
  Kind kind = Kind::kInference;
  std::string element;  // path to the operator or its output: "graph.node[3].output[0]"
  int64_t index = -1;   // of the operator
  std::string message;
};

class ModelDescriber {
 public:
  virtual ~ModelDescriber() = default;

  virtual Result<ModelSummary> Summarize(const NativeModel& model) const = 0;
  // The same without truncating lists and texts of attributes.
  virtual Result<ModelSummary> SummarizeInFull(const NativeModel& model) const;
  // All that the file holds beside its graph (formats/holdings.h).
  virtual std::vector<Holding> HoldingsOf(const NativeModel& model) const = 0;
  // All constant tensors in file order. Errors in a tensor are returned by TensorEntry::read.
  virtual Result<std::vector<TensorEntry>> TensorsOf(const NativeModel& model) const = 0;
  // Writes the complete model as one JSON value, with the names of the format's schema.
  // kUnsupported, with a name, for contents that the schema cannot describe.
  virtual Status Dump(const NativeModel& model, DumpWriter& out) const = 0;

  // The names that ModelEditor::Rename changes; unnamed inputs and outputs have names by position.
  // kModel if the file lists inputs or outputs that it does not have.
  virtual Result<PortNames> PortNamesOf(const NativeModel& model) const = 0;
  // The kinds of the inputs and outputs, in the order of PortNamesOf: all are tensors.
  virtual PortKinds PortKindsOf(const NativeModel& model) const;

  // Whether the format has an inference of types of its own; otherwise the types are those of the
  // imported graph, and the functions below find nothing.
  virtual bool InfersTypes() const { return false; }
  // Infers the types of all values, subgraphs included, and continues after errors. Types that
  // cannot be inferred are not defects. Does not read large constants.
  virtual std::vector<TypeDefect> CheckTypes(const NativeModel& model) const;
  // The values of the main graph, and of subgraphs below operators, with their types as inferred,
  // refined by those that the file declares. `inputs` are types that replace the declared ones of
  // inputs.
  virtual std::vector<ValueEntry> ValuesOf(
      const NativeModel& model, const std::map<std::string, Type, std::less<>>& inputs) const;

  // What an interpreter for microcontrollers needs (formats/common/describe/micro.h); nullopt if
  // the format has none. kUnsupported for models that it cannot plan.
  virtual std::optional<Result<MicroModel>> MicroModelOf(const NativeModel& model) const;
};

}  // namespace nn

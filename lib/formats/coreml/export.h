// From the graph to Core ML. Operators that are one-to-one (OpDef::formats) need nothing here;
// every other operator has a row in export_<family>.cc.
//
// What is written has exact shapes (EXACT_ARRAY_MAPPING), so specification version 4 at least.
// Whole numbers and conditions are written as the float32 numbers that stand for them in Core ML.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/name_table.h"
#include "base/status.h"
#include "formats/coreml/fields.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::coreml {

// The largest rank of an array.
inline constexpr int kMaxRank = 5;

class ExportContext {
 public:
  explicit ExportContext(Writer network) : network_(network) {}

  // The lowest specification version that has all that was written.
  int64_t version() const { return version_; }
  void RequireVersion(int64_t version) { version_ = std::max(version_, version); }

  // The blob of a value. Constants become layers when first named.
  std::string NameOf(const Value* value);
  // Fixes a value's name before any other is chosen; false if the value has one already.
  bool Claim(const Value* value, const std::string& name);
  // Keeps a name from being chosen for a value.
  void Reserve(const std::string& name) { used_.Claim(name); }
  std::string NewName(std::string_view hint);
  // Makes the value another name of `same`, unless it is an output that has its own.
  void Alias(const Node& source, const Value* value, const Value* same);

  // Adds a layer and returns the message with its parameters. It takes its name from `source`.
  Writer AddLayer(const Node& source, std::string_view kind, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs);
  // The layer with the inputs and outputs of ours, or with the first `inputs` of them: the others
  // are weights.
  Writer AddLayer(const Node& source, std::string_view kind, size_t inputs = SIZE_MAX);
  // A layer of one input and one output that states their ranks.
  Writer AddRankedLayer(const Node& source, std::string_view kind);
  // A layer beside the one that bears our node's name.
  Writer AddHelper(std::string_view kind, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs);

 private:
  // The layer itself, still without parameters.
  Writer NewLayer(const Node& source, std::string_view kind, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs);

  Writer network_;
  int64_t version_ = 4;
  std::unordered_map<const Value*, std::string> names_;
  NameTable used_;
  std::unordered_set<std::string> layers_;
};

// Which element types an operator may have on its inputs and outputs.
enum class Types : uint8_t {
  kFloat,  // f32 alone
  kAny,    // and whole numbers and conditions: it moves elements, or takes indices
};

struct ExportRow {
  std::string_view op;
  Status (*write)(ExportContext&, const Node&) = nullptr;  // null: its one-to-one encoding
  // Why a node cannot be written; null: every node can.
  std::optional<std::string> (*why_not)(const Node&) = nullptr;
  Types types = Types::kFloat;
};

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// One function a family.
void AddConvExports(std::vector<ExportRow>& rows);
void AddElementwiseExports(std::vector<ExportRow>& rows);
void AddGatherExports(std::vector<ExportRow>& rows);
void AddMatmulExports(std::vector<ExportRow>& rows);
void AddNormExports(std::vector<ExportRow>& rows);
void AddPoolExports(std::vector<ExportRow>& rows);
void AddReduceExports(std::vector<ExportRow>& rows);
void AddResizeExports(std::vector<ExportRow>& rows);
void AddShapeExports(std::vector<ExportRow>& rows);
void AddSliceExports(std::vector<ExportRow>& rows);

// Whether input i holds a constant; what it holds.
inline const Tensor* ConstantOf(const Node& node, size_t i) {
  const Value* v = node.input(i);
  return v != nullptr && v->is_constant() ? &v->constant() : nullptr;
}

const Target& CoremlTarget();
Result<FileImage> Write(const Graph& graph, const ExportOptions& options);

}  // namespace nn::coreml

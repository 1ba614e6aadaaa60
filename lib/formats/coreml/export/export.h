// Export to Core ML. One-to-one operators (OpDef::formats) need no code here; every other operator
// has a row in ops/<family>.cc.
//
// Models have exact shapes (EXACT_ARRAY_MAPPING), so specification version 4 or later. Integers and
// booleans are written as float32, as Core ML represents them.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/common/named_export.h"
#include "formats/coreml/file/fields.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::coreml {

// The names are those of blobs. One blob has several values if a loop carries it. On trial
// (layer_fit.h), layers are written without the networks in them.
class ExportContext final : public NamedExport {
 public:
  explicit ExportContext(Writer network, Mode mode = Mode::kFile)
      : NamedExport(mode, /*utf8=*/true), network_(network) {}

  // Constants become layers.
  std::string NameOf(const Value* value) override;
  // The rank of the blob of that name; scalar constants have rank 1. -1 if no value has the name.
  int RankOf(const std::string& name) const;
  // Makes the value an alias of `same`, unless it is an output with its own name.
  void Alias(const Node& source, const Value* value, const Value* same);

  // Adds a layer and returns the message with its parameters. Its name derives from `source`.
  Writer AddLayer(const Node& source, std::string_view kind, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs);
  // A layer with the inputs and outputs of the node, or only its first `inputs` inputs, if the
  // others are weights.
  Writer AddLayer(const Node& source, std::string_view kind, size_t inputs = SIZE_MAX);
  // A layer with one input and one output, with their ranks.
  Writer AddRankedLayer(const Node& source, std::string_view kind);
  // A vector with the elements of a vector at these places, and 0 for places of -1.
  std::string Arrange(const std::string& vector, std::span<const int64_t> places);
  // Adds layers to another network, until the next call. Returns the one before.
  Writer Enter(Writer network) { return std::exchange(network_, network); }
  // A helper layer with constant numbers of float32.
  void AddConstant(const Tensor& floats, const std::string& name);
  // A helper layer; the main layer gets the node's name.
  Writer AddHelper(std::string_view kind, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs);

 private:
  // A vector of constant integers.
  std::string AddNumbers(std::span<const int64_t> numbers);
  // The layer itself, without parameters.
  Writer NewLayer(const Node& source, std::string_view kind, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs);

  Writer network_;
  std::unordered_set<std::string> layers_;
};

// Which element types an operator may have on its inputs and outputs.
enum class Types : uint8_t {
  kFloat,  // f32 alone
  kAny,    // also integers and booleans: it moves elements, or takes indices
};

struct ExportRow {
  std::string_view op;
  Status (*write)(ExportContext&, const Node&) = nullptr;  // null: its one-to-one encoding
  // Why a node cannot be written; null: every node can.
  std::optional<std::string> (*why_not)(const Node&) = nullptr;
  Types types = Types::kFloat;
};

// Why Core ML has no blobs for the values of a node, whatever its operator is; nullopt if it does.
std::optional<std::string> WhyNotValues(const Node& node, Types types);

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// Writes a node as layers.
Status WriteNode(ExportContext& ctx, const Node& node);

// hasBias and bias, from input 2 of a convolution or matrix product.
void WriteBias(Writer params, const Node& node);

// The constant in input i; null if it is not constant.
inline const Tensor* ConstantOf(const Node& node, size_t i) {
  const Value* v = node.input(i);
  return v != nullptr && v->is_constant() ? &v->constant() : nullptr;
}

// Why a bernoulli does not have the single probability of layers and operations.
std::optional<std::string> WhyNotOneProbability(const Node& bernoulli);

const Target& CoremlTarget();

// Writes a graph that is legal for it.
Result<FileImage> WriteNetwork(const Graph& graph, const ExportOptions& options);

}  // namespace nn::coreml

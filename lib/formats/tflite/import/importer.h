// The import of a subgraph: tensors, the order of operators, and calls of other subgraphs. What
// becomes of an operator is in import.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/common/contradicted.h"
#include "formats/common/control_flow.h"
#include "formats/common/known_inputs.h"
#include "formats/format.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/import/import.h"
#include "ir/graph.h"
#include "passes/facts/known_values.h"

namespace nn::tflite {

// What the import of a subgraph shares with those of the subgraphs that it calls.
struct ImportState {
  bool hybrid_as_float = false;
  KnownInputs known_inputs = {};
  ImportedModel result = {};
  UnrollBudget inlined = {};
  KnownValues known = {};
  // Constants of called subgraphs, which all calls share, by subgraph and tensor.
  std::map<std::pair<const fb::SubGraph*, int64_t>, Value*> constants = {};
  int loops = 0;  // that are being unrolled
  Variables variables{known_inputs.states};
  std::set<int64_t> initialized = {};  // the subgraphs that CALL_ONCE has run
  ContradictedTypes contradicted = {};
};

// Imports an operator without subgraphs. kUnsupported if no function applies.
Status ImportOp(ImportContext& ctx);

// Whether the operator becomes those of its subgraphs: IF, WHILE and the like.
bool CallsSubgraphs(fb::BuiltinOperator op);

class Importer {
 public:
  // `called`: the subgraph's index, if another one calls it.
  Importer(const Model& model, const fb::SubGraph& subgraph, ImportState& state, int depth = 0,
           std::optional<int64_t> called = std::nullopt)
      : model_(model), sub_(subgraph), state_(state), depth_(depth), called_(called) {}

  Status Run();

  // Adds the operators of the subgraph to the graph of the caller and returns its outputs.
  // `dynamic`: whether an input of the model has an unknown size.
  Result<std::vector<Value*>> Inline(std::span<Value* const> inputs, bool dynamic);

 private:
  Status ImportOperators();
  void CountUses();
  // Whether input i of an operator is a state.
  Result<bool> IsState(const fb::OperatorCode& code, size_t i, int64_t index) const;
  // Whether a state has zeros before its only use in a run.
  bool IsZeroState(int64_t index) const;
  Result<Value*> ReadState(int64_t index);
  // Stores the states after an operator.
  Status KeepStates(const ImportContext& ctx);
  // Whether input i of an operator has blockwise quantization, which the operator reads itself.
  Result<bool> IsBlockwiseInput(const fb::OperatorCode& code, size_t i, int64_t index) const;
  void ReadMetadata();
  // Records the names of the graph's inputs or outputs in a signature, by position.
  void ReadSignature(const flatbuffers::Vector<flatbuffers::Offset<fb::TensorMap>>* map,
                     const flatbuffers::Vector<int32_t>* tensors, const std::string& prefix);
  Result<const fb::Tensor*> TensorAt(int64_t index) const;
  Result<Type> TypeOf(const fb::Tensor& tensor, int64_t index) const;
  Status ReadInputs();
  Status ReadOutputs();
  Result<std::vector<int64_t>> OperatorOrder() const;
  // The value of a tensor; constants are read on first use.
  Result<Value*> ValueOf(int64_t index);
  Result<Value*> ReadConstant(const fb::Tensor& tensor, int64_t index);

  Status ImportOperator(const fb::Operator& op, int64_t index);
  Status ImportWithCode(const fb::Operator& op, const fb::OperatorCode& code, int64_t index);
  // Source::place of an operator.
  std::string PlaceOf(int64_t index) const;
  Status CheckPassedOn(const ImportContext& ctx) const;
  Status Declare(Value* v, int64_t index, Type declared);
  Status MakeOpaque(ImportContext& ctx, std::string reason);

  // Operators that call subgraphs (import_control.cc). What they add to the graph goes again if
  // they fail.
  Status ImportControl(ImportContext& ctx);
  Status ImportComposite(ImportContext& ctx);
  Status ImportCallOnce(ImportContext& ctx);
  Status ImportIf(ImportContext& ctx);
  Status ImportCase(ImportContext& ctx);
  Status ImportWhile(ImportContext& ctx);
  struct WhileSubgraphs;
  static Result<WhileSubgraphs> SubgraphsOfWhile(const ImportContext& ctx);
  // A branch and a loop that a run decides about, for the reason `why`.
  Status ImportOpenIf(ImportContext& ctx, int64_t yes, int64_t no, std::string why);
  Status ImportOpenWhile(ImportContext& ctx, const WhileSubgraphs& subgraphs, std::string why);
  // InlineSubgraph() for a region: nothing in it may be unsupported.
  Result<std::vector<Value*>> RunRegion(int64_t index, std::span<Value* const> inputs,
                                        size_t outputs);
  Status RequireUnchanged(const std::vector<Value*>& before, std::string_view why) const;
  Status SelectVariables(ImportContext& ctx, Value* condition, const std::vector<Value*>& before,
                         const std::vector<Value*>& yes, std::string_view why);
  // The results of a subgraph for these inputs, as operators of the graph.
  Result<std::vector<Value*>> InlineSubgraph(int64_t index, std::span<Value* const> inputs,
                                             size_t outputs);
  Result<Value*> Choose(ImportContext& ctx, Value* condition, Value* taken, Value* other,
                        std::string_view why);

  const Model& model_;
  const fb::SubGraph& sub_;
  ImportState& state_;
  int depth_;
  std::optional<int64_t> called_;
  Graph& graph_ = state_.result.graph;
  std::vector<UnsupportedNode>& unsupported_ = state_.result.unsupported;
  std::vector<Value*> values_;  // by tensor
  std::vector<int64_t> uses_;   // by tensor: as an input of an operator
  bool dynamic_ = false;        // an input has an unknown size
};

}  // namespace nn::tflite

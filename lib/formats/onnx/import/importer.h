// The import of a model's graph: names, function calls and control flow. What becomes of an
// operator is in import.h.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/text/name_map.h"
#include "formats/common/contradicted.h"
#include "formats/common/control_flow.h"
#include "formats/common/known_inputs.h"
#include "formats/format.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/import/import.h"
#include "formats/onnx/onnx.h"
#include "ir/graph.h"
#include "passes/facts/known_values.h"

namespace nn::onnx {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;

// What all imports of a subgraph share: the iterations of a loop, the calls of a function.
struct Subgraph {
  std::vector<const pb::ValueInfoProto*> inputs;  // those without an initializer
  NameMap<Value*> initializers;
  // Without dimensions unless all are constant: symbols may differ between iterations.
  NameMap<Type> declared;
  std::unordered_set<std::string_view> results;
};

// The names in the graph, in the body of a function, or in one import of a subgraph. They are those
// of the model.
struct Scope {
  const Nodes* nodes = nullptr;  // that are imported
  NameMap<Value*> values;        // null: an input omitted by the call
  NameMap<Type> declared;
  std::map<std::string, int64_t, std::less<>> opsets;  // by domain, cached
  // In a subgraph, and in an import of nodes for Gradient:
  const Scope* outer = nullptr;  // whose names it sees unless it has its own
  // In a subgraph:
  const Subgraph* subgraph = nullptr;
  // In a function, and in its subgraphs:
  const pb::FunctionProto* function = nullptr;
  std::unordered_set<std::string_view> results;  // not of subgraphs
  AttrBindings attrs;
  // In a function or subgraph:
  int64_t call = -1;      // index of the operator in the graph
  std::string place;      // of the operators, if it is that of the call (PlaceOf())
  std::string within;     // the subgraph, "body of Loop 3"
  std::string prefix;     // of the names of values and nodes
  bool unrolled = false;  // in a loop: values that no run changes become constants

  // Null if the name is not defined.
  Value* const* Find(std::string_view name) const;
  // Null if there is no declaration.
  const Type* Declaration(std::string_view name) const;
  // Whether the value is a result of the function or subgraph: it is named after that of the call.
  bool IsResult(std::string_view name) const;
};

// Source::place of operator `index` of the scope.
std::string PlaceOf(const Scope& scope, int index);

// Whether the operator refers to subgraphs or names that the importer resolves: If, Loop, Scan,
// SequenceMap, FlexAttention of ai.onnx.preview and Gradient of ai.onnx.preview.training.
bool IsControlFlow(std::string_view domain, std::string_view op);

// The names that a node needs, those captured by subgraphs and those in Gradient's attributes
// included.
std::vector<std::string_view> NeededBy(const pb::NodeProto& node);
// Positions of the nodes such that each comes after those whose results it needs: ascending, if
// they are sorted. kModel for a cycle.
Result<std::vector<int>> SortedOrder(const Nodes& nodes);

class Importer {
 public:
  explicit Importer(const Model& model, KnownInputs known = {})
      : model_(model), known_inputs_(std::move(known)) {}

  Result<ImportedModel> Run();

 private:
  // ReadType() with the known sizes.
  Type TypeOf(const pb::ValueInfoProto& info, const std::string& prefix = {}) const;
  void ReadMetadata();
  void RemoveSequences();
  void ReadFunctions();
  Status ReadInitializers(const pb::GraphProto& g, Scope& scope);
  Status ReadInputs(const pb::GraphProto& g);
  // An input that is a sequence or an optional; its elements follow the graph's inputs up to
  // `position`.
  Result<Value*> ReadListInput(const pb::ValueInfoProto& info, size_t& position);
  // An input that is a map: the graph's inputs are vectors of its keys and of its values.
  Result<Value*> ReadMapInput(const pb::ValueInfoProto& info, size_t& position);
  void AddOutput(const std::string& name, Value* value);

  Status ImportNodes(const Nodes& nodes, Scope& scope);
  Status ImportNode(const pb::NodeProto& node, int index, Scope& scope);
  // The order in which all values are defined before their use.
  Result<const std::vector<int>*> NodeOrder(const Nodes& nodes);
  int64_t OpsetOf(std::string_view domain, Scope& scope) const;
  Status Declare(Value* v, const std::string& name, Scope& scope);
  Status MakeOpaque(ImportContext& ctx, std::string reason, Scope& scope);

  const pb::FunctionProto* FindFunction(const pb::NodeProto& node) const;
  // Counts operators of functions; kLimit if they are too many or nested too deeply.
  Status TakeInlined(int64_t operators);
  Status Inline(ImportContext& ctx, const pb::FunctionProto& f, const Scope& caller, int index);
  // As the function of dynamic_lstm.h.
  Status ImportDynamicLstm(ImportContext& ctx, const Scope& scope, int index);
  // Whether the scope is that of such a function.
  bool IsBuilt(const Scope& scope) const;

  // A subgraph of a node that is imported in place of the node.
  struct Body {
    std::string_view attribute;
    const pb::GraphProto& graph;
    const Subgraph& shared;
    const Scope& outer;
    int64_t call;        // Scope::call
    std::string within;  // Scope::within
    std::string prefix;  // Scope::prefix
    bool unrolled;
  };

  // If, Loop, Scan and SequenceMap (import_control.cc). What they add to the graph goes again if
  // they fail.
  Status ImportControl(ImportContext& ctx, const Scope& scope, int index);
  Result<Value*> Selected(ImportContext& ctx, Value* condition, Value* a, Value* b);
  Status ImportIf(ImportContext& ctx, const Scope& scope, int index);
  Status ImportLoop(ImportContext& ctx, const Scope& scope, int index);
  // RunBody() for a region: nothing in it may be unsupported, and its results are tensors.
  Result<std::vector<Value*>> RunRegion(const Body& body, std::span<Value* const> inputs);
  // A loop whose end a run decides about, for the reason `why`.
  Status ImportOpenLoop(ImportContext& ctx, Body body, std::span<Value* const> values,
                        std::string why);
  // The same for a branch, whose results differ too much to select from them.
  Status ImportOpenBranch(ImportContext& ctx, const Body& yes, const Body& no, Value* condition,
                          std::string why);
  Status ImportScan(ImportContext& ctx, const Scope& scope, int index);
  Status ImportSequenceMap(ImportContext& ctx, const Scope& scope, int index);
  Status ImportScan8(ImportContext& ctx, const Scope& scope, int index);
  // import_flex.cc
  Status ImportFlexAttention(ImportContext& ctx, const Scope& scope, int index);
  // The result of the subgraph `attribute` of FlexAttention for a value; the value if it is absent.
  Result<Value*> Modified(ImportContext& ctx, const Scope& scope, int index,
                          std::string_view attribute, const Term& v);

  // import_gradient.cc
  Status ImportGradient(ImportContext& ctx, const Scope& scope, int index);
  // Imports again the nodes before Gradient between the values of `scope` and y, which it returns.
  Result<Value*> RunBetween(const pb::NodeProto& gradient, Scope& scope, const std::string& y);

  Result<const Subgraph*> SharedOf(const pb::GraphProto& g);
  // The subgraph, if it has so many inputs and at least so many outputs.
  Result<Body> BodyOf(const ImportContext& ctx, const Scope& scope, int index,
                      std::string_view attribute, size_t inputs, size_t least_outputs);
  // Its results for these inputs.
  Result<std::vector<Value*>> RunBody(const Body& body, std::span<Value* const> inputs,
                                      const std::string& step = {});
  // The same in a loop: what is unsupported in an iteration is not reported again by the next ones.
  Result<std::vector<Value*>> RunIteration(const Body& body, std::span<Value* const> inputs,
                                           int64_t iteration);
  // A number for input i of a body, with the shape that is declared for it.
  Result<Value*> NumberInput(const Body& body, size_t i, DType dtype, int64_t v);
  // The scan outputs, the results from `first` on, of a loop without iterations. An iteration with
  // these inputs, which is removed again, determines their types.
  Result<std::vector<Value*>> EmptyStacks(const Body& body, std::span<Value* const> inputs,
                                          size_t first);
  struct ScanAxes;
  Result<std::vector<Value*>> RunScan(ImportContext& ctx, const Body& body,
                                      std::vector<Value*> states, std::span<Value* const> scanned,
                                      int64_t length, const ScanAxes& axes);

  const Model& model_;
  KnownInputs known_inputs_;
  Graph graph_;
  std::set<std::string> input_symbols_;  // InputSymbols(); empty until they are needed
  Scope main_;
  std::map<std::tuple<std::string, std::string, std::string>, const pb::FunctionProto*> functions_;
  std::vector<const pb::FunctionProto*> calls_;  // active calls, outermost first
  std::deque<pb::FunctionProto> built_;          // of operators that are imported as functions
  int64_t inlined_ = 0;
  size_t depth_ = 0;  // of calls and subgraphs
  std::unordered_map<const Nodes*, std::vector<int>> orders_;
  std::unordered_map<const pb::GraphProto*, Subgraph> subgraphs_;
  std::unordered_map<const pb::NodeProto*, Value*> constants_;  // Constant nodes in loops
  UnrollBudget unrolled_;
  KnownValues known_;
  std::vector<UnsupportedNode> unsupported_;
  ContradictedTypes contradicted_;
};

// Limit of ONNX: nested function calls and subgraphs.
inline constexpr size_t kMaxCallDepth = 64;

// The maximum size of Scope::prefix, because each value has a copy.
inline constexpr size_t kMaxPrefix = 256;

// Scope::prefix of a function or subgraph that the node calls.
std::string PrefixOf(const Scope& caller, const pb::NodeProto& node, std::string_view callee);

// The kind of an input or output.
PortKind PortKindOf(const pb::TypeProto& type);

// The kind of a value without a graph type; null for tensors.
const char* KindOf(const pb::TypeProto& type);

}  // namespace nn::onnx

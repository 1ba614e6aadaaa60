// The rule context of ONNX models: the model, flattened. Pointers are into the model, which must
// outlive the context.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/text/name_map.h"
#include "formats/onnx/file/native.h"
#include "formats/onnx/spec/schema.h"
#include "validators/rule.h"

namespace nn::onnx {

// Opset versions by domain, as the model spells it. Of two entries for a domain, the last one
// counts.
using OpsetMap = std::map<std::string, int64_t, std::less<>>;

// "ai.onnx" is an alias of the default domain "".
std::string_view PlainDomain(std::string_view domain);

// The version of a domain, under whichever of its names the map has it; nullopt if it has none.
std::optional<int64_t> FindOpset(const OpsetMap& opsets, std::string_view domain);

// A list of nodes: a graph, a subgraph or the body of a function.
struct Body {
  enum class Kind : uint8_t { kMain, kSubGraph, kFunction, kTraining };
  Kind kind = Kind::kMain;
  const pb::GraphProto* graph = nullptr;        // unless kFunction
  const pb::FunctionProto* function = nullptr;  // the one that it is, or is in
  const Body* outer = nullptr;                  // the enclosing body, whose names are visible here
  int owner = -1;    // index in RuleContext::nodes of the node that has it
  std::string path;  // "graph", "graph.node[3].attribute[0].g"
  const OpsetMap* opsets = nullptr;
  int first_node =
      0;  // in RuleContext::nodes; the nodes of inner bodies come after those of this one
  int node_count = 0;
  // The names that the body defines, as indices in RuleContext::values.
  NameMap<int> defined;
};

// A name that a body defines. Names are looked up once, when the context is built; what rules know
// of values is in vectors by their indices, because a table of a million names takes more memory
// and time than the model.
struct ValueAt {
  const Body* body = nullptr;
  int position = -1;  // -1 for inputs and initializers, else the first node that writes the name
};

struct NodeAt {
  const pb::NodeProto* node = nullptr;
  const Body* body = nullptr;
  int index = 0;                                // in its body
  int first_operand = 0;                        // in RuleContext::operands_
  bool imported = false;                        // whether its domain is
  int64_t opset = 0;                            // version of its domain; 0: not imported
  const Schema* standard = nullptr;             // of the standard operator with that name
  const Schema* schema = nullptr;               // `standard`, unless a function replaces it
  const pb::FunctionProto* function = nullptr;  // of the model, if the node calls one
};

struct AttributeAt {
  const pb::AttributeProto* attribute = nullptr;
  int node = 0;  // in RuleContext::nodes
  int index = 0;
};

// The place of a tensor or sparse tensor; kept in parts, as there can be millions.
struct DataPlace {
  const Body* body = nullptr;
  int node = -1;           // in RuleContext::nodes; -1: an initializer
  int attribute = -1;      // of the node
  std::string_view field;  // "initializer", "t", "sparse_tensors"
  int index = -1;          // in a repeated field
};

struct TensorAt {
  const pb::TensorProto* tensor = nullptr;
  DataPlace place;
  std::string_view part;  // "values" or "indices" of a sparse tensor
  int value = -1;         // of a dense initializer: in RuleContext::values
};

struct SparseAt {
  const pb::SparseTensorProto* tensor = nullptr;
  DataPlace place;
};

class TypeFlow;

// The part of a model that is checked.
enum class Reach : uint8_t {
  kAll,
  kChecker,  // what onnx.checker checks: no training information; functions from IR version 8 on
};

class RuleContext {
 public:
  explicit RuleContext(const Model& model, Reach reach = Reach::kAll);

  const Model& native() const { return model_; }
  const pb::ModelProto& proto() const { return model_.proto; }
  int64_t ir_version() const { return model_.proto.ir_version(); }
  // True if there are functions that are checked.
  bool HasFunctions() const { return proto().functions_size() > 0 && functions_seen_; }

  // In the order of the file, the main graph first; outer bodies before inner ones.
  const std::vector<std::unique_ptr<Body>>& bodies() const { return bodies_; }
  const std::vector<NodeAt>& nodes() const { return nodes_; }
  const std::vector<ValueAt>& values() const { return values_; }
  const std::vector<AttributeAt>& attributes() const { return attributes_; }
  const std::vector<TensorAt>& tensors() const { return tensors_; }
  const std::vector<SparseAt>& sparse_tensors() const { return sparse_; }
  std::span<const NodeAt> NodesOf(const Body& body) const {
    return std::span(nodes_).subspan(static_cast<size_t>(body.first_node),
                                     static_cast<size_t>(body.node_count));
  }

  // The value that a node reads or writes, in the innermost body that defines its name; -1 if the
  // name is empty or not defined.
  int InputOf(const NodeAt& node, int i) const {
    return operands_[static_cast<size_t>(node.first_operand) + static_cast<size_t>(i)];
  }
  int OutputOf(const NodeAt& node, int i) const {
    return InputOf(node, node.node->input_size() + i);
  }
  // The value of a name that the body itself defines; -1 if it does not.
  static int ValueOf(const Body& body, std::string_view name) {
    const auto found = body.defined.find(name);
    return found != body.defined.end() ? found->second : -1;
  }

  // True if an enclosing body defines the name before the node that has this body.
  bool DefinedOutside(const Body& body, std::string_view name) const;
  // True if input `i` of the node, which has a name, has a value when the node runs.
  bool DefinedBefore(const NodeAt& node, int i) const;

  Location Where(const NodeAt& node, std::string_view field = {}) const;
  Location Where(const AttributeAt& attribute, std::string_view field = {}) const;
  Location Where(const DataPlace& place, std::string_view field = {}) const;
  Location Where(const TensorAt& tensor, std::string_view field = {}) const;

  // True if the field has a value, in the message or as a separate payload.
  bool Has(const google::protobuf::Message& message, int field) const;
  // Element types along the graph (types.h), computed on first use.
  const TypeFlow& type_flow() const;
  // The type errors that inference finds (Format::check_types), computed on first use.
  const std::vector<TypeDefect>& type_defects() const;
  // Elements of a repeated field or bytes of a bytes field, in the message or as a payload.
  uint64_t SizeOf(const google::protobuf::Message& message, int field) const;

 private:
  void AddOpsets();
  void AddTraining();
  void AddFunctions();
  void AddBody(std::unique_ptr<Body> body,
               const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes);
  int Define(Body& body, std::string_view name, int position);
  void AddGraphData(Body& body);
  void AddOperands(NodeAt& node);
  void AddNodeParts(int node);
  void AddSubGraph(const pb::GraphProto& graph, int owner, std::string path);
  void AddSparse(const pb::SparseTensorProto& tensor, const DataPlace& place);

  const Model& model_;
  const bool functions_seen_;
  OpsetMap opsets_;
  std::vector<std::unique_ptr<OpsetMap>> function_opsets_;
  // By domain, name and overload.
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>,
           const pb::FunctionProto*>
      functions_;
  std::vector<std::unique_ptr<Body>> bodies_;
  std::vector<NodeAt> nodes_;
  std::vector<ValueAt> values_;
  std::vector<int> operands_;  // of each node, inputs first; in values_
  std::vector<AttributeAt> attributes_;
  std::vector<TensorAt> tensors_;
  std::vector<SparseAt> sparse_;
  mutable std::shared_ptr<const TypeFlow> type_flow_;
  mutable std::optional<std::vector<TypeDefect>> type_defects_;  // computed on first use
};

// "node 3 (Conv \"name\")", for messages.
std::string Title(const NodeAt& node);

// The attribute; null if there is none, or if it references an attribute of the function.
const pb::AttributeProto* FindAttribute(const NodeAt& node, std::string_view name);

// True if the node is of that operator of ai.onnx, in a version that the model imports.
bool IsOf(const NodeAt& node, std::string_view op);

}  // namespace nn::onnx

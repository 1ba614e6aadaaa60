// What ONNX rules look at: the model, flattened. Pointers are into the model, which outlives the
// subject.
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

#include "formats/onnx/native.h"
#include "validators/onnx/schema.h"
#include "validators/rule.h"

namespace nn::onnx {

// Versions by domain, as the model spells it. Of two entries for a domain the last one counts.
using OpsetMap = std::map<std::string, int64_t, std::less<>>;

// "ai.onnx" is the long name of the domain "".
std::string_view PlainDomain(std::string_view domain);

// The version of a domain, whichever of its names the map has; nullopt if it has none.
std::optional<int64_t> FindOpset(const OpsetMap& opsets, std::string_view domain);

// A list of nodes: a graph, a sub-graph or the body of a function.
struct Body {
  enum class Kind : uint8_t { kMain, kSubGraph, kFunction, kTraining };
  Kind kind = Kind::kMain;
  const pb::GraphProto* graph = nullptr;        // unless kFunction
  const pb::FunctionProto* function = nullptr;  // the one it is, or stands in
  const Body* outer = nullptr;                  // whose names are visible here
  int owner = -1;                               // Subject::nodes index of the node that has it
  std::string path;                             // "graph", "graph.node[3].attribute[0].g"
  const OpsetMap* opsets = nullptr;
  int first_node = 0;  // in Subject::nodes; nodes of bodies inside stand behind those of this one
  int node_count = 0;
  // What the body defines: -1 for inputs and initialisers, else the index of the node that does so
  // first.
  std::unordered_map<std::string_view, int> defined;
};

struct NodeAt {
  const pb::NodeProto* node = nullptr;
  const Body* body = nullptr;
  int index = 0;                                // in its body
  bool imported = false;                        // its domain is
  int64_t opset = 0;                            // version of its domain; 0: not imported
  const Schema* standard = nullptr;             // of the standard operator of that name
  const Schema* schema = nullptr;               // `standard`, unless a function stands in for it
  const pb::FunctionProto* function = nullptr;  // of the model, that it calls
};

struct AttributeAt {
  const pb::AttributeProto* attribute = nullptr;
  int node = 0;  // in Subject::nodes
  int index = 0;
};

// A tensor, or a sparse tensor; where it stands is kept in pieces, for there can be millions.
struct DataPlace {
  const Body* body = nullptr;
  int node = -1;           // in Subject::nodes; -1: an initialiser
  int attribute = -1;      // of the node
  std::string_view field;  // "initializer", "t", "sparse_tensors"
  int index = -1;          // in a repeated field
};

struct TensorAt {
  const pb::TensorProto* tensor = nullptr;
  DataPlace place;
  std::string_view part;  // "values" or "indices" of a sparse tensor
};

struct SparseAt {
  const pb::SparseTensorProto* tensor = nullptr;
  DataPlace place;
};

class TypeFlow;

// How much of a model is looked at.
enum class Reach : uint8_t {
  kAll,
  kChecker,  // what onnx.checker looks at: no training information; functions from IR version 8 on
};

class Subject {
 public:
  explicit Subject(const Model& model, Reach reach = Reach::kAll);

  const Model& native() const { return model_; }
  const pb::ModelProto& proto() const { return model_.proto; }
  int64_t ir_version() const { return model_.proto.ir_version(); }
  // True if there are functions that are looked at.
  bool HasFunctions() const { return proto().functions_size() > 0 && functions_seen_; }

  // In the order of the file, the main graph first; outer bodies before those inside them.
  const std::vector<std::unique_ptr<Body>>& bodies() const { return bodies_; }
  const std::vector<NodeAt>& nodes() const { return nodes_; }
  const std::vector<AttributeAt>& attributes() const { return attributes_; }
  const std::vector<TensorAt>& tensors() const { return tensors_; }
  const std::vector<SparseAt>& sparse_tensors() const { return sparse_; }
  std::span<const NodeAt> NodesOf(const Body& body) const {
    return std::span(nodes_).subspan(static_cast<size_t>(body.first_node),
                                     static_cast<size_t>(body.node_count));
  }

  // True if the bodies around this one define the name before the node that has it.
  bool DefinedOutside(const Body& body, std::string_view name) const;
  // True if the name has a value when node `index` of the body runs.
  bool DefinedBefore(const Body& body, std::string_view name, int index) const;

  Location Where(const NodeAt& node, std::string_view field = {}) const;
  Location Where(const AttributeAt& attribute, std::string_view field = {}) const;
  Location Where(const DataPlace& place, std::string_view field = {}) const;
  Location Where(const TensorAt& tensor, std::string_view field = {}) const;

  // True if the field has a value, in the message or kept apart as payload.
  bool Has(const google::protobuf::Message& message, int field) const;
  // Element types along the graph (types.h), found when they are asked for.
  const TypeFlow& type_flow() const;
  // What inference finds wrong with types (Format::check_types).
  const std::vector<TypeDefect>& type_defects() const;
  // Elements of a repeated field, or bytes of a bytes field, wherever they are.
  uint64_t SizeOf(const google::protobuf::Message& message, int field) const;

 private:
  void AddOpsets();
  void AddTraining();
  void AddFunctions();
  void AddBody(std::unique_ptr<Body> body,
               const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes);
  void AddGraphData(Body& body);
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
  std::vector<AttributeAt> attributes_;
  std::vector<TensorAt> tensors_;
  std::vector<SparseAt> sparse_;
  mutable std::shared_ptr<const TypeFlow> type_flow_;
  mutable std::optional<std::vector<TypeDefect>> type_defects_;  // found when they are asked for
};

// "node 3 (Conv \"name\")" for messages.
std::string Title(const NodeAt& node);

// The attribute; null if there is none, or it stands for one of a function's call.
const pb::AttributeProto* FindAttribute(const NodeAt& node, std::string_view name);

// Whether it is a node of that operator of ai.onnx, in a version that the model imports.
bool IsOf(const NodeAt& node, std::string_view op);

}  // namespace nn::onnx

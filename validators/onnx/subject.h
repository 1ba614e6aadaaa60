// What ONNX rules look at: the model, flattened. Pointers are into the model, which outlives the
// subject.
#pragma once

#include <map>
#include <memory>
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

using OpsetMap = std::map<std::string, int64_t, std::less<>>;

// "ai.onnx" is the long name of the domain "".
std::string_view PlainDomain(std::string_view domain);

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
  int64_t opset = 0;                            // version of its domain; 0: not imported
  const Schema* schema = nullptr;               // nullptr: not a standard operator, or unknown
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

class Subject {
 public:
  explicit Subject(const Model& model);

  const Model& native() const { return model_; }
  const pb::ModelProto& proto() const { return model_.proto; }
  int64_t ir_version() const { return model_.proto.ir_version(); }

  // In the order of the file; outer bodies before those inside them.
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
  // Elements of a repeated field, or bytes of a bytes field, wherever they are.
  uint64_t SizeOf(const google::protobuf::Message& message, int field) const;

 private:
  void AddOpsets();
  void AddBody(std::unique_ptr<Body> body,
               const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes);
  void AddGraphData(Body& body);
  void AddNodeParts(int node);
  void AddSubGraph(const pb::GraphProto& graph, int owner, std::string path);
  void AddSparse(const pb::SparseTensorProto& tensor, const DataPlace& place);

  const Model& model_;
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
};

// "node 3 (Conv \"name\")" for messages.
std::string Title(const NodeAt& node);

}  // namespace nn::onnx

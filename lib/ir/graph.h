// The graph that all formats are imported to and exported from.
//
// A Graph owns nodes, in execution order, and values. Each value has a single definition: a node's
// output, a graph input, or a constant. Values are identified by address, never by name; names
// serve messages and the interface.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/inline_vector.h"
#include "base/shared.h"
#include "base/status.h"
#include "ir/attrs.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn {

class Graph;
class Node;
struct OpDef;

// The published integer algorithm that a node on quantized types implements; it determines the
// rounding.
enum class Arithmetic : uint8_t {
  kDefault,  // not an integer computation on quantized types
  kTflite,   // TensorFlow Lite's reference kernels (Android NNAPI 1.0 follows the same)
  // Like kTflite, but with fixed-point rescaling where FULLY_CONNECTED's reference kernel rescales
  // in double: BATCH_MATMUL.
  kTfliteFixed,
};
template <>
struct EnumNames<Arithmetic> {
  static constexpr std::string_view kNames[] = {"default", "tflite", "tflite_fixed"};
};

// The origin of a node in the imported file.
struct Source {
  SharedString op;     // the file's operator name, "Conv"
  int64_t index = -1;  // operator index in the file
  // Of an operator in a branch, a body or another graph that is called: its index there, and which
  // one that is, "3 in then_branch of If 12".
  SharedString place = {};

  // Whether both are the same operator of the file; false if one is not from it.
  bool IsSame(const Source& other) const {
    return index >= 0 && index == other.index && place.view() == other.place.view();
  }
  std::string ToString() const;  // "operator 12 (Conv)"
  std::string Short() const;     // "Conv 12"
};

struct Use {
  Node* node = nullptr;
  int index = 0;
  bool operator==(const Use&) const = default;
};

// The uses of a value. Remove() keeps the order of short lists; with kManyUses or more entries it
// takes constant time and moves the last use into the gap.
class UseList {
 public:
  static constexpr size_t kManyUses = 64;

  std::span<const Use> list() const {
    if (many_ != nullptr) return many_->uses;
    return {&one_, one_.node == nullptr ? size_t{0} : size_t{1}};
  }
  void Add(Use use);
  void Remove(Use use);
  std::vector<Use> TakeAll();

 private:
  struct Hash {
    size_t operator()(const Use& u) const {
      return std::hash<Node*>()(u.node) * 31 + static_cast<size_t>(u.index);
    }
  };
  struct Many {
    std::vector<Use> uses;
    // Positions in uses; created by the first Remove() from a long list.
    std::unique_ptr<std::unordered_map<Use, size_t, Hash>> places;
  };
  Use one_;  // unless many_; its node is null if there is no use
  std::unique_ptr<Many> many_;
};

class Value {
 public:
  // Unique in the graph, in order of creation.
  int64_t id() const { return id_; }
  std::string_view name() const { return name_.view(); }
  void set_name(SharedString name) { name_ = std::move(name); }
  const Type& type() const { return type_; }
  void set_type(Type type) { type_ = std::move(type); }
  DType dtype() const { return type_.dtype; }

  // The defining node and output index; null for inputs and constants.
  Node* def() const { return def_; }
  int def_index() const { return def_index_; }
  bool is_constant() const { return constant_.get() != nullptr; }
  bool is_input() const { return def_ == nullptr && !is_constant(); }
  const Tensor& constant() const { return *constant_; }

  // The contents, if inference knows them as expressions: shapes and values computed from them.
  // Null if unknown.
  const Dims* elements() const { return elements_.get(); }
  void set_elements(std::optional<Dims> elements) {
    elements_ = elements ? Shared<Dims>(std::move(*elements)) : Shared<Dims>();
  }

  std::span<const Use> uses() const { return uses_.list(); }
  bool is_output() const { return is_output_; }  // of the graph

 private:
  friend class Graph;
  int64_t id_ = 0;
  // Shared with clones of the graph, like the dimensions of the type.
  SharedString name_;
  Shared<Tensor> constant_;
  Shared<Dims> elements_;
  Type type_;
  Node* def_ = nullptr;
  int def_index_ = 0;
  bool is_output_ = false;
  UseList uses_;
  std::list<Value>::iterator self_;
};

class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const OpDef& op() const { return *op_; }
  std::string_view op_name() const;
  bool Is(std::string_view op) const { return op_name() == op; }
  // Whether it is an operator with these attributes. Most attributes belong to one operator.
  template <typename T>
  bool Is() const {
    return attrs_.Is<T>();
  }

  const Attrs& attrs() const { return attrs_; }
  template <typename T>
  const T& attrs() const {
    return attrs_.As<T>();
  }
  void set_attrs(Attrs attrs) { attrs_ = std::move(attrs); }

  // The inputs; null for an absent optional input.
  std::span<Value* const> inputs() const { return inputs_; }
  // Null if absent or i is out of range.
  Value* input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  std::span<Value* const> outputs() const { return outputs_; }
  Value* output(size_t i = 0) const { return outputs_[i]; }

  // Subgraphs. Their inputs correspond to the node's inputs; there are no implicit captures.
  std::span<const std::unique_ptr<Graph>> regions() const;
  void AddRegion(Graph region);

  Arithmetic arithmetic() const { return arithmetic_; }
  void set_arithmetic(Arithmetic a) { arithmetic_ = a; }
  std::string_view name() const { return name_.view(); }
  void set_name(SharedString name) { name_ = std::move(name); }
  const Source& source() const { return source_; }
  void set_source(Source source) { source_ = std::move(source); }
  // The name of the operator in the file, or op_name() if the node is not from a file.
  std::string_view source_op() const { return source_.op.empty() ? op_name() : source_.op.view(); }

  // For messages: `conv "features.0" (operator 3, Conv)`.
  std::string Describe() const;

 private:
  friend class Graph;
  const OpDef* op_ = nullptr;
  Attrs attrs_;
  InlineVector<Value*, 2> inputs_;
  InlineVector<Value*, 1> outputs_;
  std::unique_ptr<std::vector<std::unique_ptr<Graph>>> regions_;  // null: none
  SharedString name_;
  Source source_;
  Arithmetic arithmetic_ = Arithmetic::kDefault;
  std::list<Node>::iterator self_;
};

// A graph input or output with its public name.
struct Port {
  std::string name;
  Value* value;
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  Graph Clone() const;

  std::string name;
  std::map<std::string, std::string> metadata;  // producer etc.; kept if the format can store it

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  std::list<Node>& nodes() { return nodes_; }
  const std::list<Node>& nodes() const { return nodes_; }
  std::list<Value>& values() { return values_; }
  const std::list<Value>& values() const { return values_; }

  Value* AddInput(std::string name, Type type);
  Value* AddConstant(Tensor tensor, SharedString name = {},
                     std::shared_ptr<const Quant> quant = {});
  void AddOutput(std::string name, Value* value);
  void set_output(size_t i, Value* value);
  // Requires that the input has no uses.
  void RemoveInput(size_t i);
  // The value stays.
  void RemoveOutput(size_t i);
  void RenameInput(size_t i, std::string to) { inputs_[i].name = std::move(to); }
  void RenameOutput(size_t i, std::string to) { outputs_[i].name = std::move(to); }

  // Adds a node before `before`, or at the end if null, with `output_count` new values of unknown
  // type. Does not infer types.
  Node* AddNode(const OpDef& op, std::vector<Value*> inputs, Attrs attrs, size_t output_count = 1,
                Node* before = nullptr);
  // Sets the node's origin in the imported file. The nodes of one operator share its name.
  void SetSource(Node* node, std::string_view op, int64_t index, SharedString place = {});
  // Infers the output types of a newly added node; erases the node on failure, so that the caller
  // can try another one.
  Result<Node*> InferAdded(Node* node);
  // AddNode(), then InferAdded(). kInternal if there is no operator named `op`.
  Result<Node*> Append(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {},
                       size_t output_count = 1, Node* before = nullptr);

  void SetInput(Node* node, size_t index, Value* value);
  void SetInputs(Node* node, std::vector<Value*> inputs);
  void SetOp(Node* node, const OpDef& op, Attrs attrs);
  // Removes output i of a node, which has no uses.
  void RemoveResult(Node* node, size_t i);
  // Turns the value into a constant and detaches it from its node or the graph inputs.
  void MakeConstant(Value* value, Tensor tensor);
  // Replaces all uses of `from`, graph outputs included, with `to`.
  void ReplaceUses(Value* from, Value* to);
  // Replaces the node's outputs with `values`, which inherit the outputs' names if they have none,
  // and erases the node.
  void Replace(Node* node, std::span<Value* const> values);
  void Replace(Node* node, Value* value) { Replace(node, std::span<Value* const>(&value, 1)); }
  // The node after the value's definition, or the first node if no node defines it; null at the
  // end. The insertion point for new users of the value.
  Node* After(const Value* value);
  // Moves a node before another one of the graph.
  void MoveBefore(Node* node, Node* before);
  // Requires that the node's outputs have no uses.
  void Erase(Node* node);
  // Removes values that have no definition by a node, no uses and are not graph inputs or outputs.
  // Returns the number removed.
  size_t EraseDeadValues();
  // Removes all nodes, values, inputs and outputs. Ids are not used again.
  void Clear();

  bool IsOutput(const Value* value) const { return output_places_.contains(value); }
  bool HasUses(const Value* value) const { return !value->uses().empty() || IsOutput(value); }

  // Sorts nodes so that every value is defined before it is used. Keeps the current order where
  // possible: nodes that must move are placed after those that need not. kModel if there is a
  // cycle.
  Status SortNodes();

 private:
  Value* NewValue();

  int64_t next_id_ = 0;
  std::list<Value> values_;
  std::list<Node> nodes_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::unordered_map<const Value*, std::vector<size_t>> output_places_;  // in outputs_
  std::unordered_map<std::string_view, SharedString> source_ops_;        // by Source::op
};

}  // namespace nn

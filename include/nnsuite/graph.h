// The graph that models are imported to and written from: operators of one common set, independent
// of the formats. `nnconvert --support` lists the operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nnsuite/dtype.h"
#include "nnsuite/error.h"
#include "nnsuite/options.h"
#include "nnsuite/tensor.h"

namespace nn {
class Node;
class Value;
}  // namespace nn

namespace nnsuite {

class Node;

// One dimension of a shape.
struct Dimension {
  int64_t size = -1;       // -1: not a number
  std::string expression;  // over symbols, "batch" or "2*n + 1"; empty if it is a number

  bool is_known() const { return size >= 0; }
  bool operator==(const Dimension&) const = default;
};

// real = scale * (integer - zero_point). Per tensor: one scale, axis < 0. Per axis: one scale for
// each index of dimension `axis`.
struct Quantization {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // empty: all zero; otherwise as many as scales
  int axis = -1;

  bool operator==(const Quantization&) const = default;
};

struct ValueType {
  DType dtype = DType::kUnknown;
  std::optional<std::vector<Dimension>> shape;  // nullopt: unknown rank
  std::optional<Quantization> quantization;

  // The numbers of the shape if all are known.
  std::optional<std::vector<int64_t>> KnownShape() const;
  // "f32[1, batch]", "u8[4]{scale=0.5, zp=128}", "f32[*]" for unknown rank.
  std::string ToString() const;
  // The inverse. kParse, with the location.
  static Result<ValueType> Parse(std::string_view text);

  bool operator==(const ValueType&) const = default;
};

// A value of a graph: an input, a constant, or a result of a node. A handle that does not own the
// value: it is valid as long as the value is in its graph, even if the Graph is moved. Graph says
// which calls remove values. Using an invalid handle is undefined behavior.
class Value {
 public:
  // Unique in the graph, in order of creation.
  int64_t id() const;
  std::string_view name() const;
  ValueType type() const;
  bool is_constant() const;
  bool is_input() const;
  // The contents of a constant, shared with it; kUsage for other values.
  Result<Tensor> constant() const;
  // The node that computes it; nullopt for inputs and constants.
  std::optional<Node> producer() const;
  // The nodes that use it, one for each use.
  std::vector<Node> users() const;

  bool operator==(const Value&) const = default;

 private:
  friend struct nn::api::Access;
  explicit Value(nn::Value* value) : value_(value) {}
  nn::Value* value_;
};

// An operator of a graph. A handle like Value.
class Node {
 public:
  std::string_view op() const;  // "conv"
  std::string_view name() const;
  // nullopt for absent optional inputs.
  std::vector<std::optional<Value>> inputs() const;
  std::vector<Value> outputs() const;
  // All attributes and their values as text: {"strides", "[2, 2]"}.
  std::vector<std::pair<std::string, std::string>> attributes() const;
  // The operator of the file that it was imported from, "operator 12 (Conv)"; "" if there is none.
  std::string source() const;

  bool operator==(const Node&) const = default;

 private:
  friend struct nn::api::Access;
  explicit Node(nn::Node* node) : node_(node) {}
  nn::Node* node_;
};

// An input or output of a graph with its public name.
struct Port {
  std::string name;
  Value value;
};

// A graph. Owns its nodes and values. Movable; Clone() copies it, and the copies share the contents
// of constants. One thread may change a graph while no other uses it; several threads may read it
// at the same time, also through handles.
//
// Arguments of type Value and Node must belong to this graph.
class Graph {
 public:
  // An empty graph.
  Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  // Parses the text form, infers types and verifies. kParse with line and column, kModel.
  static Result<Graph> Parse(std::string_view text);
  // The text form. Constants with more than `max_elements` elements are printed as "...", which
  // does not parse; nullopt: in full.
  std::string ToText(std::optional<int64_t> max_elements = 16) const;
  Graph Clone() const;

  const std::string& name() const;
  std::vector<Port> inputs() const;
  std::vector<Port> outputs() const;
  // In an order in which they can be executed.
  std::vector<Node> nodes() const;

  // ---- Additions. No handle becomes invalid.

  // kModel for a quantization that does not fit the shape, kParse for a dimension that is neither a
  // number nor an expression.
  Result<Value> AddInput(std::string name, const ValueType& type);
  Result<Value> AddConstant(const Tensor& tensor, std::string name = {},
                            const std::optional<Quantization>& quantization = std::nullopt);
  void AddOutput(std::string name, Value value);
  // Adds a node, before `before` or at the end, and infers its types. Attributes are given as in
  // the text form, "{strides = [2, 2]}"; those that are missing have their defaults. kUsage for an
  // unknown operator, kParse or kModel for attributes, kModel if the operator does not accept the
  // inputs; the graph is then unchanged.
  Result<Node> Append(std::string_view op, const std::vector<std::optional<Value>>& inputs,
                      std::string_view attributes = {}, size_t outputs = 1,
                      std::optional<Node> before = std::nullopt);

  // ---- Changes.

  // Replaces all uses of `from`, including as an output of the graph, with `to`. No handle becomes
  // invalid.
  void ReplaceUses(Value from, Value to);
  // Removes the node and its results; their handles become invalid. kUsage if a result is used.
  Status Erase(Node node);
  // Removes values that are not inputs and have neither a producer nor a use; their handles become
  // invalid. Returns their number.
  size_t EraseUnused();

  // Sets the shapes of inputs, by name, and infers all types again. kUsage for an unknown input and
  // for a shape that contradicts the model. No handle becomes invalid.
  Status SetInputShapes(const std::map<std::string, std::vector<int64_t>>& shapes);
  // Sets the symbols that are the first dimension of an input: the batch. kUsage if there is none.
  Status SetBatch(int64_t batch);
  // Computes what depends on constants only, and removes what no output depends on. All handles
  // become invalid, except for those of inputs. Results of a run keep their bits.
  Status Simplify();
  // Checks that every value is defined before its use, that ports have unique names, and that the
  // type of each value can be inferred. kModel, or kInternal if handles of another graph were used.
  Status Verify() const;

 private:
  friend struct nn::api::Access;
  struct Impl;
  explicit Graph(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;  // never null, except in graphs that were moved from
};

}  // namespace nnsuite

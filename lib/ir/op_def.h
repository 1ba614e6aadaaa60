// The definition of an operator: everything that is true of it apart from file formats' encodings.
// Each operator is defined in one place, lib/ops/<family>.cc, and registered by an explicit call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/axis_map.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/type.h"

namespace nn {

enum class Arity : uint8_t { kRequired, kOptional, kVariadic /* any number, last only */ };

// What the elements of an input may be; anything else is refused before it is looked at.
enum class Elements : uint8_t {
  kNumbers,  // bool, integers and floats: their values are read
  kAny,      // strings and complex numbers too: they are moved, or looked at with care
};

struct OperandDef {
  std::string_view name;
  Arity arity = Arity::kRequired;
  Elements elements = Elements::kNumbers;  // of inputs
};

// Tensors of higher rank are refused (kLimit): the formats' own limits are lower.
inline constexpr int kMaxRank = 64;

// The contents of an integer value as expressions, from a constant or from inference; nullopt if
// they are unknown or more than 4096 elements.
std::optional<Dims> KnownElements(const Value* value);

// What type inference sees and sets. Output types start out unknown.
class InferContext {
 public:
  // Contents of more elements than this are not tracked as expressions (KnownElements).
  static constexpr int64_t kMaxElements = 4096;
  // What the contents, and the dimensions, of one output may take together (OwnSize). Contents
  // above it are not tracked; of dimensions above it the composed ones become opaque symbols.
  static constexpr size_t kMaxTracked = 1024;
  static constexpr size_t kMaxDimsSize = 256;

  explicit InferContext(Node& node) : node_(node) {}

  const Node& node() const { return node_; }
  template <typename T>
  const T& attrs() const {
    return node_.attrs<T>();
  }
  size_t input_count() const { return node_.inputs().size(); }
  size_t output_count() const { return node_.outputs().size(); }
  bool has(size_t i) const { return node_.input(i) != nullptr; }
  // Requires has(i).
  const Type& in(size_t i) const { return node_.input(i)->type(); }
  // The constant an input holds; null if it is not constant or absent.
  const Tensor* constant(size_t i) const;
  // KnownElements of an input; nullopt also if it is absent.
  std::optional<Dims> elements(size_t i) const { return KnownElements(node_.input(i)); }

  void set_out(size_t i, Type type) { node_.output(i)->set_type(std::move(type)); }
  // Ignored above kMaxTracked.
  void set_out_elements(size_t i, Dims elements) {
    if (OwnSize(elements) <= kMaxTracked) node_.output(i)->set_elements(std::move(elements));
  }
  // A dimension that is not known before the run; the same symbols each time a node is inferred.
  Dim NewSymbol();
  // Whether a symbol is one of those.
  static bool IsNewSymbol(std::string_view symbol) { return symbol.starts_with('?'); }

 private:
  Node& node_;
  int symbols_ = 0;
};

// What the scalar reference evaluation sees: complete inputs, output types with known shapes.
class EvalContext {
 public:
  EvalContext(const Node& node, std::vector<const Tensor*> inputs, std::vector<Type> input_types,
              std::vector<Type> output_types)
      : node_(node),
        inputs_(std::move(inputs)),
        input_types_(std::move(input_types)),
        output_types_(std::move(output_types)),
        outputs_(output_types_.size()) {}

  const Node& node() const { return node_; }
  template <typename T>
  const T& attrs() const {
    return node_.attrs<T>();
  }
  size_t input_count() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  // Aligned data. Requires has(i).
  const Tensor& in(size_t i) const { return *inputs_[i]; }
  const Type& in_type(size_t i) const { return input_types_[i]; }
  size_t output_count() const { return outputs_.size(); }
  const Type& out_type(size_t i = 0) const { return output_types_[i]; }
  // Allocates output i by its type. kUnsupported if its shape is not known.
  Result<TensorBuilder> NewOutput(size_t i = 0) const;
  void set_out(size_t i, Tensor tensor) { outputs_[i] = std::move(tensor); }
  std::vector<Tensor> TakeOutputs() { return std::move(outputs_); }

 private:
  const Node& node_;
  std::vector<const Tensor*> inputs_;
  std::vector<Type> input_types_;
  std::vector<Type> output_types_;
  std::vector<Tensor> outputs_;
};

// One value of a node: input or output, by index.
struct Operand {
  bool is_output;
  size_t index;
  bool operator==(const Operand&) const = default;
};

// How a node follows when the axes of one of its values are rearranged: its new attributes and the
// rearrangement of its other values. Values that are not named stay as they are.
struct AxesChange {
  Attrs attrs;
  std::vector<std::pair<Operand, AxisMap>> others;
};

// The one-to-one encoding of an operator in a format. `path` names the format's operator:
//   onnx "Elu", tflite "ELU", coreml "activation.ELU" (layer.field...), nnapi "RELU".
// `attrs` pairs our attribute names with the format's field names.
struct FormatName {
  std::string_view format;
  std::string_view path;
  int since_version = 1;  // onnx: first operator set version that this encoding fits
  std::vector<std::pair<std::string_view, std::string_view>> attrs;
};

struct OpDef {
  std::string_view name;
  std::string_view summary;  // one line, shown in the support table
  // Whether the suite itself places it in graphs; it stands for no operator of a model.
  bool internal = false;
  // Whether it ends a run that breaks an assumption: no pass removes it, used or not.
  bool is_check = false;
  const AttrsInfo* attrs = AttrsInfoOf<NoAttrs>();
  std::vector<OperandDef> inputs;
  std::vector<OperandDef> outputs = {{"y"}};

  // Checks inputs and attributes against the operator's rules and sets the output types.
  Status (*infer)(InferContext&) = nullptr;
  // The normative meaning, element by element. Null: only a decomposition gives it meaning.
  Status (*eval)(EvalContext&) = nullptr;
  // How it follows a rearrangement of the axes of `changed`; nullopt: it does not.
  std::optional<AxesChange> (*change_axes)(const Node&, Operand changed, const AxisMap&) = nullptr;
  // Turns inputs whose contents are known (constants, or Value::elements) into the attributes that
  // say the same; true if it did. Null: no input has an attribute form.
  Result<bool> (*absorb_inputs)(Graph&, Node&) = nullptr;
  // Multiply-adds for known shapes; null: none.
  std::optional<int64_t> (*multiply_adds)(const Node&) = nullptr;
  // Replaces the node in the graph by simpler ones; false if it does not apply.
  Result<bool> (*decompose)(Graph&, Node&) = nullptr;
  std::vector<FormatName> formats;

  const FormatName* FindFormat(std::string_view format) const;
};

class OpRegistry {
 public:
  // Aborts on a name that is there already: registration is code, not data.
  void Add(OpDef def);
  const OpDef* Find(std::string_view name) const;
  // The operator whose one-to-one encoding in `format` is `path`, and the entry; newest version not
  // above `version`.
  std::pair<const OpDef*, const FormatName*> FindEncoding(std::string_view format,
                                                          std::string_view path, int version) const;
  // By name.
  std::vector<const OpDef*> All() const;

 private:
  std::map<std::string_view, std::unique_ptr<OpDef>> ops_;
  std::map<std::pair<std::string_view, std::string_view>,
           std::vector<std::pair<const OpDef*, const FormatName*>>>
      encodings_;
};

// The registry with all operators of lib/ops. Set once by InstallOps() (ops/ops.h), because ir does
// not depend on ops.
const OpRegistry& Ops();
void SetOps(const OpRegistry* registry);

// Runs the node's inference and refines its output types by what was declared before: a declared
// dimension that contradicts inference is kModel.
Status InferNode(Node& node);
// kModel: output `i` of the node is declared otherwise than it is.
tl::unexpected<Error> ContradictionError(const Node& node, size_t i, const Type& declared,
                                         const Type& actual);
// InferNode over all nodes in order.
Status InferGraph(Graph& graph);

}  // namespace nn

// The definition of an operator, independent of the encodings of file formats. Each operator is
// defined once, in lib/ops/<kind>/<family>.cc, and registered by that file's function
// Register<Family>Ops.
//
// Design: docs/design/004-operator-definitions.md.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/interval.h"
#include "ir/tensor.h"
#include "ir/types/axis_map.h"
#include "ir/types/type.h"

namespace nn {

enum class Arity : uint8_t { kRequired, kOptional, kVariadic /* any number; last operand only */ };

// A set of element types, such as those that the evaluation of an operator accepts for an input.
// The unknown type is in every set.
class Elements {
 public:
  constexpr Elements() = default;
  constexpr Elements(std::initializer_list<DType> types) {
    for (const DType t : types) bits_ |= Bit(t);
  }
  static const Elements kReals;     // f16, bf16, f32 and f64
  static const Elements kFloats;    // these, and those of at most 8 bits
  static const Elements kIntegers;  // signed and unsigned, of any width
  static const Elements kBool;
  static const Elements kNumbers;  // bool, integers and floats
  static const Elements kAny;      // also strings and complex numbers

  constexpr bool Has(DType t) const { return t == DType::kUnknown || (bits_ & Bit(t)) != 0; }
  constexpr bool operator==(const Elements&) const = default;
  friend constexpr Elements operator|(Elements a, Elements b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr uint32_t Bit(DType t) { return uint32_t{1} << static_cast<int>(t); }
  static_assert(kDTypeCount <= 32);
  uint32_t bits_ = 0;
};

inline constexpr Elements Elements::kReals = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64};
inline constexpr Elements Elements::kFloats =
    kReals | Elements{DType::kF8E4M3FN,   DType::kF8E4M3FNUZ, DType::kF8E5M2,
                      DType::kF8E5M2FNUZ, DType::kF8E8M0,     DType::kF4E2M1};
inline constexpr Elements Elements::kIntegers = {
    DType::kI2, DType::kI4, DType::kI8, DType::kI16, DType::kI32, DType::kI64,
    DType::kU2, DType::kU4, DType::kU8, DType::kU16, DType::kU32, DType::kU64};
inline constexpr Elements Elements::kBool = {DType::kBool};
inline constexpr Elements Elements::kNumbers = kBool | kIntegers | kFloats;
inline constexpr Elements Elements::kAny =
    kNumbers | Elements{DType::kC64, DType::kC128, DType::kString};

struct OperandDef {
  std::string_view name;
  Arity arity = Arity::kRequired;
  // Of inputs without quantization. Inference rejects strings and complex numbers for inputs that
  // have neither; WhyNotElements() and the evaluation reject all types outside of the set.
  Elements elements = Elements::kNumbers;
  // Whether its element type has nothing to do with those of the other operands.
  bool has_own_type = false;
};

// The purpose of an operator. It determines the color in pictures.
enum class Category : uint8_t {
  kUnset,  // the default, which every definition replaces
  kConvolution,
  kMatmul,
  kRecurrent,
  kActivation,
  kNormalization,
  kPooling,
  kReduction,   // also orders and running sums along axes
  kArithmetic,  // also comparisons and logic
  kMovement,    // shapes, positions and types of elements
  kQuantization,
  kOther,
};

// Whether output 0 consists of all elements of input 0. It then has the quantization of input 0.
enum class Movement : uint8_t {
  kNone,
  kInOrder,   // only the shape changes; per-axis quantization may lose its axis
  kPermuted,  // the axes are permuted
};

// That the elements of a result are elements of inputs, or other constants. The result is output 0
// or, if the number of outputs varies, each of them.
struct Selection {
  static constexpr uint32_t kAllInputs = ~uint32_t{0};
  uint32_t inputs = 1;    // bit i: input i
  bool zero = false;      // whether there may be zeros, too (the zero point of quantized types)
  bool by_value = false;  // whether the elements of these inputs decide which are selected
  // Whether it holds for a node; null: for all.
  bool (*applies)(const Node&) = nullptr;

  bool Has(size_t input) const {
    return input < 32 ? (inputs >> input & 1) != 0 : inputs == kAllInputs;
  }
};

// The numbers for which a function of one operand is not NaN, between `min` and `max`, inclusive;
// it is infinite at finite bounds if they are poles.
struct RealDomain {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool poles = false;
};

// The quantization that TensorFlow Lite fixes for a result, by element types.
struct FixedQuant {
  DType x, y;  // of input 0 and of the result
  float scale;
  int64_t zero_point;
  float slack = 0;  // the relative deviation of scales that kernels accept
  // Whether kernels accept others: the scale and the zero point are then those of the specification
  // ("TensorFlow Lite 8-bit quantization specification").
  bool any_scale = false;
  bool any_zero_point = false;
};

// The scales and zero points with which an operator on quantized types has TensorFlow Lite's
// arithmetic (FuseQdq in passes/qdq/qdq.h).
enum class QuantRule : uint8_t {
  kNone,         // there is no such arithmetic
  kSame,         // equal on all quantized inputs and outputs
  kFree,         // any, per tensor; the arithmetic may fix those of the output
  kElementwise,  // as TfliteUnary() and TfliteBinary() say (ops/quant/tflite_elementwise.h)
  kProduct,      // any; input 2 is an optional bias, which has the product of those of 0 and 1
  kStored,       // none: the operator is defined on the stored integers, whatever they represent
};

// Limit of all formats: axes of a tensor. The formats' own limits are lower.
inline constexpr int kMaxRank = 64;

// The contents of an integer or bool value as expressions, from a constant or from inference;
// nullopt if unknown or more than InferContext::kMaxElements.
std::optional<Dims> KnownElements(const Value* value);

// The interface of type inference. Output types are initially unknown.
class InferContext {
 public:
  // Contents with more elements are not tracked as expressions (KnownElements).
  static constexpr int64_t kMaxElements = 4096;
  // Limits on the total size (OwnSize) of the tracked contents and of the dimensions of one output.
  // Contents above the limit are not tracked; composite dimensions above it become opaque symbols.
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
  // The constant input; null if the input is absent or not constant.
  const Tensor* constant(size_t i) const;
  // KnownElements of an input; nullopt also if it is absent.
  std::optional<Dims> elements(size_t i) const { return KnownElements(node_.input(i)); }

  void set_out(size_t i, Type type) { node_.output(i)->set_type(std::move(type)); }
  // Ignored if larger than kMaxTracked.
  void set_out_elements(size_t i, Dims elements) {
    if (OwnSize(elements) <= kMaxTracked) node_.output(i)->set_elements(std::move(elements));
  }
  // A new symbol for a dimension that is known only at run time; repeated inference of a node gives
  // the same symbols.
  Dim NewSymbol();
  // Whether NewSymbol() created the symbol, or it is opaque (Dim::IsOpaque).
  static bool IsNewSymbol(std::string_view symbol) { return symbol.starts_with('?'); }

 private:
  Node& node_;
  int symbols_ = 0;
};

// What OpDef::range knows about operands.
class RangeContext {
 public:
  explicit RangeContext(const Node& node) : node_(node) {}
  virtual ~RangeContext() = default;

  const Node& node() const { return node_; }
  template <typename T>
  const T& attrs() const {
    return node_.attrs<T>();
  }
  // The bounds of the elements of a value that are not NaN; infinite if unknown.
  virtual Interval Of(const Value* v) = 0;
  Interval in(size_t i) { return Of(node_.input(i)); }

 private:
  const Node& node_;
};

struct EvalBudget;

// The interface of the scalar reference evaluation: complete inputs, and output types with known
// shapes unless they depend on the evaluation.
class EvalContext {
 public:
  EvalContext(const Node& node, std::vector<const Tensor*> inputs, std::vector<Type> input_types,
              std::vector<Type> output_types, EvalBudget& budget)
      : node_(node),
        budget_(budget),
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
  // The data is aligned. Requires has(i).
  const Tensor& in(size_t i) const { return *inputs_[i]; }
  const Type& in_type(size_t i) const { return input_types_[i]; }
  size_t output_count() const { return outputs_.size(); }
  const Type& out_type(size_t i = 0) const { return output_types_[i]; }
  // Allocates output i with its inferred type. kUnsupported if its shape is unknown.
  Result<TensorBuilder> NewOutput(size_t i = 0) const;
  void set_out(size_t i, Tensor tensor) { outputs_[i] = std::move(tensor); }
  std::vector<Tensor> TakeOutputs() { return std::move(outputs_); }
  // What is left for the evaluation of regions.
  EvalBudget& budget() { return budget_; }

 private:
  const Node& node_;
  EvalBudget& budget_;
  std::vector<const Tensor*> inputs_;
  std::vector<Type> input_types_;
  std::vector<Type> output_types_;
  std::vector<Tensor> outputs_;
};

// An input or output of a node, by index.
struct Operand {
  bool is_output;
  size_t index;
  bool operator==(const Operand&) const = default;
};

// The effect on a node of an axis map applied to one of its values: the new attributes, and the
// axis maps of its other values. Values that are not listed are unchanged.
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
  int since_version = 1;  // onnx: first opset version of this encoding
  std::vector<std::pair<std::string_view, std::string_view>> attrs;
};

struct OpDef {
  std::string_view name;
  std::string_view summary;  // one line, shown in the support table
  // Whether only the suite inserts it; no operator of a model maps to it.
  bool internal = false;
  // Whether it aborts a run that violates an assumption; passes must not remove it even if unused.
  bool is_check = false;
  // Whether it represents an operator of the file that has no definition.
  bool is_opaque = false;
  // Whether it has subgraphs that only a run chooses; its attribute `why` says what the choice
  // depends on, as the end of a sentence.
  bool decided_by_runs = false;
  Category category = Category::kUnset;
  Movement movement = Movement::kNone;
  // For operators without movement: whether, and from which inputs, results are selected; see
  // SelectionOf().
  std::optional<Selection> selects;
  // For functions of one operand that are not total.
  std::optional<RealDomain> real_domain;
  QuantRule quant_rule = QuantRule::kNone;
  // Whether it converts numbers to another representation: its attributes or the declared type, not
  // the input, determine the element type of the result.
  bool converts = false;
  // Of arithmetic on two numbers: whether the result for integers is the result for floats that
  // hold them, so that formats without integers can compute shapes.
  bool keeps_integers = false;
  // The same of operators with any number of operands, as long as floats represent all integers
  // between the bounds of the operands and results (`range`).
  bool exact_integers = false;
  // Of arithmetic on two numbers: whether the operands can change places.
  bool commutes = false;
  // Of arithmetic on two numbers: whether the operands and the result are numbers of one kind, such
  // as a sum and its summands, so that steps of a large one hide a small one.
  bool shares_unit = false;
  // Of operators on integers: whether their results are those for wider integers that hold the same
  // numbers, reduced to the bits of the type, so that formats can compute narrow integers in wide
  // ones. Operands without elements are excluded.
  bool wraps_integers = false;
  // Of operators with a layout: whether more spatial axes of size 1 can be added before the others
  // (WithUnitAxes in ops/support/window.h).
  bool takes_unit_axes = false;
  const AttrsInfo* attrs = AttrsInfoOf<NoAttrs>();
  std::vector<OperandDef> inputs;
  std::vector<OperandDef> outputs = {{"y"}};

  // Validates inputs and attributes, and sets the output types.
  Status (*infer)(InferContext&) = nullptr;
  // The normative semantics, element by element. Null: the decomposition, which then applies to all
  // nodes, defines the operator; it is evaluated, and planned by the executor.
  Status (*eval)(EvalContext&) = nullptr;
  // Applies an axis map to the operand `changed`; nullopt if the operator cannot adapt.
  std::optional<AxesChange> (*change_axes)(const Node&, Operand changed, const AxisMap&) = nullptr;
  // Replaces inputs with known contents (constants, or Value::elements) by the equivalent
  // attributes; returns whether it did. Null: no input has an equivalent attribute.
  Result<bool> (*absorb_inputs)(Graph&, Node&) = nullptr;
  // Bounds of the elements of an output that are not NaN, in exact arithmetic, from those of the
  // inputs. Integers are not reduced to their type. Null: unknown, beyond `selects`.
  Interval (*range)(RangeContext&, size_t output) = nullptr;
  // The bounds of an operator that clamps its input to constants; null: not such an operator.
  Interval (*clamp)(const Node&) = nullptr;
  // Whether the arithmetic on quantized types (quant_rule) supports the attributes, with input 0 of
  // type x and a result of type y; null: the rule alone decides.
  bool (*has_quantized_form)(const Node&, const Type& x, const Type& y) = nullptr;
  std::span<const FixedQuant> fixed_quants;
  // The arithmetic on quantized types; null: Arithmetic::kTflite.
  Arithmetic (*quantized_arithmetic)(const Node&) = nullptr;
  // Whether the node's arithmetic also determines its results for real numbers.
  bool has_real_arithmetic = false;
  // Number of multiply-adds for known shapes; null: none.
  std::optional<int64_t> (*multiply_adds)(const Node&) = nullptr;
  // Replaces the node with simpler ones; false if not applicable.
  Result<bool> (*decompose)(Graph&, Node&) = nullptr;
  // Whether decompose() also takes nodes on quantized types whose arithmetic rounds between its
  // steps, and yields float operators between dequantize and quantize.
  bool decomposes_quantized = false;
  std::vector<FormatName> formats;

  const FormatName* FindFormat(std::string_view format) const;
  // Whether its decomposition defines it.
  bool is_composition() const { return eval == nullptr && decompose != nullptr; }
};

class OpRegistry {
 public:
  // Aborts on a duplicate name, which is a programming error.
  void Add(OpDef def);
  const OpDef* Find(std::string_view name) const;
  // The operator whose one-to-one encoding in `format` is `path`, and that encoding; the newest
  // version that does not exceed `version`.
  std::pair<const OpDef*, const FormatName*> FindEncoding(std::string_view format,
                                                          std::string_view path, int version) const;
  // Sorted by name.
  std::vector<const OpDef*> All() const;

 private:
  std::unordered_map<std::string_view, std::unique_ptr<OpDef>> ops_;
  // By path; of all formats.
  std::unordered_map<std::string_view, std::vector<std::pair<const OpDef*, const FormatName*>>>
      encodings_;
};

// All operators: those of the families in ops/families.h. Made at the first call, which may come
// from any thread.
const OpRegistry& Ops();

// Infers the output types of the node and merges them with the declared ones. kModel if a declared
// dimension contradicts inference, kLimit above kMaxRank, kUnsupported for unsupported element
// types; other errors are those of OpDef::infer.
Status InferNode(Node& node);
// The reason if the operator does not have the element types of its inputs: "bool is not supported
// as input x".
std::optional<std::string> WhyNotElements(const Node& node);
// The inputs that results consist of, also for operators with movement; nullopt if results are
// computed.
std::optional<Selection> SelectionOf(const Node& node);
// kModel: the declared type of output `i` contradicts its actual type.
tl::unexpected<Error> ContradictionError(const Node& node, size_t i, const Type& declared,
                                         const Type& actual);
// Runs InferNode on all nodes in order.
Status InferGraph(Graph& graph);

// Multiply-adds of one run: a branch's larger side, one iteration of a loop; nullopt if unknown.
std::optional<uint64_t> MultiplyAddsOf(const Node& node);

}  // namespace nn

// Import of Core ML. One-to-one layers (OpDef::formats) need no code here; every other layer has a
// function in ops/<family>.cc.
//
// All numbers in a Core ML network are float32, including booleans (0 or 1) and integer indices. In
// the graph they have their own types; operands are converted if a layer needs a different one
// (Float, Bool, Index).
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "formats/common/operator_import.h"
#include "formats/coreml/file/fields.h"
#include "formats/coreml/file/native.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/term.h"

namespace nn::coreml {

// A layer to import and its target graph.
class ImportContext final : public OperatorImport {
 public:
  ImportContext(const Fields& layer, int64_t index, Graph& graph, std::vector<Value*> inputs);

  // The layer and its parameter message.
  const Fields& layer() const { return layer_; }
  const Fields& params() const { return params_; }

  // kModel unless the number of inputs is in the range.
  Status ExpectInputs(size_t at_least, size_t at_most) const;
  // Checks the inputs for ImportRow::inputs and replaces them by what they are converted to. The
  // functions below always convert the blobs of the layer.
  Status TakeInputs(std::string_view kinds);
  // The input with any element type; Float, Bool and Index convert it to f32, bool or i64, and
  // Position to i64 unless it is f32 that a run computes. kModel if it is absent, kUnsupported if
  // its rank is unknown.
  Result<Value*> Any(size_t i) const;
  Result<Value*> Float(size_t i);
  Result<Value*> Bool(size_t i);
  Result<Value*> AsBool(Value* v);
  Result<Value*> Index(size_t i);
  Result<Value*> Position(size_t i);
  Result<Value*> AsFloat(Value* v);
  // Integers from an input if there is one and its contents are known, else from a field; nullopt
  // if they depend on the run.
  Result<std::optional<std::vector<int64_t>>> KnownInts(size_t input, std::vector<int64_t> field);
  // The operands of an operator on any one element type, converted to it: f32 unless all have
  // another common type.
  Result<std::vector<Value*>> Alike();

  // The input with axes [batch, C, H, W]: axes before the last three become one.
  Result<Value*> Spatial(size_t i, int least_rank = 3);
  // The inverse, for a result whose axes before the last three are those of the layer's input i.
  Result<Value*> Unspatial(Value* y, size_t i);

  // Weights that all iterations of a loop share, by the message that they are read from.
  void set_shared_weights(std::unordered_map<const Message*, Value*>* weights) {
    weights_ = weights;
  }
  // Weights from a field of the parameters.
  Result<Value*> Weights(std::string_view field, std::vector<int64_t> dims);
  // The operands, and the weights of the fields, which have one shape.
  Result<Terms> WithWeights(std::vector<Term> operands,
                            std::initializer_list<std::string_view> fields,
                            const std::vector<int64_t>& dims);
  // The operands, and the weights of field "bias" if "hasBias" is set.
  Result<Terms> WithBias(std::vector<Term> operands, int64_t size);
  // x, the weights of field "weights", and the bias if there is one.
  Result<Terms> Weighted(Term x, std::vector<int64_t> dims, int64_t outputs);
  Value* Scalar(float v) { return Constant(Tensor::Scalar(v)); }

  // Emit() for an operator whose first input is Spatial(0): its result gets the axes of the
  // layer's.
  Status EmitSpatial(std::string_view op, Terms operands, Attrs attrs);

 private:
  Status CheckOutputs() const override;
  Status TakeInputsOf(const OpDef& op) override;
  Result<std::optional<AttrValue>> ReadAttr(std::string_view name,
                                            const AttrValue& initial) const override;

  Fields layer_;
  Fields params_;
  std::vector<Value*> blobs_;
  std::unordered_map<const Message*, Value*>* weights_ = nullptr;
};

// The value with an element type: itself, a constant, or after a cast.
Result<Value*> ConvertTo(Graph& graph, Value* v, DType dtype);

using ImportFn = Status (*)(ImportContext&);
struct ImportRow {
  std::string_view layer;  // its kind; "activation" and "unary" cover all of their kinds
  ImportFn import;
  // What the inputs are for `import`: (f)loats, (b)ools, (i)ndices, (p)ositions, (s)patial floats,
  // or of (a)ny element type with a known rank. Those after '?' are optional. "+": one or more,
  // made Alike().
  std::string_view inputs = {};
};

// Format::operators.
std::vector<OperatorSupport> Operators();

}  // namespace nn::coreml

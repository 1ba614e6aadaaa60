// From Core ML to the graph. Layers that are one-to-one (OpDef::formats) need nothing here; every
// other layer has a function in import_<family>.cc.
//
// All numbers in a Core ML network are float32: conditions are 0 or 1, indices are whole numbers.
// In the graph they have their own types; the operands of a layer are converted where it needs
// another kind (Float, Bool, Index).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/coreml/fields.h"
#include "formats/coreml/native.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/op_def.h"

namespace nn::coreml {

// One layer to be imported, and the graph that it goes to.
class ImportContext {
 public:
  ImportContext(const Fields& layer, int64_t index, Graph& graph, std::vector<Value*> inputs);

  // The layer, and the message with its parameters.
  const Fields& layer() const { return layer_; }
  const Fields& params() const { return params_; }
  const std::string& kind() const { return kind_; }
  Graph& graph() { return graph_; }

  size_t input_count() const { return inputs_.size(); }
  Value* input(size_t i) const { return inputs_[i]; }
  size_t output_count() const { return outputs_.size(); }
  // kModel unless the layer has that many inputs.
  Status ExpectInputs(size_t at_least, size_t at_most) const;
  // The input as it is, of any element type; with Float, Bool, Index as numbers of that kind: f32,
  // bool, or i64. kModel if it is absent or its rank is not known.
  Result<Value*> Any(size_t i) const;
  Result<Value*> Float(size_t i);
  Result<Value*> Bool(size_t i);
  Result<Value*> Index(size_t i);
  Result<Value*> AsFloat(Value* v);
  // The operands of an operator that takes numbers of any one type, as that type: f32 unless all
  // are of the same other one.
  Result<std::vector<Value*>> Alike();

  // The input with axes [batch, C, H, W]: axes before the last three become one.
  Result<Value*> Spatial(size_t i, int least_rank = 3);
  // The reverse, for a result whose axes before the last three are those of input i.
  Result<Value*> Unspatial(Value* y, size_t i);

  // Weights from a field of the parameters.
  Result<Value*> Weights(std::string_view field, std::vector<int64_t> dims);
  // The inputs, and the weights of field "bias" if "hasBias" says that there are any.
  Result<std::vector<Value*>> WithBias(std::vector<Value*> inputs, int64_t size);
  Value* Constant(Tensor tensor) { return graph_.AddConstant(std::move(tensor)); }
  Value* Scalar(float v) { return Constant(Tensor::Scalar(v)); }

  // Adds a node of ours; its types are inferred and it remembers where it came from.
  Result<Node*> AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {},
                        size_t output_count = 1);
  // The same for operators with one result.
  Result<Value*> Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {});
  // Adds the node whose results are the layer's outputs.
  Status Emit(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {});
  Result<Value*> Reshape(Value* x, Dims dims);
  // Results beyond those that the layer names are dropped.
  void SetOutput(size_t i, Value* value) {
    if (i < outputs_.size()) outputs_[i] = value;
  }
  const std::vector<Value*>& outputs() const { return outputs_; }

 private:
  Fields layer_;
  std::string kind_;
  Fields params_;
  int64_t index_;
  Graph& graph_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
};

// The value with another element type: itself, a constant, or behind a cast.
Result<Value*> ConvertTo(Graph& graph, Value* v, DType dtype);

using ImportFn = Status (*)(ImportContext&);
// By kind of layer; "activation" and "unary" also stand for all of theirs.
using ImportTable = std::map<std::string_view, ImportFn>;
const ImportTable& Imports();

// One function a family.
void AddConvImports(ImportTable& table);
void AddElementwiseImports(ImportTable& table);
void AddGatherImports(ImportTable& table);
void AddGenerateImports(ImportTable& table);
void AddMatmulImports(ImportTable& table);
void AddNormImports(ImportTable& table);
void AddPoolImports(ImportTable& table);
void AddReduceImports(ImportTable& table);
void AddResizeImports(ImportTable& table);
void AddShapeImports(ImportTable& table);
void AddSliceImports(ImportTable& table);

Result<ImportedModel> Import(const NativeModel& model);

// Format::operators.
std::vector<OperatorSupport> Operators();

}  // namespace nn::coreml

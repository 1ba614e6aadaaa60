// From NNAPI to the graph. Operations that are one-to-one (OpDef::formats) need nothing here; every
// other one has a row in import_<family>.cc.
//
// Inputs and outputs of a model are positional: ports have no names. Operations on quantised types
// follow TensorFlow Lite's integer kernels (Arithmetic::kTflite). A fused activation becomes a node
// of its own. Scalar arguments must be constants.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/nnapi/native.h"
#include "ir/graph.h"
#include "ops/window.h"

namespace nn::nnapi {

// One operation to be imported, and the graph that it goes to.
class ImportContext {
 public:
  // `outputs`: the types that the operation's output operands are declared with.
  ImportContext(const Operation& operation, int64_t index, Graph& graph, std::vector<Value*> inputs,
                std::vector<Type> outputs)
      : operation_(operation),
        index_(index),
        graph_(graph),
        inputs_(std::move(inputs)),
        types_(std::move(outputs)),
        outputs_(types_.size(), nullptr) {}

  OperationType type() const { return operation_.type; }
  Graph& graph() { return graph_; }

  size_t input_count() const { return inputs_.size(); }
  // Null if absent.
  Value* input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  // The input, or kModel if it is absent.
  Result<Value*> Required(size_t i) const;
  // kModel unless the operation has as many inputs and outputs as one of its signatures.
  Status CheckCounts() const;
  // The value of a scalar INT32 or FLOAT32 argument. kModel if it is of another type, kUnsupported
  // if it is not a constant.
  Result<int64_t> Int(size_t i) const;
  Result<float> Float(size_t i) const;

  // The declared type of output i.
  const Type& output_type(size_t i = 0) const { return types_[i]; }
  size_t output_count() const { return types_.size(); }

  // Adds a node of ours; its types are inferred, those of quantised results start from `type`.
  Result<Node*> AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {},
                        const Type& type = {}, size_t output_count = 1);
  // The same for operators with one result.
  Result<Value*> Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {},
                     const Type& type = {});
  // Adds the node whose result is the operation's output.
  Status Emit(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {});
  // The same with the activation that argument `activation` names behind it.
  Status EmitFused(std::string_view op, std::vector<Value*> inputs, Attrs attrs, size_t activation);
  // The argument's activation behind a value.
  Result<Value*> Activated(Value* value, size_t activation);
  void SetOutput(size_t i, Value* value) { outputs_[i] = value; }
  const std::vector<Value*>& outputs() const { return outputs_; }

 private:
  Result<const Tensor*> Scalar(size_t i, DType dtype) const;

  const Operation& operation_;
  int64_t index_;
  Graph& graph_;
  std::vector<Value*> inputs_;
  std::vector<Type> types_;
  std::vector<Value*> outputs_;
};

// Padding, strides and, for pools, the kernel: the arguments that convolutions and pools share, in
// their order from argument `first` on. With implicit padding these are one code, with explicit
// padding four numbers.
struct WindowArguments {
  Padding padding = Padding::kExplicit;
  std::vector<int64_t> pads;  // begins, then ends
  std::vector<int64_t> strides;
  size_t next = 0;  // the argument behind them
};
Result<WindowArguments> ReadWindow(const ImportContext& ctx, size_t first, bool implicit);

using ImportFn = Status (*)(ImportContext&);
using ImportTable = std::map<OperationType, ImportFn>;

// One function a family.
void AddConvImports(ImportTable& t);
void AddElementwiseImports(ImportTable& t);
void AddLookupImports(ImportTable& t);
void AddMatmulImports(ImportTable& t);
void AddNormImports(ImportTable& t);
void AddPoolImports(ImportTable& t);
void AddShapeImports(ImportTable& t);

Result<ImportedModel> Import(const NativeModel& model);

// Format::operators.
std::vector<OperatorSupport> Operators();

}  // namespace nn::nnapi

// Import of NNAPI. One-to-one operations (OpDef::formats) need no code here; every other one has a
// row in ops/<family>.cc.
//
// Inputs and outputs of a model are positional: ports have no names. Operations on quantized types
// follow TensorFlow Lite's integer kernels (Arithmetic::kTflite). A fused activation becomes a
// separate node. Scalar arguments must be constants.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/nnapi/file/native.h"
#include "ir/graph.h"
#include "ir/term.h"
#include "ops/support/window.h"

namespace nn::nnapi {

// An operation to import and its target graph.
class ImportContext : public NodeInserter {
 public:
  // `outputs`: the declared types of the output operands.
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
  // The first inputs.
  Result<std::vector<Value*>> RequiredInputs(size_t count) const;
  // kModel unless the numbers of inputs and outputs match a signature.
  Status CheckCounts() const;
  // The value of a scalar INT32 or FLOAT32 argument. kModel if its type differs, kUnsupported if it
  // is not constant.
  Result<int64_t> Int(size_t i) const;
  Result<float> Float(size_t i) const;

  // The declared type of output i.
  const Type& output_type(size_t i = 0) const { return types_[i]; }
  size_t output_count() const { return types_.size(); }

  // Adds a graph node with inferred types; quantized results start from `type`.
  Result<Node*> AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {},
                        const Type& type = {}, size_t output_count = 1);
  // The same for operators with one result.
  Result<Value*> Add(std::string_view op, Terms operands, Attrs attrs = {}, const Type& type = {});
  // Adds the node with the operation's output as result.
  Status Emit(std::string_view op, Terms operands, Attrs attrs = {});
  // The same, followed by the activation in argument `activation`.
  Status EmitFused(std::string_view op, Terms operands, Attrs attrs, size_t activation);
  // Applies the activation in an argument to a value.
  Result<Value*> Activated(Value* value, size_t activation);
  void SetOutput(size_t i, Value* value) { outputs_[i] = value; }
  const std::vector<Value*>& outputs() const { return outputs_; }

 private:
  Graph& graph_of_terms() override { return graph_; }
  Result<Node*> InsertNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                           size_t results) override {
    return AddNode(op, std::move(inputs), std::move(attrs), {}, results);
  }
  Result<const Tensor*> Scalar(size_t i, DType dtype) const;

  const Operation& operation_;
  int64_t index_;
  Graph& graph_;
  std::vector<Value*> inputs_;
  std::vector<Type> types_;
  std::vector<Value*> outputs_;
};

// Padding, strides and, for pools, the kernel: the common arguments of convolutions and pools, in
// order from argument `first` on. Implicit padding is one code, explicit padding four numbers.
struct WindowArguments {
  Padding padding = Padding::kExplicit;
  std::vector<int64_t> pads;  // begins, then ends
  std::vector<int64_t> strides;
  size_t next = 0;  // the argument after them
};
Result<WindowArguments> ReadWindow(const ImportContext& ctx, size_t first, bool implicit);

using ImportFn = Status (*)(ImportContext&);

struct ImportRow {
  OperationType operation;
  ImportFn import;
};

// Format::operators.
std::vector<OperatorSupport> Operators();

}  // namespace nn::nnapi

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
#include "formats/common/operator_import.h"
#include "formats/format.h"
#include "formats/nnapi/file/native.h"
#include "ir/graph.h"
#include "ir/term.h"
#include "ops/support/window.h"

namespace nn::nnapi {

// An operation to import and its target graph.
class ImportContext final : public OperatorImport {
 public:
  // `outputs`: the declared types of the output operands.
  ImportContext(const Operation& operation, int64_t index, Graph& graph, std::vector<Value*> inputs,
                std::vector<Type> outputs)
      : OperatorImport(
            {.kind = TextOf(operation.type), .index = index, .arithmetic = Arithmetic::kTflite},
            graph, std::move(inputs), outputs.size()),
        operation_(operation),
        types_(std::move(outputs)) {}

  OperationType type() const { return operation_.type; }

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
  // What inference of output i starts from: the declared type if it is quantized.
  Type result_type(size_t i = 0) const { return types_[i].quantized() ? types_[i] : Type(); }

  // Emit(), followed by the activation in argument `activation`.
  Status EmitFused(std::string_view op, const Terms& operands, Attrs attrs, size_t activation);
  // Applies the activation in an argument to a value.
  Result<Value*> Activated(Value* value, size_t activation);

 private:
  std::vector<Type> TypesToEmit(const OpDef& /*op*/) const override { return {result_type()}; }
  // CheckCounts(), and that no input is absent.
  Status TakeInputsOf(const OpDef& op) override;
  Result<const Tensor*> Scalar(size_t i, DType dtype) const;

  const Operation& operation_;
  std::vector<Type> types_;
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

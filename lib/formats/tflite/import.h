// From TensorFlow Lite to the graph. Operators that are one-to-one (OpDef::formats) need nothing
// here; every other operator has a function in import_<family>.cc.
//
// Fused activations become operators of their own. Nodes that touch quantised types follow
// Arithmetic::kTflite.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/tflite/native.h"
#include "ir/graph.h"
#include "ir/op_def.h"

namespace nn::tflite {

// One operator to be imported, and the graph that it goes to.
class ImportContext {
 public:
  // `output_types` are those that the file declares.
  ImportContext(const Model& model, const fb::Operator& op, const fb::OperatorCode& code,
                int64_t index, Graph& graph, std::vector<Value*> inputs,
                std::vector<Type> output_types)
      : model_(model),
        op_(op),
        code_(code),
        index_(index),
        graph_(graph),
        inputs_(std::move(inputs)),
        output_types_(std::move(output_types)),
        outputs_(output_types_.size(), nullptr) {}

  const Model& model() const { return model_; }
  const fb::Operator& op() const { return op_; }
  const fb::OperatorCode& code() const { return code_; }
  Graph& graph() { return graph_; }

  size_t input_count() const { return inputs_.size(); }
  // Null if absent.
  Value* input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  const std::vector<Value*>& inputs() const { return inputs_; }
  // The input, or kModel if it is absent.
  Result<Value*> Required(size_t i) const;
  // The input, whose rank must be known: kUnsupported if it is not.
  Result<Value*> Ranked(size_t i) const;
  // The contents of an integer input as far as inference knows them; null contents: not known.
  std::optional<Dims> Elements(size_t i) const { return KnownElements(input(i)); }
  // The numbers of an integer input, which must be known: kUnsupported if they are not.
  Result<std::vector<int64_t>> KnownInts(size_t i, std::string_view what) const;
  size_t output_count() const { return outputs_.size(); }
  const Type& output_type(size_t i = 0) const { return output_types_[i]; }

  // The operator's options; kModel if it has none or others.
  template <typename T>
  Result<const T*> Options() const {
    if (const T* options = op_.builtin_options_as<T>()) return options;
    return ModelError("its options are missing or of another kind");
  }

  // Adds a node of ours with one result; its type is inferred, it remembers where it came from and
  // takes the arithmetic that its types ask for. `quant`: how the result is quantised.
  Result<Value*> Add(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {},
                     std::shared_ptr<const Quant> quant = nullptr);
  // Adds the node whose results are the operator's outputs.
  Status Emit(std::string_view op, std::vector<Value*> inputs, Attrs attrs = {});
  // Emit of an operator with one result, followed by its fused activation.
  Status EmitActivated(fb::ActivationFunctionType activation, std::string_view op,
                       std::vector<Value*> inputs, Attrs attrs = {});
  Value* Constant(Tensor tensor) { return graph_.AddConstant(std::move(tensor)); }
  void SetOutput(size_t i, Value* value) { outputs_[i] = value; }
  const std::vector<Value*>& outputs() const { return outputs_; }

 private:
  Result<Node*> AddNode(std::string_view op, std::vector<Value*> inputs, Attrs attrs,
                        std::span<const Type> types);

  const Model& model_;
  const fb::Operator& op_;
  const fb::OperatorCode& code_;
  int64_t index_;
  Graph& graph_;
  std::vector<Value*> inputs_;
  std::vector<Type> output_types_;
  std::vector<Value*> outputs_;
};

using ImportFn = Status (*)(ImportContext&);

class ImportTable {
 public:
  void Add(fb::BuiltinOperator op, ImportFn fn) { table_[op] = fn; }
  // Null if there is none.
  ImportFn Find(fb::BuiltinOperator op) const;

 private:
  std::map<fb::BuiltinOperator, ImportFn> table_;
};

const ImportTable& Imports();

// One function a family.
void AddConvImports(ImportTable& table);
void AddElementwiseImports(ImportTable& table);
void AddGatherImports(ImportTable& table);
void AddMatmulImports(ImportTable& table);
void AddNormImports(ImportTable& table);
void AddOrderImports(ImportTable& table);
void AddPoolImports(ImportTable& table);
void AddReduceImports(ImportTable& table);
void AddResizeImports(ImportTable& table);
void AddShapeImports(ImportTable& table);
void AddSliceImports(ImportTable& table);

Result<ImportedModel> Import(const NativeModel& model);

// Format::operators.
std::vector<OperatorSupport> Operators();

}  // namespace nn::tflite

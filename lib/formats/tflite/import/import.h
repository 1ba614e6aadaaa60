// Import of TensorFlow Lite. One-to-one operators (OpDef::formats) need no code here; every other
// operator has a function in ops/<family>.cc.
//
// Fused activations become separate nodes. Nodes with quantized types have Arithmetic::kTflite.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/common/operator_import.h"
#include "formats/format.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/import/variables.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ir/term.h"
#include "ops/quant/fake_quantize.h"

namespace nn::tflite {

// An operator to import and its target graph.
class ImportContext final : public OperatorImport {
 public:
  // `output_types` are those declared in the file. `hybrids` counts the operators of hybrid kernels
  // that are imported as float operators; those whose weights have a scale per channel or tensor
  // are refused unless `hybrid_as_float`.
  ImportContext(const Model& model, const fb::SubGraph& subgraph, const fb::Operator& op,
                const fb::OperatorCode& code, int64_t index, Graph& graph,
                std::vector<Value*> inputs, std::vector<Type> output_types, int64_t& hybrids,
                bool hybrid_as_float, Variables& variables, const KnownInputs& known_inputs)
      : OperatorImport(
            {.kind = OperatorName(&code), .index = index, .arithmetic = Arithmetic::kTflite}, graph,
            std::move(inputs), output_types.size()),
        model_(model),
        subgraph_(subgraph),
        op_(op),
        code_(code),
        output_types_(std::move(output_types)),
        hybrids_(hybrids),
        hybrid_as_float_(hybrid_as_float),
        variables_(variables),
        known_inputs_(known_inputs) {}

  const Model& model() const { return model_; }
  const fb::Operator& op() const { return op_; }
  const fb::OperatorCode& code() const { return code_; }
  Variables& variables() { return variables_; }
  const KnownInputs& known_inputs() const { return known_inputs_; }

  // Checks the inputs for ImportRow::inputs.
  Status CheckInputs(std::string_view kinds) const;
  // The input; kUnsupported if its rank is unknown.
  Result<Value*> Ranked(size_t i) const;
  // The contents of an integer input; kUnsupported, with `what` in the message, if unknown.
  Result<std::vector<int64_t>> KnownInts(size_t i, std::string_view what) const;
  // The type that the file declares for an input, even for a state, which has no value.
  Result<Type> DeclaredInput(size_t i) const { return DeclaredType(op_.inputs(), i); }
  // The same for an intermediate tensor of an integer kernel.
  Result<Type> Intermediate(size_t i) const { return DeclaredType(op_.intermediates(), i); }
  const Type& output_type(size_t i = 0) const { return output_types_[i]; }

  // The operator's options; the defaults of the schema if it has none and its kernel needs none;
  // kModel if they are missing or of a different kind.
  template <typename T>
  Result<const T*> Options() const {
    if (const T* options = op_.builtin_options_as<T>()) return options;
    if (const auto* defaults = DefaultOptions()) return flatbuffers::GetRoot<T>(defaults);
    return ModelError("the options are missing or of a different kind");
  }

  // The result of a node that has one. `quant` is its quantization.
  Result<Value*> Add(std::string_view op, const Terms& operands, Attrs attrs,
                     std::shared_ptr<const Quant> quant);
  using OperatorImport::Add;
  // The operator's outputs are the values of the terms. It may have fewer.
  Status EmitTerms(const Terms& ys);
  // Emit() for one result, followed by the fused activation.
  Status EmitActivated(fb::ActivationFunctionType activation, std::string_view op,
                       const Terms& operands, Attrs attrs = {});
  // The operator's only output: `value` after the fused activation.
  Status EmitActivation(fb::ActivationFunctionType activation, Value* value);
  // The weights for a float computation: dequantized if they are quantized. kUnsupported for such
  // weights unless hybrid kernels, which quantize their float inputs in each run, are imported as
  // float operators.
  Result<Value*> FloatWeights(Value* weights);
  // Whether hybrid kernels are imported as what they compute, and not as float operators.
  bool rounds_inputs() const { return !hybrid_as_float_; }
  // Dequantizes the weights of a hybrid kernel.
  Result<Value*> HybridWeights(Value* weights);
  // x and the weights of a product. If only the weights are quantized, a hybrid kernel computes it
  // (formats/tflite/export/hybrid.h): x becomes what the kernel rounds it to, unless hybrid kernels
  // are imported as float operators, and the weights are dequantized.
  Status MakeHybrid(Value*& x, Value*& weights, DynamicFakeQuantizeAttrs rows);
  // Input i, which may have blockwise quantization (ImportRow::blockwise): the real numbers of its
  // blocks. The kernels quantize their float input, but the graph has the float operator, because
  // the built-in kernel and XNNPACK, which LiteRT uses by default, round in different ways.
  Result<Value*> Weights(size_t i);

  // Whether input i is a state whose value after the operator is required (SetState).
  bool KeepsState(size_t i) const { return states_.contains(i); }
  void KeepState(size_t i) { states_[i] = nullptr; }
  // `value` may have another shape with as many elements. Requires KeepsState(i).
  Status SetState(size_t i, Value* value);
  // The value of a variable of the operator itself, which begins with zeros, and the next one.
  Result<Value*> ReadOwn(std::string_view name, const Type& type);
  Status AssignOwn(std::string_view name, const Term& value);
  // By input; null if not set.
  const std::map<size_t, Value*>& states() const { return states_; }

 private:
  // All types that the file declares.
  std::vector<Type> TypesToEmit(const OpDef& /*op*/) const override { return output_types_; }
  Status CheckOutputs() const override;
  Result<std::optional<AttrValue>> ReadAttr(std::string_view name,
                                            const AttrValue& initial) const override;

  // A buffer whose root is a table without fields; null if the operator has options or must have.
  const void* DefaultOptions() const;
  size_t OwnVariable(std::string_view name);
  Result<Type> DeclaredType(const flatbuffers::Vector<int32_t>* list, size_t i) const;

  const Model& model_;
  const fb::SubGraph& subgraph_;
  const fb::Operator& op_;
  const fb::OperatorCode& code_;
  std::vector<Type> output_types_;
  int64_t& hybrids_;
  bool hybrid_as_float_;
  Variables& variables_;
  const KnownInputs& known_inputs_;
  std::map<size_t, Value*> states_;
};

using ImportFn = Status (*)(ImportContext&);

struct ImportRow {
  fb::BuiltinOperator op{};
  ImportFn import = nullptr;
  // Of each input: it must be there (a), and its rank known (r), or `import` checks (-).
  std::string_view inputs = {};
  // The inputs that are states: variable tensors that the operator updates. Those that begin each
  // run with zeros and are used once are null for `import`; the others require
  // ImportContext::SetState().
  std::span<const size_t> states = {};
  std::string_view custom = {};  // the name of a custom operator; `op` is CUSTOM
  // The inputs that may have blockwise quantization; they are null for `import` then (Weights()).
  std::span<const size_t> blockwise = {};
  bool has_effect = false;  // besides its outputs, of which it may have none
};

// Null if there is none.
const ImportRow* FindImport(const fb::OperatorCode& code);

// Format::operators.
std::vector<OperatorSupport> Operators();

}  // namespace nn::tflite

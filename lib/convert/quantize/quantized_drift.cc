#include "convert/quantize/quantized_drift.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/eval.h"
#include "ir/op_def.h"
#include "ops/math/elementwise/elementwise.h"
#include "passes/core/passes.h"
#include "passes/core/ports.h"
#include "passes/qdq/qdq.h"
#include "tensorio/compare.h"

namespace nn {
namespace {

// Evaluates a single quantize or dequantize.
Result<Tensor> Converted(const Tensor& tensor, Type from, Type to, std::string_view op,
                         Attrs attrs) {
  Graph graph;
  from.dims = to.dims = ToDims(tensor.dims());
  Value* const x = graph.AddInput("x", std::move(from));
  NN_ASSIGN(Node* const node, graph.Append(op, {x}, std::move(attrs)));
  node->output()->set_type(std::move(to));
  NN_ASSIGN(std::vector<Tensor> y, EvalNode(*node, {&tensor}));
  return std::move(y[0]);
}

}  // namespace

std::optional<float> StepOf(const Value& output) {
  const Value* v = &output;
  while (v->def() != nullptr && v->def()->op().movement != Movement::kNone) v = v->def()->input(0);
  if (v->def() != nullptr && v->def()->Is<DequantizeAttrs>()) v = v->def()->input(0);
  if (!v->type().quantized() || v->type().quant->per_axis()) return std::nullopt;
  return v->type().quant->scale();
}

Result<Tensor> StoredTensor(const Tensor& tensor, const Type& type) {
  if (type.dtype == tensor.dtype() && !type.quantized()) return tensor;
  if (!type.quantized())
    return Converted(tensor, Type(tensor.dtype(), {}), Type(type.dtype, {}), "cast",
                     CastAttrs{.to = type.dtype});
  return Converted(tensor, Type(tensor.dtype(), {}), type, "quantize", QuantizeAttrs{});
}

Result<Tensor> RealTensor(const Tensor& tensor, const Type& type) {
  if (!type.quantized()) {
    if (!IsFloat(type.dtype) || type.dtype == DType::kF32) return tensor;
    return StoredTensor(tensor, Type(DType::kF32, {}));
  }
  return Converted(tensor, type, Type(DType::kF32, {}), "dequantize", DequantizeAttrs{});
}

QuantizedModel::QuantizedModel(Graph graph) : graph_(std::move(graph)) {
  drift_.quantized = IsQuantized(graph_);
  for (const Port& p : graph_.inputs()) input_types_.push_back(p.value->type());
  for (const Port& p : graph_.outputs()) {
    output_types_.push_back(p.value->type());
    steps_.push_back(StepOf(*p.value));
    drift_.outputs.push_back({.name = p.name});
  }
}

Type QuantizedModel::InputType(size_t i, const Type& real) const {
  const Type& type = input_types_[i];
  return type.quantized() || IsFloat(type.dtype) ? Type(type.dtype, *real.dims, type.quant) : real;
}

Status QuantizedModel::CompileFor(const std::vector<Tensor>& inputs, const Compile& compile) {
  std::vector<std::vector<int64_t>> dims;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    dims.push_back(inputs[i].dims());
    shapes[graph_.inputs()[i].name] = inputs[i].dims();
  }
  if (program_ && dims == dims_) return {};
  Graph graph = graph_.Clone();
  NN_RETURN_IF_ERROR(BindInputs(graph, shapes));
  NN_ASSIGN(program_, compile(std::move(graph)));
  dims_ = std::move(dims);
  return {};
}

Status QuantizedModel::TryRun(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                              const Compile& compile) {
  NN_RETURN_IF_ERROR(CompileFor(inputs, compile));
  std::vector<Tensor> stored;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = input_types_[i];
    stored.push_back(inputs[i]);
    if (type.quantized() || IsFloat(type.dtype)) {
      NN_ASSIGN(stored.back(), StoredTensor(inputs[i], type));
    }
  }
  NN_ASSIGN(const std::vector<Tensor> want, program_->Run(stored));
  for (size_t i = 0; i < outputs.size(); ++i) {
    NN_ASSIGN(const Tensor real, RealTensor(want[i], output_types_[i]));
    const Type plain(outputs[i].dtype(), {});
    NN_ASSIGN(const Tensor got, RealTensor(outputs[i], plain));
    const Comparison c = Compare(real, got, {});
    if (!c.mismatch.empty()) return InternalError("{}", c.mismatch);
    QuantizedOutputDrift& drift = drift_.outputs[i];
    drift.max_absolute = std::max(drift.max_absolute, c.max_absolute);
    if (steps_[i]) drift.max_steps = drift.max_absolute / static_cast<double>(*steps_[i]);
    drift.snr_db = std::min(drift.snr_db, c.snr_db);
    drift.cosine = std::min(drift.cosine, c.cosine);
  }
  ++drift_.runs;
  return {};
}

void QuantizedModel::CompareRun(const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& outputs, const Compile& compile) {
  if (!drift_.failure.empty()) return;
  if (const Status s = TryRun(inputs, outputs, compile); !s) drift_.failure = s.error().message();
}

}  // namespace nn

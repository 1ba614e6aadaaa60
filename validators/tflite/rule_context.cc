#include "validators/tflite/rule_context.h"

#include "base/text/text.h"

namespace nn::tflite {
namespace {

std::string Path(int64_t graph, std::string_view list, int64_t index, std::string_view field) {
  return fmt::format("subgraphs[{}].{}[{}]{}{}", graph, list, index, field.empty() ? "" : ".",
                     field);
}

}  // namespace

int BitsOf(fb::TensorType type) {
  using enum fb::TensorType;
  switch (type) {
    case FLOAT32:
    case INT32:
    case UINT32:
      return 32;
    case FLOAT16:
    case BFLOAT16:
    case INT16:
    case UINT16:
      return 16;
    case UINT8:
    case INT8:
    case BOOL:
    case FLOAT8_E4M3FN:
    case FLOAT8_E5M2:
      return 8;
    case INT64:
    case UINT64:
    case FLOAT64:
    case COMPLEX64:
      return 64;
    case COMPLEX128:
      return 128;
    case INT4:
    case UINT4:
      return 4;
    case INT2:
      return 2;
    default:
      return 0;
  }
}

RuleContext::RuleContext(const Model& model) : model_(model) {
  for (int64_t g = 0; g < SizeOf(root().subgraphs()); ++g) {
    const fb::SubGraph* graph = At(root().subgraphs(), g);
    if (graph == nullptr) continue;
    for (int64_t i = 0; i < SizeOf(graph->tensors()); ++i)
      if (const fb::Tensor* t = At(graph->tensors(), i)) tensors_.push_back({t, g, i});
    for (int64_t i = 0; i < SizeOf(graph->operators()); ++i)
      if (const fb::Operator* op = At(graph->operators(), i))
        operators_.push_back({op, graph, At(root().operator_codes(), op->opcode_index()), g, i});
  }
  problems_ = Prepare(*this);
}

Location Where(const TensorAt& at, std::string_view field) {
  return nn::At(Path(at.graph, "tensors", at.index, field));
}

Location Where(const OperatorAt& at, std::string_view field) {
  return nn::At(Path(at.graph, "operators", at.index, field), at.index);
}

std::string Title(const TensorAt& at) {
  return fmt::format("tensor {} {}", at.index, Quote(Text(at.tensor->name())));
}

std::string Title(const OperatorAt& at) {
  return fmt::format("operator {} ({})", at.index, OperatorName(at.code));
}

}  // namespace nn::tflite

#include "validators/tflite/rule_context.h"

#include <optional>
#include <set>

#include "base/text/text.h"
#include "formats/tflite/spec/signature.h"

namespace nn::tflite {
namespace {

std::string Path(int64_t graph, std::string_view list, int64_t index, std::string_view field) {
  return fmt::format("subgraphs[{}].{}[{}]{}{}", graph, list, index, field.empty() ? "" : ".",
                     field);
}

bool HasContents(const fb::Model& model, const fb::Tensor& tensor) {
  const fb::Buffer* buffer = At(model.buffers(), tensor.buffer());
  return tensor.external_buffer() != 0 || (tensor.buffer() != 0 && buffer != nullptr &&
                                           (buffer->data() != nullptr || buffer->offset() > 1));
}

void CheckCodes(const RuleContext& s, Problems& problems) {
  std::set<uint32_t> used;
  for (const OperatorAt& at : s.operators()) used.insert(at.op->opcode_index());
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    const Signature* signature = code != nullptr ? FindSignature(OperatorOf(*code)) : nullptr;
    if (signature == nullptr) continue;
    const Location where = nn::At(fmt::format("operator_codes[{}]", i));
    if (signature->max_version == 0)
      problems.Add(Check::kNoKernel, where,
                   fmt::format("the interpreter has no kernel for {}", OperatorName(code)));
    else if (code->version() < signature->min_version || code->version() > signature->max_version)
      problems.Add(
          Check::kVersion, where,
          fmt::format("{} has version {}; expected {}", OperatorName(code), code->version(),
                      spec::Range(signature->min_version, signature->max_version).ToString()));
  }
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
  }
  operators_ = OperatorsOf(root());
  CheckCodes(*this, problems_);
  const ModelView view = {root(), [this](const fb::Tensor& t) { return HasContents(root(), t); },
                          [this](const fb::Tensor& t) -> std::optional<Blob> {
                            auto bytes = BufferBytes(model_, t.buffer());
                            return bytes ? std::optional(*std::move(bytes)) : std::nullopt;
                          }};
  FindViolations(view, operators_, [this](const Violation& v) {
    problems_.Add(v.check, Where(v.at), Title(v.at) + ": " + v.text);
  });
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

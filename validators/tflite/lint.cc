// Advice that needs the format: what is unusual in a TensorFlow Lite model, or left over.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "formats/tflite/native.h"
#include "validators/scales.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

void ScalesUsual(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* q = at.tensor->quantization();
    if (q == nullptr) continue;
    for (const float scale : ListOf<float>(q->scale()))
      if (scale >= 0 && std::isfinite(scale) && !IsUsualScale(scale)) {
        f.Add(Where(at, "quantization.scale"), "{} has scale {}", Title(at), scale);
        break;
      }
  }
}

// The scale that a range asks of `steps` steps.
bool ScaleFits(float low, float high, float scale, double steps) {
  const double wanted = (double{high} - double{low}) / steps;
  return std::abs(wanted - double{scale}) <= 0.1 * std::max(wanted, double{scale});
}

void RangeFitsScale(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* q = at.tensor->quantization();
    const bool is_signed = at.tensor->type() == fb::TensorType::INT8;
    if (q == nullptr || SizeOf(q->scale()) != 1 || SizeOf(q->min()) != 1 || SizeOf(q->max()) != 1 ||
        !(is_signed || at.tensor->type() == fb::TensorType::UINT8))
      continue;
    const float low = q->min()->Get(0);
    const float high = q->max()->Get(0);
    const float scale = q->scale()->Get(0);
    if (!ScaleFits(low, high, scale, 255) && !ScaleFits(low, high, scale, 254))
      f.Add(Where(at, "quantization.min"), "{} has scale {} and a range of {} to {}", Title(at),
            scale, low, high);
  }
}

bool IsData(const Subject& s, const fb::Tensor& tensor) {
  const fb::Buffer* buffer = At(s.root().buffers(), tensor.buffer());
  return buffer != nullptr && (SizeOf(buffer->data()) > 0 || buffer->size() > 0);
}

// Halves are made floats by DEQUANTIZE; few kernels compute with them.
void HalvesDequantised(const Subject& s, Findings& f) {
  constexpr Op kKernels[] = {Op::CONV_2D, Op::DEPTHWISE_CONV_2D, Op::TRANSPOSE_CONV,
                             Op::FULLY_CONNECTED, Op::BATCH_MATMUL};
  for (const OperatorAt& at : s.operators()) {
    if (at.code == nullptr) continue;
    const Op op = OperatorOf(*at.code);
    if (std::find(std::begin(kKernels), std::end(kKernels), op) == std::end(kKernels)) continue;
    for (const int32_t t : ListOf<int32_t>(at.op->inputs())) {
      const fb::Tensor* tensor = At(at.subgraph->tensors(), t);
      if (tensor != nullptr && tensor->type() == fb::TensorType::FLOAT16 && IsData(s, *tensor))
        f.Add(Where(at, "inputs"), "{} reads the FLOAT16 constant {} with no DEQUANTIZE between",
              Title(at), Quote(Text(tensor->name())));
    }
  }
}

void NoCustomOperators(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code == nullptr || OperatorOf(*code) != Op::CUSTOM) continue;
    const std::string_view name = Text(code->custom_code());
    f.Add(nn::At(fmt::format("operator_codes[{}]", i)), "{} needs {}", Quote(name),
          name.starts_with("Flex") ? "a runtime with TensorFlow's operators (Flex)"
                                   : "a kernel that the runtime does not bring");
  }
}

void TensorsNamed(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    if (Text(at.tensor->name()).empty())
      f.Add(Where(at, "name"), "tensor {} has no name", at.index);
}

void RuntimeNamed(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().metadata()); ++i) {
    const fb::Metadata* m = At(s.root().metadata(), i);
    if (m != nullptr && Text(m->name()) == "min_runtime_version") return;
  }
  f.Add(nn::At("metadata"), "the model does not say which runtime it needs");
}

void HasSignature(const Subject& s, Findings& f) {
  if (SizeOf(s.root().signature_defs()) == 0)
    f.Add(nn::At("signature_defs"), "the model has no signature");
}

void BuffersUsed(const Subject& s, Findings& f) {
  std::set<int64_t> used{0};
  for (const TensorAt& at : s.tensors()) used.insert(at.tensor->buffer());
  for (int64_t i = 0; i < SizeOf(s.root().metadata()); ++i)
    if (const fb::Metadata* m = At(s.root().metadata(), i)) used.insert(m->buffer());
  for (const int64_t i : ListOf<int64_t>(s.root().metadata_buffer())) used.insert(i);
  for (int64_t i = 0; i < SizeOf(s.root().buffers()); ++i) {
    const fb::Buffer* buffer = At(s.root().buffers(), i);
    if (buffer == nullptr || used.contains(i)) continue;
    const uint64_t bytes = std::max(buffer->size(), static_cast<uint64_t>(SizeOf(buffer->data())));
    if (bytes > 0)
      f.Add(nn::At(fmt::format("buffers[{}]", i)), "nothing uses the {} bytes of buffer {}", bytes,
            i);
  }
}

void Mark(std::vector<bool>& list, int64_t i) {
  if (i >= 0 && i < static_cast<int64_t>(list.size())) list[static_cast<size_t>(i)] = true;
}

void TensorsUsed(const Subject& s, Findings& f) {
  std::vector<std::vector<bool>> used(static_cast<size_t>(SizeOf(s.root().subgraphs())));
  for (size_t g = 0; g < used.size(); ++g) {
    const fb::SubGraph* graph = At(s.root().subgraphs(), static_cast<int64_t>(g));
    if (graph == nullptr) continue;
    used[g].resize(static_cast<size_t>(SizeOf(graph->tensors())));
    for (const auto* list : {graph->inputs(), graph->outputs()})
      for (const int32_t t : ListOf<int32_t>(list)) Mark(used[g], t);
  }
  for (const OperatorAt& at : s.operators())
    for (const auto* list : {at.op->inputs(), at.op->outputs(), at.op->intermediates()})
      for (const int32_t t : ListOf<int32_t>(list)) Mark(used[static_cast<size_t>(at.graph)], t);
  for (const TensorAt& at : s.tensors()) {
    const auto* q = at.tensor->quantization();
    if (q == nullptr) continue;
    auto& list = used[static_cast<size_t>(at.graph)];
    if (const auto* b = q->details_as_BlockwiseQuantization()) {
      Mark(list, b->scales());
      Mark(list, b->zero_points());
    }
    if (const auto* m = q->details_as_MultiAxisQuantization()) {
      Mark(list, m->scales());
      Mark(list, m->zero_points());
    }
  }
  for (const TensorAt& at : s.tensors())
    if (!used[static_cast<size_t>(at.graph)][static_cast<size_t>(at.index)])
      f.Add(Where(at), "nothing uses {}", Title(at));
}

void CodesUsed(const Subject& s, Findings& f) {
  std::vector<bool> used(static_cast<size_t>(SizeOf(s.root().operator_codes())));
  for (const OperatorAt& at : s.operators()) Mark(used, at.op->opcode_index());
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      f.Add(nn::At(fmt::format("operator_codes[{}]", i)), "no operator has code {} ({})", i,
            OperatorName(At(s.root().operator_codes(), static_cast<int64_t>(i))));
}

void CodesOnce(const Subject& s, Findings& f) {
  std::set<std::tuple<Op, int32_t, std::string_view>> seen;
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code != nullptr &&
        !seen.emplace(OperatorOf(*code), code->version(), Text(code->custom_code())).second)
      f.Add(nn::At(fmt::format("operator_codes[{}]", i)), "code {} is {} once more", i,
            OperatorName(code));
  }
}

void OldCodesFilled(const Subject& s, Findings& f) {
  constexpr int kLargest = 127;
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code == nullptr) continue;
    const int op = static_cast<int>(code->builtin_code());
    if (op != 0 && code->deprecated_builtin_code() == 0)
      f.Add(nn::At(fmt::format("operator_codes[{}].deprecated_builtin_code", i)),
            "code {} is {} and 0, not {}, in the old field", i, OperatorName(code),
            std::min(op, kLargest));
  }
}

constexpr Rule kRules[] = {
    Lint("TFLITE-LINT-001", Severity::kWarning, "Scales are normal numbers of at most 10000.",
         "schema.fbs, QuantizationParameters.scale",
         "Quantise again with data that reach the tensor.", ScalesUsual),
    Lint("TFLITE-LINT-002", Severity::kNote, "The range of a tensor is that of its scale.",
         "schema.fbs, QuantizationParameters.min", "min and max are for information only.",
         RangeFitsScale),
    Lint("TFLITE-LINT-003", Severity::kWarning,
         "FLOAT16 weights go through DEQUANTIZE to the kernels.", "schema.fbs, TensorType", "",
         HalvesDequantised),
    Lint("TFLITE-LINT-004", Severity::kNote, "All operators are builtin.",
         "schema.fbs, OperatorCode.custom_code", "", NoCustomOperators),
    Lint("TFLITE-LINT-005", Severity::kNote, "Tensors have names.", "schema.fbs, Tensor.name", "",
         TensorsNamed),
    Lint("TFLITE-LINT-006", Severity::kNote, "The metadata tell the oldest runtime that will do.",
         "schema.fbs, Model.metadata", "Add metadata min_runtime_version.", RuntimeNamed),
    Lint("TFLITE-LINT-007", Severity::kNote, "The model has a signature.",
         "schema.fbs, Model.signature_defs",
         "Without one its inputs and outputs are told apart by their order.", HasSignature),
    Lint("TFLITE-LINT-008", Severity::kWarning, "Buffers with data are used.",
         "schema.fbs, Model.buffers", "", BuffersUsed),
    Lint("TFLITE-LINT-009", Severity::kNote, "Tensors are used.", "schema.fbs, SubGraph.tensors",
         "", TensorsUsed),
    Lint("TFLITE-LINT-010", Severity::kNote, "Operator codes are used.",
         "schema.fbs, Model.operator_codes", "", CodesUsed),
    Lint("TFLITE-LINT-011", Severity::kNote, "An operator has one code.",
         "schema.fbs, Model.operator_codes", "", CodesOnce),
    Lint("TFLITE-LINT-012", Severity::kNote, "The old field of operator codes is filled.",
         "schema.fbs, OperatorCode.deprecated_builtin_code",
         "Readers of schema version 3 take another operator otherwise.", OldCodesFilled),
};

}  // namespace

std::span<const Rule> LintRules() {
  return kRules;
}

}  // namespace nn::tflite

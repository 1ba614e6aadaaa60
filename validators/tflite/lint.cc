// Advice for TensorFlow Lite models: unusual or unused constructs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "base/text/text.h"
#include "formats/tflite/file/native.h"
#include "validators/scales.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

void ScalesUsual(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    const auto* q = at.tensor->quantization();
    if (q == nullptr) continue;
    for (const float scale : ListOf<float>(q->scale()))
      if (scale >= 0 && std::isfinite(scale) && !IsUsualScale(scale)) {
        f.Add(Where(at, "quantization.scale"), "{} has the unusual scale {}", Title(at), scale);
        break;
      }
  }
}

// Whether `scale` is about the range divided into `steps` steps.
bool ScaleFits(float low, float high, float scale, double steps) {
  const double wanted = (double{high} - double{low}) / steps;
  return std::abs(wanted - double{scale}) <= 0.1 * std::max(wanted, double{scale});
}

void RangeFitsScale(const RuleContext& s, Findings& f) {
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
      f.Add(Where(at, "quantization.min"),
            "{} has scale {}, which does not match its range of {} to {}", Title(at), scale, low,
            high);
  }
}

bool IsData(const RuleContext& s, const fb::Tensor& tensor) {
  const fb::Buffer* buffer = At(s.root().buffers(), tensor.buffer());
  return buffer != nullptr && (SizeOf(buffer->data()) > 0 || buffer->size() > 0);
}

// Few kernels compute with FLOAT16; models usually convert constants with DEQUANTIZE.
void HalvesDequantized(const RuleContext& s, Findings& f) {
  constexpr Op kKernels[] = {Op::CONV_2D, Op::DEPTHWISE_CONV_2D, Op::TRANSPOSE_CONV,
                             Op::FULLY_CONNECTED, Op::BATCH_MATMUL};
  for (const OperatorAt& at : s.operators()) {
    if (at.code == nullptr) continue;
    const Op op = OperatorOf(*at.code);
    if (std::find(std::begin(kKernels), std::end(kKernels), op) == std::end(kKernels)) continue;
    for (const int32_t t : ListOf<int32_t>(at.op->inputs())) {
      const fb::Tensor* tensor = At(at.subgraph->tensors(), t);
      if (tensor != nullptr && tensor->type() == fb::TensorType::FLOAT16 && IsData(s, *tensor))
        f.Add(Where(at, "inputs"),
              "{} reads the FLOAT16 constant {} without a DEQUANTIZE in between", Title(at),
              Quote(Text(tensor->name())));
    }
  }
}

void NoCustomOperators(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code == nullptr || OperatorOf(*code) != Op::CUSTOM) continue;
    const std::string_view name = Text(code->custom_code());
    f.Add(nn::At(fmt::format("operator_codes[{}]", i)), "custom operator {} needs {}", Quote(name),
          name.starts_with("Flex") ? "a runtime with the Flex delegate"
                                   : "a kernel that is not part of the runtime");
  }
}

void TensorsNamed(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    if (Text(at.tensor->name()).empty())
      f.Add(Where(at, "name"), "tensor {} has no name", at.index);
}

void RuntimeNamed(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().metadata()); ++i) {
    const fb::Metadata* m = At(s.root().metadata(), i);
    if (m != nullptr && Text(m->name()) == "min_runtime_version") return;
  }
  f.Add(nn::At("metadata"), "the model has no metadata min_runtime_version");
}

void HasSignature(const RuleContext& s, Findings& f) {
  if (SizeOf(s.root().signature_defs()) == 0)
    f.Add(nn::At("signature_defs"), "the model has no signature");
}

void BuffersUsed(const RuleContext& s, Findings& f) {
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
      f.Add(nn::At(fmt::format("buffers[{}]", i)), "buffer {} has {} bytes of data but is unused",
            i, bytes);
  }
}

void Mark(std::vector<bool>& list, int64_t i) {
  if (i >= 0 && i < static_cast<int64_t>(list.size())) list[static_cast<size_t>(i)] = true;
}

void TensorsUsed(const RuleContext& s, Findings& f) {
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
      f.Add(Where(at), "{} is unused", Title(at));
}

void CodesUsed(const RuleContext& s, Findings& f) {
  std::vector<bool> used(static_cast<size_t>(SizeOf(s.root().operator_codes())));
  for (const OperatorAt& at : s.operators()) Mark(used, at.op->opcode_index());
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i])
      f.Add(nn::At(fmt::format("operator_codes[{}]", i)), "operator code {} ({}) is unused", i,
            OperatorName(At(s.root().operator_codes(), static_cast<int64_t>(i))));
}

void CodesOnce(const RuleContext& s, Findings& f) {
  std::set<std::tuple<Op, int32_t, std::string_view>> seen;
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code != nullptr &&
        !seen.emplace(OperatorOf(*code), code->version(), Text(code->custom_code())).second)
      f.Add(nn::At(fmt::format("operator_codes[{}]", i)),
            "operator code {} repeats an earlier code of {}", i, OperatorName(code));
  }
}

void OldCodesFilled(const RuleContext& s, Findings& f) {
  constexpr int kLargest = 127;
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code == nullptr) continue;
    const int op = static_cast<int>(code->builtin_code());
    if (op != 0 && code->deprecated_builtin_code() == 0)
      f.Add(nn::At(fmt::format("operator_codes[{}].deprecated_builtin_code", i)),
            "operator code {} ({}) has deprecated_builtin_code 0; expected {}", i,
            OperatorName(code), std::min(op, kLargest));
  }
}

// The reference kernel accepts an absent bias, and so do all kernels for 16-bit activations.
void DepthwiseHasBias(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators()) {
    if (at.code == nullptr || OperatorOf(*at.code) != Op::DEPTHWISE_CONV_2D) continue;
    const std::vector<int32_t> inputs = ListOf<int32_t>(at.op->inputs());
    if (inputs.empty() || (inputs.size() > 2 && inputs[2] >= 0)) continue;
    const fb::Tensor* const x = At(at.subgraph->tensors(), inputs[0]);
    if (x != nullptr && x->type() != fb::TensorType::INT16)
      f.Add(Where(at, "inputs"), "{} has no bias", Title(at));
  }
}

constexpr Rule kLintRules[] = {
    {.info = {.id = "TFLITE-LINT-001",
              .severity = Severity::kWarning,
              .statement =
                  "Every quantization scale is a positive, normal number of at most 10000.",
              .clause = "schema.fbs, QuantizationParameters.scale",
              .hint = "Quantize the model again with calibration data that exercises the tensor.",
              .lint = true},
     .check = ScalesUsual},
    {.info = {.id = "TFLITE-LINT-002",
              .severity = Severity::kNote,
              .statement = "The min and max of a quantized INT8 or UINT8 tensor match its scale.",
              .clause = "schema.fbs, QuantizationParameters.min",
              .hint = "Correct or remove min and max; they are for information only.",
              .lint = true},
     .check = RangeFitsScale},
    {.info = {.id = "TFLITE-LINT-003",
              .severity = Severity::kWarning,
              .statement = "FLOAT16 constants pass through DEQUANTIZE before a convolution, "
                           "FULLY_CONNECTED or BATCH_MATMUL reads them.",
              .clause = "schema.fbs, TensorType",
              .hint = "Insert a DEQUANTIZE between the FLOAT16 constant and the operator.",
              .lint = true},
     .check = HalvesDequantized},
    {.info = {.id = "TFLITE-LINT-004",
              .severity = Severity::kNote,
              .statement = "All operators of the model are builtin operators.",
              .clause = "schema.fbs, OperatorCode.custom_code",
              .hint = "Replace the custom operator with builtin operators, or register its kernel "
                      "in every runtime that loads the model.",
              .lint = true},
     .check = NoCustomOperators},
    {.info = {.id = "TFLITE-LINT-005",
              .severity = Severity::kNote,
              .statement = "Every tensor has a name.",
              .clause = "schema.fbs, Tensor.name",
              .hint = "Name the tensor, so that tools and converted models can refer to it.",
              .lint = true},
     .check = TensorsNamed},
    {.info = {.id = "TFLITE-LINT-006",
              .severity = Severity::kNote,
              .statement = "The metadata of the model has an entry min_runtime_version.",
              .clause = "schema.fbs, Model.metadata",
              .hint = "Add the metadata entry min_runtime_version with the oldest runtime version "
                      "that supports the model.",
              .lint = true},
     .check = RuntimeNamed},
    {.info = {.id = "TFLITE-LINT-007",
              .severity = Severity::kNote,
              .statement = "The model has at least one signature.",
              .clause = "schema.fbs, Model.signature_defs",
              .hint = "Add a signature; without one, inputs and outputs are identified only by "
                      "their order.",
              .lint = true},
     .check = HasSignature},
    {.info = {.id = "TFLITE-LINT-008",
              .severity = Severity::kWarning,
              .statement = "Every buffer with data is used by a tensor or by metadata.",
              .clause = "schema.fbs, Model.buffers",
              .hint = "Remove the data of the unused buffer.",
              .lint = true},
     .check = BuffersUsed},
    {.info = {.id = "TFLITE-LINT-009",
              .severity = Severity::kNote,
              .statement = "Every tensor is an input or output of its subgraph, is used by an "
                           "operator, or holds the scales or zero points of another tensor.",
              .clause = "schema.fbs, SubGraph.tensors",
              .hint = "Remove the unused tensor, and renumber the others.",
              .lint = true},
     .check = TensorsUsed},
    {.info = {.id = "TFLITE-LINT-010",
              .severity = Severity::kNote,
              .statement = "Every operator code is used by an operator.",
              .clause = "schema.fbs, Model.operator_codes",
              .hint = "Remove the unused operator code, and adjust opcode_index of the operators.",
              .lint = true},
     .check = CodesUsed},
    {.info = {.id = "TFLITE-LINT-011",
              .severity = Severity::kNote,
              .statement = "No two operator codes have the same operator, version and custom_code.",
              .clause = "schema.fbs, Model.operator_codes",
              .hint =
                  "Merge the duplicate operator codes, and adjust opcode_index of the operators.",
              .lint = true},
     .check = CodesOnce},
    {.info = {.id = "TFLITE-LINT-012",
              .severity = Severity::kNote,
              .statement = "The deprecated_builtin_code of every operator code is filled in.",
              .clause = "schema.fbs, OperatorCode.deprecated_builtin_code",
              .hint = "Set deprecated_builtin_code to builtin_code, or to 127 if it is greater; "
                      "old readers know only this field.",
              .lint = true},
     .check = OldCodesFilled},
    {.info = {.id = "TFLITE-LINT-013",
              .severity = Severity::kWarning,
              .statement = "DEPTHWISE_CONV_2D has a bias, unless its input is INT16.",
              .clause = "optimized kernels of DEPTHWISE_CONV_2D, which read the bias unchecked",
              .hint = "Add a bias of zeros; without it, LiteRT crashes unless it runs the "
                      "reference kernels. nnconvert --rewrite adds it.",
              .lint = true},
     .check = DepthwiseHasBias},
};

}  // namespace

std::span<const Rule> LintRules() {
  return kLintRules;
}

}  // namespace nn::tflite

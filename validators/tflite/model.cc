// Rules of the model: version, buffers, operator codes, signatures, metadata.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

constexpr uint32_t kVersion = 3;

void VersionKnown(const Subject& s, Findings& f) {
  if (s.root().version() != kVersion)
    f.Add(nn::At("version"), "version is {}, not {}", s.root().version(), kVersion);
}

void GraphsPresent(const Subject& s, Findings& f) {
  if (SizeOf(s.root().subgraphs()) == 0) f.Add(nn::At("subgraphs"), "the model has no subgraphs");
}

void FirstBufferEmpty(const Subject& s, Findings& f) {
  const fb::Buffer* first = At(s.root().buffers(), 0);
  if (first == nullptr)
    f.Add(nn::At("buffers"), "the model has no buffers");
  else if (SizeOf(first->data()) > 0 || first->size() > 0)
    f.Add(nn::At("buffers[0]"), "buffer 0 has {} bytes",
          std::max<uint64_t>(first->size(), static_cast<uint64_t>(SizeOf(first->data()))));
}

void BuffersReadable(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().buffers()); ++i)
    if (const auto bytes = BufferBytes(s.native(), static_cast<uint32_t>(i)); !bytes)
      f.Add(nn::At(fmt::format("buffers[{}]", i)), "{}", bytes.error().message());
}

void CodesKnown(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code == nullptr) continue;
    const auto op = OperatorOf(*code);
    if (op < fb::BuiltinOperator::MIN || op > fb::BuiltinOperator::MAX)
      f.Add(nn::At(fmt::format("operator_codes[{}]", i)), "operator code {} is {}", i,
            static_cast<int>(op));
  }
}

void CodesAgree(const Subject& s, Findings& f) {
  constexpr int kPlaceholder = 127;  // in the old field, for operators that do not fit it
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code == nullptr) continue;
    const auto old_code = code->deprecated_builtin_code();
    const int new_code = static_cast<int>(code->builtin_code());
    const bool agree = new_code == 0 || old_code == new_code || old_code == 0 ||
                       (old_code == kPlaceholder && new_code >= kPlaceholder);
    if (old_code < 0 || !agree)
      f.Add(nn::At(fmt::format("operator_codes[{}]", i)), "operator code {} is {} and {}", i,
            old_code, new_code);
  }
}

void CustomNamed(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code != nullptr && OperatorOf(*code) == fb::BuiltinOperator::CUSTOM &&
        Text(code->custom_code()).empty())
      f.Add(nn::At(fmt::format("operator_codes[{}].custom_code", i)),
            "custom operator {} has no name", i);
  }
}

void SignaturesResolve(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i) {
    const fb::SignatureDef* d = At(s.root().signature_defs(), i);
    if (d == nullptr) continue;
    const std::string path = fmt::format("signature_defs[{}]", i);
    const fb::SubGraph* graph = At(s.root().subgraphs(), d->subgraph_index());
    if (graph == nullptr) {
      f.Add(nn::At(path + ".subgraph_index"), "signature {} is of subgraph {} of {}",
            Quote(Text(d->signature_key())), d->subgraph_index(), SizeOf(s.root().subgraphs()));
      continue;
    }
    for (const auto* list : {d->inputs(), d->outputs()})
      for (int64_t k = 0; k < SizeOf(list); ++k) {
        const fb::TensorMap* map = At(list, k);
        if (map != nullptr && At(graph->tensors(), map->tensor_index()) == nullptr)
          f.Add(nn::At(path), "{} of signature {} is tensor {} of {}", Quote(Text(map->name())),
                Quote(Text(d->signature_key())), map->tensor_index(), SizeOf(graph->tensors()));
      }
  }
}

void SignatureKeysUnique(const Subject& s, Findings& f) {
  std::set<std::string_view> seen;
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i) {
    const fb::SignatureDef* d = At(s.root().signature_defs(), i);
    if (d != nullptr && !seen.insert(Text(d->signature_key())).second)
      f.Add(nn::At(fmt::format("signature_defs[{}].signature_key", i)), "a second signature is {}",
            Quote(Text(d->signature_key())));
  }
}

void MetadataResolves(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().metadata()); ++i) {
    const fb::Metadata* m = At(s.root().metadata(), i);
    if (m != nullptr && At(s.root().buffers(), m->buffer()) == nullptr)
      f.Add(nn::At(fmt::format("metadata[{}].buffer", i)), "metadata {} are in buffer {} of {}",
            Quote(Text(m->name())), m->buffer(), SizeOf(s.root().buffers()));
  }
}

constexpr Rule kRules[] = {
    {{"TFLITE-MODEL-001", Severity::kError, "The version is 3.", "schema.fbs, Model.version", true,
      ""},
     VersionKnown},
    {{"TFLITE-MODEL-002", Severity::kError, "The model has a subgraph.",
      "schema.fbs, Model.subgraphs", true, ""},
     GraphsPresent},
    {{"TFLITE-MODEL-003", Severity::kError, "Buffer 0 is there and empty.",
      "schema.fbs, Model.buffers", false, "Tensors without data refer to it."},
     FirstBufferEmpty},
    {{"TFLITE-MODEL-004", Severity::kError, "Buffers lie inside the file.",
      "schema.fbs, Buffer.offset", true, ""},
     BuffersReadable},
    {{"TFLITE-MODEL-005", Severity::kError, "Operator codes are those of builtin operators.",
      "schema.fbs, BuiltinOperator", true, ""},
     CodesKnown},
    {{"TFLITE-MODEL-006", Severity::kError,
      "The two fields of an operator code agree; codes above 126 have 127 in the old one.",
      "schema.fbs, OperatorCode", false, ""},
     CodesAgree},
    {{"TFLITE-MODEL-007", Severity::kError, "Custom operators have a name.",
      "schema.fbs, OperatorCode.custom_code", true, ""},
     CustomNamed},
    {{"TFLITE-MODEL-008", Severity::kError, "Signatures name subgraphs and tensors of the model.",
      "schema.fbs, SignatureDef", true, ""},
     SignaturesResolve},
    {{"TFLITE-MODEL-009", Severity::kError, "Keys of signatures are unique.",
      "schema.fbs, SignatureDef.signature_key", false, ""},
     SignatureKeysUnique},
    {{"TFLITE-MODEL-010", Severity::kError, "Metadata are in buffers of the model.",
      "schema.fbs, Metadata.buffer", true, ""},
     MetadataResolves},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kRules;
}

}  // namespace nn::tflite

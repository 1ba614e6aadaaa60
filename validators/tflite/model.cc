// Rules about the model: version, buffers, operator codes, signatures, metadata.
#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

constexpr uint32_t kVersion = 3;

void VersionKnown(const RuleContext& s, Findings& f) {
  if (s.root().version() != kVersion)
    f.Add(nn::At("version"), "the schema version is {}; expected {}", s.root().version(), kVersion);
}

void GraphsPresent(const RuleContext& s, Findings& f) {
  if (SizeOf(s.root().subgraphs()) == 0) f.Add(nn::At("subgraphs"), "the model has no subgraphs");
}

void FirstBufferEmpty(const RuleContext& s, Findings& f) {
  if (s.root().buffers() == nullptr) return;
  const fb::Buffer* first = At(s.root().buffers(), 0);
  if (first == nullptr)
    f.Add(nn::At("buffers"), "the list of buffers is empty; expected an empty buffer at index 0");
  else if (SizeOf(first->data()) > 0 || first->size() > 0)
    f.Add(nn::At("buffers[0]"), "buffer 0 has {} bytes; expected an empty buffer",
          std::max<uint64_t>(first->size(), static_cast<uint64_t>(SizeOf(first->data()))));
}

void BuffersReadable(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().buffers()); ++i)
    if (const auto bytes = BufferBytes(s.native(), static_cast<uint32_t>(i)); !bytes)
      f.Add(nn::At(fmt::format("buffers[{}]", i)), "{}", bytes.error().message());
}

void CodesKnown(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code == nullptr) continue;
    const auto op = OperatorOf(*code);
    if (op < fb::BuiltinOperator::MIN || op > fb::BuiltinOperator::MAX)
      f.Add(nn::At(fmt::format("operator_codes[{}]", i)),
            "operator code {} has the unknown builtin operator {}", i, static_cast<int>(op));
  }
}

void CodesAgree(const RuleContext& s, Findings& f) {
  constexpr int kPlaceholder = 127;  // in the old field, for greater codes
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code == nullptr) continue;
    const auto old_code = code->deprecated_builtin_code();
    const int new_code = static_cast<int>(code->builtin_code());
    const bool agree = new_code == 0 || old_code == new_code || old_code == 0 ||
                       (old_code == kPlaceholder && new_code >= kPlaceholder);
    if (old_code < 0 || !agree)
      f.Add(nn::At(fmt::format("operator_codes[{}]", i)),
            "operator code {} has deprecated_builtin_code {} and builtin_code {}", i, old_code,
            new_code);
  }
}

void CustomNamed(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().operator_codes()); ++i) {
    const fb::OperatorCode* code = At(s.root().operator_codes(), i);
    if (code != nullptr && OperatorOf(*code) == fb::BuiltinOperator::CUSTOM &&
        Text(code->custom_code()).empty())
      f.Add(nn::At(fmt::format("operator_codes[{}].custom_code", i)),
            "operator code {} is custom but has no custom_code", i);
  }
}

void SignaturesResolve(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i) {
    const fb::SignatureDef* d = At(s.root().signature_defs(), i);
    if (d == nullptr) continue;
    const std::string path = fmt::format("signature_defs[{}]", i);
    const fb::SubGraph* graph = At(s.root().subgraphs(), d->subgraph_index());
    if (graph == nullptr) {
      f.Add(nn::At(path + ".subgraph_index"),
            "signature {} refers to subgraph {}, out of range [0, {})",
            Quote(Text(d->signature_key())), d->subgraph_index(), SizeOf(s.root().subgraphs()));
      continue;
    }
    for (const auto* list : {d->inputs(), d->outputs()})
      for (int64_t k = 0; k < SizeOf(list); ++k) {
        const fb::TensorMap* map = At(list, k);
        if (map != nullptr && At(graph->tensors(), map->tensor_index()) == nullptr)
          f.Add(nn::At(path), "{} of signature {} refers to tensor {}, out of range [0, {})",
                Quote(Text(map->name())), Quote(Text(d->signature_key())), map->tensor_index(),
                SizeOf(graph->tensors()));
      }
  }
}

void SignatureKeysUnique(const RuleContext& s, Findings& f) {
  std::set<std::string_view> seen;
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i) {
    const fb::SignatureDef* d = At(s.root().signature_defs(), i);
    if (d != nullptr && !seen.insert(Text(d->signature_key())).second)
      f.Add(nn::At(fmt::format("signature_defs[{}].signature_key", i)),
            "signature_key {} is used more than once", Quote(Text(d->signature_key())));
  }
}

void MetadataResolves(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().metadata()); ++i) {
    const fb::Metadata* m = At(s.root().metadata(), i);
    if (m != nullptr && At(s.root().buffers(), m->buffer()) == nullptr)
      f.Add(nn::At(fmt::format("metadata[{}].buffer", i)),
            "metadata {} refers to buffer {}, out of range [0, {})", Quote(Text(m->name())),
            m->buffer(), SizeOf(s.root().buffers()));
  }
}

void BuffersPresent(const RuleContext& s, Findings& f) {
  if (s.root().buffers() == nullptr) f.Add(nn::At("buffers"), "the model has no buffers field");
}

void SignaturesHaveKeys(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i) {
    const fb::SignatureDef* d = At(s.root().signature_defs(), i);
    if (d != nullptr && d->signature_key() == nullptr)
      f.Add(nn::At(fmt::format("signature_defs[{}].signature_key", i)),
            "signature {} has no signature_key", i);
  }
}

using TensorMaps = flatbuffers::Vector<flatbuffers::Offset<fb::TensorMap>>;

// The entries of a list have names, no two of them the same.
void CheckPortNames(Findings& f, const std::string& path, const TensorMaps* list) {
  std::set<std::string_view> names;
  for (int64_t k = 0; k < SizeOf(list); ++k) {
    const fb::TensorMap* map = At(list, k);
    if (map == nullptr) continue;
    if (map->name() == nullptr)
      f.Add(nn::At(fmt::format("{}[{}].name", path, k)), "entry {} has no name", k);
    else if (!names.insert(Text(map->name())).second)
      f.Add(nn::At(fmt::format("{}[{}].name", path, k)), "name {} is used more than once",
            Quote(Text(map->name())));
  }
}

void PortNamesUnique(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i)
    if (const fb::SignatureDef* d = At(s.root().signature_defs(), i)) {
      CheckPortNames(f, fmt::format("signature_defs[{}].inputs", i), d->inputs());
      CheckPortNames(f, fmt::format("signature_defs[{}].outputs", i), d->outputs());
    }
}

// Compares the `what` of a signature, "inputs" or "outputs", with those of its subgraph.
void CheckPorts(Findings& f, const std::string& path, std::string_view what, const TensorMaps* maps,
                const flatbuffers::Vector<int32_t>* ports, int64_t tensors) {
  const Location where = nn::At(fmt::format("{}.{}", path, what));
  const auto indices = ListOf<int64_t>(ports);
  const std::set<int64_t> known(indices.begin(), indices.end());
  for (int64_t k = 0; k < SizeOf(maps); ++k) {
    const fb::TensorMap* map = At(maps, k);
    if (map != nullptr && map->tensor_index() < tensors && !known.contains(map->tensor_index()))
      return f.Add(where, "{} refers to tensor {}, which is not among the {} of the subgraph",
                   Quote(Text(map->name())), map->tensor_index(), what);
  }
  if (SizeOf(maps) != static_cast<int64_t>(indices.size()))
    f.Add(where, "the number of {} of the signature is {}; the subgraph has {}", what, SizeOf(maps),
          indices.size());
}

void SignaturesComplete(const RuleContext& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i) {
    const fb::SignatureDef* d = At(s.root().signature_defs(), i);
    const fb::SubGraph* graph =
        d != nullptr ? At(s.root().subgraphs(), d->subgraph_index()) : nullptr;
    if (graph == nullptr) continue;
    const std::string path = fmt::format("signature_defs[{}]", i);
    const int64_t tensors = SizeOf(graph->tensors());
    CheckPorts(f, path, "inputs", d->inputs(), graph->inputs(), tensors);
    CheckPorts(f, path, "outputs", d->outputs(), graph->outputs(), tensors);
  }
}

void CustomOptionsReadable(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    if (const auto bytes = CustomOptions(s.native(), *at.op); !bytes)
      f.Add(Where(at, "large_custom_options_offset"), "{}: {}", Title(at), bytes.error().message());
}

void CustomOptionsOnCustom(const RuleContext& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    if (at.code != nullptr && OperatorOf(*at.code) != fb::BuiltinOperator::CUSTOM &&
        (at.op->custom_options() != nullptr || at.op->large_custom_options_offset() > 1))
      f.Add(Where(at, "custom_options"), "{} is a builtin operator but has custom options",
            Title(at));
}

// Whether the model has an external buffer with this id and an existing group.
bool HasExternalBuffer(const RuleContext& s, uint32_t id) {
  for (int64_t i = 0; i < SizeOf(s.root().external_buffers()); ++i) {
    const fb::ExternalBuffer* b = At(s.root().external_buffers(), i);
    if (b != nullptr && b->id() == id)
      return At(s.root().external_buffer_groups(), b->group()) != nullptr;
  }
  return false;
}

void ExternalBuffersResolve(const RuleContext& s, Findings& f) {
  std::set<uint32_t> ids;
  const int64_t groups = SizeOf(s.root().external_buffer_groups());
  for (int64_t i = 0; i < SizeOf(s.root().external_buffers()); ++i) {
    const fb::ExternalBuffer* b = At(s.root().external_buffers(), i);
    if (b == nullptr) continue;
    const Location where = nn::At(fmt::format("external_buffers[{}]", i));
    if (b->group() >= groups)
      f.Add(where, "external buffer {} refers to group {}, out of range [0, {})", b->id(),
            b->group(), groups);
    if (b->id() == 0)
      f.Add(where, "external_buffers[{}] has id 0, which means no external buffer", i);
    else if (!ids.insert(b->id()).second)
      f.Add(where, "external buffer id {} is used more than once", b->id());
  }
  for (const TensorAt& at : s.tensors())
    if (const uint32_t id = at.tensor->external_buffer(); id != 0 && !ids.contains(id))
      f.Add(Where(at, "external_buffer"), "{} refers to external buffer {}, which does not exist",
            Title(at), id);
}

void ExternalFilesReadable(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    if (at.tensor->external_buffer() == 0) continue;
    const auto bytes = ExternalBytes(s.native(), at.tensor->external_buffer());
    // Packed buffers are up to the writer; TFLITE-MODEL-017 reports missing buffers and groups.
    if (!bytes && bytes.error().code() != ErrorCode::kUnsupported &&
        HasExternalBuffer(s, at.tensor->external_buffer()))
      f.Add(Where(at, "external_buffer"), "the data of {} cannot be read: {}", Title(at),
            bytes.error().message());
  }
}

constexpr Rule kModelRules[] = {
    {.info = {.id = "TFLITE-MODEL-001",
              .statement = "The schema version of the model is 3.",
              .clause = "schema.fbs, Model.version",
              .vendor = true,
              .hint = "Set Model.version to 3, or export the model with a current TensorFlow Lite "
                      "converter."},
     .check = VersionKnown},
    {.info = {.id = "TFLITE-MODEL-002",
              .statement = "The model has at least one subgraph.",
              .clause = "schema.fbs, Model.subgraphs",
              .vendor = true,
              .hint = "Export the model again; a model without a subgraph computes nothing."},
     .check = GraphsPresent},
    {.info = {.id = "TFLITE-MODEL-003",
              .statement = "Buffer 0 exists and is empty.",
              .clause = "schema.fbs, Model.buffers",
              .hint = "Insert an empty buffer at index 0 and renumber the others; tensors without "
                      "data refer to it."},
     .check = FirstBufferEmpty},
    {.info = {.id = "TFLITE-MODEL-004",
              .statement = "Every buffer lies inside the file.",
              .clause = "schema.fbs, Buffer.offset",
              .vendor = true,
              .hint = "The file is damaged or truncated; export or download it again."},
     .check = BuffersReadable},
    {.info = {.id = "TFLITE-MODEL-005",
              .statement =
                  "Every operator code names an operator of the BuiltinOperator enumeration.",
              .clause = "schema.fbs, BuiltinOperator",
              .vendor = true,
              .hint = "Set builtin_code to an operator of the schema, or to CUSTOM with the "
                      "operator's name in custom_code."},
     .check = CodesKnown},
    {.info =
         {.id = "TFLITE-MODEL-006",
          .statement =
              "Where both are set, deprecated_builtin_code and builtin_code of an operator code "
              "agree; a builtin_code above 126 has 127 in deprecated_builtin_code.",
          .clause = "schema.fbs, OperatorCode",
          .hint =
              "Set deprecated_builtin_code to builtin_code, or to 127 if builtin_code is greater."},
     .check = CodesAgree},
    {.info = {.id = "TFLITE-MODEL-007",
              .statement = "Every custom operator code has a name in custom_code.",
              .clause = "schema.fbs, OperatorCode.custom_code",
              .vendor = true,
              .hint = "Set custom_code to the name that the kernel is registered under."},
     .check = CustomNamed},
    {.info =
         {.id = "TFLITE-MODEL-008",
          .statement =
              "Every signature refers to a subgraph of the model and to tensors of that subgraph.",
          .clause = "schema.fbs, SignatureDef",
          .vendor = true,
          .hint = "Set subgraph_index and tensor_index of the signature to existing entries."},
     .check = SignaturesResolve},
    {.info = {.id = "TFLITE-MODEL-009",
              .statement = "No two signatures of a model have the same signature_key.",
              .clause = "schema.fbs, SignatureDef.signature_key",
              .hint = "Give each signature its own signature_key."},
     .check = SignatureKeysUnique},
    {.info = {.id = "TFLITE-MODEL-010",
              .statement = "Every metadata entry refers to a buffer of the model.",
              .clause = "schema.fbs, Metadata.buffer",
              .vendor = true,
              .hint = "Set Metadata.buffer to the index of an existing buffer."},
     .check = MetadataResolves},
    {.info = {.id = "TFLITE-MODEL-011",
              .statement = "The buffers field of the model is present.",
              .clause = "schema.fbs, Model.buffers; the verifier",
              .vendor = true,
              .hint = "Write the buffers field with at least the empty buffer 0."},
     .check = BuffersPresent},
    {.info = {.id = "TFLITE-MODEL-012",
              .statement = "Every signature has a signature_key.",
              .clause = "schema.fbs, SignatureDef.signature_key; InterpreterBuilder",
              .vendor = true,
              .hint = "Set signature_key, for example to serving_default."},
     .check = SignaturesHaveKeys},
    {.info =
         {.id = "TFLITE-MODEL-013",
          .statement =
              "The inputs of a signature have distinct names, and its outputs have distinct names.",
          .clause = "schema.fbs, TensorMap.name",
          .hint = "Give each input and each output of the signature its own name."},
     .check = PortNamesUnique},
    {.info = {.id = "TFLITE-MODEL-014",
              .severity = Severity::kWarning,
              .statement =
                  "A signature names every input and output of its subgraph, and no other tensors.",
              .clause = "schema.fbs, SignatureDef.inputs",
              .hint = "List each input and output of the subgraph once in the signature."},
     .check = SignaturesComplete},
    {.info =
         {.id = "TFLITE-MODEL-015",
          .statement =
              "Custom options that are stored at large_custom_options_offset lie inside the file.",
          .clause = "schema.fbs, Operator.large_custom_options_offset; the verifier",
          .vendor = true,
          .hint = "The file is damaged or truncated; export or download it again."},
     .check = CustomOptionsReadable},
    {.info = {.id = "TFLITE-MODEL-016",
              .severity = Severity::kWarning,
              .statement = "Only custom operators have custom options.",
              .clause = "schema.fbs, Operator.custom_options; InterpreterBuilder",
              .hint = "Remove custom_options from the operator; a builtin operator takes its "
                      "options from builtin_options."},
     .check = CustomOptionsOnCustom},
    {.info = {.id = "TFLITE-MODEL-017",
              .statement = "Every external buffer has an existing group and a unique id other than "
                           "0, and every external_buffer of a tensor is such an id.",
              .clause = "schema.fbs, ExternalBuffer, Tensor.external_buffer",
              .hint = "Give each external buffer an existing group and its own nonzero id, and "
                      "refer to these ids in the tensors."},
     .check = ExternalBuffersResolve},
    {.info = {.id = "TFLITE-MODEL-018",
              .statement = "The file of every external buffer that a tensor uses can be read "
                           "beside the model, and the buffer lies inside it.",
              .clause = "schema.fbs, ExternalBufferGroup.name, ExternalBuffer.offset",
              .hint = "Copy the file next to the model, or correct the name of the group and the "
                      "offset and length of the buffer."},
     .check = ExternalFilesReadable},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kModelRules;
}

}  // namespace nn::tflite

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
  if (s.root().buffers() == nullptr) return;
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

void BuffersPresent(const Subject& s, Findings& f) {
  if (s.root().buffers() == nullptr) f.Add(nn::At("buffers"), "the model has no list of buffers");
}

void SignaturesHaveKeys(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i) {
    const fb::SignatureDef* d = At(s.root().signature_defs(), i);
    if (d != nullptr && d->signature_key() == nullptr)
      f.Add(nn::At(fmt::format("signature_defs[{}].signature_key", i)), "signature {} has no key",
            i);
  }
}

using TensorMaps = flatbuffers::Vector<flatbuffers::Offset<fb::TensorMap>>;

// The names of a list of ports are there and differ.
void CheckPortNames(Findings& f, const std::string& path, const TensorMaps* list) {
  std::set<std::string_view> names;
  for (int64_t k = 0; k < SizeOf(list); ++k) {
    const fb::TensorMap* map = At(list, k);
    if (map == nullptr) continue;
    if (map->name() == nullptr)
      f.Add(nn::At(fmt::format("{}[{}].name", path, k)), "port {} has no name", k);
    else if (!names.insert(Text(map->name())).second)
      f.Add(nn::At(fmt::format("{}[{}].name", path, k)), "a second port is {}",
            Quote(Text(map->name())));
  }
}

void PortNamesUnique(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i)
    if (const fb::SignatureDef* d = At(s.root().signature_defs(), i)) {
      CheckPortNames(f, fmt::format("signature_defs[{}].inputs", i), d->inputs());
      CheckPortNames(f, fmt::format("signature_defs[{}].outputs", i), d->outputs());
    }
}

// Ports of a signature beside those of its sub-graph.
void CheckPorts(Findings& f, const std::string& where, const TensorMaps* maps,
                const flatbuffers::Vector<int32_t>* ports, int64_t tensors) {
  const auto indices = ListOf<int64_t>(ports);
  const std::set<int64_t> known(indices.begin(), indices.end());
  for (int64_t k = 0; k < SizeOf(maps); ++k) {
    const fb::TensorMap* map = At(maps, k);
    if (map != nullptr && map->tensor_index() < tensors && !known.contains(map->tensor_index()))
      return f.Add(nn::At(where), "{} is tensor {}, none of the sub-graph's",
                   Quote(Text(map->name())), map->tensor_index());
  }
  if (SizeOf(maps) != static_cast<int64_t>(indices.size()))
    f.Add(nn::At(where), "{} are named of {}", SizeOf(maps), indices.size());
}

void SignaturesComplete(const Subject& s, Findings& f) {
  for (int64_t i = 0; i < SizeOf(s.root().signature_defs()); ++i) {
    const fb::SignatureDef* d = At(s.root().signature_defs(), i);
    const fb::SubGraph* graph =
        d != nullptr ? At(s.root().subgraphs(), d->subgraph_index()) : nullptr;
    if (graph == nullptr) continue;
    const std::string path = fmt::format("signature_defs[{}]", i);
    const int64_t tensors = SizeOf(graph->tensors());
    CheckPorts(f, path + ".inputs", d->inputs(), graph->inputs(), tensors);
    CheckPorts(f, path + ".outputs", d->outputs(), graph->outputs(), tensors);
  }
}

void CustomOptionsReadable(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    if (const auto bytes = CustomOptions(s.native(), *at.op); !bytes)
      f.Add(Where(at, "large_custom_options_offset"), "{}: {}", Title(at), bytes.error().message());
}

void CustomOptionsOnCustom(const Subject& s, Findings& f) {
  for (const OperatorAt& at : s.operators())
    if (at.code != nullptr && OperatorOf(*at.code) != fb::BuiltinOperator::CUSTOM &&
        (at.op->custom_options() != nullptr || at.op->large_custom_options_offset() > 1))
      f.Add(Where(at, "custom_options"), "{} is builtin and has custom options", Title(at));
}

// Whether the model has an external buffer of this id, in a group that there is.
bool HasExternalBuffer(const Subject& s, uint32_t id) {
  for (int64_t i = 0; i < SizeOf(s.root().external_buffers()); ++i) {
    const fb::ExternalBuffer* b = At(s.root().external_buffers(), i);
    if (b != nullptr && b->id() == id)
      return At(s.root().external_buffer_groups(), b->group()) != nullptr;
  }
  return false;
}

void ExternalBuffersResolve(const Subject& s, Findings& f) {
  std::set<uint32_t> ids;
  const int64_t groups = SizeOf(s.root().external_buffer_groups());
  for (int64_t i = 0; i < SizeOf(s.root().external_buffers()); ++i) {
    const fb::ExternalBuffer* b = At(s.root().external_buffers(), i);
    if (b == nullptr) continue;
    const Location where = nn::At(fmt::format("external_buffers[{}]", i));
    if (b->group() >= groups)
      f.Add(where, "external buffer {} is in group {} of {}", b->id(), b->group(), groups);
    if (b->id() == 0)
      f.Add(where, "external buffer {} has id 0, which stands for none", i);
    else if (!ids.insert(b->id()).second)
      f.Add(where, "a second external buffer has id {}", b->id());
  }
  for (const TensorAt& at : s.tensors())
    if (const uint32_t id = at.tensor->external_buffer(); id != 0 && !ids.contains(id))
      f.Add(Where(at, "external_buffer"), "{} is in external buffer {}, which there is not",
            Title(at), id);
}

void ExternalFilesReadable(const Subject& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    if (at.tensor->external_buffer() == 0) continue;
    const auto bytes = ExternalBytes(s.native(), at.tensor->external_buffer());
    // Packings are the writer's affair; what is missing in the model is another rule's.
    if (!bytes && bytes.error().code() != ErrorCode::kUnsupported &&
        HasExternalBuffer(s, at.tensor->external_buffer()))
      f.Add(Where(at, "external_buffer"), "the data of {}: {}", Title(at), bytes.error().message());
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
    {{"TFLITE-MODEL-011", Severity::kError, "The model has a list of buffers.",
      "schema.fbs, Model.buffers; the verifier", true, ""},
     BuffersPresent},
    {{"TFLITE-MODEL-012", Severity::kError, "Signatures have a key.",
      "schema.fbs, SignatureDef.signature_key; InterpreterBuilder", true, ""},
     SignaturesHaveKeys},
    {{"TFLITE-MODEL-013", Severity::kError,
      "Names of a signature's inputs are unique, of its "
      "outputs too.",
      "schema.fbs, TensorMap.name", false, ""},
     PortNamesUnique},
    {{"TFLITE-MODEL-014", Severity::kWarning,
      "A signature names each input and output of its sub-graph.",
      "schema.fbs, SignatureDef.inputs", false, ""},
     SignaturesComplete},
    {{"TFLITE-MODEL-015", Severity::kError, "Custom options lie inside the file.",
      "schema.fbs, Operator.large_custom_options_offset; the verifier", true, ""},
     CustomOptionsReadable},
    {{"TFLITE-MODEL-016", Severity::kWarning, "Only custom operators have custom options.",
      "schema.fbs, Operator.custom_options; InterpreterBuilder", false, ""},
     CustomOptionsOnCustom},
    {{"TFLITE-MODEL-017", Severity::kError,
      "External buffers have a group and an id of their own other than 0, which tensors name.",
      "schema.fbs, ExternalBuffer, Tensor.external_buffer", false, ""},
     ExternalBuffersResolve},
    {{"TFLITE-MODEL-018", Severity::kError,
      "Files of external buffers are beside the model, and the buffers lie inside them.",
      "schema.fbs, ExternalBufferGroup.name, ExternalBuffer.offset", false, ""},
     ExternalFilesReadable},
};

}  // namespace

std::span<const Rule> ModelRules() {
  return kRules;
}

}  // namespace nn::tflite

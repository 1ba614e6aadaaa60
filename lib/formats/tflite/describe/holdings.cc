// What a TensorFlow Lite file holds beside its graph.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "formats/common/describe/holdings.h"
#include "formats/tflite/file/archive.h"
#include "formats/tflite/file/frame.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/file/options.h"
#include "formats/tflite/roles.h"

namespace nn::tflite {
namespace {

constexpr auto kParts = FieldUse::Kind::kParts;
constexpr auto kHeld = FieldUse::Kind::kHeld;

constexpr std::string_view kDescription = "description";

constexpr FieldUse kUses[] = {
    {"Model.version"},
    {"Model.operator_codes"},
    {"Model.subgraphs", kParts},
    {"Model.description", kHeld, kDescription},
    // Those that tensors do not use are below, with metadata and signatures.
    {"Model.buffers"},
    {"Model.metadata_buffer"},
    {"Model.metadata"},
    {"Model.signature_defs"},
    {"Model.external_buffer_groups", kHeld, "external file", "the data of its tensors"},
    {"Model.external_buffers"},
    {"SubGraph.tensors", kParts},
    {"SubGraph.inputs"},
    {"SubGraph.outputs"},
    {"SubGraph.operators", kParts},
    {"SubGraph.name"},
    {"SubGraph.debug_metadata_index", kHeld, "debug information"},
    {"Tensor.shape"},
    {"Tensor.type"},
    {"Tensor.buffer"},
    {"Tensor.name"},
    {"Tensor.quantization", kParts},
    {"Tensor.is_variable"},
    {"Tensor.sparsity", kHeld, "sparse form"},
    {"Tensor.shape_signature"},
    {"Tensor.has_rank"},
    {"Tensor.variant_tensors"},
    {"Tensor.external_buffer"},
    {"QuantizationParameters.min", kHeld, "recorded minimum"},
    {"QuantizationParameters.max", kHeld, "recorded maximum"},
    {"QuantizationParameters.scale"},
    {"QuantizationParameters.zero_point"},
    {"QuantizationParameters.details_type"},
    {"QuantizationParameters.details"},
    {"QuantizationParameters.quantized_dimension"},
    {"Operator.opcode_index"},
    {"Operator.inputs"},
    {"Operator.outputs"},
    {"Operator.builtin_options_type"},
    {"Operator.builtin_options"},
    {"Operator.custom_options"},
    {"Operator.custom_options_format"},
    {"Operator.mutating_variable_inputs"},
    {"Operator.intermediates"},
    {"Operator.large_custom_options_offset"},
    {"Operator.large_custom_options_size"},
    {"Operator.builtin_options_2_type"},
    {"Operator.builtin_options_2"},
    {"Operator.debug_metadata_index", kHeld, "debug information"},
};

class Inventory {
 public:
  explicit Inventory(const Model& model) : model_(model), root_(*model.root) {}

  std::vector<Holding> Run() {
    out_ = nn::HoldingsOf(reinterpret_cast<const flatbuffers::Table&>(root_),
                          *Schema().root_table(), Schema(), kUses);
    for (int64_t g = 0; g < SizeOf(root_.subgraphs()); ++g)
      if (const fb::SubGraph* const graph = At(root_.subgraphs(), g))
        for (int64_t i = 0; i < SizeOf(graph->tensors()); ++i)
          if (const fb::Tensor* const tensor = At(graph->tensors(), i))
            used_.insert(tensor->buffer());
    if (Text(root_.description()).starts_with(kProducer))
      for (Holding& h : out_)
        if (h.kind == kDescription)
          h = {std::string(kProducerKind), "", h.digest, std::string(kNewProducer)};
    AddMetadata();
    for (int64_t i = 0; i < SizeOf(root_.signature_defs()); ++i)
      if (const fb::SignatureDef* const s = At(root_.signature_defs(), i)) AddSignature(*s);
    for (int64_t i = 0; i < SizeOf(root_.buffers()); ++i)
      if (!used_.contains(i)) AddBuffer("unused buffer", fmt::format("{}", i), i);
    const auto archive = ArchiveAt(model_.flatbuffer.structure().bytes(), 0);
    if (!archive)
      out_.push_back({"associated files", "", archive.error().message(), ""});
    else if (*archive)
      out_.push_back({"associated files", "", DigestOf(**archive), ""});
    return std::move(out_);
  }

 private:
  // Buffers without data, and those that do not exist, hold nothing.
  void AddBuffer(const std::string& kind, const std::string& name, int64_t buffer) {
    const auto bytes = BufferBytes(model_, static_cast<uint32_t>(buffer));
    if (bytes && !bytes->empty()) out_.push_back({kind, name, DigestOf(*bytes), ""});
  }

  void AddMetadata() {
    for (int64_t i = 0; i < SizeOf(root_.metadata()); ++i) {
      const fb::Metadata* const entry = At(root_.metadata(), i);
      if (entry == nullptr) continue;
      used_.insert(entry->buffer());
      const auto bytes = BufferBytes(model_, entry->buffer());
      out_.push_back({"metadata", std::string(Text(entry->name())),
                      bytes ? DigestOf(*bytes) : std::string(), ""});
    }
    for (const int64_t i : ListOf<int64_t>(root_.metadata_buffer())) {
      used_.insert(i);
      AddBuffer("metadata", "", i);
    }
  }

  // The digest is that of the names by position among the inputs or outputs of the subgraph, which
  // does not depend on the numbers of tensors.
  void AddSignature(const fb::SignatureDef& s) {
    std::string contents;
    bool has_own_names = s.subgraph_index() != 0;
    const fb::SubGraph* const graph = At(root_.subgraphs(), s.subgraph_index());
    const auto add = [&](const auto* entries, const auto* ports) {
      const auto tensors = ListOf<int64_t>(ports);
      for (int64_t i = 0; i < SizeOf(entries); ++i) {
        const fb::TensorMap* const e = At(entries, i);
        if (e == nullptr) continue;
        const int64_t tensor = e->tensor_index();
        const auto port = std::find(tensors.begin(), tensors.end(), tensor) - tensors.begin();
        contents += fmt::format("{}={} ", port, Text(e->name()));
        const fb::Tensor* const named = graph == nullptr ? nullptr : At(graph->tensors(), tensor);
        has_own_names = has_own_names || named == nullptr || Text(named->name()) != Text(e->name());
      }
      contents += "; ";
    };
    add(s.inputs(), graph == nullptr ? nullptr : graph->inputs());
    add(s.outputs(), graph == nullptr ? nullptr : graph->outputs());
    out_.push_back({"signature", std::string(Text(s.signature_key())), DigestOf(contents),
                    has_own_names ? "" : "the names of inputs and outputs"});
  }

  const Model& model_;
  const fb::Model& root_;
  std::set<int64_t> used_;  // buffers
  std::vector<Holding> out_;
};

}  // namespace

std::vector<Holding> TfliteDescriber::HoldingsOf(const NativeModel& model) const {
  return Inventory(ModelOf(model)).Run();
}

}  // namespace nn::tflite

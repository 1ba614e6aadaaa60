#include "formats/tflite/file/frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "base/text/text.h"
#include "formats/tflite/file/archive.h"
#include "formats/tflite/file/model_metadata.h"
#include "formats/tflite/file/sparse.h"
#include "formats/tflite/roles.h"
#include "passes/interface/preprocessed.h"

namespace nn::tflite {
namespace {

using flatbuffers::Offset;
using Maps = flatbuffers::Vector<Offset<fb::TensorMap>>;

// Entries that list operators or tensors by index, or the place of tensors in memory.
constexpr std::array<std::string_view, 2> kOfOperators = {"model_control_dependencies",
                                                          "OfflineMemoryAllocation"};

constexpr size_t kEntryAlignment = 16;  // of entries

// The operators of a frame, in the order of its operator codes.
constexpr std::array kCodes = {fb::BuiltinOperator::VAR_HANDLE, fb::BuiltinOperator::DENSIFY};
constexpr uint32_t kVarHandle = 0;
constexpr uint32_t kDensify = 1;

// The entries of a signature, by position in `ports`; the k-th entry of a tensor that is several
// ports is the k-th of them.
Result<std::vector<std::pair<std::string, uint32_t>>> PositionsOf(
    const Maps* entries, const flatbuffers::Vector<int32_t>* ports, std::string_view key) {
  const auto tensors = ListOf<int64_t>(ports);
  std::vector<std::pair<std::string, uint32_t>> out;
  for (int64_t i = 0; i < SizeOf(entries); ++i) {
    const fb::TensorMap* const entry = At(entries, i);
    if (entry == nullptr) continue;
    const int64_t tensor = entry->tensor_index();
    std::optional<uint32_t> found;
    for (size_t k = 0; k < tensors.size(); ++k) {
      if (tensors[k] != tensor) continue;
      found = static_cast<uint32_t>(k);
      const bool is_taken =
          std::ranges::any_of(out, [&](const auto& other) { return other.second == *found; });
      if (!is_taken) break;
    }
    if (!found)
      return UnsupportedError(
          "signature {} names tensor {}, which is no input or output of the model and would be "
          "lost; remove the signatures with --set-metadata signature=",
          Quote(key), tensor);
    out.emplace_back(std::string(Text(entry->name())), *found);
  }
  return out;
}

class FrameBuilder {
 public:
  // `described` replaces the metadata that describe the model.
  explicit FrameBuilder(const Model& model, std::optional<Blob> described = std::nullopt)
      : model_(model), root_(*model.root), described_(std::move(described)) {}

  Result<std::shared_ptr<const NativeModel>> Run() {
    const fb::SubGraph* const main = At(root_.subgraphs(), 0);
    if (main == nullptr) return ModelError("the model has no subgraph");
    NN_ASSIGN(const auto signatures, Signatures(*main));
    NN_ASSIGN(const auto entries, Entries());
    NN_ASSIGN(const auto unnamed, UnnamedEntries());
    const auto subgraphs = builder_.CreateVector(std::vector{Ports(*main), SparseTensors()});
    std::vector<Offset<fb::OperatorCode>> rows;
    for (const fb::BuiltinOperator code : kCodes)
      rows.push_back(
          fb::CreateOperatorCode(builder_,
                                 static_cast<int8_t>(std::min(
                                     code, fb::BuiltinOperator::PLACEHOLDER_FOR_GREATER_OP_CODES)),
                                 0, 1, code));
    const auto codes = builder_.CreateVector(rows);
    const auto buffers = builder_.CreateVector(buffers_);
    builder_.Finish(fb::CreateModel(builder_, root_.version(), codes, subgraphs, 0, buffers,
                                    unnamed, entries, signatures),
                    fb::ModelIdentifier());
    return Finish();
  }

 private:
  Result<std::shared_ptr<const NativeModel>> Finish() {
    const flatbuffers::DetachedBuffer file = builder_.Release();
    std::vector<StableFlatbuffer::Part> parts;
    parts.push_back({Blob::CopyOf(std::span<const uint8_t>(file.data(), file.size()))});
    auto archive = ArchiveAt(model_.flatbuffer.structure().bytes(), file.size());
    if (!archive)
      return UnsupportedError("{}; remove it with --strip metadata", archive.error().message());
    if (*archive) parts.push_back({**std::move(archive)});
    NN_ASSIGN(StableFlatbuffer flatbuffer, StableFlatbuffer::Join(std::move(parts)));
    ReadLimits limits;
    limits.max_items = std::numeric_limits<decltype(limits.max_items)>::max();
    limits.max_depth = std::numeric_limits<decltype(limits.max_depth)>::max();
    NN_ASSIGN(auto frame, Verified(std::move(flatbuffer), {}, limits));
    return std::shared_ptr<const NativeModel>(std::move(frame));
  }

  // The tensors of inputs, then those of outputs, with the names of the ports.
  Offset<fb::SubGraph> Ports(const fb::SubGraph& main) {
    std::vector<Offset<fb::Tensor>> tensors;
    const auto add = [&](const flatbuffers::Vector<int32_t>* ports) {
      std::vector<int32_t> out;
      std::set<std::string> used;
      for (const int64_t i : ListOf<int64_t>(ports)) {
        const fb::Tensor* const tensor = At(main.tensors(), i);
        if (tensor == nullptr) continue;
        const auto shape = builder_.CreateVector(ListOf<int32_t>(tensor->shape()));
        const auto name = builder_.CreateString(PortName(*tensor, i, used));
        out.push_back(static_cast<int32_t>(tensors.size()));
        tensors.push_back(fb::CreateTensor(builder_, shape, tensor->type(), 0, name));
      }
      return builder_.CreateVector(out);
    };
    const auto inputs = add(main.inputs());
    const auto outputs = add(main.outputs());
    std::vector<Offset<fb::Operator>> operators;
    for (const FramedVariable& v : VariablesOf(model_)) {
      const auto container = builder_.CreateString(v.container);
      const auto name = builder_.CreateString(v.shared_name);
      const auto options = fb::CreateVarHandleOptions(builder_, container, name);
      operators.push_back(fb::CreateOperator(
          builder_, kVarHandle, 0, 0, fb::BuiltinOptions::VarHandleOptions, options.Union()));
    }
    const auto handles = builder_.CreateVector(operators);
    const auto list = builder_.CreateVector(tensors);
    return fb::CreateSubGraph(builder_, list, inputs, outputs, handles);
  }

  // With an operator that reads those that the source densifies.
  Offset<fb::SubGraph> SparseTensors() {
    std::vector<Offset<fb::Tensor>> tensors;
    std::vector<int32_t> densified;
    for (const FramedSparse& sparse : SparseTensorsOf(model_)) {
      const fb::Tensor& t = *sparse.tensor;
      if (sparse.is_densified) densified.push_back(static_cast<int32_t>(tensors.size()));
      const auto shape = builder_.CreateVector(ListOf<int32_t>(t.shape()));
      const auto name = builder_.CreateString(Text(t.name()));
      const auto sparsity = CopySparsity(*t.sparsity(), builder_);
      tensors.push_back(fb::CreateTensor(builder_, shape, t.type(), 0, name, 0, false, sparsity));
    }
    const auto inputs = builder_.CreateVector(densified);
    const auto op = fb::CreateOperator(builder_, kDensify, inputs, 0);
    const auto operators = builder_.CreateVector(&op, 1);
    const auto list = builder_.CreateVector(tensors);
    return fb::CreateSubGraph(builder_, list, 0, 0, operators);
  }

  Result<Offset<flatbuffers::Vector<Offset<fb::SignatureDef>>>> Signatures(
      const fb::SubGraph& main) {
    std::vector<Offset<fb::SignatureDef>> out;
    const auto add = [&](const auto& positions, size_t first) {
      std::vector<Offset<fb::TensorMap>> maps;
      for (const auto& [name, port] : positions)
        maps.push_back(fb::CreateTensorMap(builder_, builder_.CreateString(name),
                                           static_cast<uint32_t>(first) + port));
      return builder_.CreateVector(maps);
    };
    for (int64_t i = 0; i < SizeOf(root_.signature_defs()); ++i) {
      const fb::SignatureDef* const s = At(root_.signature_defs(), i);
      if (s == nullptr) continue;
      const std::string_view key = Text(s->signature_key());
      if (s->subgraph_index() != 0)
        return UnsupportedError(
            "signature {} runs subgraph {}, and a rewritten model has only the first with its "
            "signatures; keep one of those with --set-metadata signature=KEY, or none with "
            "--set-metadata signature=",
            Quote(key), s->subgraph_index());
      NN_ASSIGN(const auto inputs, PositionsOf(s->inputs(), main.inputs(), key));
      NN_ASSIGN(const auto outputs, PositionsOf(s->outputs(), main.outputs(), key));
      const auto in = add(inputs, 0);
      const auto results = add(outputs, static_cast<size_t>(SizeOf(main.inputs())));
      out.push_back(fb::CreateSignatureDef(builder_, in, results, builder_.CreateString(key), 0));
    }
    return builder_.CreateVector(out);
  }

  Result<Offset<flatbuffers::Vector<Offset<fb::Metadata>>>> Entries() {
    std::vector<Offset<fb::Metadata>> out;
    for (int64_t i = 0; i < SizeOf(root_.metadata()); ++i) {
      const fb::Metadata* const entry = At(root_.metadata(), i);
      if (entry == nullptr || std::ranges::count(kOfOperators, Text(entry->name())) > 0) continue;
      NN_ASSIGN(Blob bytes, BufferBytes(model_, entry->buffer()));
      if (described_ && Text(entry->name()) == kModelMetadata)
        bytes = *std::exchange(described_, std::nullopt);
      const uint32_t number = AddBuffer(bytes);
      out.push_back(
          fb::CreateMetadata(builder_, builder_.CreateString(Text(entry->name())), number));
    }
    return builder_.CreateVector(out);
  }

  Result<Offset<flatbuffers::Vector<int32_t>>> UnnamedEntries() {
    std::vector<int32_t> out;
    for (const int64_t i : ListOf<int64_t>(root_.metadata_buffer())) {
      NN_ASSIGN(const Blob bytes, BufferBytes(model_, static_cast<uint32_t>(i)));
      out.push_back(static_cast<int32_t>(AddBuffer(bytes)));
    }
    return builder_.CreateVector(out);
  }

  uint32_t AddBuffer(const Blob& bytes) {
    builder_.ForceVectorAlignment(bytes.size(), 1, kEntryAlignment);
    const auto data =
        builder_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    buffers_.push_back(fb::CreateBuffer(builder_, data));
    return static_cast<uint32_t>(buffers_.size()) - 1;
  }

  const Model& model_;
  const fb::Model& root_;
  std::optional<Blob> described_;
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<Offset<fb::Buffer>> buffers_;
};

// The ports of the graph by position in the source: those of the same names, and renamed ones, if
// the others are as many as in the source.
std::vector<std::optional<size_t>> MatchPorts(const std::vector<std::string>& source,
                                              const std::vector<Port>& ports) {
  std::vector<std::optional<size_t>> out(source.size());
  std::vector<bool> is_matched(ports.size());
  for (size_t i = 0; i < source.size(); ++i)
    for (size_t k = 0; k < ports.size() && !out[i]; ++k)
      if (ports[k].name == source[i]) {
        out[i] = k;
        is_matched[k] = true;
      }
  if (source.size() != ports.size()) return out;
  for (size_t i = 0; i < source.size(); ++i)
    if (!out[i] && !is_matched[i]) out[i] = i;
  return out;
}

// The entries for the graph's ports. `first` is the first tensor of the frame's ports.
std::vector<SignatureEntry> EntriesFor(const Maps* entries, size_t first,
                                       const std::vector<std::string>& source,
                                       const std::vector<Port>& ports) {
  const auto matches = MatchPorts(source, ports);
  std::vector<SignatureEntry> out;
  std::set<std::string> used;
  const auto add = [&](const std::string& name, size_t port) {
    std::string unique = name;
    for (int k = 1; !used.insert(unique).second; ++k) unique = fmt::format("{}_{}", name, k);
    out.push_back({unique, port});
  };
  for (int64_t i = 0; i < SizeOf(entries); ++i) {
    const size_t at = At(entries, i)->tensor_index() - first;
    if (!matches[at]) continue;
    const size_t port = *matches[at];
    const bool is_renamed = ports[port].name != source[at];
    add(is_renamed ? ports[port].name : std::string(Text(At(entries, i)->name())), port);
  }
  for (size_t k = 0; k < ports.size(); ++k)
    if (std::ranges::count(matches, std::optional(k)) == 0) add(ports[k].name, k);
  return out;
}

MetadataChange::Ports DescribedPorts(const std::vector<std::string>& source,
                                     const std::vector<Port>& ports, const Graph& graph) {
  const auto matches = MatchPorts(source, ports);
  MetadataChange::Ports out = {source.size(), {}};
  for (size_t k = 0; k < ports.size(); ++k) {
    DescribedPort port = {ports[k].name, std::nullopt};
    const auto it = std::ranges::find(matches, std::optional(k));
    if (it != matches.end()) {
      port.source = static_cast<size_t>(it - matches.begin());
      port.is_normalized = IsNormalized(graph, source[*port.source]);
    }
    out.ports.push_back(std::move(port));
  }
  return out;
}

bool IsChange(const MetadataChange::Ports& change) {
  if (change.ports.size() != change.sources) return true;
  for (size_t k = 0; k < change.ports.size(); ++k)
    if (change.ports[k].source != k || change.ports[k].is_normalized) return true;
  return false;
}

}  // namespace

Result<ModelFrame> TfliteWriter::FrameOf(const NativeModel& native) const {
  NN_ASSIGN(auto frame, FrameBuilder(ModelOf(native)).Run());
  return ModelFrame{std::move(frame)};
}

Result<std::shared_ptr<const NativeModel>> FrameFor(const std::shared_ptr<const NativeModel>& frame,
                                                    const Graph& graph,
                                                    const std::vector<Port>& inputs,
                                                    const std::vector<Port>& outputs) {
  const auto entries = EntriesOf(*frame);
  const auto entry = std::ranges::find(entries, kModelMetadata, &FramedEntry::name);
  if (entry == entries.end() || !IsModelMetadata(entry->bytes)) return frame;
  NN_ASSIGN(const PortNames names, TfliteDescriber().PortNamesOf(*frame));
  MetadataChange change;
  change.inputs = DescribedPorts(names.inputs, inputs, graph);
  change.outputs = DescribedPorts(names.outputs, outputs, graph);
  if (!IsChange(*change.inputs) && !IsChange(*change.outputs)) return frame;
  NN_ASSIGN(Blob described, ChangeModelMetadata(entry->bytes, change));
  return FrameBuilder(ModelOf(*frame), std::move(described)).Run();
}

std::vector<FramedVariable> VariablesOf(const NativeModel& native) {
  const fb::Model& root = *ModelOf(native).root;
  std::vector<FramedVariable> out;
  for (int64_t g = 0; g < SizeOf(root.subgraphs()); ++g) {
    const fb::SubGraph* const graph = At(root.subgraphs(), g);
    for (int64_t i = 0; graph != nullptr && i < SizeOf(graph->operators()); ++i) {
      const fb::Operator* const op = At(graph->operators(), i);
      const auto* const o = op == nullptr ? nullptr : op->builtin_options_as_VarHandleOptions();
      if (o == nullptr) continue;
      FramedVariable v = {std::string(Text(o->container())), std::string(Text(o->shared_name()))};
      if (std::ranges::find(out, v) == out.end()) out.push_back(std::move(v));
    }
  }
  return out;
}

std::vector<FramedSignature> SignaturesOf(const NativeModel& native,
                                          const std::vector<Port>& inputs,
                                          const std::vector<Port>& outputs) {
  const Model& frame = ModelOf(native);
  std::vector<FramedSignature> out;
  const auto names = TfliteDescriber().PortNamesOf(frame);
  if (!names) return out;
  for (int64_t i = 0; i < SizeOf(frame.root->signature_defs()); ++i) {
    const fb::SignatureDef& s = *At(frame.root->signature_defs(), i);
    out.push_back({std::string(Text(s.signature_key())),
                   EntriesFor(s.inputs(), 0, names->inputs, inputs),
                   EntriesFor(s.outputs(), names->inputs.size(), names->outputs, outputs)});
  }
  return out;
}

std::vector<FramedEntry> EntriesOf(const NativeModel& native) {
  const Model& frame = ModelOf(native);
  std::vector<FramedEntry> out;
  for (int64_t i = 0; i < SizeOf(frame.root->metadata()); ++i) {
    const fb::Metadata& entry = *At(frame.root->metadata(), i);
    if (auto bytes = BufferBytes(frame, entry.buffer()))
      out.push_back({std::string(Text(entry.name())), *std::move(bytes)});
  }
  return out;
}

std::vector<Blob> UnnamedEntriesOf(const NativeModel& native) {
  const Model& frame = ModelOf(native);
  std::vector<Blob> out;
  for (const uint32_t buffer : ListOf<uint32_t>(frame.root->metadata_buffer()))
    if (auto bytes = BufferBytes(frame, buffer)) out.push_back(*std::move(bytes));
  return out;
}

std::vector<FramedSparse> SparseTensorsOf(const NativeModel& native) {
  const fb::Model& root = *ModelOf(native).root;
  std::vector<FramedSparse> out;
  for (int64_t g = 0; g < SizeOf(root.subgraphs()); ++g) {
    const fb::SubGraph* const graph = At(root.subgraphs(), g);
    if (graph == nullptr) continue;
    std::set<int64_t> densified;
    for (int64_t i = 0; i < SizeOf(graph->operators()); ++i) {
      const fb::Operator* const op = At(graph->operators(), i);
      const fb::OperatorCode* const code =
          op == nullptr ? nullptr : At(root.operator_codes(), op->opcode_index());
      if (code != nullptr && OperatorOf(*code) == fb::BuiltinOperator::DENSIFY)
        for (const int64_t input : ListOf<int64_t>(op->inputs())) densified.insert(input);
    }
    for (int64_t i = 0; i < SizeOf(graph->tensors()); ++i)
      if (const fb::Tensor* const t = At(graph->tensors(), i);
          t != nullptr && t->sparsity() != nullptr)
        out.push_back({t, densified.contains(i)});
  }
  return out;
}

Status AddArchive(const NativeModel& frame, FileImage& image) {
  NN_ASSIGN(auto archive, ArchiveAt(ModelOf(frame).flatbuffer.structure().bytes(), image.size()));
  if (archive) image.parts.push_back(*std::move(archive));
  return {};
}

}  // namespace nn::tflite

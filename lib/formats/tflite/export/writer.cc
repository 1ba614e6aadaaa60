// Builds the flatbuffer of a model from its tensors and operators.
#include <fmt/core.h>

#include <set>

#include "base/checked_math.h"
#include "formats/common/flatbuffers/fb_outside.h"
#include "formats/tflite/export/export.h"
#include "formats/tflite/file/frame.h"
#include "formats/tflite/file/sparse.h"
#include "formats/tflite/file/tensor.h"

namespace nn::tflite {
namespace {

// Graph metadata that import made from metadata entries of the file (import.cc).
constexpr std::string_view kEntryPrefix = "tflite.";
constexpr std::string_view kSignaturePrefix = "tflite.signature";

constexpr size_t kVectorAlignment = 16;

std::string MetadataOr(const Graph& graph, const std::string& key, const std::string& fallback) {
  const auto it = graph.metadata.find(key);
  return it == graph.metadata.end() ? fallback : it->second;
}

// What other formats call the documentation of the model is its description.
std::string DescriptionOr(const Graph& graph, const std::string& fallback) {
  return MetadataOr(graph, "description", MetadataOr(graph, "doc_string", fallback));
}

// The names of the imported file; those of the ports if they are not unique.
std::vector<std::string> SignatureNames(const Graph& graph, std::string_view kind,
                                        const std::vector<Port>& ports) {
  std::vector<std::string> own, names;
  std::set<std::string> different;
  for (size_t i = 0; i < ports.size(); ++i) {
    own.push_back(ports[i].name);
    names.push_back(
        MetadataOr(graph, fmt::format("{}.{}.{}", kSignaturePrefix, kind, i), ports[i].name));
    different.insert(names.back());
  }
  return different.size() == names.size() ? names : own;
}

using Entries = std::vector<flatbuffers::Offset<fb::TensorMap>>;

// The signatures of the source, with the written tensors.
std::vector<flatbuffers::Offset<fb::SignatureDef>> WriteFramed(
    const std::vector<FramedSignature>& signatures, const std::vector<TensorIndex>& inputs,
    const std::vector<TensorIndex>& outputs, flatbuffers::FlatBufferBuilder& builder) {
  const auto write = [&](const std::vector<SignatureEntry>& entries,
                         const std::vector<TensorIndex>& tensors) {
    Entries out;
    for (const SignatureEntry& e : entries)
      out.push_back(fb::CreateTensorMap(builder, builder.CreateString(e.name),
                                        static_cast<uint32_t>(tensors[e.port])));
    return builder.CreateVector(out);
  };
  std::vector<flatbuffers::Offset<fb::SignatureDef>> out;
  for (const FramedSignature& s : signatures) {
    const auto in = write(s.inputs, inputs);
    const auto results = write(s.outputs, outputs);
    const auto key = builder.CreateString(s.key);
    out.push_back(fb::CreateSignatureDef(builder, in, results, key, 0));
  }
  return out;
}

// The metadata entries that a graph has as text, which import made of a file's.
std::vector<FramedEntry> TextEntries(const Graph& graph) {
  std::vector<FramedEntry> out;
  for (const auto& [key, value] : graph.metadata)
    if (key.starts_with(kEntryPrefix) && !key.starts_with(kSignaturePrefix))
      out.push_back({key.substr(kEntryPrefix.size()), Blob::CopyOf(std::span<const char>(value))});
  return out;
}

}  // namespace

flatbuffers::Offset<fb::Tensor> ExportContext::WriteTensor(const TensorRow& row) {
  std::vector<int32_t> shape, signature;
  bool known = true;
  if (row.type.ranked())
    for (const Dim& d : *row.type.dims) {
      // The size in place of a dynamic one; that of an axis with scales has no choice.
      const bool scaled = row.type.quantized() && row.type.quant->axis == std::ssize(shape);
      const int64_t open = scaled ? std::ssize(row.type.quant->scales) : ExampleSize(d, examples_);
      shape.push_back(static_cast<int32_t>(d.is_const() ? d.value() : open));
      signature.push_back(d.is_const() ? static_cast<int32_t>(d.value()) : -1);
      known &= d.is_const();
    }
  flatbuffers::Offset<fb::QuantizationParameters> quant = 0;
  if (row.type.quantized()) {
    const Quant& q = *row.type.quant;
    std::vector<int64_t> zeros = q.zero_points;
    if (zeros.empty()) zeros.resize(q.scales.size(), 0);
    const auto floats = [&](const std::vector<float>& v) {
      return v.empty() ? flatbuffers::Offset<flatbuffers::Vector<float>>(0)
                       : builder_.CreateVector(v);
    };
    const auto min = floats(q.min);
    const auto max = floats(q.max);
    const auto scales = floats(q.scales);
    quant = fb::CreateQuantizationParameters(
        builder_, min, max, scales, builder_.CreateVector(zeros), fb::QuantizationDetails::NONE, 0,
        q.per_axis() ? q.axis : 0);
  }
  const auto shape_offset = builder_.CreateVector(shape);
  const auto signature_offset = known ? flatbuffers::Offset<flatbuffers::Vector<int32_t>>(0)
                                      : builder_.CreateVector(signature);
  const auto name = builder_.CreateString(row.name);
  flatbuffers::Offset<fb::SparsityParameters> sparsity = 0;
  if (row.sparsity != nullptr) sparsity = CopySparsity(*row.sparsity, builder_);
  fb::TensorBuilder t(builder_);
  t.add_shape(shape_offset);
  t.add_type(row.handle ? fb::TensorType::RESOURCE
                        : TensorTypeOf(row.type.dtype).value_or(fb::TensorType::FLOAT32));
  t.add_buffer(row.buffer);
  if (row.variable) t.add_is_variable(true);
  t.add_name(name);
  if (!quant.IsNull()) t.add_quantization(quant);
  if (!sparsity.IsNull()) t.add_sparsity(sparsity);
  if (!known) t.add_shape_signature(signature_offset);
  t.add_has_rank(row.type.ranked());
  return t.Finish();
}

flatbuffers::Offset<fb::Buffer> ExportContext::WriteBuffer(const Blob& bytes, uint64_t offset) {
  if (bytes.empty()) return fb::CreateBuffer(builder_);
  if (offset != 0) return fb::CreateBuffer(builder_, 0, offset, bytes.size());
  if (bytes.size() >= kMinOutsideBytes) {
    if (no_data_.IsNull()) no_data_ = builder_.CreateVector(std::vector<uint8_t>());
    return fb::CreateBuffer(builder_, no_data_);
  }
  builder_.ForceVectorAlignment(bytes.size(), 1, kVectorAlignment);
  const auto data =
      builder_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return fb::CreateBuffer(builder_, data);
}

std::vector<Blob> ExportContext::PlaceOutside(flatbuffers::DetachedBuffer file) const {
  std::vector<OutsideVector> vectors;
  const auto* stored = fb::GetModel(file.data())->buffers();
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i].size() >= kMinOutsideBytes)
      vectors.push_back(
          {ReferencePosition(file, stored->Get(static_cast<flatbuffers::uoffset_t>(i)),
                             fb::Buffer::VT_DATA),
           {buffers_[i]}});
  return nn::PlaceOutside(std::move(file), vectors, kVectorAlignment);
}

flatbuffers::Offset<fb::SignatureDef> ExportContext::WriteSignature(
    const ExportPlan& plan, const std::vector<TensorIndex>& outputs) {
  const Graph& graph = plan.graph;
  Entries in, out;
  const auto entry = [&](const std::string& name, TensorIndex tensor) {
    return fb::CreateTensorMap(builder_, builder_.CreateString(name),
                               static_cast<uint32_t>(tensor));
  };
  const auto in_names = SignatureNames(graph, "input", plan.inputs);
  for (size_t i = 0; i < in_names.size(); ++i)
    in.push_back(entry(in_names[i], TensorOf(plan.inputs[i].value)));
  const auto out_names = SignatureNames(graph, "output", plan.outputs);
  for (size_t i = 0; i < out_names.size(); ++i) out.push_back(entry(out_names[i], outputs[i]));
  const auto in_offset = builder_.CreateVector(in);
  const auto out_offset = builder_.CreateVector(out);
  const auto key = builder_.CreateString(
      MetadataOr(graph, std::string(kSignaturePrefix) + "_key", "serving_default"));
  return fb::CreateSignatureDef(builder_, in_offset, out_offset, key, 0);
}

flatbuffers::Offset<fb::SubGraph> ExportContext::WritePart(const Part& part) {
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
  for (const TensorRow& row : part.tensors) tensors.push_back(WriteTensor(row));
  std::vector<flatbuffers::Offset<fb::Operator>> operators;
  for (const OperatorRow& row : part.operators) {
    const auto in = builder_.CreateVector(row.inputs);
    const auto out = builder_.CreateVector(row.outputs);
    flatbuffers::Offset<flatbuffers::Vector<TensorIndex>> between;
    if (!row.intermediates.empty()) between = builder_.CreateVector(row.intermediates);
    operators.push_back(fb::CreateOperator(builder_, row.code, in, out, row.kind, row.options, 0,
                                           fb::CustomOptionsFormat::FLEXBUFFERS, 0, between));
  }
  // One statement each: the order of arguments is the compiler's, the bytes are not.
  const auto name = builder_.CreateString(part.name);
  const auto operators_offset = builder_.CreateVector(operators);
  const auto outputs = builder_.CreateVector(part.outputs);
  const auto inputs = builder_.CreateVector(part.inputs);
  const auto tensors_offset = builder_.CreateVector(tensors);
  return fb::CreateSubGraph(builder_, tensors_offset, inputs, outputs, operators_offset, name);
}

std::vector<flatbuffers::Offset<fb::OperatorCode>> ExportContext::WriteCodes() {
  std::vector<flatbuffers::Offset<fb::OperatorCode>> codes;
  for (const auto& [op, version] : codes_) {
    const auto number = static_cast<int32_t>(op);
    codes.push_back(fb::CreateOperatorCode(
        builder_,
        static_cast<int8_t>(std::min(
            number, static_cast<int32_t>(fb::BuiltinOperator::PLACEHOLDER_FOR_GREATER_OP_CODES))),
        0, version, op));
  }
  return codes;
}

const fb::Model& ExportContext::FinishTrial() {
  const auto codes = builder_.CreateVector(WriteCodes());
  const auto subgraphs = builder_.CreateVector(std::vector{WritePart(part_)});
  builder_.Finish(fb::CreateModel(builder_, 3, codes, subgraphs));
  return *flatbuffers::GetRoot<fb::Model>(builder_.GetBufferPointer());
}

flatbuffers::DetachedBuffer ExportContext::Finish(const ExportPlan& plan,
                                                  const std::vector<TensorIndex>& outputs,
                                                  bool appended, uint64_t base) {
  const Graph& graph = plan.graph;
  part_.name = graph.name.empty() ? "main" : graph.name;
  for (const Port& p : plan.inputs) part_.inputs.push_back(TensorOf(p.value));
  part_.outputs = outputs;
  std::vector<flatbuffers::Offset<fb::SubGraph>> subgraphs = {WritePart(part_)};
  for (const Part& part : parts_) subgraphs.push_back(WritePart(part));
  const std::vector<flatbuffers::Offset<fb::OperatorCode>> codes = WriteCodes();
  const NativeModel* const frame = plan.frame.get();
  std::vector<flatbuffers::Offset<fb::SignatureDef>> signatures;
  if (frame != nullptr)
    signatures = WriteFramed(SignaturesOf(*frame, plan.inputs, plan.outputs), part_.inputs, outputs,
                             builder_);
  if (signatures.empty()) signatures.push_back(WriteSignature(plan, outputs));
  std::vector<flatbuffers::Offset<fb::Metadata>> metadata;
  for (FramedEntry& entry : frame == nullptr ? TextEntries(graph) : EntriesOf(*frame)) {
    const uint32_t buffer = AddBuffer(std::move(entry.bytes));
    const auto name = builder_.CreateString(entry.name);
    metadata.push_back(fb::CreateMetadata(builder_, name, buffer));
  }
  std::vector<int32_t> unnamed;
  if (frame != nullptr)
    for (Blob& bytes : UnnamedEntriesOf(*frame))
      unnamed.push_back(static_cast<int32_t>(AddBuffer(std::move(bytes))));
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers;
  uint64_t at = base == 0 ? kDataAlignment : base;
  for (const Blob& b : buffers_) {
    buffers.push_back(WriteBuffer(b, appended ? at : 0));
    at += RoundUp(b.size(), kDataAlignment);
  }
  const std::string& version = plan.options.producer_version;
  const auto description = builder_.CreateString(DescriptionOr(
      graph, version.empty() ? std::string(kProducer) : fmt::format("{} {}", kProducer, version)));
  const auto codes_offset = builder_.CreateVector(codes);
  const auto subgraphs_offset = builder_.CreateVector(subgraphs);
  const auto buffers_offset = builder_.CreateVector(buffers);
  const auto metadata_offset = builder_.CreateVector(metadata);
  const auto signatures_offset = builder_.CreateVector(signatures);
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> unnamed_offset = 0;
  if (!unnamed.empty()) unnamed_offset = builder_.CreateVector(unnamed);
  builder_.Finish(
      fb::CreateModel(builder_, 3, codes_offset, subgraphs_offset, description, buffers_offset,
                      unnamed_offset, metadata_offset, signatures_offset),
      fb::ModelIdentifier());
  return builder_.Release();
}

}  // namespace nn::tflite

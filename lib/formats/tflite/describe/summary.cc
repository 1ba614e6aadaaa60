#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "formats/tflite/file/native.h"
#include "formats/tflite/file/options.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/roles.h"
#include "tflite_metadata/tflite_metadata_generated.h"

namespace nn::tflite {
namespace {

std::string QuantText(const fb::Tensor& tensor) {
  const fb::QuantizationParameters* q = tensor.quantization();
  if (q == nullptr) return {};
  if (q->details_type() != fb::QuantizationDetails::NONE)
    return fmt::format("kind {}", static_cast<int>(q->details_type()));
  const int64_t n = SizeOf(q->scale());
  if (n == 0) return {};
  if (n > 1) return fmt::format("{} scales along axis {}", n, q->quantized_dimension());
  const auto zeros = ListOf<int64_t>(q->zero_point());
  const int64_t zero = zeros.empty() ? 0 : zeros[0];
  return fmt::format("scale {}, zero point {}", FloatText(q->scale()->Get(0)), zero);
}

class Summarizer {
 public:
  Summarizer(const Model& model, bool in_full) : model_(model), in_full_(in_full) {}

  ModelSummary Run() {
    const fb::Model& m = *model_.root;
    out_.format = "TensorFlow Lite";
    out_.version = fmt::format("schema version {}", m.version());
    out_.producer = std::string(Text(m.description()));
    for (int64_t i = 0; i < SizeOf(m.metadata()); ++i) AddMetadata(At(m.metadata(), i));
    for (int64_t i = 0; i < SizeOf(m.signature_defs()); ++i)
      if (const auto* s = At(m.signature_defs(), i))
        out_.metadata.emplace_back(
            "signature",
            fmt::format("{} (subgraph {})", Text(s->signature_key()), s->subgraph_index()));
    if (const fb::SubGraph* main = At(m.subgraphs(), 0)) {
      out_.name = std::string(Text(main->name()));
      for (const int64_t t : ListOf<int64_t>(main->inputs()))
        out_.inputs.push_back(Describe(At(main->tensors(), t), t));
      for (const int64_t t : ListOf<int64_t>(main->outputs()))
        out_.outputs.push_back(Describe(At(main->tensors(), t), t));
    }
    for (int64_t i = 0; i < SizeOf(m.subgraphs()); ++i) AddSubgraph(*At(m.subgraphs(), i), i);
    return std::move(out_);
  }

 private:
  // Entries are text or flatbuffers of their own.
  void AddMetadata(const fb::Metadata* entry) {
    if (entry == nullptr) return;
    const auto bytes = BufferBytes(model_, entry->buffer());
    if (!bytes) return;
    std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    text = text.substr(0, text.find_last_not_of('\0') + 1);
    const bool plain = text.size() < 200 && IsUtf8(text) && text.find('\0') == text.npos;
    out_.metadata.emplace_back(std::string(Text(entry->name())),
                               plain ? std::string(text) : fmt::format("{} bytes", bytes->size()));
    if (Text(entry->name()) == "TFLITE_METADATA") AddDescription(bytes->bytes());
  }

  // What the authors say of the model, if the entry is valid.
  void AddDescription(std::span<const std::byte> bytes) {
    if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) return;
    std::vector<uint8_t> aligned(bytes.size());
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(aligned)).begin());
    flatbuffers::Verifier verifier(aligned.data(), aligned.size());
    if (!fb::VerifyModelMetadataBuffer(verifier)) return;
    const fb::ModelMetadata& m = *fb::GetModelMetadata(aligned.data());
    const auto add = [&](const char* name, const flatbuffers::String* text) {
      if (text != nullptr && text->size() != 0) out_.metadata.emplace_back(name, text->str());
    };
    add("name", m.name());
    add("description", m.description());
    add("version", m.version());
    add("author", m.author());
    add("license", m.license());
  }

  static TensorSummary Describe(const fb::Tensor* tensor, int64_t index) {
    TensorSummary t;
    if (tensor == nullptr) {
      t.name = fmt::format("tensor {} (does not exist)", index);
      return t;
    }
    t.name = std::string(Text(tensor->name()));
    t.type = TensorTypeName(tensor->type());
    const auto signature = ListOf<int64_t>(tensor->shape_signature());
    const auto shape = signature.empty() ? ListOf<int64_t>(tensor->shape()) : signature;
    if (!shape.empty() || tensor->has_rank()) {
      t.shape.emplace();
      for (const int64_t d : shape) t.shape->push_back(d < 0 ? "?" : std::to_string(d));
    }
    t.quantization = QuantText(*tensor);
    return t;
  }

  static std::string NameOf(const fb::SubGraph& g, int64_t tensor) {
    if (tensor == -1) return {};
    const fb::Tensor* t = At(g.tensors(), tensor);
    const auto name = t == nullptr ? std::string_view() : Text(t->name());
    return name.empty() ? fmt::format("tensor {}", tensor) : std::string(name);
  }

  void AddSubgraph(const fb::SubGraph& g, int64_t index) {
    const std::string scope = ScopeOf(g, index);
    for (int64_t i = 0; i < SizeOf(g.tensors()); ++i) CountParameters(*At(g.tensors(), i));
    for (int64_t i = 0; i < SizeOf(g.operators()); ++i) {
      const fb::Operator& op = *At(g.operators(), i);
      OperatorSummary s;
      s.op = OperatorName(At(model_.root->operator_codes(), op.opcode_index()));
      s.scope = scope;
      for (const int64_t t : ListOf<int64_t>(op.inputs())) s.inputs.push_back(NameOf(g, t));
      for (const int64_t t : ListOf<int64_t>(op.outputs())) s.outputs.push_back(NameOf(g, t));
      s.attributes = DescribeOptions(op, in_full_);
      out_.operators.push_back(std::move(s));
    }
  }

  // Shapes that overflow count as 0, because the file may be invalid.
  void CountParameters(const fb::Tensor& tensor) {
    if (tensor.buffer() == 0) return;
    const auto bytes = BufferBytes(model_, tensor.buffer());
    if (!bytes || bytes->empty()) return;
    const auto elements = CheckedElements(ListOf<int64_t>(tensor.shape())).value_or(0);
    out_.parameter_count =
        CheckedAdd(out_.parameter_count, static_cast<uint64_t>(elements)).value_or(UINT64_MAX);
    out_.parameter_bytes += bytes->size();
  }

  const Model& model_;
  bool in_full_;
  ModelSummary out_;
};

}  // namespace

std::string ScopeOf(const fb::SubGraph& graph, int64_t index) {
  if (index == 0) return {};
  const std::string_view name = Text(graph.name());
  return fmt::format("subgraph {}{}{}", index, name.empty() ? "" : " ", name);
}

Result<ModelSummary> TfliteDescriber::Summarize(const NativeModel& native) const {
  return Summarizer(ModelOf(native), false).Run();
}

Result<ModelSummary> TfliteDescriber::SummarizeInFull(const NativeModel& native) const {
  return Summarizer(ModelOf(native), true).Run();
}

}  // namespace nn::tflite

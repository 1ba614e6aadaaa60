#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "formats/tflite/file/native.h"
#include "formats/tflite/file/tensor.h"
#include "formats/tflite/roles.h"

namespace nn::tflite {
namespace {

std::vector<float> FloatsOf(const Tensor& t) {
  std::vector<float> out;
  for (int64_t i = 0; i < t.elements(); ++i) out.push_back(static_cast<float>(t.GetDouble(i)));
  return out;
}

Result<Tensor> ReadAt(const Model& model, const fb::SubGraph& g, int64_t index,
                      std::string_view what) {
  const fb::Tensor* t = At(g.tensors(), index);
  if (t == nullptr) return ModelError("tensor {}, the {}, does not exist", index, what);
  NN_ASSIGN(const bool known, HasContents(model, *t));
  if (!known) return UnsupportedError("tensor {}, the {}, is computed by a run", index, what);
  return ReadContents(model, *t);
}

Result<StoredQuantization> ReadQuantization(const Model& model, const fb::SubGraph& g,
                                            const fb::Tensor& t) {
  const fb::QuantizationParameters& p = *t.quantization();
  StoredQuantization out;
  out.axis = p.quantized_dimension();
  if (const auto* blocks = p.details_as_BlockwiseQuantization()) {
    NN_ASSIGN(const Tensor scales, ReadAt(model, g, blocks->scales(), "scales"));
    if (!IsFloat(scales.dtype())) return ModelError("the scales are {}", DTypeName(scales.dtype()));
    out.scales = FloatsOf(scales);
    out.block = blocks->block_size();
    if (blocks->zero_points() < 0) return out;
    NN_ASSIGN(const Tensor points, ReadAt(model, g, blocks->zero_points(), "zero points"));
    if (!IsInteger(points.dtype()))
      return ModelError("the zero points are {}", DTypeName(points.dtype()));
    out.zero_points = points.ToInts();
    return out;
  }
  out.scales = ListOf<float>(p.scale());
  out.zero_points = ListOf<int64_t>(p.zero_point());
  if (out.scales.size() == 1) out.axis = -1;
  const auto is_zero = [](int64_t v) { return v == 0; };
  if (std::all_of(out.zero_points.begin(), out.zero_points.end(), is_zero)) out.zero_points.clear();
  return out;
}

class TensorLister {
 public:
  explicit TensorLister(const Model& model) : model_(model) {}

  std::vector<TensorEntry> Run() {
    for (int64_t i = 0; i < SizeOf(model_.root->external_buffers()); ++i)
      if (const fb::ExternalBuffer* b = At(model_.root->external_buffers(), i))
        externals_.emplace(b->id(), b);
    size_t first_operator = 0;
    for (int64_t i = 0; i < SizeOf(model_.root->subgraphs()); ++i) {
      const fb::SubGraph& g = *At(model_.root->subgraphs(), i);
      AddSubgraph(g, ScopeOf(g, i), first_operator);
      first_operator += static_cast<size_t>(SizeOf(g.operators()));
    }
    return std::move(out_);
  }

 private:
  void AddSubgraph(const fb::SubGraph& g, const std::string& scope, size_t first_operator) {
    std::vector<std::vector<size_t>> users(static_cast<size_t>(SizeOf(g.tensors())));
    for (int64_t i = 0; i < SizeOf(g.operators()); ++i)
      for (const int64_t t : ListOf<int64_t>(At(g.operators(), i)->inputs())) {
        if (t < 0 || t >= static_cast<int64_t>(users.size())) continue;
        auto& list = users[static_cast<size_t>(t)];
        const size_t number = first_operator + static_cast<size_t>(i);
        if (list.empty() || list.back() != number) list.push_back(number);
      }
    for (int64_t i = 0; i < SizeOf(g.tensors()); ++i)
      AddTensor(g, i, scope, std::move(users[static_cast<size_t>(i)]));
  }

  void AddTensor(const fb::SubGraph& g, int64_t index, const std::string& scope,
                 std::vector<size_t> users) {
    const fb::Tensor& t = *At(g.tensors(), index);
    TensorEntry e;
    if (t.external_buffer() != 0) {
      e.external = true;
      LocateExternal(t.external_buffer(), e);
    } else {
      if (t.buffer() == 0) return;
      const auto bytes = BufferBytes(model_, t.buffer());
      if (!bytes || bytes->empty()) return;
      e.bytes = bytes->size();
      e.location = fmt::format("buffer {}", t.buffer());
    }
    e.name = Text(t.name()).empty() ? fmt::format("tensor {}", index) : std::string(Text(t.name()));
    e.scope = scope;
    e.type = TensorTypeName(t.type());
    e.shape = ListOf<int64_t>(t.shape());
    e.users = std::move(users);
    e.read = [model = &model_, tensor = &t] { return ReadContents(*model, *tensor); };
    const fb::QuantizationParameters* q = t.quantization();
    if (q != nullptr && (SizeOf(q->scale()) > 0 ||
                         q->details_type() == fb::QuantizationDetails::BlockwiseQuantization))
      e.quantization = [model = &model_, subgraph = &g, tensor = &t] {
        return ReadQuantization(*model, *subgraph, *tensor);
      };
    out_.push_back(std::move(e));
  }

  void LocateExternal(uint32_t id, TensorEntry& e) const {
    const auto it = externals_.find(id);
    if (it == externals_.end()) return;
    e.bytes = it->second->length();
    const auto* group = At(model_.root->external_buffer_groups(), it->second->group());
    if (group != nullptr)
      e.location = fmt::format("{} at {}", Text(group->name()), it->second->offset());
  }

  const Model& model_;
  std::unordered_map<uint32_t, const fb::ExternalBuffer*> externals_;
  std::vector<TensorEntry> out_;
};

}  // namespace

Result<std::vector<TensorEntry>> TfliteDescriber::TensorsOf(const NativeModel& native) const {
  return TensorLister(ModelOf(native)).Run();
}

}  // namespace nn::tflite

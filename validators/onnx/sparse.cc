// Rules for sparse tensors.
#include <cstring>

#include "base/checked_math.h"
#include "base/text/text.h"
#include "validators/onnx/rules.h"

namespace nn::onnx {
namespace {

std::string Name(const SparseAt& t) {
  return "sparse tensor " + Quote(t.tensor->values().name());
}

void ValuesAreList(const RuleContext& s, Findings& f) {
  for (const SparseAt& t : s.sparse_tensors()) {
    if (!t.tensor->has_values())
      f.Add(s.Where(t.place, "values"), "{} has no values", Name(t));
    else if (t.tensor->values().dims_size() != 1)
      f.Add(s.Where(t.place, "values"), "the values of {} have rank {}; must be 1", Name(t),
            t.tensor->values().dims_size());
  }
}

void DimensionsPositive(const RuleContext& s, Findings& f) {
  for (const SparseAt& t : s.sparse_tensors()) {
    if (t.tensor->dims().empty()) f.Add(s.Where(t.place, "dims"), "{} has no dimensions", Name(t));
    for (int i = 0; i < t.tensor->dims_size(); ++i)
      if (t.tensor->dims(i) <= 0)
        f.Add(s.Where(t.place, "dims"), "dimension {} of {} is {}; must be positive", i, Name(t),
              t.tensor->dims(i));
  }
}

// True if the indices have a type and shape that match values and dims.
bool IndicesShaped(const pb::SparseTensorProto& t) {
  const auto& indices = t.indices();
  if (indices.data_type() != pb::TensorProto::INT64 || t.values().dims_size() != 1) return false;
  const bool flat = indices.dims_size() == 1;
  return (flat || indices.dims_size() == 2) && indices.dims(0) == t.values().dims(0) &&
         (flat || indices.dims(1) == t.dims_size());
}

void IndicesFit(const RuleContext& s, Findings& f) {
  for (const SparseAt& t : s.sparse_tensors()) {
    if (t.tensor->values().dims_size() != 1) continue;
    const int64_t count = t.tensor->values().dims(0);
    if (!t.tensor->has_indices()) {
      if (count != 0)
        f.Add(s.Where(t.place, "indices"), "{} has {} values, but no indices", Name(t), count);
    } else if (!IndicesShaped(*t.tensor)) {
      f.Add(s.Where(t.place, "indices"),
            "the indices of {} are not INT64 of shape [{}] or [{}, {}]", Name(t), count, count,
            t.tensor->dims_size());
    }
  }
}

void CheckIndices(const RuleContext& s, Findings& f, const SparseAt& t,
                  std::span<const int64_t> data) {
  const auto& dims = t.tensor->dims();
  const bool flat = t.tensor->indices().dims_size() == 1;
  const size_t rank = flat ? 1 : static_cast<size_t>(dims.size());
  const auto elements = CheckedElements(std::span(dims.data(), static_cast<size_t>(dims.size())));
  if (!elements) return;
  int64_t previous = -1;
  for (size_t i = 0; i * rank < data.size(); ++i) {
    int64_t position = 0;
    for (size_t k = 0; k < rank; ++k) {
      const int64_t index = data[i * rank + k];
      const int64_t bound = flat ? *elements : dims.Get(static_cast<int>(k));
      if (index < 0 || index >= bound) {
        f.Add(s.Where(t.place, "indices"), "index {} of {} is {}; must be in [0, {})", i, Name(t),
              index, bound);
        return;
      }
      position = position * (flat ? 1 : bound) + index;
    }
    if (position <= previous) {
      f.Add(s.Where(t.place, "indices"), "index {} of {} is not greater than the one before it", i,
            Name(t));
      return;
    }
    previous = position;
  }
}

// The indices; empty if the data is too short for their shape, or in another file. Data beyond that
// shape is ignored.
std::vector<int64_t> ReadIndices(const RuleContext& s, const pb::TensorProto& t) {
  using Proto = pb::TensorProto;
  const auto need = CheckedElements(std::span(t.dims().data(), static_cast<size_t>(t.dims_size())));
  if (!need || t.data_location() == Proto::EXTERNAL) return {};
  const auto count = static_cast<size_t>(*need);
  const auto blob = s.native().payloads.Find(t, Proto::kRawDataFieldNumber);
  const std::span<const std::byte> raw =
      blob ? blob->bytes() : std::as_bytes(std::span(t.raw_data()));
  if (raw.size() / sizeof(int64_t) >= count) {
    std::vector<int64_t> indices(count);
    if (count > 0) std::memcpy(indices.data(), raw.data(), count * sizeof(int64_t));
    return indices;
  }
  if (static_cast<size_t>(t.int64_data_size()) < count) return {};
  return {t.int64_data().begin(), t.int64_data().begin() + *need};
}

void IndicesSorted(const RuleContext& s, Findings& f) {
  for (const SparseAt& t : s.sparse_tensors()) {
    bool positive = !t.tensor->dims().empty();
    for (const int64_t d : t.tensor->dims()) positive = positive && d > 0;
    if (!positive || !IndicesShaped(*t.tensor)) continue;
    CheckIndices(s, f, t, ReadIndices(s, t.tensor->indices()));
  }
}

void IndicesReadable(const RuleContext& s, Findings& f) {
  using Proto = pb::TensorProto;
  for (const SparseAt& t : s.sparse_tensors()) {
    if (!t.tensor->has_indices() || !IndicesShaped(*t.tensor)) continue;
    const Proto& indices = t.tensor->indices();
    uint64_t need = 1;
    for (const int64_t d : indices.dims()) need *= static_cast<uint64_t>(std::max<int64_t>(d, 0));
    const bool raw = s.Has(indices, Proto::kRawDataFieldNumber);
    const uint64_t have = raw ? s.SizeOf(indices, Proto::kRawDataFieldNumber)
                              : s.SizeOf(indices, Proto::kInt64DataFieldNumber);
    if (indices.data_location() == Proto::EXTERNAL)
      f.Add(s.Where(t.place, "indices"), "the indices of {} are external; must be in the model",
            Name(t));
    else if (raw ? have < need * sizeof(int64_t) : have != need)
      f.Add(s.Where(t.place, "indices"), "the indices of {} have {} {}; their shape requires {}",
            Name(t), have, raw ? "bytes" : "entries", raw ? need * sizeof(int64_t) : need);
  }
}

constexpr Rule kSparseRules[] = {
    {.info = {.id = "ONNX-SPARSE-001",
              .statement = "The values of a sparse tensor are present and have rank 1.",
              .clause = "onnx.proto, SparseTensorProto.values",
              .vendor = true,
              .hint = "Store the values as a tensor of shape [NNZ]."},
     .check = ValuesAreList},
    {.info =
         {.id = "ONNX-SPARSE-002",
          .statement =
              "A sparse tensor has at least one dimension, and all its dimensions are positive.",
          .clause = "onnx.proto, SparseTensorProto.dims",
          .vendor = true,
          .hint = "Set dims to the shape of the dense tensor."},
     .check = DimensionsPositive},
    {.info = {.id = "ONNX-SPARSE-003",
              .statement = "The indices of a sparse tensor are INT64 of shape [NNZ] or [NNZ, "
                           "rank], where NNZ is the number of values.",
              .clause = "onnx.proto, SparseTensorProto.indices",
              .vendor = true,
              .hint = "Store one flat index or one coordinate per value, as INT64."},
     .check = IndicesFit},
    {.info = {.id = "ONNX-SPARSE-004",
              .statement = "The indices of a sparse tensor are inside its dimensions and in "
                           "strictly ascending order.",
              .clause = "onnx.proto, SparseTensorProto.indices",
              .vendor = true,
              .hint = "Sort the values by index, without duplicates, and keep every index inside "
                      "the dimensions."},
     .check = IndicesSorted},
    {.info = {.id = "ONNX-SPARSE-005",
              .statement = "The indices of a sparse tensor are stored in the model, with as many "
                           "entries as their shape requires.",
              .clause = "onnx.proto, SparseTensorProto.indices",
              .vendor = true,
              .hint = "Store the indices in the model, one entry per element of their shape."},
     .check = IndicesReadable},
};

}  // namespace

std::span<const Rule> SparseRules() {
  return kSparseRules;
}

}  // namespace nn::onnx

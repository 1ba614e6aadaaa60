// Rules about sparse tensors.
#include <algorithm>

#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

// The values of an index vector; nullopt if it is absent or has none.
std::optional<std::vector<int64_t>> IndicesOf(fb::SparseIndexVector type, const void* vector) {
  if (vector == nullptr) return std::nullopt;
  const auto list = [](const auto* values) {
    return values == nullptr ? std::nullopt : std::optional(ListOf<int64_t>(values));
  };
  switch (type) {
    case fb::SparseIndexVector::Int32Vector:
      return list(static_cast<const fb::Int32Vector*>(vector)->values());
    case fb::SparseIndexVector::Uint16Vector:
      return list(static_cast<const fb::Uint16Vector*>(vector)->values());
    case fb::SparseIndexVector::Uint8Vector:
      return list(static_cast<const fb::Uint8Vector*>(vector)->values());
    default:
      return std::nullopt;
  }
}

// Checks the parameters of one sparse tensor and counts the elements that are stored.
class Sparse {
 public:
  explicit Sparse(const fb::Tensor& tensor)
      : sparsity_(*tensor.sparsity()),
        shape_(ListOf<int64_t>(tensor.shape())),
        order_(ListOf<int64_t>(sparsity_.traversal_order())),
        blocks_(ListOf<int64_t>(sparsity_.block_map())) {}

  // What is wrong with the order of axes and blocks; empty if nothing is.
  std::string OrderProblem() const {
    const size_t rank = shape_.size();
    if (order_.size() < rank ||
        SizeOf(sparsity_.dim_metadata()) != static_cast<int64_t>(order_.size()))
      return fmt::format(
          "traversal_order has {} entries and dim_metadata {}; expected equal lengths of at least "
          "{}",
          order_.size(), SizeOf(sparsity_.dim_metadata()), rank);
    if (blocks_.size() != order_.size() - rank)
      return fmt::format("block_map has {} entries; expected {}", blocks_.size(),
                         order_.size() - rank);
    if (!IsPermutation(0, rank) || !IsPermutation(rank, order_.size()))
      return "traversal_order is not a permutation of the axes followed by one of the block axes";
    for (const int64_t axis : blocks_)
      if (axis < 0 || axis >= static_cast<int64_t>(rank))
        return fmt::format("block_map refers to axis {}, out of range [0, {})", axis, rank);
    return {};
  }

  // What is wrong with the levels; empty if nothing is. Requires that OrderProblem() is empty.
  std::string LevelsProblem() {
    std::vector<int64_t> sizes = shape_;
    sizes.resize(order_.size());
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const int64_t size = Level(shape_.size() + i).dense_size();
      if (size < 1) return fmt::format("block {} has dense_size {}; expected at least 1", i, size);
      sizes[static_cast<size_t>(order_[shape_.size() + i])] = size;
      sizes[static_cast<size_t>(blocks_[i])] /= size;
    }
    for (size_t i = 0; i < order_.size(); ++i) {
      const int64_t size = sizes[static_cast<size_t>(order_[i])];
      const std::string problem = Level(i).format() == fb::DimensionType::DENSE
                                      ? Dense(Level(i), size)
                                      : Compressed(Level(i), size);
      if (!problem.empty()) return fmt::format("level {}: {}", i, problem);
    }
    return {};
  }

  int64_t stored() const { return stored_; }

 private:
  const fb::DimensionMetadata& Level(size_t i) const {
    return *At(sparsity_.dim_metadata(), static_cast<int64_t>(i));
  }

  bool IsPermutation(size_t from, size_t to) const {
    std::vector<bool> seen(to);
    for (size_t i = from; i < to; ++i) {
      const int64_t axis = order_[i];
      if (axis < static_cast<int64_t>(from) || axis >= static_cast<int64_t>(to) ||
          seen[static_cast<size_t>(axis)])
        return false;
      seen[static_cast<size_t>(axis)] = true;
    }
    return true;
  }

  std::string Dense(const fb::DimensionMetadata& level, int64_t size) {
    if (level.dense_size() != size)
      return fmt::format("dense_size is {}; expected {}", level.dense_size(), size);
    constexpr int64_t kMax = int64_t{1} << 32;
    if (size > 0 && stored_ > kMax / size) return "the tensor has too many elements";
    stored_ *= size;
    return {};
  }

  std::string Compressed(const fb::DimensionMetadata& level, int64_t size) {
    const auto segments = IndicesOf(level.array_segments_type(), level.array_segments());
    const auto indices = IndicesOf(level.array_indices_type(), level.array_indices());
    if (!segments || !indices) return "array_segments or array_indices is missing";
    if (static_cast<int64_t>(segments->size()) != stored_ + 1)
      return fmt::format("array_segments has {} entries; expected {}", segments->size(),
                         stored_ + 1);
    if (!std::is_sorted(segments->begin(), segments->end()) || segments->front() < 0)
      return "array_segments is negative or does not ascend";
    if (segments->back() != static_cast<int64_t>(indices->size()))
      return fmt::format("array_segments ends at {}; array_indices has {} entries",
                         segments->back(), indices->size());
    for (const int64_t index : *indices)
      if (index < 0 || index >= size)
        return fmt::format("array_indices has {}, out of range [0, {})", index, size);
    stored_ = static_cast<int64_t>(indices->size());
    return {};
  }

  const fb::SparsityParameters& sparsity_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> order_;
  std::vector<int64_t> blocks_;
  int64_t stored_ = 1;
};

void OrderFits(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors())
    if (at.tensor->sparsity() != nullptr)
      if (const std::string problem = Sparse(*at.tensor).OrderProblem(); !problem.empty())
        f.Add(Where(at, "sparsity"), "{}: {}", Title(at), problem);
}

void LevelsFit(const RuleContext& s, Findings& f) {
  for (const TensorAt& at : s.tensors()) {
    if (at.tensor->sparsity() == nullptr) continue;
    Sparse sparse(*at.tensor);
    if (!sparse.OrderProblem().empty()) continue;
    if (const std::string problem = sparse.LevelsProblem(); !problem.empty()) {
      f.Add(Where(at, "sparsity.dim_metadata"), "{}: {}", Title(at), problem);
      continue;
    }
    const int bits = BitsOf(at.tensor->type());
    const auto bytes = BufferBytes(s.native(), at.tensor->buffer());
    if (bits == 0 || !bytes || bytes->empty()) continue;
    const int64_t needed = (sparse.stored() * bits + 7) / 8;
    if (needed != static_cast<int64_t>(bytes->size()))
      f.Add(Where(at, "buffer"),
            "{} has {} bytes of data; its sparsity requires {} elements of {} bits", Title(at),
            bytes->size(), sparse.stored(), bits);
  }
}

constexpr Rule kSparsityRules[] = {
    {.info = {.id = "TFLITE-TENSOR-009",
              .statement = "The traversal_order of a sparse tensor permutes its axes and then its "
                           "block axes, and block_map and dim_metadata have matching entries.",
              .clause = "schema.fbs, SparsityParameters; the verifier",
              .vendor = true,
              .hint = "List each axis and then each block axis once in traversal_order, and "
                      "describe each entry in dim_metadata."},
     .check = OrderFits},
    {.info = {.id = "TFLITE-TENSOR-015",
              .statement = "The levels in dim_metadata of a sparse tensor match its shape, each "
                           "other and the size of its data.",
              .clause = "schema.fbs, DimensionMetadata; the verifier",
              .vendor = true,
              .hint = "Encode the sparse tensor again from its dense values."},
     .check = LevelsFit},
};

}  // namespace

std::span<const Rule> SparsityRules() {
  return kSparsityRules;
}

}  // namespace nn::tflite

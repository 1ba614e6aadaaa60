#include "formats/tflite/file/sparse.h"

#include <cstring>
#include <type_traits>

#include "base/checked_math.h"

namespace nn::tflite {
namespace {

// Limit of TensorFlow Lite: bytes of a sparse tensor as a dense one.
constexpr int64_t kMaxDenseBytes = int64_t{256} << 20;

Result<std::vector<int64_t>> Numbers(fb::SparseIndexVector type, const void* vector) {
  if (vector == nullptr) return ModelError("a sparse dimension has no segments or indices");
  switch (type) {
    case fb::SparseIndexVector::Int32Vector:
      return ListOf<int64_t>(static_cast<const fb::Int32Vector*>(vector)->values());
    case fb::SparseIndexVector::Uint16Vector:
      return ListOf<int64_t>(static_cast<const fb::Uint16Vector*>(vector)->values());
    case fb::SparseIndexVector::Uint8Vector:
      return ListOf<int64_t>(static_cast<const fb::Uint8Vector*>(vector)->values());
    case fb::SparseIndexVector::NONE:
      break;
  }
  return ModelError("unknown kind of sparse indices, {}", static_cast<int>(type));
}

// One level of the traversal, outermost first.
struct Level {
  bool sparse = false;
  int64_t size = 0;                        // of the dimension, in elements or blocks
  int64_t step = 0;                        // of the dense result
  std::vector<int64_t> segments, indices;  // sparse only
};

// The dimensions of the levels; block dimensions are numbered from the rank on.
class SparseReader {
 public:
  SparseReader(const fb::SparsityParameters& p, DType dtype, const std::vector<int64_t>& dims)
      : p_(p),
        dims_(dims),
        dtype_(dtype),
        order_(ListOf<int64_t>(p.traversal_order())),
        blocks_(ListOf<int64_t>(p.block_map())) {}

  Result<Tensor> Run(const Blob& values) {
    NN_ASSIGN(const int64_t stored, ReadLayout());
    NN_ASSIGN(const Tensor packed, Tensor::Make(dtype_, {stored}, values));
    NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype_, dims_));
    std::memset(out.data(), 0, ByteSize(dtype_, out.elements()));
    Visit(0, 0, 0, [&](int64_t offset, int64_t position) { out.Copy(offset, packed, position); });
    return out.Finish();
  }

  Result<Tensor> Pack(const Tensor& dense) {
    NN_ASSIGN(const int64_t stored, ReadLayout());
    NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype_, {stored}));
    Visit(0, 0, 0, [&](int64_t offset, int64_t position) { out.Copy(position, dense, offset); });
    return out.Finish();
  }

 private:
  // The number of stored elements.
  Result<int64_t> ReadLayout() {
    NN_RETURN_IF_ERROR(ReadLevels());
    const auto elements = CheckedElements(dims_);
    if (!elements || *elements > kMaxDenseBytes ||
        ByteSize(dtype_, *elements) > static_cast<size_t>(kMaxDenseBytes))
      return LimitError("a sparse tensor of shape {} is too large for a dense tensor",
                        ToString(ToDims(dims_)));
    return Stored();
  }

  Status ReadLevels() {
    const size_t rank = dims_.size();
    const size_t count = rank + blocks_.size();
    if (order_.size() != count || SizeOf(p_.dim_metadata()) != static_cast<int64_t>(count))
      return ModelError(
          "sparsity of {} axes and {} blocks has {} entries in the traversal order and {} in "
          "dim_metadata",
          rank, blocks_.size(), order_.size(), SizeOf(p_.dim_metadata()));
    // The size of each dimension by number: an axis in blocks, or a block.
    std::vector<int64_t> sizes(count, 0), steps(count, 0);
    std::vector<size_t> level_of(count, count);
    for (size_t i = 0; i < count; ++i) {
      const int64_t d = order_[i];
      if (d < 0 || d >= static_cast<int64_t>(count) || level_of[static_cast<size_t>(d)] != count)
        return ModelError("the traversal order is not a permutation");
      level_of[static_cast<size_t>(d)] = i;
    }
    const auto strides = Strides(dims_);
    for (size_t i = 0; i < rank; ++i) {
      sizes[i] = dims_[i];
      steps[i] = strides[i];
    }
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const int64_t axis = blocks_[b];
      if (axis < 0 || axis >= static_cast<int64_t>(rank))
        return ModelError("block dimension {} refers to the invalid axis {}", b, axis);
      const auto at = static_cast<size_t>(axis);
      const auto* m = At(p_.dim_metadata(), static_cast<int64_t>(level_of[rank + b]));
      const int64_t block = m == nullptr ? 0 : m->dense_size();
      if (block < 1) return ModelError("the blocks of axis {} have the size {}", axis, block);
      // Elements after the last whole block are not stored: TensorFlow's converter leaves them out,
      // and LiteRT takes them as zeros.
      sizes[at] /= block;
      sizes[rank + b] = block;
      steps[rank + b] = steps[at];
      steps[at] *= block;
    }
    for (const int64_t d : order_) {
      const auto at = static_cast<size_t>(d);
      NN_RETURN_IF_ERROR(AddLevel(sizes[at], steps[at]));
    }
    return {};
  }

  Status AddLevel(int64_t size, int64_t step) {
    const auto i = static_cast<int64_t>(levels_.size());
    const auto* m = At(p_.dim_metadata(), i);
    if (m == nullptr) return ModelError("sparse dimension {} has no dim_metadata", i);
    Level level;
    level.size = size;
    level.step = step;
    level.sparse = m->format() == fb::DimensionType::SPARSE_CSR;
    if (level.sparse) {
      NN_ASSIGN(level.segments, Numbers(m->array_segments_type(), m->array_segments()));
      NN_ASSIGN(level.indices, Numbers(m->array_indices_type(), m->array_indices()));
    } else if (m->dense_size() != size) {
      return ModelError("sparse dimension {} has size {}, but dim_metadata has {}", i, size,
                        m->dense_size());
    }
    levels_.push_back(std::move(level));
    return {};
  }

  // The number of stored elements; checks that every position of a level has a segment.
  Result<int64_t> Stored() const {
    int64_t count = 1;
    for (const Level& level : levels_) {
      if (!level.sparse) {
        const auto product = CheckedMul(count, level.size);
        if (!product) return ModelError("the sparse tensor has more than 2^63 elements");
        count = *product;
        continue;
      }
      if (static_cast<int64_t>(level.segments.size()) != count + 1 || level.segments[0] != 0 ||
          level.segments.back() != static_cast<int64_t>(level.indices.size()))
        return ModelError("there are {} segments for {} positions of a sparse dimension",
                          level.segments.size(), count);
      for (size_t i = 1; i < level.segments.size(); ++i)
        if (level.segments[i] < level.segments[i - 1])
          return ModelError("the segments of a sparse dimension are not in order");
      for (const int64_t index : level.indices)
        if (index < 0 || index >= level.size)
          return ModelError("index {} is out of range for a sparse dimension of size {}", index,
                            level.size);
      count = static_cast<int64_t>(level.indices.size());
    }
    return count;
  }

  // Calls fn(offset in the dense tensor, position among the stored elements).
  template <typename Fn>
  void Visit(size_t depth, int64_t position, int64_t offset, const Fn& fn) const {
    if (depth == levels_.size()) {
      fn(offset, position);
      return;
    }
    const Level& level = levels_[depth];
    if (!level.sparse) {
      for (int64_t i = 0; i < level.size; ++i)
        Visit(depth + 1, position * level.size + i, offset + i * level.step, fn);
      return;
    }
    const auto at = static_cast<size_t>(position);
    for (int64_t i = level.segments[at]; i < level.segments[at + 1]; ++i)
      Visit(depth + 1, i, offset + level.indices[static_cast<size_t>(i)] * level.step, fn);
  }

  const fb::SparsityParameters& p_;
  const std::vector<int64_t>& dims_;
  DType dtype_;
  std::vector<int64_t> order_, blocks_;
  std::vector<Level> levels_;
};

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

Offset<void> CopyNumbers(fb::SparseIndexVector type, const void* vector,
                         FlatBufferBuilder& builder) {
  if (vector == nullptr) return 0;
  const auto copy = [&](const auto* numbers, auto create) {
    using Number = std::decay_t<decltype(numbers->values()->Get(0))>;
    std::vector<Number> list = ListOf<Number>(numbers->values());
    return create(builder, &list).Union();
  };
  switch (type) {
    case fb::SparseIndexVector::Int32Vector:
      return copy(static_cast<const fb::Int32Vector*>(vector), fb::CreateInt32VectorDirect);
    case fb::SparseIndexVector::Uint16Vector:
      return copy(static_cast<const fb::Uint16Vector*>(vector), fb::CreateUint16VectorDirect);
    case fb::SparseIndexVector::Uint8Vector:
      return copy(static_cast<const fb::Uint8Vector*>(vector), fb::CreateUint8VectorDirect);
    case fb::SparseIndexVector::NONE:
      break;
  }
  return 0;
}

}  // namespace

Result<Tensor> ReadSparse(const fb::SparsityParameters& sparsity, DType dtype,
                          const std::vector<int64_t>& dims, const Blob& values) {
  if (DTypeBits(dtype) < 8)
    return UnsupportedError("sparse tensors of {} are unsupported", DTypeName(dtype));
  // Limits recursion for hostile files.
  if (dims.size() > 16 || SizeOf(sparsity.block_map()) > 16)
    return LimitError("a sparse tensor of {} axes and {} blocks is too large (16 of each)",
                      dims.size(), SizeOf(sparsity.block_map()));
  return SparseReader(sparsity, dtype, dims).Run(values);
}

std::optional<Blob> StoredValues(const fb::SparsityParameters& sparsity, const Tensor& dense) {
  const auto packed = SparseReader(sparsity, dense.dtype(), dense.dims()).Pack(dense);
  if (!packed) return std::nullopt;
  const auto unpacked = ReadSparse(sparsity, dense.dtype(), dense.dims(), packed->blob());
  if (!unpacked || !unpacked->Identical(dense)) return std::nullopt;
  return packed->blob();
}

Offset<fb::SparsityParameters> CopySparsity(const fb::SparsityParameters& sparsity,
                                            FlatBufferBuilder& builder) {
  std::vector<Offset<fb::DimensionMetadata>> levels;
  for (int64_t i = 0; i < SizeOf(sparsity.dim_metadata()); ++i) {
    const fb::DimensionMetadata* const m = At(sparsity.dim_metadata(), i);
    const auto segments = CopyNumbers(m->array_segments_type(), m->array_segments(), builder);
    const auto indices = CopyNumbers(m->array_indices_type(), m->array_indices(), builder);
    levels.push_back(fb::CreateDimensionMetadata(builder, m->format(), m->dense_size(),
                                                 m->array_segments_type(), segments,
                                                 m->array_indices_type(), indices));
  }
  const auto order = builder.CreateVector(ListOf<int32_t>(sparsity.traversal_order()));
  Offset<flatbuffers::Vector<int32_t>> blocks = 0;
  if (sparsity.block_map() != nullptr)
    blocks = builder.CreateVector(ListOf<int32_t>(sparsity.block_map()));
  return fb::CreateSparsityParameters(builder, order, blocks, builder.CreateVector(levels));
}

}  // namespace nn::tflite

#include "formats/coreml/program/export/packed.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "formats/coreml/file/weights.h"
#include "ops/control/region.h"

namespace nn::coreml::program {
namespace {

// Elements from which on another form is worthwhile, and those among which there must be many
// zeros.
constexpr int64_t kLeastElements = 1024;

// Bits of indices that tables may have in all operation sets, with the types that they have in
// those with packed types.
struct IndexType {
  int bits;
  mil::DataType type;
};
constexpr IndexType kIndexTypes[] = {
    {1, mil::UINT1}, {2, mil::UINT2}, {4, mil::UINT4}, {6, mil::UINT6}, {8, mil::UINT8}};

const IndexType& IndexTypeFor(size_t entries) {
  return *std::ranges::find_if(kIndexTypes,
                               [&](const IndexType& t) { return entries <= size_t{1} << t.bits; });
}

bool IsLargeFloat(const Value& v) {
  return v.is_constant() && (v.dtype() == DType::kF32 || v.dtype() == DType::kF16) &&
         !v.type().quantized() && v.constant().elements() >= kLeastElements;
}

size_t WidthOf(const Tensor& t) {
  return static_cast<size_t>(DTypeBits(t.dtype())) / 8;
}

// Calls visit with the bits of the elements, in order.
template <typename Visit>
void EachElement(const Blob& elements, size_t width, const Visit& visit) {
  elements.Visit([&](std::span<const std::byte> bytes) {
    for (size_t at = 0; at + width <= bytes.size(); at += width) {
      uint32_t bits = 0;
      std::memcpy(&bits, bytes.data() + at, width);
      visit(bits);
    }
    return true;
  });
}

size_t CountZeros(const Blob& elements, size_t width) {
  size_t zeros = 0;
  EachElement(elements, width, [&](uint32_t bits) { zeros += bits == 0 ? 1 : 0; });
  return zeros;
}

uint64_t BytesWithoutZeros(size_t elements, size_t zeros, size_t width) {
  return (elements - zeros) * width + (elements + 7) / 8;
}

// The bytes that a constant takes without its zeros; nullopt if it has few of them.
std::optional<uint64_t> SparseBytes(const Tensor& t) {
  const size_t width = WidthOf(t);
  const auto first = static_cast<size_t>(kLeastElements);
  const Blob start = t.blob().Slice(0, first * width);
  if (BytesWithoutZeros(first, CountZeros(start, width), width) >= start.size())
    return std::nullopt;
  const uint64_t bytes =
      BytesWithoutZeros(static_cast<size_t>(t.elements()), CountZeros(t.blob(), width), width);
  return bytes < t.blob().size() ? std::optional(bytes) : std::nullopt;
}

// Numbers of a few bits, from the lowest bits of a byte up.
class PackedNumbers {
 public:
  static Result<PackedNumbers> Create(int64_t count, int bits) {
    NN_ASSIGN(TensorBuilder bytes, TensorBuilder::Create(DType::kU8, {(count * bits + 7) / 8}));
    std::ranges::fill(bytes.As<uint8_t>(), uint8_t{0});
    return PackedNumbers(std::move(bytes), bits);
  }

  void Add(size_t number) {
    const auto to = bytes_.As<uint8_t>();
    for (int b = 0; b < bits_; ++b, ++at_)
      if ((number >> b & 1) != 0) to[at_ / 8] |= static_cast<uint8_t>(1u << (at_ % 8));
  }
  Tensor Finish() { return bytes_.Finish(); }

 private:
  PackedNumbers(TensorBuilder bytes, int bits) : bytes_(std::move(bytes)), bits_(bits) {}

  TensorBuilder bytes_;
  int bits_;
  size_t at_ = 0;  // in bits
};

// A tensor of the element type with these dims, from the bits of its elements.
Result<Tensor> TensorOfBits(DType dtype, std::vector<int64_t> dims,
                            std::span<const uint32_t> elements) {
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(dtype, std::move(dims)));
  const size_t width = static_cast<size_t>(DTypeBits(dtype)) / 8;
  std::byte* to = out.data();
  for (const uint32_t bits : elements) {
    std::memcpy(to, &bits, width);
    to += width;
  }
  return out.Finish();
}

Tensor ShapeOf(const Tensor& t) {
  const std::vector<uint32_t> dims(t.dims().begin(), t.dims().end());
  return Tensor::Of({std::ssize(dims)}, dims);
}

// The bits of all elements as they are packed: an operand of its own shape, or bytes and a shape.
void AddElements(OperationWriter& op, std::string_view input, mil::DataType type,
                 const Tensor& packed, const Tensor& like) {
  if (op.Takes("shape"))
    op.Const(input, packed).Const("shape", ShapeOf(like));
  else
    op.Packed(input, packed, type, like.dims());
}

Result<OperationWriter> Palette(ExportContext& ctx, const Tensor& t,
                                std::span<const uint32_t> table) {
  const IndexType& index = IndexTypeFor(table.size());
  NN_ASSIGN(PackedNumbers indices, PackedNumbers::Create(t.elements(), index.bits));
  EachElement(t.blob(), WidthOf(t), [&](uint32_t bits) {
    indices.Add(static_cast<size_t>(std::ranges::lower_bound(table, bits) - table.begin()));
  });
  std::vector<uint32_t> entries(table.begin(), table.end());
  entries.resize(size_t{1} << index.bits);
  OperationWriter op = ctx.Add("constexpr_lut_to_dense");
  // One table for all elements: an axis for each of theirs, the entries, and an element of each.
  std::vector<int64_t> dims = {std::ssize(entries)};
  if (!op.Takes("shape")) {
    dims.insert(dims.begin(), static_cast<size_t>(t.rank()), 1);
    dims.push_back(1);
  }
  AddElements(op, "indices", index.type, indices.Finish(), t);
  NN_ASSIGN(const Tensor lut, TensorOfBits(t.dtype(), std::move(dims), entries));
  op.Const("lut", lut);
  return op;
}

Result<OperationWriter> WithoutZeros(ExportContext& ctx, const Tensor& t) {
  NN_ASSIGN(PackedNumbers mask, PackedNumbers::Create(t.elements(), 1));
  std::vector<uint32_t> numbers;
  EachElement(t.blob(), WidthOf(t), [&](uint32_t bits) {
    mask.Add(bits == 0 ? 0 : 1);
    if (bits != 0) numbers.push_back(bits);
  });
  NN_ASSIGN(const Tensor data, TensorOfBits(t.dtype(), {std::ssize(numbers)}, numbers));
  OperationWriter op = ctx.Add("constexpr_sparse_to_dense");
  op.Const("nonzero_data", data);
  AddElements(op, "mask", mil::UINT1, mask.Finish(), t);
  return op;
}

// The bytes of the constants as they are, and packed.
std::pair<uint64_t, uint64_t> BytesOf(const Graph& graph) {
  uint64_t plain = 0, packed = 0;
  for (const Value& v : graph.values()) {
    if (!v.is_constant()) continue;
    const uint64_t bytes = v.constant().blob().size();
    const auto packing = PackingOf(v);
    plain += bytes;
    packed += packing ? packing->bytes : bytes;
  }
  for (const Node& node : graph.nodes())
    for (const auto& region : node.regions()) {
      const auto [more, packed_more] = BytesOf(*region);
      plain += more;
      packed += packed_more;
    }
  return {plain, packed};
}

}  // namespace

std::optional<Packing> PackingOf(const Value& value) {
  if (!IsLargeFloat(value)) return std::nullopt;
  const Tensor& t = value.constant();
  std::optional<Packing> best;
  if (auto table = DistinctValues(t)) {
    const auto bits = static_cast<uint64_t>(IndexTypeFor(table->size()).bits);
    const uint64_t bytes =
        (static_cast<uint64_t>(t.elements()) * bits + 7) / 8 + (uint64_t{1} << bits) * WidthOf(t);
    if (bytes < t.blob().size()) best = {*std::move(table), bytes};
  }
  const auto sparse = SparseBytes(t);
  if (sparse && (!best || *sparse < best->bytes)) best = {{}, *sparse};
  return best;
}

bool IsSmallerPacked(const Graph& graph) {
  const auto [plain, packed] = BytesOf(graph);
  return packed < plain - plain / 3;
}

Result<std::string> AddPacked(ExportContext& ctx, const Value& value, const Packing& packing) {
  const Tensor& t = value.constant();
  std::string name = ctx.NewIdentifier(value.name());
  NN_ASSIGN(OperationWriter op,
            packing.table.empty() ? WithoutZeros(ctx, t) : Palette(ctx, t, packing.table));
  NN_RETURN_IF_ERROR(op.To(std::span(&name, 1), std::span(&value.type(), 1), Node()));
  ctx.Declare(name, ValueTypeOf(value.type()), t);
  return name;
}

}  // namespace nn::coreml::program

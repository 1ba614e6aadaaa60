#include "formats/coreml/program/export/palette.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "formats/coreml/file/weights.h"
#include "ops/control/region.h"

namespace nn::coreml::program {
namespace {

// Elements from which on a table is worthwhile.
constexpr int64_t kLeastElements = 1024;

// Bits of indices that tables may have.
constexpr int kIndexBits[] = {1, 2, 4, 6, 8};

int BitsFor(size_t entries) {
  return *std::ranges::find_if(kIndexBits, [&](int bits) { return entries <= size_t{1} << bits; });
}

bool IsLargeFloat(const Value& v) {
  return v.is_constant() && v.dtype() == DType::kF32 && !v.type().quantized() &&
         v.constant().elements() >= kLeastElements;
}

// Indices of so many bits, from the lowest bits of a byte up.
Result<Tensor> Indices(const Tensor& f32, std::span<const uint32_t> table, int bits) {
  const auto bytes = f32.blob().bytes();
  const auto count = static_cast<size_t>(f32.elements());
  const auto size = static_cast<int64_t>((count * static_cast<size_t>(bits) + 7) / 8);
  NN_ASSIGN(TensorBuilder packed, TensorBuilder::Create(DType::kU8, {size}));
  const auto to = packed.As<uint8_t>();
  std::ranges::fill(to, uint8_t{0});
  for (size_t i = 0; i < count; ++i) {
    uint32_t number;
    std::memcpy(&number, bytes.data() + i * sizeof(number), sizeof(number));
    const auto index = static_cast<size_t>(std::ranges::lower_bound(table, number) - table.begin());
    for (int b = 0; b < bits; ++b) {
      const size_t at = i * static_cast<size_t>(bits) + static_cast<size_t>(b);
      if ((index >> b & 1) != 0) to[at / 8] |= static_cast<uint8_t>(1u << (at % 8));
    }
  }
  return packed.Finish();
}

}  // namespace

std::optional<std::vector<uint32_t>> PaletteOf(const Value& value) {
  return IsLargeFloat(value) ? DistinctValues(value.constant()) : std::nullopt;
}

namespace {

// The bytes of the constants without and with tables.
std::pair<uint64_t, uint64_t> BytesOf(const Graph& graph) {
  uint64_t plain = 0, packed = 0;
  for (const Value& v : graph.values()) {
    if (!v.is_constant()) continue;
    const uint64_t bytes = v.constant().blob().size();
    const auto table = PaletteOf(v);
    plain += bytes;
    packed += table ? bytes * static_cast<uint64_t>(BitsFor(table->size())) / 32 : bytes;
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

bool IsSmallerWithPalettes(const Graph& graph) {
  const auto [plain, packed] = BytesOf(graph);
  return packed < plain / 2;
}

Result<std::string> AddPalette(ExportContext& ctx, const Value& value,
                               std::span<const uint32_t> table) {
  const Tensor& f32 = value.constant();
  const int bits = BitsFor(table.size());
  std::vector<float> entries(size_t{1} << bits);
  std::ranges::transform(table, entries.begin(),
                         [](uint32_t b) { return std::bit_cast<float>(b); });
  std::vector<uint32_t> shape;
  for (const int64_t d : f32.dims()) shape.push_back(static_cast<uint32_t>(d));
  NN_ASSIGN(const Tensor indices, Indices(f32, table, bits));
  std::string name = ctx.NewIdentifier(value.name());
  NN_RETURN_IF_ERROR(ctx.Add("constexpr_lut_to_dense")
                         .Const("indices", indices)
                         .Const("lut", Tensor::Of({std::ssize(entries)}, entries))
                         .Const("shape", Tensor::Of({std::ssize(shape)}, shape))
                         .To(std::span(&name, 1), std::span(&value.type(), 1), Node()));
  ctx.Declare(name, ValueTypeOf(value.type()), f32);
  return name;
}

}  // namespace nn::coreml::program

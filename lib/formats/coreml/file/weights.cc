#include "formats/coreml/file/weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/checked_math.h"
#include "base/half.h"

namespace nn::coreml {
namespace {

// Limit of Core ML: bits of a quantized weight.
constexpr int64_t kMaxBits = 8;

Result<Tensor> ReadHalf(const Blob& bytes, std::vector<int64_t> dims, int64_t count) {
  if (bytes.size() != static_cast<size_t>(count) * 2)
    return ModelError("float16Value has {} bytes; expected {}", bytes.size(), count * 2);
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kF32, std::move(dims)));
  const auto y = out.As<float>();
  for (size_t i = 0; i < y.size(); ++i) {
    uint16_t half;
    std::memcpy(&half, bytes.data() + 2 * i, sizeof half);
    y[i] = HalfToFloat(half);
  }
  return out.Finish();
}

// Packed unsigned numbers of 1 to 8 bits, highest bit first.
class BitReader {
 public:
  BitReader(const Blob& bytes, int64_t bits) : bytes_(bytes), bits_(static_cast<size_t>(bits)) {}

  size_t at(size_t i) const {
    const size_t bit = i * bits_, byte = bit / 8;
    const auto byte_at = [&](size_t k) {
      return k < bytes_.size() ? std::to_integer<size_t>(bytes_.bytes()[k]) : 0;
    };
    const size_t window = byte_at(byte) << 8 | byte_at(byte + 1);
    return window >> (16 - bits_ - bit % 8) & ((size_t{1} << bits_) - 1);
  }

 private:
  const Blob& bytes_;
  size_t bits_;
};

constexpr size_t kTableSize = size_t{1} << kMaxBits;

// `width`: bytes of the number.
uint32_t BitsAt(std::span<const std::byte> bytes, size_t offset, size_t width = sizeof(uint32_t)) {
  uint32_t bits = 0;  // the data may be unaligned
  std::memcpy(&bits, bytes.data() + offset, width);
  return bits;
}

}  // namespace

std::optional<std::vector<uint32_t>> DistinctValues(const Tensor& tensor) {
  const size_t width = static_cast<size_t>(DTypeBits(tensor.dtype())) / 8;
  std::unordered_set<uint32_t> seen;
  const auto add = [&](std::span<const std::byte> piece) {
    for (size_t at = 0; at < piece.size() && seen.size() <= kTableSize; at += width)
      seen.insert(BitsAt(piece, at, width));
    return seen.size() <= kTableSize;
  };
  // Most weights show it in their first values; no more of deferred ones is computed for it then.
  const Blob& all = tensor.blob();
  all.Slice(0, std::min(all.size(), 2 * kTableSize * width)).Visit(add);
  if (seen.size() <= kTableSize) all.Visit(add);
  if (seen.size() > kTableSize) return std::nullopt;
  std::vector<uint32_t> sorted(seen.begin(), seen.end());
  std::ranges::sort(sorted);
  return sorted;
}

namespace {

Status FillByTable(const Fields& table, const BitReader& q, int64_t bits, std::span<float> y) {
  const auto values = table.Floats("floatValue");
  if (values.size() != size_t{1} << bits)
    return ModelError("the lookup table has {} entries; {}-bit weights need {}", values.size(),
                      bits, size_t{1} << bits);
  for (size_t i = 0; i < y.size(); ++i) y[i] = values[q.at(i)];
  return {};
}

// The weights are scale * number_at(i) + bias.
template <typename NumberAt>
Status FillLinear(const Fields& linear, const NumberAt& number_at, int64_t channels,
                  std::span<float> y) {
  const auto scale = linear.Floats("scale");
  auto bias = linear.Floats("bias");
  if (bias.empty()) bias.push_back(0);
  const auto fits = [&](size_t n) { return n == 1 || n == static_cast<size_t>(channels); };
  if (!fits(scale.size()) || !fits(bias.size()))
    return ModelError("there are {} scales and {} biases for {} channels", scale.size(),
                      bias.size(), channels);
  if (y.empty()) return {};
  const size_t row = y.size() / static_cast<size_t>(channels);
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t c = i / row;
    y[i] = static_cast<float>(number_at(i)) * scale[scale.size() == 1 ? 0 : c] +
           bias[bias.size() == 1 ? 0 : c];
  }
  return {};
}

Result<Tensor> ReadQuantized(const Fields& weights, std::vector<int64_t> dims, int64_t count) {
  const Fields quantization = weights.Sub("quantization");
  const int64_t bits = quantization.Int("numberOfBits");
  if (bits < 1 || bits > kMaxBits)
    return ModelError("weights of {} bits are unsupported; expected 1 to 8", bits);
  const Blob raw = weights.Bytes("rawValue");
  const auto needs = static_cast<size_t>(CeilDiv(count * bits, 8));
  if (raw.size() != needs)
    return ModelError("rawValue has {} bytes; {} weights of {} bits need {}", raw.size(), count,
                      bits, needs);
  const int64_t channels = dims.empty() ? 1 : dims[0];
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kF32, std::move(dims)));
  const BitReader q(raw, bits);
  const auto y = out.As<float>();
  const std::string_view kind = quantization.OneOf("QuantizationType");
  if (kind == "linearQuantization")
    NN_RETURN_IF_ERROR(FillLinear(
        quantization.Sub(kind), [&](size_t i) { return q.at(i); }, channels, y));
  else if (kind == "lookupTableQuantization")
    NN_RETURN_IF_ERROR(FillByTable(quantization.Sub(kind), q, bits, y));
  else
    return ModelError("quantized weights need a scale or a lookup table");
  return out.Finish();
}

// Signed bytes, with linear quantization.
Result<Tensor> ReadInt8(const Fields& weights, std::vector<int64_t> dims, int64_t count) {
  const Blob raw = weights.Bytes("int8RawValue");
  if (raw.size() != static_cast<size_t>(count))
    return ModelError("int8RawValue has {} bytes; expected {}", raw.size(), count);
  const int64_t channels = dims.empty() ? 1 : dims[0];
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kF32, std::move(dims)));
  const auto at = [&](size_t i) { return static_cast<int8_t>(raw.bytes()[i]); };
  NN_RETURN_IF_ERROR(FillLinear(weights.Sub("quantization").Sub("linearQuantization"), at, channels,
                                out.As<float>()));
  return out.Finish();
}

}  // namespace

uint64_t WeightCount(const Fields& weights) {
  if (const Blob b = weights.Bytes("floatValue"); !b.empty()) return b.size() / sizeof(float);
  if (const Blob b = weights.Bytes("float16Value"); !b.empty()) return b.size() / 2;
  if (const Blob b = weights.Bytes("int8RawValue"); !b.empty()) return b.size();
  const int64_t bits = weights.Sub("quantization").Int("numberOfBits");
  if (bits < 1 || bits > kMaxBits) return 0;
  return weights.Bytes("rawValue").size() * 8 / static_cast<uint64_t>(bits);
}

uint64_t WeightBytes(const Fields& weights) {
  return weights.Bytes("floatValue").size() + weights.Bytes("float16Value").size() +
         weights.Bytes("int8RawValue").size() + weights.Bytes("rawValue").size();
}

std::string WeightForm(const Fields& weights) {
  if (!weights.Bytes("floatValue").empty()) return "float32";
  if (!weights.Bytes("float16Value").empty()) return "float16";
  const Fields quantization = weights.Sub("quantization");
  const bool table = quantization.OneOf("QuantizationType") == "lookupTableQuantization";
  if (!weights.Bytes("int8RawValue").empty()) return "int8";
  if (weights.Bytes("rawValue").empty()) return {};
  return fmt::format("{}-bit, {}", quantization.Int("numberOfBits"),
                     table ? "lookup table" : "linear");
}

Result<Tensor> ReadWeights(const Fields& weights, std::vector<int64_t> dims) {
  const auto count = CheckedElements(dims);
  if (!count || *count > int64_t{1} << 40) return ModelError("the shape of weights overflows");
  if (!weights.Bytes("int8RawValue").empty()) return ReadInt8(weights, std::move(dims), *count);
  if (const Blob half = weights.Bytes("float16Value"); !half.empty())
    return ReadHalf(half, std::move(dims), *count);
  if (!weights.Bytes("rawValue").empty()) return ReadQuantized(weights, std::move(dims), *count);
  Blob floats = weights.Bytes("floatValue");
  if (floats.size() != static_cast<size_t>(*count) * sizeof(float))
    return ModelError("there are {} weights; expected {}", floats.size() / sizeof(float), *count);
  return Tensor::Make(DType::kF32, std::move(dims), std::move(floats));
}

void WriteWeights(Writer weights, const Tensor& tensor) {
  weights.Bytes("floatValue", tensor.blob());
}

namespace {

// The indices or integers of weights, packed as BitReader reads them.
Blob Packed(size_t count, int64_t bits, const auto& at) {
  Buffer out(static_cast<size_t>(CeilDiv(static_cast<int64_t>(count) * bits, 8)));
  std::ranges::fill(std::span(out.data(), out.size()), std::byte{0});
  for (size_t i = 0; i < count; ++i) {
    const uint32_t value = at(i);
    for (int64_t k = 0; k < bits; ++k) {
      const size_t bit = i * static_cast<size_t>(bits) + static_cast<size_t>(k);
      if ((value >> (bits - 1 - k) & 1) != 0) out.data()[bit / 8] |= std::byte{0x80} >> (bit % 8);
    }
  }
  return Blob(std::move(out));
}

// The scales for which all weights of a row are integers of at most `most`, and the largest one is
// `most`; empty if there are none. No scale has more than 16 significant bits, so that products
// with integers of 8 bits, and their sums, are exact.
std::vector<float> RowScales(const Tensor& f32, int64_t most) {
  const int64_t rows = f32.rank() == 0 ? 0 : f32.dim(0);
  if (rows == 0 || f32.elements() == 0) return {};
  const auto bytes = f32.blob().bytes();
  const auto row = static_cast<size_t>(f32.elements() / rows);
  std::vector<float> scales;
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    const auto at = [&](size_t i) {
      return std::bit_cast<float>(BitsAt(bytes, (r * row + i) * sizeof(float)));
    };
    float largest = 0;
    for (size_t i = 0; i < row; ++i) largest = std::max(largest, std::fabs(at(i)));
    const float scale = largest == 0 ? 1.0f : largest / static_cast<float>(most);
    if (!(scale >= 0x1p-100f && scale <= 0x1p100f) ||
        (std::bit_cast<uint32_t>(scale) & 0xFF) != 0 ||
        (largest != 0 && scale * static_cast<float>(most) != largest))
      return {};
    for (size_t i = 0; i < row; ++i) {
      const float integer = at(i) / scale;
      if (integer != std::nearbyint(integer) || integer * scale != at(i) ||
          (at(i) == 0 && std::signbit(at(i))))
        return {};
    }
    scales.push_back(scale);
  }
  return scales;
}

void WriteLinear(Writer weights, const Tensor& tensor, int64_t bits,
                 const std::vector<float>& scales) {
  const auto bytes = tensor.blob().bytes();
  const auto count = static_cast<size_t>(tensor.elements());
  const size_t row = count / scales.size();
  const auto zero = static_cast<float>(int64_t{1} << (bits - 1));
  const auto integer_at = [&](size_t i) {
    const float x = std::bit_cast<float>(BitsAt(bytes, i * sizeof(float)));
    return static_cast<uint32_t>(x / scales[i / row] + zero);
  };
  std::vector<float> biases;
  biases.reserve(scales.size());
  for (const float scale : scales) biases.push_back(-zero * scale);
  weights.Bytes("rawValue", Packed(count, bits, integer_at));
  Writer quantization = weights.Sub("quantization");
  quantization.Int("numberOfBits", bits);
  Writer linear = quantization.Sub("linearQuantization");
  linear.Floats("scale", scales);
  linear.Floats("bias", biases);
}

void WriteByTable(Writer weights, const Tensor& tensor, int64_t bits,
                  const std::vector<uint32_t>& table) {
  const auto bytes = tensor.blob().bytes();
  const auto index_at = [&](size_t i) {
    return static_cast<uint32_t>(std::distance(
        table.begin(), std::ranges::lower_bound(table, BitsAt(bytes, i * sizeof(float)))));
  };
  std::vector<float> values;
  values.reserve(size_t{1} << bits);
  for (const uint32_t value : table) values.push_back(std::bit_cast<float>(value));
  values.resize(size_t{1} << bits, 0);
  weights.Bytes("rawValue", Packed(static_cast<size_t>(tensor.elements()), bits, index_at));
  Writer quantization = weights.Sub("quantization");
  quantization.Int("numberOfBits", bits);
  quantization.Sub("lookupTableQuantization").Floats("floatValue", values);
}

// A form of weights with its size.
struct PackedForm {
  int64_t bits = 32;
  size_t bytes = 0;
  std::vector<float> scales;    // linear
  std::vector<uint32_t> table;  // or by a table
};

PackedForm SmallestForm(const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.elements());
  PackedForm best{32, count * sizeof(float), {}, {}};
  const auto bytes_of = [&](int64_t bits, size_t floats) {
    return (count * static_cast<size_t>(bits) + 7) / 8 + floats * sizeof(float);
  };
  if (auto table = DistinctValues(tensor)) {
    const auto bits = std::max<int64_t>(1, std::bit_width(std::max<size_t>(table->size(), 1) - 1));
    if (const size_t bytes = bytes_of(bits, size_t{1} << bits); bytes < best.bytes)
      best = {bits, bytes, {}, *std::move(table)};
  }
  for (const int64_t bits : {4, 8}) {
    const auto rows = static_cast<size_t>(tensor.rank() == 0 ? 1 : tensor.dim(0));
    if (bytes_of(bits, 2 * rows) >= best.bytes) continue;
    auto scales = RowScales(tensor, (int64_t{1} << (bits - 1)) - 1);
    if (!scales.empty()) best = {bits, bytes_of(bits, 2 * rows), std::move(scales), {}};
  }
  return best;
}

}  // namespace

void WriteLayerWeights(Writer weights, const Tensor& tensor, bool is_trial) {
  const PackedForm form = is_trial ? PackedForm() : SmallestForm(tensor);
  if (!form.scales.empty())
    WriteLinear(weights, tensor, form.bits, form.scales);
  else if (!form.table.empty())
    WriteByTable(weights, tensor, form.bits, form.table);
  else
    WriteWeights(weights, tensor);
}

}  // namespace nn::coreml

#include "formats/coreml/weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/checked_math.h"
#include "base/half.h"

namespace nn::coreml {
namespace {

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

uint32_t BitsAt(std::span<const std::byte> bytes, size_t offset) {
  uint32_t bits;  // the data may be unaligned
  std::memcpy(&bits, bytes.data() + offset, sizeof bits);
  return bits;
}

// The bits of all values, ascending; nullopt if there are more than kTableSize.
std::optional<std::vector<uint32_t>> DistinctValues(const Tensor& f32) {
  std::unordered_set<uint32_t> seen;
  const auto add = [&](std::span<const std::byte> piece) {
    for (size_t at = 0; at < piece.size() && seen.size() <= kTableSize; at += sizeof(uint32_t))
      seen.insert(BitsAt(piece, at));
    return seen.size() <= kTableSize;
  };
  // Most weights show it in their first values; no more of deferred ones is computed for it then.
  const Blob& all = f32.blob();
  all.Slice(0, std::min(all.size(), 2 * kTableSize * sizeof(uint32_t))).Visit(add);
  if (seen.size() <= kTableSize) all.Visit(add);
  if (seen.size() > kTableSize) return std::nullopt;
  std::vector<uint32_t> sorted(seen.begin(), seen.end());
  std::ranges::sort(sorted);
  return sorted;
}

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

void WriteLayerWeights(Writer weights, const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.elements());
  const bool smaller = count + kTableSize * sizeof(float) < count * sizeof(float);
  const auto table = smaller ? DistinctValues(tensor) : std::nullopt;
  if (!table) {
    WriteWeights(weights, tensor);
    return;
  }
  Buffer indices(count);
  const auto bytes = tensor.blob().bytes();
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = BitsAt(bytes, i * sizeof(float));
    indices.data()[i] = static_cast<std::byte>(
        std::distance(table->begin(), std::ranges::lower_bound(*table, bits)));
  }
  std::vector<float> values;
  for (const uint32_t bits : *table) values.push_back(std::bit_cast<float>(bits));
  values.resize(kTableSize, 0);
  weights.Bytes("rawValue", Blob(std::move(indices)));
  Writer quantization = weights.Sub("quantization");
  quantization.Int("numberOfBits", kMaxBits);
  quantization.Sub("lookupTableQuantization").Floats("floatValue", values);
}

}  // namespace nn::coreml

#include "ir/seeded.h"

#include "base/random.h"

namespace nn {
namespace {

constexpr uint64_t kSmallIntegers = 10;

}  // namespace

Result<Tensor> SeededTensor(DType dtype, std::vector<int64_t> dims, uint64_t seed, uint64_t stream,
                            float scale) {
  const SeededStream random(seed, stream);
  if (dtype == DType::kUnknown) return UsageError("a seeded tensor must have an element type");
  if (dtype == DType::kString) {
    Tensor shape(DType::kI8, dims, {});
    std::vector<std::string> strings(static_cast<size_t>(shape.elements()));
    for (size_t i = 0; i < strings.size(); ++i)
      strings[i] = "s" + std::to_string((random.Bits(i) >> 11) % kSmallIntegers);
    return Tensor(std::move(dims), std::move(strings));
  }
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(dtype, std::move(dims)));
  const int64_t n = b.elements();
  if (dtype == DType::kF32) {
    auto out = b.As<float>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = random.Unit(i) * scale;
    return b.Finish();
  }
  if (IsComplex(dtype)) {
    for (size_t i = 0; i < static_cast<size_t>(2 * n); ++i) {
      const float v = random.Unit(i) * scale;
      if (dtype == DType::kC64)
        reinterpret_cast<float*>(b.data())[i] = v;
      else
        reinterpret_cast<double*>(b.data())[i] = v;
    }
    return b.Finish();
  }
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = random.Bits(static_cast<uint64_t>(i));
    if (IsFloat(dtype))
      b.SetDouble(i, random.Unit(static_cast<uint64_t>(i)) * scale);
    else if (dtype == DType::kBool)
      b.SetInt(i, static_cast<int64_t>(bits >> 63));
    else if (DTypeBits(dtype) <= 16)
      b.SetInt(i, static_cast<int64_t>(bits >> (64 - DTypeBits(dtype))));
    else
      b.SetInt(i, static_cast<int64_t>((bits >> 11) % kSmallIntegers));
  }
  return b.Finish();
}

}  // namespace nn

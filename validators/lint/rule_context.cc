#include "validators/lint/rule_context.h"

#include <cstring>
#include <limits>
#include <utility>

#include "base/text/text.h"

namespace nn::lint {
namespace {

template <typename Word>
bool IsUniform(const Tensor& tensor) {
  const std::byte* data = tensor.blob().data();
  return tensor.byte_size() < 2 * sizeof(Word) ||
         std::memcmp(data, data + sizeof(Word), tensor.byte_size() - sizeof(Word)) == 0;
}

// IEEE formats by their bits, aligned or not.
template <typename Word, int kMantissaBits>
Contents FloatContents(const Tensor& tensor, bool denormals_matter) {
  constexpr Word kMantissa = static_cast<Word>((Word{1} << kMantissaBits) - 1);
  constexpr Word kExponent =
      static_cast<Word>((std::numeric_limits<Word>::max() >> 1) & ~kMantissa);
  Contents c;
  const std::byte* data = tensor.blob().data();
  const size_t count = tensor.byte_size() / sizeof(Word);
  for (size_t i = 0; i < count; ++i) {
    Word w;
    std::memcpy(&w, data + i * sizeof(Word), sizeof(Word));
    const bool fraction = (w & kMantissa) != 0;
    c.nans += (w & kExponent) == kExponent && fraction;
    c.infinities += (w & kExponent) == kExponent && !fraction;
    c.denormals += (w & kExponent) == 0 && fraction;
  }
  if (!denormals_matter) c.denormals = 0;
  c.uniform = IsUniform<Word>(tensor);
  return c;
}

Contents ContentsOf(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kF32:
      return FloatContents<uint32_t, 23>(tensor, true);
    case DType::kF64:
      return FloatContents<uint64_t, 52>(tensor, true);
    case DType::kF16:
      return FloatContents<uint16_t, 10>(tensor, false);
    case DType::kBF16:
      return FloatContents<uint16_t, 7>(tensor, false);
    default:
      break;
  }
  Contents c;
  switch (DTypeBits(tensor.dtype())) {
    case 8:
      c.uniform = IsUniform<uint8_t>(tensor);
      break;
    case 16:
      c.uniform = IsUniform<uint16_t>(tensor);
      break;
    case 32:
      c.uniform = IsUniform<uint32_t>(tensor);
      break;
    case 64:
      c.uniform = IsUniform<uint64_t>(tensor);
      break;
    default:  // strings, and types smaller than a byte
      break;
  }
  return c;
}

}  // namespace

const ModelSummary& RuleContext::summary() const {
  if (!summary_) summary_ = format_.describer.Summarize(model_).value_or(ModelSummary());
  return *summary_;
}

const std::vector<TensorEntry>& RuleContext::tensors() const {
  if (!tensors_)
    tensors_ = format_.describer.TensorsOf(model_).value_or(std::vector<TensorEntry>());
  return *tensors_;
}

const std::vector<std::optional<Contents>>& RuleContext::contents() const {
  if (contents_.empty())
    for (const TensorEntry& entry : tensors()) {
      const auto tensor = entry.read();
      contents_.push_back(tensor ? std::optional(ContentsOf(*tensor)) : std::nullopt);
    }
  return contents_;
}

std::string Title(const TensorEntry& tensor) {
  if (!tensor.name.empty()) return "constant " + Quote(tensor.name);
  return tensor.location.empty() ? "a constant" : "the constant in " + tensor.location;
}

}  // namespace nn::lint

#include "formats/coreml/program/spec/sizes.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/checked_math.h"
#include "coreml_mil.pb.h"
#include "formats/coreml/program/spec/words.h"

namespace nn::coreml::program {
namespace {

namespace mil = pb::mil;

// Sizes beyond this are taken as unknown: sums of a few are then exact.
constexpr int64_t kLargestSize = int64_t{1} << 56;

int64_t SizeOf(const mil::Dimension& d) {
  if (!d.has_constant() || d.constant().size() > uint64_t{kLargestSize}) return kAnySize;
  return static_cast<int64_t>(d.constant().size());
}

int64_t Bounded(std::optional<int64_t> size) {
  return size && *size >= 0 && *size <= kLargestSize ? *size : kAnySize;
}

}  // namespace

std::optional<Sizes> SizesOf(const mil::ValueType& type) {
  if (!type.has_tensortype()) return std::nullopt;
  const mil::TensorType& tensor = type.tensortype();
  if (tensor.rank() != tensor.dimensions_size() || tensor.rank() > kMostAxes) return std::nullopt;
  Sizes sizes;
  for (const mil::Dimension& d : tensor.dimensions()) {
    if (d.unknown().variadic()) return std::nullopt;
    sizes.push_back(SizeOf(d));
  }
  return sizes;
}

mil::DataType ElementOf(const mil::ValueType& type) {
  return type.has_tensortype() ? type.tensortype().datatype() : mil::UNUSED_TYPE;
}

std::string TextOf(std::span<const int64_t> sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) text += ", ";
    text += sizes[i] == kAnySize ? "?" : std::to_string(sizes[i]);
  }
  return text + "]";
}

std::string TextOf(mil::DataType type) {
  for (const TypeWord& word : kTypes)
    if (word.type == type) return std::string(word.name);
  return fmt::format("type {}", static_cast<int>(type));
}

std::string TextOf(const mil::ValueType& type) {
  switch (type.type_case()) {
    case mil::ValueType::kTensorType: {
      const auto sizes = SizesOf(type);
      return fmt::format("{} {}", TextOf(type.tensortype().datatype()),
                         sizes ? TextOf(*sizes) : "of any rank");
    }
    case mil::ValueType::kListType:
      return fmt::format("a list of {}", TextOf(type.listtype().type()));
    case mil::ValueType::kStateType:
      return fmt::format("a state of {}", TextOf(type.statetype().wrappedtype()));
    case mil::ValueType::kTupleType:
      return "a tuple";
    case mil::ValueType::kDictionaryType:
      return "a dictionary";
    default:
      return "nothing";
  }
}

bool MayEqual(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::ranges::equal(a, b, [](int64_t x, int64_t y) { return MayEqual(x, y); });
}

bool MayEqual(const mil::ValueType& a, const mil::ValueType& b) {
  if (a.type_case() != b.type_case()) return false;
  switch (a.type_case()) {
    case mil::ValueType::kTensorType: {
      const auto x = SizesOf(a), y = SizesOf(b);
      return a.tensortype().datatype() == b.tensortype().datatype() &&
             (!x || !y || MayEqual(*x, *y));
    }
    case mil::ValueType::kListType:
      return MayEqual(a.listtype().type(), b.listtype().type());
    case mil::ValueType::kStateType:
      return MayEqual(a.statetype().wrappedtype(), b.statetype().wrappedtype());
    case mil::ValueType::kDictionaryType:
      return MayEqual(a.dictionarytype().keytype(), b.dictionarytype().keytype()) &&
             MayEqual(a.dictionarytype().valuetype(), b.dictionarytype().valuetype());
    default:
      return true;
  }
}

int64_t ElementsIn(std::span<const int64_t> sizes) {
  return Bounded(CheckedElements(sizes));
}

int64_t AddSizes(int64_t a, int64_t b) {
  return b == kAnySize ? kAnySize : OffsetSize(a, b);
}

int64_t OffsetSize(int64_t size, int64_t offset) {
  return size == kAnySize ? kAnySize : Bounded(CheckedAdd(size, offset));
}

int64_t MultiplySizes(int64_t a, int64_t b) {
  return a == kAnySize || b == kAnySize ? kAnySize : Bounded(CheckedMul(a, b));
}

int64_t DivideSizes(int64_t a, int64_t b) {
  return a == kAnySize || b <= 0 ? kAnySize : FloorDiv(a, b);
}

std::optional<Sizes> BroadcastSizes(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Sizes out(a.begin(), a.end());
  const size_t first = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& size = out[first + i];
    if (size == b[i] || b[i] == 1) continue;
    if (size != 1 && size != kAnySize && b[i] != kAnySize) return std::nullopt;
    // Of an unknown size and another, which is not 1, the other is the result.
    if (size == 1 || size == kAnySize) size = b[i];
  }
  return out;
}

}  // namespace nn::coreml::program

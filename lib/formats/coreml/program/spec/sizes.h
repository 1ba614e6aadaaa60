// The sizes of tensors in ML Programs, as far as they are known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nn::coreml::pb::mil {
enum DataType : int;
class ValueType;
}  // namespace nn::coreml::pb::mil

namespace nn::coreml::program {

using Sizes = std::vector<int64_t>;
// A size that is not known.
inline constexpr int64_t kAnySize = -1;
// Tensors of more axes are taken as tensors of any rank.
inline constexpr int kMostAxes = 64;

// nullopt if it is not a tensor, or of any rank.
std::optional<Sizes> SizesOf(const pb::mil::ValueType& type);
// UNUSED_TYPE if it is not a tensor.
pb::mil::DataType ElementOf(const pb::mil::ValueType& type);

// "[2, ?]"
std::string TextOf(std::span<const int64_t> sizes);
// "fp16"; "type 77" if it has no name.
std::string TextOf(pb::mil::DataType type);
// "fp16 [2, ?]", "a list of fp16 [2, ?]", "a state of fp16 [2]".
std::string TextOf(const pb::mil::ValueType& type);

// Whether two sizes may be one.
constexpr bool MayEqual(int64_t a, int64_t b) {
  return a == kAnySize || b == kAnySize || a == b;
}
bool MayEqual(std::span<const int64_t> a, std::span<const int64_t> b);
// The same for types, with what they contain.
bool MayEqual(const pb::mil::ValueType& a, const pb::mil::ValueType& b);

// The product; kAnySize if it is not known or too large.
int64_t ElementsIn(std::span<const int64_t> sizes);

// Sums and products that are not known if an operand is not.
int64_t AddSizes(int64_t a, int64_t b);
// The sum of a size and a number, which may be below 0.
int64_t OffsetSize(int64_t size, int64_t offset);
int64_t MultiplySizes(int64_t a, int64_t b);
// a / b, rounded down; kAnySize if b is 0 or less.
int64_t DivideSizes(int64_t a, int64_t b);

// nullopt if they are not broadcast. The size of an unknown one and 1 is not known.
std::optional<Sizes> BroadcastSizes(std::span<const int64_t> a, std::span<const int64_t> b);

}  // namespace nn::coreml::program

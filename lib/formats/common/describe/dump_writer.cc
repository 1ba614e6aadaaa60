#include "formats/common/describe/dump_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/sha256.h"
#include "base/text/text.h"
#include "ir/tensor.h"

namespace nn {
namespace {

// In bytes, for types of whole bytes.
size_t ElementSize(DType type) {
  return static_cast<size_t>(DTypeBits(type)) / 8;
}

// The data as a tensor that tensor files preserve: with its type and shape if they match, else as a
// list of bytes.
Tensor TensorOf(const Blob& blob, const DataInfo& info) {
  const bool plain = WithPlainNumber(info.type, [](auto) {}) || info.type == DType::kF16 ||
                     info.type == DType::kBF16;
  const DType type = plain && blob.size() % ElementSize(info.type) == 0 ? info.type : DType::kU8;
  if (!info.name.empty())
    if (auto whole = Tensor::Make(type, info.shape, blob)) return *std::move(whole);
  return {type, {static_cast<int64_t>(blob.size() / ElementSize(type))}, blob};
}

// Whether tensor files preserve a name.
bool IsStorableName(std::string_view name) {
  constexpr size_t kLongest = 1024;
  return !name.empty() && name.size() <= kLongest && !name.starts_with("__") && IsUtf8(name) &&
         EscapeControls(name) == name;
}

}  // namespace

void DumpWriter::Text(std::string_view text) {
  if (IsUtf8(text))
    String(text);
  else
    Base64Object(std::as_bytes(std::span(text)));
}

void DumpWriter::Data(const Blob& blob, const DataInfo& info) {
  const bool numbers =
      WithPlainNumber(info.type, [](auto) {}) && blob.size() % ElementSize(info.type) == 0;
  const bool stored = blob.size() >= kDumpArrayBytes || (!info.name.empty() && !blob.empty());
  if (stored && options_.weights == DumpWeights::kFile) {
    Stored(blob, info);
  } else if (OmitsData(blob.size())) {
    Omitted(blob.bytes(), info.type);
  } else if (options_.weights == DumpWeights::kInline && numbers) {
    BeginObject();
    Key(DTypeName(info.type));
    Numbers(blob.bytes(), info.type);
    EndObject();
  } else {
    Bytes(blob.bytes());
  }
}

void DumpWriter::LongList(const Blob& blob, const DataInfo& info) {
  if (options_.weights == DumpWeights::kFile)
    Stored(blob, info);
  else if (OmitsData(blob.size()))
    Omitted(blob.bytes(), info.type);
  else if (options_.weights == DumpWeights::kInline && info.type != DType::kBool)
    Numbers(blob.bytes(), info.type);
  else
    Base64Object(blob.bytes());
}

bool DumpWriter::OmitsData(size_t size) const {
  return size >= kDumpArrayBytes &&
         (options_.weights == DumpWeights::kStats || options_.weights == DumpWeights::kDigest ||
          options_.weights == DumpWeights::kNone);
}

void DumpWriter::Stored(const Blob& blob, const DataInfo& info) {
  std::string name = info.name;
  if (!IsStorableName(name) || !stored_names_.insert(name).second) {
    name = Place().substr(1);
    // The name of a tensor may equal the place of another.
    while (!stored_names_.insert(name).second) name += '_';
  }
  Tensor tensor = TensorOf(blob, info);
  BeginObject();
  Key(kDumpStoredKey);
  String(name);
  Key("type");
  String(DTypeName(tensor.dtype()));
  Key("shape");
  BeginArray(true);
  for (const int64_t d : tensor.dims()) Int(d);
  EndArray();
  EndObject();
  stored_.push_back({std::move(name), std::move(tensor)});
}

void DumpWriter::Base64Object(std::span<const std::byte> bytes) {
  BeginObject();
  Key("base64");
  Bytes(bytes);
  EndObject();
}

void DumpWriter::Numbers(std::span<const std::byte> bytes, DType type) {
  BeginArray(true);
  WithPlainNumber(type, [&](auto value) {
    using T = decltype(value);
    for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      std::memcpy(&value, bytes.data() + at, sizeof(T));
      Number(value);
    }
  });
  EndArray();
}

void DumpWriter::Omitted(std::span<const std::byte> bytes, DType type) {
  BeginObject();
  Key(kDumpOmittedKey);
  Uint(bytes.size());
  if (type != DType::kUnknown) {
    Key("type");
    String(DTypeName(type));
  }
  if (options_.weights == DumpWeights::kDigest) {
    Sha256 sha;
    sha.Bytes(bytes);
    Key("digest");
    String(sha.Finish());
  } else if (options_.weights == DumpWeights::kStats) {
    Statistics(bytes, type);
  }
  EndObject();
}

// Over the finite elements; the others are counted.
void DumpWriter::Statistics(std::span<const std::byte> bytes, DType type) {
  const int bits = DTypeBits(type);
  if (bits == 0 || IsComplex(type)) return;
  const auto count = static_cast<int64_t>(bytes.size() * 8 / static_cast<size_t>(bits));
  const Tensor tensor(type, {count}, Blob(bytes, nullptr));
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0, squares = 0;
  uint64_t zeros = 0, other = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double v = tensor.GetDouble(i);
    if (!std::isfinite(v)) {
      ++other;
      continue;
    }
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
    squares += v * v;
    zeros += v == 0 ? 1 : 0;
  }
  const auto finite = static_cast<double>(static_cast<uint64_t>(count) - other);
  Key("count");
  Int(count);
  if (finite > 0) {
    const double mean = sum / finite;
    for (const auto& [key, value] :
         {std::pair{"min", low},
          {"max", high},
          {"mean", mean},
          {"deviation", std::sqrt(std::max(0.0, squares / finite - mean * mean))}}) {
      Key(key);
      Double(value);
    }
  }
  Key("zeros");
  Uint(zeros);
  Key("not_finite");
  Uint(other);
}

}  // namespace nn

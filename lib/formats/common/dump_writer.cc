#include "formats/common/dump_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/sha256.h"
#include "base/text.h"
#include "ir/tensor.h"

namespace nn {

void DumpWriter::Text(std::string_view text) {
  if (IsUtf8(text))
    String(text);
  else
    Base64Object(std::as_bytes(std::span(text)));
}

void DumpWriter::Data(std::span<const std::byte> bytes, DType type) {
  const bool numbers = WithPlainNumber(type, [](auto) {}) &&
                       bytes.size() % (static_cast<size_t>(DTypeBits(type)) / 8) == 0;
  if (LeavesOut(bytes.size())) {
    Omitted(bytes, type);
  } else if (weights_ == DumpWeights::kInline && numbers) {
    BeginObject();
    Key(DTypeName(type));
    Numbers(bytes, type);
    EndObject();
  } else {
    Bytes(bytes);
  }
}

void DumpWriter::LongList(std::span<const std::byte> bytes, DType type) {
  if (LeavesOut(bytes.size()))
    Omitted(bytes, type);
  else if (weights_ == DumpWeights::kInline && type != DType::kBool)
    Numbers(bytes, type);
  else
    Base64Object(bytes);
}

bool DumpWriter::LeavesOut(size_t size) const {
  return size >= kDumpArrayBytes && weights_ != DumpWeights::kBase64 &&
         weights_ != DumpWeights::kInline;
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
  if (weights_ == DumpWeights::kDigest) {
    Sha256 sha;
    sha.Bytes(bytes);
    Key("digest");
    String(sha.Finish());
  } else if (weights_ == DumpWeights::kStats) {
    Statistics(bytes, type);
  }
  EndObject();
}

// Over the finite elements; those that are not are counted.
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

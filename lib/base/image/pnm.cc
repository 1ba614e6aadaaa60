// Portable anymaps: PBM (P1, P4), PGM (P2, P5) and PPM (P3, P6), as text or binary. The first image
// of the file is read.
#include <limits>
#include <optional>

#include "base/image/image_impl.h"

namespace nn {
namespace {

bool IsPnmSpace(uint8_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

struct PnmHeader {
  char kind = 0;  // 1 to 6
  ImageSize size;
  uint32_t most = 1;  // the largest sample
  size_t raster = 0;  // offset

  bool text() const { return kind <= 3; }
  bool bits() const { return kind == 1 || kind == 4; }
  int64_t channels() const { return kind == 3 || kind == 6 ? 3 : 1; }
};

class PnmReader {
 public:
  PnmReader(std::span<const uint8_t> file, size_t at) : file_(file), at_(at) {}

  size_t at() const { return at_; }
  bool AtEnd() const { return at_ >= file_.size(); }
  uint8_t Next() { return file_[at_++]; }

  void SkipSpace() {
    for (; !AtEnd(); ++at_) {
      if (file_[at_] == '#') {
        while (!AtEnd() && file_[at_] != '\n' && file_[at_] != '\r') ++at_;
        if (AtEnd()) return;
      } else if (!IsPnmSpace(file_[at_])) {
        return;
      }
    }
  }
  Result<uint32_t> Number() {
    SkipSpace();
    if (AtEnd()) return TruncatedImage();
    std::optional<uint32_t> v;
    for (; !AtEnd() && file_[at_] >= '0' && file_[at_] <= '9'; ++at_) {
      v = v.value_or(0) * 10 + (file_[at_] - '0');
      if (*v > uint32_t{1} << 28) return ModelError("a number at byte {} is too large", at_);
    }
    if (!v) return ModelError("byte {} is not part of a number", at_);
    return *v;
  }
  Result<uint32_t> Bit() {
    SkipSpace();
    if (AtEnd()) return TruncatedImage();
    const uint8_t c = Next();
    if (c != '0' && c != '1') return ModelError("byte {} is not 0 or 1", at_ - 1);
    return c - '0';
  }

 private:
  std::span<const uint8_t> file_;
  size_t at_;
};

// The least number of bytes of the raster; requires a size within 2^28 by 2^28.
int64_t LeastRasterBytes(const PnmHeader& h) {
  const int64_t width = h.size.width;
  if (h.kind == 4) return h.size.height * ((width + 7) / 8);
  if (h.kind == 1) return h.size.height * width;
  const int64_t bytes = h.text() || h.most > 255 ? 2 : 1;  // text: a digit and a space
  return h.size.height * width * h.channels() * bytes - (h.text() ? 1 : 0);
}

Result<PnmHeader> ReadPnmHeader(std::span<const uint8_t> file) {
  const char kind = static_cast<char>(file[1]);
  if (kind == '7') return UnsupportedError("portable arbitrary maps (P7) are not supported");
  if (kind == 'f' || kind == 'F') return UnsupportedError("floating-point maps are not supported");
  PnmHeader h;
  h.kind = static_cast<char>(kind - '0');
  PnmReader in(file, 2);
  NN_ASSIGN(h.size.width, in.Number());
  NN_ASSIGN(h.size.height, in.Number());
  if (!h.bits()) {
    NN_ASSIGN(h.most, in.Number());
    if (h.most < 1 || h.most > 65535)
      return ModelError("the largest sample is {}; must be in [1, 65535]", h.most);
  }
  if (in.AtEnd()) return TruncatedImage();
  if (!IsPnmSpace(in.Next())) return ModelError("no white space after the header");
  h.raster = in.at();
  if (h.size.width > 0 && h.size.height <= kMaxImagePixels / h.size.width &&
      LeastRasterBytes(h) > static_cast<int64_t>(file.size() - h.raster))
    return TruncatedImage();
  return h;
}

bool IsPnm(std::span<const uint8_t> file) {
  return file.size() >= 3 && file[0] == 'P' &&
         ((file[1] >= '1' && file[1] <= '7') || file[1] == 'f' || file[1] == 'F') &&
         (IsPnmSpace(file[2]) || file[2] == '#');
}

Result<ImageSize> PnmSize(std::span<const uint8_t> file) {
  NN_ASSIGN(const PnmHeader h, ReadPnmHeader(file));
  return h.size;
}

Status DecodePnm(std::span<const uint8_t> file, ImageSize size, const TakeRows& take) {
  NN_ASSIGN(const PnmHeader h, ReadPnmHeader(file));
  if (LeastRasterBytes(h) > static_cast<int64_t>(file.size() - h.raster)) return TruncatedImage();
  PnmReader in(file, h.raster);
  std::vector<uint8_t> row(static_cast<size_t>(3 * size.width));
  for (int64_t y = 0; y < size.height; ++y) {
    uint8_t* to = row.data();
    uint8_t byte = 0;
    for (int64_t i = 0; i < size.width * h.channels(); ++i) {
      uint32_t v = 0;
      if (h.kind == 1) {
        NN_ASSIGN(v, in.Bit());
      } else if (h.kind == 4) {  // rows begin at bytes
        if (i % 8 == 0) byte = in.Next();
        v = byte >> (7 - i % 8) & 1;
      } else if (h.text()) {
        NN_ASSIGN(v, in.Number());
      } else {
        v = in.Next();
        if (h.most > 255) v = v << 8 | in.Next();
      }
      if (v > h.most) return ModelError("a sample is {}, but the largest is {}", v, h.most);
      const uint32_t scaled = h.bits() ? (v == 0 ? 255 : 0) : (v * 255 + h.most / 2) / h.most;
      const int64_t copies = h.channels() == 1 ? 3 : 1;
      for (int64_t k = 0; k < copies; ++k) *to++ = static_cast<uint8_t>(scaled);
    }
    NN_RETURN_IF_ERROR(take(row));
  }
  return {};
}

}  // namespace

ImageFormat PnmImages() {
  return {"PNM", IsPnm, PnmSize, nullptr, DecodePnm};
}

}  // namespace nn

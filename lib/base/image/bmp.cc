// BMP images of Windows and OS/2 with a header of any version: 1, 4, 8, 16, 24 or 32 bits per
// pixel, bit fields, and run-length encoding of 4 and 8 bits.
#include <algorithm>
#include <array>
#include <bit>

#include "base/image/image_impl.h"

namespace nn {
namespace {

enum BmpCompression : uint32_t {
  kBmpNone,
  kBmpRle8,
  kBmpRle4,
  kBmpFields,
  kBmpJpeg,
  kBmpPng,
  kBmpAlphaFields
};

struct BmpHeader {
  ImageSize size;
  bool top_down = false;
  uint32_t bits = 0;
  uint32_t compression = kBmpNone;
  std::array<uint32_t, 3> masks = {};  // of red, green and blue
  size_t palette = 0;                  // offset
  size_t palette_entry = 4;            // bytes: blue, green, red, and an unused one
  size_t colors = 0;
  size_t raster = 0;  // offset

  bool runs() const { return compression == kBmpRle4 || compression == kBmpRle8; }
  int64_t row_bits() const { return size.width * bits; }
  int64_t row_bytes() const { return (row_bits() + 31) / 32 * 4; }
};

Status SetBmpMasks(std::span<const uint8_t> file, size_t header, BmpHeader& h) {
  if (h.compression == kBmpNone) {
    if (h.bits == 16) h.masks = {0x7C00, 0x3E0, 0x1F};
    if (h.bits == 32) h.masks = {0xFF0000, 0xFF00, 0xFF};
    return {};
  }
  if (h.bits != 16 && h.bits != 32)
    return ModelError("bit fields of {} bits per pixel; must be 16 or 32", h.bits);
  const size_t at = 14 + 40;  // within longer headers, and after the shortest
  if (file.size() < at + 12) return TruncatedImage();
  for (size_t i = 0; i < 3; ++i) {
    h.masks[i] = LittleEndian(file, at + 4 * i, 4);
    const uint32_t ones = h.masks[i] == 0 ? 0 : h.masks[i] >> std::countr_zero(h.masks[i]);
    if ((ones & (ones + 1)) != 0) return ModelError("bit field {:#x} has gaps", h.masks[i]);
  }
  if (header == 40) h.palette += h.compression == kBmpAlphaFields ? 16 : 12;
  return {};
}

Status CheckBmpEncoding(size_t header, const BmpHeader& h) {
  if (h.compression == kBmpJpeg || h.compression == kBmpPng)
    return UnsupportedError("a {} image inside is not supported",
                            h.compression == kBmpJpeg ? "JPEG" : "PNG");
  const bool os2 = header == 64 && h.compression >= kBmpFields;  // its own methods
  if (os2 || h.compression > kBmpAlphaFields)
    return UnsupportedError("compression {} is not supported", h.compression);
  constexpr uint32_t kBits[] = {1, 4, 8, 16, 24, 32};
  if (std::ranges::find(kBits, h.bits) == std::end(kBits))
    return UnsupportedError("{} bits per pixel are not supported", h.bits);
  if (h.runs() && h.bits != (h.compression == kBmpRle4 ? 4U : 8U))
    return ModelError("run-length encoding {} of {} bits per pixel", h.compression, h.bits);
  if (h.runs() && h.top_down) return ModelError("run-length encoding of rows from the top");
  return {};
}

// Sizes are at most 2^31, and rows have at most 2^33 bytes.
Status RequireBmpRows(std::span<const uint8_t> file, const BmpHeader& h) {
  if (h.runs()) return {};
  const auto left = static_cast<int64_t>(file.size() - h.raster);
  const int64_t last = (h.row_bits() + 7) / 8;
  if (left < last || h.size.height - 1 > (left - last) / h.row_bytes()) return TruncatedImage();
  return {};
}

Result<BmpHeader> ReadBmpHeader(std::span<const uint8_t> file) {
  if (file.size() < 18) return TruncatedImage();
  BmpHeader h;
  h.raster = LittleEndian(file, 10, 4);
  const size_t header = LittleEndian(file, 14, 4);
  if (header != 12 && (header < 40 || header > 124))
    return UnsupportedError("a header of {} bytes is not supported", header);
  if (file.size() < 14 + header) return TruncatedImage();
  h.palette = 14 + header;
  uint32_t used = 0;
  if (header == 12) {
    h.size = {LittleEndian(file, 20, 2), LittleEndian(file, 18, 2)};
    h.bits = LittleEndian(file, 24, 2);
    h.palette_entry = 3;
  } else {
    h.size = {static_cast<int32_t>(LittleEndian(file, 22, 4)),
              static_cast<int32_t>(LittleEndian(file, 18, 4))};
    h.bits = LittleEndian(file, 28, 2);
    h.compression = LittleEndian(file, 30, 4);
    used = LittleEndian(file, 46, 4);
  }
  h.top_down = h.size.height < 0;
  if (h.top_down) h.size.height = -h.size.height;
  NN_RETURN_IF_ERROR(CheckBmpEncoding(header, h));
  if (h.bits <= 8) {
    const uint32_t most = uint32_t{1} << h.bits;
    h.colors = used == 0 ? most : std::min(used, most);
  } else {
    NN_RETURN_IF_ERROR(SetBmpMasks(file, header, h));
  }
  if (h.palette + h.colors * h.palette_entry > file.size() || h.raster > file.size())
    return TruncatedImage();
  if (h.size.height > 0 && h.size.width > 0 && h.size.height <= kMaxImagePixels / h.size.width)
    NN_RETURN_IF_ERROR(RequireBmpRows(file, h));
  return h;
}

// Writes pixels of an image with a palette or bit fields.
class BmpPixels {
 public:
  BmpPixels(std::span<const uint8_t> file, const BmpHeader& h, std::span<uint8_t> rgb)
      : h_(h), rgb_(rgb) {
    for (size_t i = 0; i < h.colors; ++i)
      for (size_t c = 0; c < 3; ++c) palette_[i][c] = file[h.palette + i * h.palette_entry + 2 - c];
  }
  // Rows count from the first of the file.
  void Set(int64_t y, int64_t x, uint32_t value) {
    uint8_t* const to = At(y, x);
    if (h_.colors > 0) {
      std::copy_n(palette_[value].data(), 3, to);
      return;
    }
    for (size_t c = 0; c < 3; ++c) {
      if (h_.masks[c] == 0) {
        to[c] = 0;
        continue;
      }
      const int shift = std::countr_zero(h_.masks[c]);
      const uint64_t most = h_.masks[c] >> shift;
      to[c] = static_cast<uint8_t>(uint64_t{(value & h_.masks[c]) >> shift} * 255 / most);
    }
  }
  uint8_t* At(int64_t y, int64_t x) {
    const int64_t row = h_.top_down ? y : h_.size.height - 1 - y;
    return &rgb_[static_cast<size_t>(3 * (row * h_.size.width + x))];
  }

 private:
  const BmpHeader& h_;
  std::span<uint8_t> rgb_;
  std::array<std::array<uint8_t, 3>, 256> palette_ = {};  // black if the file has fewer colors
};

void DecodeBmpRows(std::span<const uint8_t> file, const BmpHeader& h, BmpPixels& pixels) {
  for (int64_t y = 0; y < h.size.height; ++y) {
    const size_t row = h.raster + static_cast<size_t>(y * h.row_bytes());
    for (int64_t x = 0; x < h.size.width; ++x) {
      const auto bit = static_cast<size_t>(x) * h.bits;
      const size_t at = row + bit / 8;
      if (h.bits == 24) {
        for (size_t c = 0; c < 3; ++c) pixels.At(y, x)[c] = file[at + 2 - c];
      } else if (h.bits >= 8) {
        pixels.Set(y, x, LittleEndian(file, at, h.bits / 8));
      } else {
        pixels.Set(y, x, file[at] >> (8 - h.bits - bit % 8) & ((1U << h.bits) - 1));
      }
    }
  }
}

// Run-length encoding: pairs of a count and a value, or of 0 and a command: 0 ends the row, 1 the
// image, 2 moves on, and larger ones precede as many pixels. What the runs skip has color 0.
class BmpRuns {
 public:
  BmpRuns(std::span<const uint8_t> data, const BmpHeader& h, BmpPixels& pixels)
      : data_(data), h_(h), pixels_(pixels) {}

  Status Decode() {
    for (int64_t y = 0; y < h_.size.height; ++y)
      for (int64_t x = 0; x < h_.size.width; ++x) pixels_.Set(y, x, 0);
    while (true) {
      if (data_.size() - at_ < 2) return AtLastPixel() ? Status() : TruncatedImage();
      const uint8_t count = data_[at_];
      const uint8_t value = data_[at_ + 1];
      at_ += 2;
      if (count > 0) {
        for (int i = 0; i < count; ++i) NN_RETURN_IF_ERROR(Put(Part(value, i)));
      } else if (value == 0) {
        x_ = 0;
        ++y_;
      } else if (value == 1) {
        return {};
      } else if (value == 2) {
        if (data_.size() - at_ < 2) return TruncatedImage();
        x_ += data_[at_];
        y_ += data_[at_ + 1];
        at_ += 2;
      } else {
        NN_RETURN_IF_ERROR(PutLiterals(value));
      }
    }
  }

 private:
  bool nibbles() const { return h_.bits == 4; }
  uint8_t Part(uint8_t byte, int i) const {
    if (!nibbles()) return byte;
    return i % 2 == 0 ? byte >> 4 : byte & 15;
  }
  bool AtLastPixel() const {
    return y_ >= h_.size.height || (y_ == h_.size.height - 1 && x_ == h_.size.width);
  }
  Status Put(uint8_t value) {
    // A run may fill up the last byte of a row.
    if (x_ >= h_.size.width && x_ <= h_.size.width + 1 && nibbles()) {
      ++x_;
      return {};
    }
    if (x_ >= h_.size.width || y_ >= h_.size.height)
      return ModelError("a run leaves the image at column {}, row {}", x_, y_);
    pixels_.Set(y_, x_++, value);
    return {};
  }
  Status PutLiterals(int n) {
    const size_t bytes = static_cast<size_t>(nibbles() ? (n + 1) / 2 : n);
    if (data_.size() - at_ < bytes) return TruncatedImage();
    for (int i = 0; i < n; ++i)
      NN_RETURN_IF_ERROR(Put(Part(data_[at_ + static_cast<size_t>(nibbles() ? i / 2 : i)], i)));
    at_ = std::min(at_ + (bytes + 1) / 2 * 2, data_.size());
    return {};
  }

  std::span<const uint8_t> data_;
  const BmpHeader& h_;
  BmpPixels& pixels_;
  size_t at_ = 0;
  int64_t x_ = 0, y_ = 0;
};

bool IsBmp(std::span<const uint8_t> file) {
  return StartsWith(file, "BM");
}

Result<ImageSize> BmpSize(std::span<const uint8_t> file) {
  NN_ASSIGN(const BmpHeader h, ReadBmpHeader(file));
  return h.size;
}

Status DecodeBmp(std::span<const uint8_t> file, ImageSize, std::span<uint8_t> rgb) {
  NN_ASSIGN(const BmpHeader h, ReadBmpHeader(file));
  NN_RETURN_IF_ERROR(RequireBmpRows(file, h));
  BmpPixels pixels(file, h, rgb);
  if (h.runs()) return BmpRuns(file.subspan(h.raster), h, pixels).Decode();
  DecodeBmpRows(file, h, pixels);
  return {};
}

}  // namespace

ImageFormat BmpImages() {
  return {"BMP", IsBmp, BmpSize, DecodeBmp};
}

}  // namespace nn

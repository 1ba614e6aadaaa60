// TIFF images, by libtiff: the first image of the file.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "base/image/image_impl.h"

namespace nn {
namespace {

// A file in memory.
class TiffReader {
 public:
  // No single allocation of libtiff is larger than `memory` bytes.
  TiffReader(std::span<const uint8_t> file, int64_t memory) : file_(file) {
    TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
    if (options == nullptr) return;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, memory);
    TIFFOpenOptionsSetErrorHandlerExtR(options, OnError, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options, OnWarning, this);
    tiff_ =
        TIFFClientOpenExt("image", "rm", this, Read, Write, Seek, Close, Size, Map, Unmap, options);
    TIFFOpenOptionsFree(options);
  }
  TiffReader(const TiffReader&) = delete;
  TiffReader& operator=(const TiffReader&) = delete;
  ~TiffReader() {
    if (tiff_ != nullptr) TIFFClose(tiff_);
  }

  TIFF* get() { return tiff_; }
  // With the message of the first error that libtiff reported.
  tl::unexpected<Error> Failure(const char* otherwise) const {
    return ModelError("{}", message_[0] != '\0' ? message_ : otherwise);
  }

 private:
  static int OnError(TIFF*, void* self, const char*, const char* format, va_list args) {
    auto& r = *static_cast<TiffReader*>(self);
    if (r.message_[0] == '\0') std::vsnprintf(r.message_, sizeof(r.message_), format, args);
    return 1;
  }
  static int OnWarning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

  static tmsize_t Read(thandle_t self, void* to, tmsize_t n) {
    auto& r = *static_cast<TiffReader*>(self);
    if (r.at_ >= r.file_.size() || n <= 0) return 0;
    const auto count =
        static_cast<size_t>(std::min<uint64_t>(static_cast<uint64_t>(n), r.file_.size() - r.at_));
    std::memcpy(to, r.file_.data() + r.at_, count);
    r.at_ += count;
    return static_cast<tmsize_t>(count);
  }
  static tmsize_t Write(thandle_t, void*, tmsize_t) { return -1; }
  static toff_t Seek(thandle_t self, toff_t offset, int whence) {
    auto& r = *static_cast<TiffReader*>(self);
    const toff_t base = whence == SEEK_CUR ? r.at_ : (whence == SEEK_END ? r.file_.size() : 0);
    r.at_ = base + offset;
    return r.at_;
  }
  static int Close(thandle_t) { return 0; }
  static toff_t Size(thandle_t self) { return static_cast<TiffReader*>(self)->file_.size(); }
  static int Map(thandle_t, void**, toff_t*) { return 0; }
  static void Unmap(thandle_t, void*, toff_t) {}

  std::span<const uint8_t> file_;
  toff_t at_ = 0;
  TIFF* tiff_ = nullptr;
  char message_[256] = "";
};

constexpr int64_t kTiffHeaderMemory = int64_t{1} << 26;

bool IsTiff(std::span<const uint8_t> file) {
  using std::string_view_literals::operator""sv;
  return StartsWith(file, "II*\0"sv) || StartsWith(file, "MM\0*"sv) ||
         StartsWith(file, "II+\0"sv) || StartsWith(file, "MM\0+"sv);
}

// The orientations from 5 on exchange rows and columns.
bool IsTransposed(int orientation) {
  return orientation >= ORIENTATION_LEFTTOP;
}

Result<int> TiffOrientation(TIFF* tiff) {
  uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  if (orientation < ORIENTATION_TOPLEFT || orientation > ORIENTATION_LEFTBOT)
    return ModelError("the orientation is {}; must be in [1, 8]", orientation);
  return orientation;
}

Result<ImageSize> TiffSize(std::span<const uint8_t> file) {
  TiffReader reader(file, kTiffHeaderMemory);
  if (reader.get() == nullptr) return reader.Failure("the header is damaged");
  uint32_t width = 0;
  uint32_t height = 0;
  TIFFGetField(reader.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(reader.get(), TIFFTAG_IMAGELENGTH, &height);
  NN_ASSIGN(const int orientation, TiffOrientation(reader.get()));
  if (IsTransposed(orientation)) std::swap(width, height);
  return ImageSize{height, width};
}

// Writes the stored pixels, from the first row and column of the file, to where they are seen.
void OrientTiff(const uint32_t* from, int orientation, ImageSize size, std::span<uint8_t> rgb) {
  const bool transposed = IsTransposed(orientation);
  const int64_t columns = transposed ? size.height : size.width;
  const int64_t rows = transposed ? size.width : size.height;
  const bool from_right =
      orientation == ORIENTATION_TOPRIGHT || orientation == ORIENTATION_BOTRIGHT ||
      orientation == ORIENTATION_RIGHTTOP || orientation == ORIENTATION_RIGHTBOT;
  const bool from_bottom =
      orientation == ORIENTATION_BOTRIGHT || orientation == ORIENTATION_BOTLEFT ||
      orientation == ORIENTATION_RIGHTBOT || orientation == ORIENTATION_LEFTBOT;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      int64_t y = transposed ? column : row;
      int64_t x = transposed ? row : column;
      if (from_bottom) y = size.height - 1 - y;
      if (from_right) x = size.width - 1 - x;
      const uint32_t pixel = *from++;
      uint8_t* const to = &rgb[static_cast<size_t>(3 * (y * size.width + x))];
      to[0] = static_cast<uint8_t>(TIFFGetR(pixel));
      to[1] = static_cast<uint8_t>(TIFFGetG(pixel));
      to[2] = static_cast<uint8_t>(TIFFGetB(pixel));
    }
  }
}

// Rows that are read at a time. A strip or tile is decoded again for each band in it, so there are
// few bands of an image that is one strip.
int64_t TiffBand(TIFF* tiff, ImageSize size) {
  constexpr int64_t kBandPixels = int64_t{1} << 22, kMaxBands = 16;
  uint32_t rows = 0;
  if (TIFFIsTiled(tiff) != 0)
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &rows);
  else
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
  const int64_t unit = std::clamp<int64_t>(rows, 1, size.height);
  if (unit * size.width > kBandPixels) return (size.height + kMaxBands - 1) / kMaxBands;
  return std::max<int64_t>(1, kBandPixels / (unit * size.width)) * unit;
}

Status TakeTiff(const TiffReader& reader, TIFFRGBAImage& image, int orientation, ImageSize size,
                const TakeRows& take) {
  constexpr const char* kDamaged = "the file is truncated or damaged";
  image.orientation = ORIENTATION_TOPLEFT;
  image.req_orientation = ORIENTATION_TOPLEFT;
  const int64_t columns = image.width, rows = image.height;
  if (columns * rows != size.height * size.width) return reader.Failure(kDamaged);
  const bool is_plain = orientation == ORIENTATION_TOPLEFT;
  const int64_t band = is_plain ? std::min(TiffBand(image.tif, size), rows) : rows;
  NN_ASSIGN(const auto raster, NewPixels<uint32_t>(columns * band));
  NN_ASSIGN(const auto rgb, NewPixels<uint8_t>(3 * columns * band));
  for (int64_t row = 0; row < rows; row += band) {
    const int64_t count = std::min(band, rows - row);
    image.row_offset = static_cast<int>(row);
    if (TIFFRGBAImageGet(&image, raster.get(), static_cast<uint32_t>(columns),
                         static_cast<uint32_t>(count)) == 0)
      return reader.Failure(kDamaged);
    const std::span<uint8_t> part(rgb.get(), static_cast<size_t>(3 * columns * count));
    OrientTiff(raster.get(), orientation, is_plain ? ImageSize{count, columns} : size, part);
    NN_RETURN_IF_ERROR(take(part));
  }
  return {};
}

Status DecodeTiff(std::span<const uint8_t> file, ImageSize size, const TakeRows& take) {
  const int64_t pixels = size.height * size.width;
  TiffReader reader(file, std::max(kTiffHeaderMemory, 16 * pixels));
  TIFF* const tiff = reader.get();
  if (tiff == nullptr) return reader.Failure("the header is damaged");
  NN_ASSIGN(const int orientation, TiffOrientation(tiff));
  // libtiff would multiply the colors by an alpha that it takes for separate.
  uint16_t count = 0;
  uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
  if (count > 0) {
    NN_ASSIGN(const auto associated, NewPixels<uint16_t>(count));
    std::fill_n(associated.get(), count, uint16_t{EXTRASAMPLE_ASSOCALPHA});
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, count, associated.get());
  }
  char message[1024] = "";
  if (TIFFRGBAImageOK(tiff, message) == 0) return UnsupportedError("{}", message);
  TIFFRGBAImage image;
  if (TIFFRGBAImageBegin(&image, tiff, 1, message) == 0) return ModelError("{}", message);
  const Status done = TakeTiff(reader, image, orientation, size, take);
  TIFFRGBAImageEnd(&image);
  return done;
}

}  // namespace

ImageFormat TiffImages() {
  return {"TIFF", IsTiff, TiffSize, nullptr, DecodeTiff};
}

}  // namespace nn

// PNG images, by libpng. It reports errors with longjmp, so the functions that call setjmp have no
// objects with destructors.
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/image/image_impl.h"

// NOLINTBEGIN(cert-err52-cpp): libpng reports errors by longjmp only.
namespace nn {
namespace {

struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const uint8_t> file;
  size_t at = 0;
  char message[128] = "";

  explicit PngReader(std::span<const uint8_t> f) : file(f) {}
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void OnPngError(png_structp png, png_const_charp message) {
  auto* const r = static_cast<PngReader*>(png_get_error_ptr(png));
  std::snprintf(r->message, sizeof(r->message), "%s", message);
  png_longjmp(png, 1);
}
void OnPngWarning(png_structp, png_const_charp) {}

void ReadPngBytes(png_structp png, png_bytep to, size_t n) {
  auto* const r = static_cast<PngReader*>(png_get_io_ptr(png));
  if (n > r->file.size() - r->at) png_error(png, "the file is truncated");
  std::memcpy(to, r->file.data() + r->at, n);
  r->at += n;
}

bool ReadPngHeader(PngReader* r) {
  r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, OnPngError, OnPngWarning);
  if (r->png == nullptr) return false;
  if (setjmp(png_jmpbuf(r->png)) != 0) return false;
  r->info = png_create_info_struct(r->png);
  if (r->info == nullptr) return false;
  png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_read_fn(r->png, r, ReadPngBytes);
  png_read_info(r->png, r->info);
  return true;
}

bool StartPng(PngReader* r) {
  if (setjmp(png_jmpbuf(r->png)) != 0) return false;
  png_set_expand(r->png);
  png_set_scale_16(r->png);
  png_set_strip_alpha(r->png);
  png_set_gray_to_rgb(r->png);
  png_set_interlace_handling(r->png);
  png_read_update_info(r->png, r->info);
  const size_t bytes = png_get_rowbytes(r->png, r->info);
  if (bytes != size_t{3} * png_get_image_width(r->png, r->info))
    png_error(r->png, "the rows have an unexpected size");
  return true;
}

bool ReadPngRow(PngReader* r, png_bytep row) {
  if (setjmp(png_jmpbuf(r->png)) != 0) return false;
  png_read_row(r->png, row, nullptr);
  return true;
}

// All rows of an interlaced image; `rows` has a pointer for each.
bool ReadPngRows(PngReader* r, png_bytepp rows) {
  if (setjmp(png_jmpbuf(r->png)) != 0) return false;
  png_read_image(r->png, rows);
  return true;
}

bool EndPng(PngReader* r) {
  if (setjmp(png_jmpbuf(r->png)) != 0) return false;
  png_read_end(r->png, nullptr);
  return true;
}

tl::unexpected<Error> PngError(const PngReader& r) {
  return ModelError("{}", r.message[0] != '\0' ? r.message : "libpng cannot be used");
}

bool IsPng(std::span<const uint8_t> file) {
  return StartsWith(file, "\x89PNG\r\n\x1a\n");
}

Result<ImageSize> PngSize(std::span<const uint8_t> file) {
  // The first chunk, so that nothing is allocated for the others.
  if (file.size() < 24) return TruncatedImage();
  return ImageSize{BigEndian(file, 20, 4), BigEndian(file, 16, 4)};
}

Status TakeInterlaced(PngReader& reader, ImageSize size, const TakeRows& take) {
  const auto bytes = static_cast<size_t>(3 * size.height * size.width);
  NN_ASSIGN(const auto rgb, NewPixels<uint8_t>(3 * size.height * size.width));
  NN_ASSIGN(const auto rows, NewPixels<png_bytep>(size.height));
  for (int64_t y = 0; y < size.height; ++y)
    rows[static_cast<size_t>(y)] = &rgb[static_cast<size_t>(3 * y * size.width)];
  if (!ReadPngRows(&reader, rows.get()) || !EndPng(&reader)) return PngError(reader);
  return take({rgb.get(), bytes});
}

Status DecodePng(std::span<const uint8_t> file, ImageSize size, const TakeRows& take) {
  PngReader reader(file);
  if (!ReadPngHeader(&reader)) return PngError(reader);
  if (png_get_image_height(reader.png, reader.info) != size.height ||
      png_get_image_width(reader.png, reader.info) != size.width)
    return ModelError("it does not begin with its size");
  if (!StartPng(&reader)) return PngError(reader);
  if (png_get_interlace_type(reader.png, reader.info) != PNG_INTERLACE_NONE)
    return TakeInterlaced(reader, size, take);
  std::vector<uint8_t> row(static_cast<size_t>(3 * size.width));
  for (int64_t y = 0; y < size.height; ++y) {
    if (!ReadPngRow(&reader, row.data())) return PngError(reader);
    NN_RETURN_IF_ERROR(take(row));
  }
  if (!EndPng(&reader)) return PngError(reader);
  return {};
}

}  // namespace

ImageFormat PngImages() {
  return {"PNG", IsPng, PngSize, nullptr, DecodePng};
}

}  // namespace nn
// NOLINTEND(cert-err52-cpp)

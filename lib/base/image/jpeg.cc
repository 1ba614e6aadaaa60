// JPEG images, by libjpeg. It reports errors with longjmp, so the functions that call setjmp have
// no objects with destructors.
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <jpeglib.h>

#include <jerror.h>

#include "base/image/image_impl.h"

// NOLINTBEGIN(cert-err52-cpp): libjpeg reports errors by longjmp only.
namespace nn {
namespace {

// Limit of runs: scans of a progressive JPEG image. Each costs a pass over the coefficients.
constexpr int kMaxJpegScans = 500;

struct JpegReader {
  jpeg_decompress_struct image = {};
  jpeg_error_mgr errors = {};
  jpeg_progress_mgr progress = {};
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";

  JpegReader() = default;
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&image); }
};

JpegReader* JpegReaderOf(j_common_ptr image) {
  return static_cast<JpegReader*>(image->client_data);
}

[[noreturn]] void OnJpegError(j_common_ptr image) {
  JpegReader* const r = JpegReaderOf(image);
  image->err->format_message(image, r->message);
  std::longjmp(r->jump, 1);
}

// libjpeg continues with gray where data is missing or damaged; here that is an error.
void OnJpegMessage(j_common_ptr image, int level) {
  const int code = image->err->msg_code;
  if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM) OnJpegError(image);
}

void OnJpegProgress(j_common_ptr image) {
  JpegReader* const r = JpegReaderOf(image);
  if (r->image.input_scan_number <= kMaxJpegScans) return;
  std::snprintf(r->message, sizeof(r->message), "it has more than %d scans", kMaxJpegScans);
  std::longjmp(r->jump, 1);
}

bool ReadJpegHeader(JpegReader* r, const uint8_t* data, size_t size) {
  r->image.err = jpeg_std_error(&r->errors);
  r->errors.error_exit = OnJpegError;
  r->errors.emit_message = OnJpegMessage;
  r->progress.progress_monitor = OnJpegProgress;
  r->image.client_data = r;
  if (setjmp(r->jump) != 0) return false;
  jpeg_create_decompress(&r->image);
  r->image.progress = &r->progress;
  jpeg_mem_src(&r->image, data, size);
  jpeg_read_header(&r->image, TRUE);
  return true;
}

// CMYK of Adobe's programs is inverted, which the marker tells.
void JpegRowFromCmyk(const uint8_t* cmyk, int64_t width, bool inverted, uint8_t* rgb) {
  const int flip = inverted ? 0 : 255;
  for (int64_t x = 0; x < width; ++x, cmyk += 4)
    for (int c = 0; c < 3; ++c)
      *rgb++ = static_cast<uint8_t>(((cmyk[c] ^ flip) * (cmyk[3] ^ flip) + 127) / 255);
}

bool StartJpeg(JpegReader* r, bool is_cmyk) {
  if (setjmp(r->jump) != 0) return false;
  r->image.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
  r->image.dct_method = JDCT_ISLOW;
  r->image.do_fancy_upsampling = TRUE;
  jpeg_start_decompress(&r->image);
  return true;
}

bool ReadJpegRow(JpegReader* r, uint8_t* row) {
  if (setjmp(r->jump) != 0) return false;
  jpeg_read_scanlines(&r->image, &row, 1);
  return true;
}

bool EndJpeg(JpegReader* r) {
  if (setjmp(r->jump) != 0) return false;
  jpeg_finish_decompress(&r->image);
  return true;
}

bool IsJpeg(std::span<const uint8_t> file) {
  return StartsWith(file, "\xff\xd8\xff");
}

Result<ImageSize> JpegSize(std::span<const uint8_t> file) {
  JpegReader reader;
  if (!ReadJpegHeader(&reader, file.data(), file.size())) return ModelError("{}", reader.message);
  return ImageSize{reader.image.image_height, reader.image.image_width};
}

Status DecodeJpeg(std::span<const uint8_t> file, ImageSize size, const TakeRows& take) {
  JpegReader reader;
  if (!ReadJpegHeader(&reader, file.data(), file.size())) return ModelError("{}", reader.message);
  const J_COLOR_SPACE space = reader.image.jpeg_color_space;
  if (space == JCS_UNKNOWN)
    return UnsupportedError("{} unknown components are not supported", reader.image.num_components);
  const bool is_cmyk = space == JCS_CMYK || space == JCS_YCCK;
  std::vector<uint8_t> row(static_cast<size_t>(3 * size.width));
  std::vector<uint8_t> cmyk(static_cast<size_t>(is_cmyk ? 4 * size.width : 0));
  if (!StartJpeg(&reader, is_cmyk)) return ModelError("{}", reader.message);
  for (int64_t y = 0; y < size.height; ++y) {
    if (!ReadJpegRow(&reader, is_cmyk ? cmyk.data() : row.data()))
      return ModelError("{}", reader.message);
    if (is_cmyk)
      JpegRowFromCmyk(cmyk.data(), size.width, reader.image.saw_Adobe_marker != 0, row.data());
    NN_RETURN_IF_ERROR(take(row));
  }
  if (!EndJpeg(&reader)) return ModelError("{}", reader.message);
  return {};
}

}  // namespace

ImageFormat JpegImages() {
  return {"JPEG", IsJpeg, JpegSize, nullptr, DecodeJpeg};
}

}  // namespace nn
// NOLINTEND(cert-err52-cpp)

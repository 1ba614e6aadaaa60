// JPEG 2000 images, by OpenJPEG: codestreams, and JP2 files around them.
#include <openjpeg.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/image/image_impl.h"

namespace nn {
namespace {

using std::string_view_literals::operator""sv;
constexpr std::string_view kJp2Signature = "\0\0\0\x0CjP  \r\n\x87\n"sv;
constexpr std::string_view kCodestream = "\xFF\x4F\xFF\x51"sv;
// Limit of runs: components of a JPEG 2000 image.
constexpr int64_t kMaxJ2kComponents = 4;

// ---- The header ---------------------------------------------------------------------------------

// The codestream of a file: what box jp2c contains, or all of it.
Result<std::span<const uint8_t>> CodestreamOf(std::span<const uint8_t> file) {
  if (!StartsWith(file, kJp2Signature)) return file;
  while (file.size() >= 8) {
    uint64_t length = BigEndian(file, 0, 4);
    size_t header = 8;
    if (length == 1 && file.size() >= 16) {
      length = uint64_t{BigEndian(file, 8, 4)} << 32 | BigEndian(file, 12, 4);
      header = 16;
    } else if (length == 0) {  // to the end
      length = file.size();
    }
    if (length < header) return ModelError("a box has {} bytes", length);
    if (StartsWith(file.subspan(4), "jp2c")) return file.subspan(header);
    if (length > file.size()) break;
    file = file.subspan(static_cast<size_t>(length));
  }
  return TruncatedImage();
}

// Reads marker SIZ, so that OpenJPEG, which allocates much for each tile, gets only files that have
// as many tiles as they say.
Result<ImageSize> Jpeg2000Size(std::span<const uint8_t> file) {
  NN_ASSIGN(const auto stream, CodestreamOf(file));
  if (stream.size() < 42) return TruncatedImage();
  if (!StartsWith(stream, kCodestream)) return ModelError("the codestream is damaged");
  const auto field = [&](size_t i) { return int64_t{BigEndian(stream, 8 + 4 * i, 4)}; };
  const int64_t width = field(0) - field(2);
  const int64_t height = field(1) - field(3);
  const int64_t tile_width = field(4);
  const int64_t tile_height = field(5);
  const int64_t components = BigEndian(stream, 40, 2);
  if (width < 1 || height < 1) return ModelError("the size is {} x {}", width, height);
  if (tile_width < 1 || tile_height < 1 || field(6) > field(2) || field(7) > field(3))
    return ModelError("the tiles are invalid");
  if (components < 1 || components > kMaxJ2kComponents)
    return UnsupportedError("{} components are not supported", components);
  const int64_t across = (field(0) - field(6) + tile_width - 1) / tile_width;
  const int64_t down = (field(1) - field(7) + tile_height - 1) / tile_height;
  constexpr int64_t kTileBytes = 14;  // of a tile without data: markers SOT and SOD
  if (across > static_cast<int64_t>(stream.size()) / kTileBytes / down) return TruncatedImage();
  return ImageSize{height, width};
}

// ---- OpenJPEG's objects -------------------------------------------------------------------------

struct J2kSource {
  std::span<const uint8_t> file;
  size_t at = 0;
};

OPJ_SIZE_T ReadJ2k(void* to, OPJ_SIZE_T n, void* self) {
  auto& s = *static_cast<J2kSource*>(self);
  const size_t count = std::min<size_t>(n, s.file.size() - s.at);
  if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, s.file.data() + s.at, count);
  s.at += count;
  return count;
}
OPJ_OFF_T SkipJ2k(OPJ_OFF_T n, void* self) {
  auto& s = *static_cast<J2kSource*>(self);
  if (n < 0 || static_cast<uint64_t>(n) > s.file.size() - s.at) return -1;
  s.at += static_cast<size_t>(n);
  return n;
}
OPJ_BOOL SeekJ2k(OPJ_OFF_T to, void* self) {
  auto& s = *static_cast<J2kSource*>(self);
  if (to < 0 || static_cast<uint64_t>(to) > s.file.size()) return OPJ_FALSE;
  s.at = static_cast<size_t>(to);
  return OPJ_TRUE;
}
void OnJ2kError(const char* message, void* self) {
  auto& to = *static_cast<std::array<char, 256>*>(self);
  if (to[0] != '\0') return;
  std::snprintf(to.data(), to.size(), "%s", message);
  if (char* const end = std::strchr(to.data(), '\n'); end != nullptr) *end = '\0';
}
void OnJ2kMessage(const char*, void*) {}

template <auto destroy>
struct J2kDestroy {
  template <typename T>
  void operator()(T* p) const {
    destroy(p);
  }
};
using J2kStream = std::unique_ptr<opj_stream_t, J2kDestroy<opj_stream_destroy>>;
using J2kCodec = std::unique_ptr<opj_codec_t, J2kDestroy<opj_destroy_codec>>;
using J2kImage = std::unique_ptr<opj_image_t, J2kDestroy<opj_image_destroy>>;

Result<J2kImage> DecodeJ2kSamples(std::span<const uint8_t> file, ImageSize size) {
  std::array<char, 256> message = {};
  J2kSource source{file};
  const J2kStream stream(opj_stream_default_create(OPJ_TRUE));
  const J2kCodec codec(
      opj_create_decompress(StartsWith(file, kJp2Signature) ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K));
  if (stream == nullptr || codec == nullptr) return LimitError("no memory for OpenJPEG");
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), ReadJ2k);
  opj_stream_set_skip_function(stream.get(), SkipJ2k);
  opj_stream_set_seek_function(stream.get(), SeekJ2k);
  opj_set_error_handler(codec.get(), OnJ2kError, &message);
  opj_set_warning_handler(codec.get(), OnJ2kMessage, nullptr);
  opj_set_info_handler(codec.get(), OnJ2kMessage, nullptr);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* header = nullptr;
  bool ok = opj_setup_decoder(codec.get(), &parameters) == OPJ_TRUE &&
            opj_read_header(stream.get(), codec.get(), &header) == OPJ_TRUE;
  J2kImage image(header);
  ok = ok && image->x1 - image->x0 == size.width && image->y1 - image->y0 == size.height &&
       opj_decode(codec.get(), stream.get(), image.get()) == OPJ_TRUE &&
       opj_end_decompress(codec.get(), stream.get()) == OPJ_TRUE;
  if (!ok) return ModelError("{}", message[0] != '\0' ? message.data() : "the file is damaged");
  return image;
}

// ---- Pixels -------------------------------------------------------------------------------------

Status CheckJ2kImage(const opj_image_t& image) {
  if (image.color_space == OPJ_CLRSPC_CMYK) return UnsupportedError("CMYK is not supported");
  if (image.color_space == OPJ_CLRSPC_EYCC) return UnsupportedError("e-YCC is not supported");
  for (OPJ_UINT32 i = 0; i < image.numcomps; ++i) {
    const opj_image_comp_t& c = image.comps[i];
    if (c.prec < 1 || c.prec > 16) return UnsupportedError("{} bits are not supported", c.prec);
    if (c.data == nullptr || c.w < 1 || c.h < 1) return ModelError("component {} has no data", i);
  }
  return {};
}

// The sample at a position of the image, with 8 bits. Components may have fewer samples.
int J2kSample(const opj_image_comp_t& c, int64_t y, int64_t x) {
  const int64_t row = std::min<int64_t>(y / c.dy, c.h - 1);
  const int64_t column = std::min<int64_t>(x / c.dx, c.w - 1);
  const int64_t most = (int64_t{1} << c.prec) - 1;
  const int64_t v =
      int64_t{c.data[row * c.w + column]} + (c.sgnd != 0 ? int64_t{1} << (c.prec - 1) : 0);
  return static_cast<int>((std::clamp<int64_t>(v, 0, most) * 255 + most / 2) / most);
}

// ITU-R BT.601 with the full range, in 16 fractional bits.
std::array<int, 3> J2kRgbOfYcc(int y, int cb, int cr) {
  const auto rounded = [](int v) { return std::clamp((v + (1 << 15)) >> 16, 0, 255); };
  cb -= 128;
  cr -= 128;
  y <<= 16;
  return {rounded(y + 91881 * cr), rounded(y - 22554 * cb - 46802 * cr), rounded(y + 116130 * cb)};
}

Status DecodeJpeg2000(std::span<const uint8_t> file, ImageSize size, std::span<uint8_t> rgb) {
  NN_ASSIGN(const auto image, DecodeJ2kSamples(file, size));
  NN_RETURN_IF_ERROR(CheckJ2kImage(*image));
  const bool color = image->numcomps >= 3;  // otherwise gray, perhaps with alpha
  uint8_t* to = rgb.data();
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x, to += 3) {
      std::array<int, 3> pixel = {};
      for (size_t c = 0; c < 3; ++c) pixel[c] = J2kSample(image->comps[color ? c : 0], y, x);
      if (color && image->color_space == OPJ_CLRSPC_SYCC)
        pixel = J2kRgbOfYcc(pixel[0], pixel[1], pixel[2]);
      for (size_t c = 0; c < 3; ++c) to[c] = static_cast<uint8_t>(pixel[c]);
    }
  }
  return {};
}

bool IsJpeg2000(std::span<const uint8_t> file) {
  return StartsWith(file, kJp2Signature) || StartsWith(file, kCodestream);
}

}  // namespace

ImageFormat Jpeg2000Images() {
  return {"JPEG 2000", IsJpeg2000, Jpeg2000Size, DecodeJpeg2000};
}

}  // namespace nn

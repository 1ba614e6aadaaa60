#include "base/image_encode.h"

#include <openjpeg.h>
#include <png.h>
#include <tiffio.h>
#include <webp/encode.h>

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include <doctest/doctest.h>

#include "support/files.h"

namespace nn::test {
namespace {

// Big-endian if there are 16 bits.
std::vector<uint8_t> BytesOf(const RawImage& image) {
  std::vector<uint8_t> bytes;
  for (const uint16_t s : image.samples) {
    if (image.bits == 16) bytes.push_back(static_cast<uint8_t>(s >> 8));
    bytes.push_back(static_cast<uint8_t>(s));
  }
  return bytes;
}

void AppendPng(png_structp png, png_bytep bytes, size_t n) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(bytes), n);
}

}  // namespace

std::string EncodePng(const RawImage& image, bool interlaced, const std::vector<uint8_t>& palette) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &out, AppendPng, nullptr);
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  const int type = palette.empty() ? kTypes[image.channels - 1] : PNG_COLOR_TYPE_PALETTE;
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), image.bits, type,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
               PNG_FILTER_TYPE_BASE);
  std::vector<png_color> colors;
  for (size_t i = 0; i < palette.size(); i += 3)
    colors.push_back({palette[i], palette[i + 1], palette[i + 2]});
  if (!colors.empty()) {
    png_set_PLTE(png, info, colors.data(), static_cast<int>(colors.size()));
    png_byte clear = 0;
    png_set_tRNS(png, info, &clear, 1, nullptr);
  }
  std::vector<uint8_t> bytes = BytesOf(image);
  std::vector<png_bytep> rows;
  for (int y = 0; y < image.height; ++y)
    rows.push_back(
        &bytes[bytes.size() / static_cast<size_t>(image.height) * static_cast<size_t>(y)]);
  png_write_info(png, info);
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return out;
}

std::string EncodeJpeg(const RawImage& image, bool progressive) {
  jpeg_compress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &data, &size);
  c.image_width = static_cast<JDIMENSION>(image.width);
  c.image_height = static_cast<JDIMENSION>(image.height);
  c.input_components = image.channels;
  c.in_color_space =
      image.channels == 1 ? JCS_GRAYSCALE : (image.channels == 3 ? JCS_RGB : JCS_CMYK);
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, 95, TRUE);
  if (progressive) jpeg_simple_progression(&c);
  jpeg_start_compress(&c, TRUE);
  std::vector<uint8_t> bytes = BytesOf(image);
  while (c.next_scanline < c.image_height) {
    JSAMPROW row =
        &bytes[size_t{c.next_scanline} * static_cast<size_t>(image.width * image.channels)];
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  std::string out(reinterpret_cast<char*>(data), size);
  std::free(data);
  return out;
}

std::string EncodeWebp(const RawImage& image) {
  const std::vector<uint8_t> bytes = BytesOf(image);
  uint8_t* data = nullptr;
  const auto encode = image.channels == 4 ? WebPEncodeLosslessRGBA : WebPEncodeLosslessRGB;
  const size_t size =
      encode(bytes.data(), image.width, image.height, image.width * image.channels, &data);
  REQUIRE(size > 0);
  std::string out(reinterpret_cast<char*>(data), size);
  WebPFree(data);
  return out;
}

std::string EncodeTiff(const RawImage& image, const TiffOptions& options) {
  const TempDir dir;
  const std::string path = dir / "image.tif";
  TIFF* const tiff = TIFFOpen(path.c_str(), "w");
  REQUIRE(tiff != nullptr);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, image.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, image.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, image.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, image.channels);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, options.photometric);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, options.orientation);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
               options.planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
  if (image.channels == 4) {
    uint16_t kind = options.separate_alpha ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
  }
  const auto write = [&](int width, int height, int left, int top, int plane, bool tile) {
    std::vector<uint8_t> bytes;
    for (int y = top; y < top + height; ++y)
      for (int x = left; x < left + width; ++x)
        for (int c = 0; c < image.channels; ++c) {
          if (options.planes && c != plane) continue;
          const bool inside = y < image.height && x < image.width;
          const uint16_t s =
              inside
                  ? image.samples[static_cast<size_t>((y * image.width + x) * image.channels + c)]
                  : 0;
          bytes.push_back(static_cast<uint8_t>(s));  // libtiff writes in the order of the machine
          if (image.bits == 16) bytes.push_back(static_cast<uint8_t>(s >> 8));
        }
    const auto size = static_cast<tmsize_t>(bytes.size());
    if (tile)
      REQUIRE(TIFFWriteEncodedTile(
                  tiff,
                  TIFFComputeTile(tiff, static_cast<uint32_t>(left), static_cast<uint32_t>(top), 0,
                                  static_cast<uint16_t>(plane)),
                  bytes.data(), size) == size);
    else
      REQUIRE(TIFFWriteEncodedStrip(tiff, static_cast<uint32_t>(plane), bytes.data(), size) ==
              size);
  };
  if (options.tile > 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, options.tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, options.tile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, image.height);
  }
  for (int plane = 0; plane < (options.planes ? image.channels : 1); ++plane) {
    if (options.tile == 0) write(image.width, image.height, 0, 0, plane, false);
    for (int y = 0; options.tile > 0 && y < image.height; y += options.tile)
      for (int x = 0; x < image.width; x += options.tile)
        write(options.tile, options.tile, x, y, plane, true);
  }
  TIFFClose(tiff);
  return ReadText(path);
}

std::string EncodeJpeg2000(const RawImage& image, bool file) {
  const TempDir dir;
  const std::string path = dir / "image.jp2";
  std::vector<opj_image_cmptparm_t> components(static_cast<size_t>(image.channels));
  for (opj_image_cmptparm_t& c : components) {
    c = {};
    c.dx = c.dy = 1;
    c.w = static_cast<OPJ_UINT32>(image.width);
    c.h = static_cast<OPJ_UINT32>(image.height);
    c.prec = static_cast<OPJ_UINT32>(image.bits);
  }
  opj_image_t* const out =
      opj_image_create(static_cast<OPJ_UINT32>(image.channels), components.data(),
                       image.channels >= 3 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY);
  REQUIRE(out != nullptr);
  out->x1 = static_cast<OPJ_UINT32>(image.width);
  out->y1 = static_cast<OPJ_UINT32>(image.height);
  for (size_t i = 0; i < image.samples.size(); ++i) {
    const auto n = static_cast<size_t>(image.channels);
    out->comps[i % n].data[i / n] = image.samples[i];
  }
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  parameters.numresolution = 2;
  parameters.tcp_mct = image.channels >= 3 ? 1 : 0;
  opj_codec_t* const codec = opj_create_compress(file ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  REQUIRE(opj_setup_encoder(codec, &parameters, out));
  opj_stream_t* const stream = opj_stream_create_default_file_stream(path.c_str(), OPJ_FALSE);
  REQUIRE(stream != nullptr);
  REQUIRE(opj_start_compress(codec, out, stream));
  REQUIRE(opj_encode(codec, stream));
  REQUIRE(opj_end_compress(codec, stream));
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(out);
  return ReadText(path);
}

}  // namespace nn::test

#include "base/image/image.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/image_encode.h"
#include "base/random.h"

namespace nn::test::image_test {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;
using Bytes = std::vector<int>;

std::span<const uint8_t> SpanOf(std::string_view file) {
  return {reinterpret_cast<const uint8_t*>(file.data()), file.size()};
}

struct Decoded {
  ImageSize size;
  Bytes rgb;
};

Result<Decoded> Decode(std::string_view file) {
  NN_ASSIGN(const ImageSize size, ReadImageSize(SpanOf(file)));
  std::vector<uint8_t> rgb(static_cast<size_t>(3 * size.height * size.width), 7);
  const Status done = DecodeImage(SpanOf(file), size, rgb);
  // In bands, the same.
  std::vector<uint8_t> bands;
  const Status in_bands = DecodeImageRows(SpanOf(file), size, [&](std::span<const uint8_t> rows) {
    CHECK(rows.size() % static_cast<size_t>(3 * size.width) == 0);
    bands.insert(bands.end(), rows.begin(), rows.end());
    return Status();
  });
  CHECK(in_bands.has_value() == done.has_value());
  NN_RETURN_IF_ERROR(done);
  CHECK(bands == rgb);
  return Decoded{size, Bytes(rgb.begin(), rgb.end())};
}

void CheckPixels(std::string_view file, int width, int height, const Bytes& rgb,
                 int tolerance = 0) {
  const auto image = Decode(file);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  CHECK(image->size.width == width);
  CHECK(image->size.height == height);
  REQUIRE(image->rgb.size() == rgb.size());
  if (tolerance == 0) CHECK(image->rgb == rgb);
  for (size_t i = 0; i < rgb.size(); ++i) CHECK(std::abs(image->rgb[i] - rgb[i]) <= tolerance);
}

void CheckFails(std::string_view file, ErrorCode code, std::string_view part) {
  const auto image = Decode(file);
  REQUIRE(!image.has_value());
  CHECK(image.error().code() == code);
  CHECK_MESSAGE(image.error().message().find(part) != std::string::npos, image.error().message());
}

// A file that lacks its last bytes is an error, whatever their number.
void CheckTruncations(std::string_view file, size_t from_end = 1) {
  for (size_t n = 0; n + from_end <= file.size(); ++n) {
    const std::string part(file.substr(0, n));
    CHECK_MESSAGE(!Decode(part).has_value(), n << " of " << file.size() << " bytes");
  }
}

// Damaged files are decoded or not, within memory.
void Damage(const std::string& file) {
  const SeededStream random(1);
  for (uint64_t i = 0; i < 300; ++i) {
    std::string damaged = file;
    for (uint64_t k = 0; k <= i % 3; ++k)
      damaged[random.Bits(6 * i + k) % damaged.size()] =
          static_cast<char>(random.Bits(6 * i + k + 3));
    const auto size = ReadImageSize(SpanOf(damaged));
    if (size && size->height * size->width < 100000) (void)Decode(damaged);
  }
}

RawImage Ramp(int width, int height, int channels, int bits = 8) {
  RawImage image{width, height, channels, bits, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c) {
        const int v = 40 + 5 * x + 4 * y + 20 * c;
        image.samples.push_back(static_cast<uint16_t>(bits == 16 ? v * 257 + 3 : v));
      }
  return image;
}

// What the decoder gives: without alpha, gray as equal parts, 8 bits.
Bytes RgbOf(const RawImage& image) {
  Bytes rgb;
  const auto n = static_cast<size_t>(image.channels);
  for (size_t i = 0; i < image.samples.size(); i += n)
    for (size_t c = 0; c < 3; ++c) {
      const int v = image.samples[i + (n >= 3 ? c : 0)];
      rgb.push_back(image.bits == 16 ? (v + 128) / 257 : v);
    }
  return rgb;
}

std::string Little(uint32_t v, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i, v >>= 8) s += static_cast<char>(v & 255);
  return s;
}

// A BMP image with a header of 40 bytes; `rest` follows the header: masks, palette, pixels.
std::string Bmp(int width, int height, int bits, int compression, std::string_view rest,
                size_t before_pixels = 0, int colors = 0) {
  return "BM" + Little(0, 8) + Little(static_cast<uint32_t>(54 + before_pixels), 4) +
         Little(40, 4) + Little(static_cast<uint32_t>(width), 4) +
         Little(static_cast<uint32_t>(height), 4) + Little(1, 2) +
         Little(static_cast<uint32_t>(bits), 2) + Little(static_cast<uint32_t>(compression), 4) +
         Little(0, 12) + Little(static_cast<uint32_t>(colors), 4) + Little(0, 4) +
         std::string(rest);
}

constexpr auto kPalette = "\x01\x02\x03\0\x11\x12\x13\0\x21\x22\x23\0"sv;  // blue first

Bytes Colors(const Bytes& indices) {
  Bytes rgb;
  for (const int i : indices)
    for (const int c : {3, 2, 1}) rgb.push_back(16 * i + c);
  return rgb;
}

TEST_CASE("BMP: 24 and 32 bits, rows from the bottom and the top") {
  const std::string rgb24 = Bmp(1, 2, 24, 0, "\x01\x02\x03\0\x04\x05\x06\0"sv);
  CheckPixels(rgb24, 1, 2, {6, 5, 4, 3, 2, 1});
  CheckTruncations(rgb24, 2);  // the padding of the last row may be missing
  CheckPixels(Bmp(1, -2, 32, 0, "\x01\x02\x03\xff\x04\x05\x06\0"sv), 1, 2, {3, 2, 1, 6, 5, 4});
  const auto core =
      "BM\0\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\x01\0\x01\0\x01\0\x18\0\x07\x08\x09\0"sv;
  CheckPixels(core, 1, 1, {9, 8, 7});
}

TEST_CASE("BMP: bit fields") {
  CheckPixels(Bmp(2, 1, 16, 0, "\x00\x7c\xe1\x03"sv), 2, 1, {255, 0, 0, 0, 255, 8});
  const std::string fields =
      Bmp(2, 1, 16, 3, "\0\xf8\0\0\xe0\x07\0\0\x1f\0\0\0\xe0\x07\x1f\xf8"sv, 12);
  CheckPixels(fields, 2, 1, {0, 255, 0, 255, 0, 255});
  CheckTruncations(fields);
  CheckFails(Bmp(1, 1, 16, 3, "\0\xf8\0\0\xe0\x05\0\0\x1f\0\0\0\0\0\0\0"sv, 12), ErrorCode::kModel,
             "has gaps");
}

TEST_CASE("BMP: palettes") {
  const std::string palette(kPalette);
  CheckPixels(Bmp(3, 1, 8, 0, palette + "\x02\x01\0\0"s, 12, 3), 3, 1, Colors({2, 1, 0}));
  CheckPixels(Bmp(3, 1, 4, 0, palette + "\x21\x00\0\0"s, 12, 3), 3, 1, Colors({2, 1, 0}));
  CheckPixels(Bmp(9, 1, 1, 0, palette.substr(0, 8) + "\xa0\x80\0\0"s, 8), 9, 1,
              Colors({1, 0, 1, 0, 0, 0, 0, 0, 1}));
  // Colors that the palette lacks are black.
  CheckPixels(Bmp(1, 1, 8, 0, palette + "\x09\0\0\0"s, 12, 3), 1, 1, {0, 0, 0});
}

TEST_CASE("BMP: run lengths") {
  const std::string palette(kPalette);
  // Two of color 1; end of row; three literals; the end.
  const std::string rle8 =
      Bmp(3, 2, 8, 1, palette + "\x02\x01\0\0\0\x03\x02\x01\x02\0\0\x01"s, 12, 3);
  CheckPixels(rle8, 3, 2, Colors({2, 1, 2, 1, 1, 0}));
  CheckTruncations(rle8, 4);
  const std::string move = Bmp(3, 2, 8, 1, palette + "\0\x02\x01\x01\x01\x02\0\x01"s, 12, 3);
  CheckPixels(move, 3, 2, Colors({0, 2, 0, 0, 0, 0}));
  CheckPixels(Bmp(3, 2, 4, 2, palette + "\x03\x12\0\0\0\x03\x21\x20\0\x01"s, 12, 3), 3, 2,
              Colors({2, 1, 2, 1, 2, 1}));
  CheckFails(Bmp(3, 2, 8, 1, palette + "\x04\x01\0\x01"s, 12, 3), ErrorCode::kModel,
             "a run leaves the image");
  Damage(rle8);
}

TEST_CASE("BMP: refusals") {
  CheckFails(Bmp(1, 1, 24, 4, "abcd"), ErrorCode::kUnsupported, "BMP image: a JPEG image inside");
  CheckFails(Bmp(1, 1, 2, 0, "abcd"), ErrorCode::kUnsupported, "2 bits per pixel");
  CheckFails(Bmp(0, 1, 24, 0, "abcd"), ErrorCode::kModel, "the size is 0 x 1");
  CheckFails(Bmp(1 << 30, 1 << 30, 24, 0, "abcd"), ErrorCode::kLimit, "must have at most");
  CheckFails(Bmp(1 << 10, -(1 << 10), 24, 0, "abcd"), ErrorCode::kModel, "truncated");
}

TEST_CASE("PNM: text and binary") {
  CheckPixels("P1\n# text\n3 1\n0 11 ", 3, 1, {255, 255, 255, 0, 0, 0, 0, 0, 0});
  CheckPixels("P2 2 1 #c\n 15\n0 # zero\n 15", 2, 1, {0, 0, 0, 255, 255, 255});
  CheckPixels("P3 1 2 255 1 2 3 4 5 6", 1, 2, {1, 2, 3, 4, 5, 6});
  const auto bits = "P4 9 2\n\x55\x80\xff\x00"sv;
  Bytes pixels;
  for (const int black : {0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0})
    for (int c = 0; c < 3; ++c) pixels.push_back(black == 1 ? 0 : 255);
  CheckPixels(bits, 9, 2, pixels);
  CheckPixels("P5 2 1 255\n\x07\x08"sv, 2, 1, {7, 7, 7, 8, 8, 8});
  CheckPixels("P5 1 1 65535\n\x80\x81"sv, 1, 1, {128, 128, 128});
  CheckPixels("P6 1 1 100\n\x01\x32\x64"sv, 1, 1, {3, 128, 255});
  CheckTruncations(bits);
  CheckTruncations("P6 1 2 300\n\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"sv);
}

TEST_CASE("PNM: refusals") {
  CheckFails("P7\nWIDTH 1\n", ErrorCode::kUnsupported, "PNM image: portable arbitrary maps (P7)");
  CheckFails("Pf\n1 1\n", ErrorCode::kUnsupported, "floating-point maps");
  CheckFails("P5 1 1 100\n\x65", ErrorCode::kModel, "a sample is 101, but the largest is 100");
  CheckFails("P5 1 1 70000\n\x65", ErrorCode::kModel, "the largest sample is 70000");
  CheckFails("P2 1 1 255 x", ErrorCode::kModel, "is not part of a number");
  CheckFails("P5 100000 100000 255\n", ErrorCode::kLimit, "must have at most");
  CheckFails("P5 99999999999 1 255\n", ErrorCode::kModel, "is too large");
  CheckFails("P6 10000 10000 255\nabc", ErrorCode::kModel, "truncated");
  CheckFails("", ErrorCode::kModel, "the 0 bytes are not an image");
  CheckFails("GIF89a", ErrorCode::kModel, "are not an image in BMP");
}

TEST_CASE("PNG") {
  for (int channels = 1; channels <= 4; ++channels)
    for (const int bits : {8, 16})
      for (const bool interlaced : {false, true}) {
        const RawImage image = Ramp(9, 5, channels, bits);
        CheckPixels(EncodePng(image, interlaced), 9, 5, RgbOf(image));
      }
  // The first color is transparent.
  const RawImage indices{3, 1, 1, 8, {1, 0, 1}};
  CheckPixels(EncodePng(indices, false, {9, 8, 7, 6, 5, 4}), 3, 1, {6, 5, 4, 9, 8, 7, 6, 5, 4});
  std::string file = EncodePng(Ramp(9, 5, 3));
  CheckTruncations(file);
  Damage(file);
  file.replace(16, 4, "\x7f\xff\xff\xff"sv);
  CheckFails(file, ErrorCode::kLimit, "PNG image: the size is 2147483647 x 5");
}

TEST_CASE("JPEG") {
  const RawImage gray = Ramp(17, 9, 1);
  CheckPixels(EncodeJpeg(gray), 17, 9, RgbOf(gray), 4);
  for (const bool progressive : {false, true}) {
    const RawImage color = Ramp(17, 9, 3);
    const std::string file = EncodeJpeg(color, progressive);
    CheckPixels(file, 17, 9, RgbOf(color), 8);
    CheckTruncations(file);
    Damage(file);
  }
  // Without black, the stored (inverted) inks are the colors.
  RawImage cmyk = Ramp(17, 9, 4);
  for (size_t i = 3; i < cmyk.samples.size(); i += 4) cmyk.samples[i] = 255;
  CheckPixels(EncodeJpeg(cmyk), 17, 9, RgbOf(cmyk), 4);
  std::string file = EncodeJpeg(gray);
  const size_t frame = file.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  file.replace(frame + 5, 4, "\xff\xdc\xff\xdc"sv);
  CheckFails(file, ErrorCode::kLimit, "JPEG image: the size is 65500 x 65500");
}

TEST_CASE("WebP") {
  for (const int channels : {3, 4}) {
    const RawImage image = Ramp(9, 5, channels);
    const std::string file = EncodeWebp(image);
    CheckPixels(file, 9, 5, RgbOf(image));
    CheckTruncations(file);
    Damage(file);
  }
}

TEST_CASE("TIFF") {
  for (const bool planes : {false, true})
    for (const int tile : {0, 16}) {
      for (const int channels : {3, 4})
        for (const int bits : {8, 16})
          for (const bool separate : {true, false}) {
            const RawImage image = Ramp(19, 5, channels, bits);
            CheckPixels(
                EncodeTiff(image, {.tile = tile, .planes = planes, .separate_alpha = separate}), 19,
                5, RgbOf(image));
          }
    }
  const RawImage gray = Ramp(9, 5, 1);
  CheckPixels(EncodeTiff(gray, {.photometric = 1}), 9, 5, RgbOf(gray));
  const RawImage deep{2, 1, 1, 16, {0x12ff, 0xff00}};
  CheckPixels(EncodeTiff(deep, {.photometric = 1}), 2, 1, {18, 18, 18, 255, 255, 255});
  std::string file = EncodeTiff(Ramp(9, 5, 3));
  CheckTruncations(file);
  Damage(file);
}

TEST_CASE("TIFF: orientations") {
  // Stored: 1 2 / 3 4 / 5 6.
  const RawImage image{2, 3, 1, 8, {1, 2, 3, 4, 5, 6}};
  const Bytes seen[] = {{1, 2, 3, 4, 5, 6}, {2, 1, 4, 3, 6, 5}, {6, 5, 4, 3, 2, 1},
                        {5, 6, 3, 4, 1, 2}, {1, 3, 5, 2, 4, 6}, {5, 3, 1, 6, 4, 2},
                        {6, 4, 2, 5, 3, 1}, {2, 4, 6, 1, 3, 5}};
  for (int i = 0; i < 8; ++i) {
    CAPTURE(i + 1);
    Bytes rgb;
    for (const int v : seen[i]) rgb.insert(rgb.end(), 3, v);
    CheckPixels(EncodeTiff(image, {.orientation = i + 1, .photometric = 1}), i < 4 ? 2 : 3,
                i < 4 ? 3 : 2, rgb);
  }
}

TEST_CASE("JPEG 2000") {
  for (const bool jp2 : {false, true})
    for (const int bits : {8, 16})
      for (int channels = 1; channels <= 4; ++channels) {
        const RawImage image = Ramp(9, 5, channels, bits);
        CheckPixels(EncodeJpeg2000(image, jp2), 9, 5, RgbOf(image));
      }
  std::string file = EncodeJpeg2000(Ramp(9, 5, 3));
  CheckTruncations(file, 3);  // OpenJPEG needs no end marker
  Damage(file);
  const size_t siz = file.find("\xff\x4f\xff\x51");
  REQUIRE(siz != std::string::npos);
  std::string tiles = file;
  tiles.replace(siz + 24, 8, "\0\0\0\x01\0\0\0\x01"sv);  // the size of tiles
  tiles.replace(siz + 8, 8, "\0\0\x20\0\0\0\x20\0"sv);
  CheckFails(tiles, ErrorCode::kModel, "truncated");
  file.replace(siz + 8, 8, "\x7f\xff\xff\xff\x7f\xff\xff\xff"sv);
  file.replace(siz + 24, 8, "\x7f\xff\xff\xff\x7f\xff\xff\xff"sv);
  CheckFails(file, ErrorCode::kLimit, "JPEG 2000 image: the size is 2147483647 x 2147483647");
}

TEST_CASE("images: the limit of pixels is an argument") {
  const std::string file = EncodePng(Ramp(9, 5, 3));
  CHECK(ReadImageSize(SpanOf(file), 45).has_value());
  const auto size = ReadImageSize(SpanOf(file), 44);
  REQUIRE(!size.has_value());
  CHECK(size.error().code() == ErrorCode::kLimit);
  CHECK(size.error().message().find("max-image-pixels") != std::string::npos);
}

TEST_CASE("images: an error of who takes the rows ends the decoding") {
  for (const std::string& file :
       {EncodePng(Ramp(9, 50, 3)), EncodeJpeg(Ramp(9, 50, 3)), EncodeTiff(Ramp(9, 50, 3)),
        EncodeWebp(Ramp(9, 50, 3)), std::string("P5 1 2 255\nab")}) {
    const auto size = ReadImageSize(SpanOf(file));
    REQUIRE(size.has_value());
    int calls = 0;
    const Status done =
        DecodeImageRows(SpanOf(file), *size, [&](std::span<const uint8_t>) -> Status {
          ++calls;
          return LimitError("enough");
        });
    REQUIRE(!done.has_value());
    CHECK(done.error().code() == ErrorCode::kLimit);
    CHECK(calls == 1);
  }
}

TEST_CASE("images: a large TIFF image in bands") {
  // More pixels than a band has, in one strip and in tiles.
  RawImage image = Ramp(2100, 2100, 1);
  for (uint16_t& sample : image.samples) sample &= 0xFF;
  for (const int tile : {0, 512})
    CheckPixels(EncodeTiff(image, {.photometric = 1, .tile = tile}), 2100, 2100, RgbOf(image));
}

}  // namespace
}  // namespace nn::test::image_test

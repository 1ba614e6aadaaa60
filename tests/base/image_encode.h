// Encoders of small images for tests. A failure is a failed REQUIRE.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nn::test {

// Samples by row, column and channel.
struct RawImage {
  int width = 0, height = 0, channels = 3;
  int bits = 8;  // of a sample: 8 or 16
  std::vector<uint16_t> samples;
};

// `palette`: red, green and blue of each color; the image then has one channel of indices.
std::string EncodePng(const RawImage& image, bool interlaced = false,
                      const std::vector<uint8_t>& palette = {});
// 1 channel: gray; 3: RGB, stored as YCbCr with halved chroma; 4: CMYK, inverted as by Adobe.
std::string EncodeJpeg(const RawImage& image, bool progressive = false);
// Lossless.
std::string EncodeWebp(const RawImage& image);

struct TiffOptions {
  int orientation = 1;
  int photometric = 2;         // RGB
  int tile = 0;                // the side of tiles; 0: one strip
  bool planes = false;         // channels are apart
  bool separate_alpha = true;  // of the fourth channel
};
std::string EncodeTiff(const RawImage& image, const TiffOptions& options = {});
// Lossless; a JP2 file or a codestream.
std::string EncodeJpeg2000(const RawImage& image, bool file = true);

}  // namespace nn::test

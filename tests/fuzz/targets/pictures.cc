// libFuzzer: arbitrary bytes as a picture (base/image): whole and in bands, the same pixels or the
// same error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/image/image.h"

namespace {

constexpr int64_t kMaxPixels = 1 << 20;

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

void CheckError(const nn::Status& done) {
  Require(done || done.error().code() != nn::ErrorCode::kInternal, "an internal error");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of its own: reads behind the end are found.
  const std::vector<uint8_t> file(data, data + size);
  const auto pixels = nn::ReadImageSize(file, kMaxPixels);
  if (!pixels) return 0;
  Require(pixels->height >= 1 && pixels->width >= 1 && pixels->height <= kMaxPixels / pixels->width,
          "the size is within the limit");
  std::vector<uint8_t> whole(static_cast<size_t>(3 * pixels->height * pixels->width));
  const nn::Status done = nn::DecodeImage(file, *pixels, whole);
  CheckError(done);
  size_t at = 0;
  const nn::Status in_bands =
      nn::DecodeImageRows(file, *pixels, [&](std::span<const uint8_t> rows) -> nn::Status {
        Require(rows.size() <= whole.size() - at, "no more rows than the image has");
        Require(!done || std::ranges::equal(rows, std::span(whole).subspan(at, rows.size())),
                "bands have the pixels of the whole");
        at += rows.size();
        return {};
      });
  CheckError(in_bands);
  Require(done.has_value() == in_bands.has_value(), "bands fail if the whole does");
  Require(!done || at == whole.size(), "all rows are there");
  return 0;
}

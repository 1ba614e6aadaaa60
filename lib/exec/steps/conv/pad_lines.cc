#include "exec/steps/conv/pad_lines.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked_math.h"

namespace nn {
namespace {

// Sizes are in bytes.
class PadLinesStep : public Step {
 public:
  MemoryView in, out;
  size_t lines = 0, width = 0, position = 0, in_position = 0, begin = 0, end = 0;
  std::byte fill{};
  std::optional<MemoryView> fill_from;

  size_t grid() const override { return CeilDiv(lines, Block()); }
  void Run(const Memory& memory, size_t item) const override {
    const std::byte filled = fill_from ? *fill_from->As<const std::byte>(memory) : fill;
    for (size_t l = item * Block(); l < std::min(lines, (item + 1) * Block()); ++l) {
      const std::byte* x = in.As<const std::byte>(memory) + l * (width / position) * in_position;
      std::byte* y = out.As<std::byte>(memory) + l * (begin + width + end);
      std::fill_n(y, begin, filled);
      y += begin;
      if (in_position == position) {
        std::memcpy(y, x, width);
      } else {
        for (size_t i = 0; i < width; i += position, x += in_position)
          std::memcpy(y + i, x, position);
      }
      std::fill_n(y + width, end, filled);
    }
  }

 private:
  size_t Block() const {
    constexpr size_t kItemBytes = 65536;
    return FitIn(kItemBytes, begin + width + end);
  }
};

}  // namespace

void JoinTaps(PlanContext& ctx, const ConvGeometry& g, size_t element, std::byte fill, Spatial3& s,
              MemoryView& in, size_t& run_length, const MemoryView* fill_from) {
  constexpr int64_t kFewChannels = 16;
  ConstWindow& w = s[2];
  if (g.groups != 1 || g.in_channels >= kFewChannels || w.kernel == 1 || w.dilation != 1) return;
  const auto channels = static_cast<size_t>(g.in_channels);
  // Columns that no window reaches are not copied.
  const int64_t needed = (w.output - 1) * w.stride + w.kernel;
  const int64_t pad_end = std::max<int64_t>(0, needed - w.pad_begin - w.input);
  auto pad = std::make_unique<PadLinesStep>();
  pad->in = in;
  pad->lines = static_cast<size_t>(g.batch * s[0].input * s[1].input);
  pad->position = channels * element;
  pad->in_position = in.row_stride * element;
  pad->width = static_cast<size_t>(w.input) * pad->position;
  pad->begin = static_cast<size_t>(w.pad_begin) * pad->position;
  pad->end = static_cast<size_t>(pad_end) * pad->position;
  pad->fill = fill;
  std::vector<BufferId> reads = {in.buffer};
  if (fill_from != nullptr) {
    pad->fill_from = *fill_from;
    reads.push_back(fill_from->buffer);
  }
  pad->label = "pad lines";
  const MemoryView padded{ctx.AddScratch(pad->lines * (pad->begin + pad->width + pad->end)), 0,
                          channels};
  pad->out = padded;
  ctx.AddStep(std::move(pad), std::move(reads), {padded.buffer});
  in = padded;
  run_length = static_cast<size_t>(w.kernel) * channels;
  w = ConstWindow{w.pad_begin + w.input + pad_end, 1, w.stride, 1, 0, 0, w.output};
}

}  // namespace nn

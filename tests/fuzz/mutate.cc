#include "fuzz/mutate.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"

namespace nn::test {
namespace {

class Mutator {
 public:
  Mutator(std::string_view bytes, uint64_t seed) : bytes_(bytes), random_(seed) {}

  std::string Run() {
    for (uint64_t n = 1 + Below(4); n > 0; --n) Step();
    return std::move(bytes_);
  }

 private:
  uint64_t Next() { return random_.Bits(drawn_++); }
  size_t Below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(Next() % n); }

  void Step() {
    const size_t at = Below(bytes_.size());
    const size_t rest = bytes_.size() - at;
    switch (Below(8)) {
      case 0:
      case 1:
        if (rest != 0) bytes_[at] = static_cast<char>(bytes_[at] ^ (1 << Below(8)));
        break;
      case 2:
        if (rest != 0) bytes_[at] = static_cast<char>(Next());
        break;
      case 3:
      case 4:
        OverwriteNumber(at);
        break;
      case 5:
        bytes_.erase(at, 1 + Below(std::min<size_t>(rest, 16)));
        break;
      case 6:
        bytes_.insert(at, bytes_.substr(Below(bytes_.size()), 1 + Below(16)));
        break;
      default:
        if (Below(4) == 0) bytes_.resize(at);
        break;
    }
  }

  void OverwriteNumber(size_t at) {
    constexpr size_t kWidths[] = {1, 2, 4, 8};
    const size_t width = std::min(kWidths[Below(4)], bytes_.size() - at);
    const uint64_t power = uint64_t{1} << Below(64);
    const uint64_t values[] = {0, 1, power, power - 1, ~power, ~uint64_t{0}, Next()};
    const uint64_t value = values[Below(std::size(values))];
    std::memcpy(bytes_.data() + at, &value, width);
  }

  std::string bytes_;
  SeededStream random_;
  uint64_t drawn_ = 0;
};

}  // namespace

std::string Mutate(std::string_view bytes, uint64_t seed) {
  return Mutator(bytes, seed).Run();
}

}  // namespace nn::test

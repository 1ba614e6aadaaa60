#include "fuzz/mutate.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <vector>

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

// Names, numbers, texts in quotes, and single characters, each with the space before it.
std::vector<std::string> WordsOf(std::string_view text) {
  const auto in_name = [&](size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 ||
                               std::string_view("_.@-").find(text[i]) != std::string_view::npos);
  };
  std::vector<std::string> words;
  for (size_t begin = 0, at = 0; at < text.size(); begin = at) {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
    if (at == text.size()) break;
    const size_t first = at++;
    if (text[first] == '"')
      at = std::min(text.find('"', at), text.size() - 1) + 1;
    else if (in_name(first))
      while (in_name(at)) ++at;
    words.emplace_back(text.substr(begin, at - begin));
  }
  return words;
}

class TextMutator {
 public:
  TextMutator(std::string_view text, uint64_t seed) : words_(WordsOf(text)), random_(seed) {}

  std::string Run() {
    for (uint64_t n = 1 + Below(3); n > 0 && !words_.empty(); --n) Step();
    std::string text;
    for (const std::string& word : words_) text += word;
    return text;
  }

 private:
  size_t Below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(random_.Bits(drawn_++) % n); }

  // A word that begins with a digit or a sign; any one if none is found.
  std::string& Number() {
    for (int tries = 0; tries < 64; ++tries) {
      std::string& word = words_[Below(words_.size())];
      const size_t first = word.find_first_not_of(" \n");
      if (first != std::string::npos &&
          std::string_view("-0123456789").find(word[first]) != std::string_view::npos)
        return word;
    }
    return words_[Below(words_.size())];
  }

  void Step() {
    constexpr const char* kNumbers[] = {"0",
                                        "1",
                                        "2",
                                        "3",
                                        "-1",
                                        "64",
                                        "255",
                                        "1e30",
                                        "0x1p-1074",
                                        "nan",
                                        "-inf",
                                        "1.5",
                                        "?",
                                        "100000",
                                        "2147483648",
                                        "4294967296",
                                        "9007199254740993",
                                        "9223372036854775807"};
    const size_t at = Below(words_.size());
    const auto place = words_.begin() + static_cast<ptrdiff_t>(at);
    const std::string word = *place;
    switch (Below(8)) {
      case 0:
      case 1:
        Number() = std::string(" ") + kNumbers[Below(std::size(kNumbers))];
        break;
      case 2:
      case 3:
        *place = words_[Below(words_.size())];
        break;
      case 4:
        words_.erase(place);
        break;
      case 5: {
        const auto end =
            place + static_cast<ptrdiff_t>(1 + Below(std::min<size_t>(words_.size() - at, 12)));
        const std::vector<std::string> piece(place, end);
        words_.insert(end, piece.begin(), piece.end());
        break;
      }
      case 6:
        std::swap(*place, words_[Below(words_.size())]);
        break;
      default:
        words_.insert(place, Below(16) == 0 ? 100'000 : 1 + Below(40), word);
        break;
    }
  }

  std::vector<std::string> words_;
  SeededStream random_;
  uint64_t drawn_ = 0;
};

}  // namespace

std::string Mutate(std::string_view bytes, uint64_t seed) {
  return Mutator(bytes, seed).Run();
}

std::string MutateText(std::string_view text, uint64_t seed) {
  return TextMutator(text, seed).Run();
}

}  // namespace nn::test

#include "tensorio/npy_header.h"

#include <charconv>
#include <optional>
#include <string>

#include "base/text/text.h"

namespace nn {
namespace {

// Limit of runs: axes of an array of a .npy file, as in NumPy.
constexpr size_t kMaxRank = 64;

// Parses the dictionary as NumPy writes it: strings without escapes, True and False, tuples of
// non-negative integers (with Python 2's "L").
class DictParser {
 public:
  explicit DictParser(std::string_view text) : text_(text) {}

  Result<NpyHeader> Parse() {
    NN_RETURN_IF_ERROR(Expect('{'));
    while (!Take('}')) {
      NN_ASSIGN(const std::string_view key, String());
      NN_RETURN_IF_ERROR(Expect(':'));
      NN_RETURN_IF_ERROR(Entry(key));
      if (!Take(',')) {
        NN_RETURN_IF_ERROR(Expect('}'));
        break;
      }
    }
    SkipSpace();
    if (at_ != text_.size()) return Malformed("unexpected text after the dictionary");
    if (!has_descr_ || !has_order_ || !has_shape_)
      return Malformed("descr, fortran_order or shape is missing");
    return header_;
  }

 private:
  Status Entry(std::string_view key) {
    bool* seen = key == "descr"           ? &has_descr_
                 : key == "fortran_order" ? &has_order_
                 : key == "shape"         ? &has_shape_
                                          : nullptr;
    if (seen == nullptr) return Malformed(fmt::format("unknown key {}", Quote(key)));
    if (*seen) return Malformed(fmt::format("duplicate key {}", Quote(key)));
    *seen = true;
    if (seen == &has_descr_) return Descr();
    if (seen == &has_order_) return Order();
    return Shape();
  }

  Status Descr() {
    SkipSpace();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '('))
      return UnsupportedError("structured arrays are unsupported");
    NN_ASSIGN(const std::string_view descr, String());
    NN_ASSIGN(header_.type, ParseType(descr));
    return {};
  }

  Status Order() {
    SkipSpace();
    if (TakeWord("True")) {
      header_.fortran_order = true;
    } else if (!TakeWord("False")) {
      return Malformed("fortran_order is neither True nor False");
    }
    return {};
  }

  Status Shape() {
    NN_RETURN_IF_ERROR(Expect('('));
    bool comma = true;
    while (!Take(')')) {
      if (!comma) return Malformed("shape is not a tuple");
      SkipSpace();
      int64_t v = 0;
      const auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
      if (r.ec != std::errc() || v < 0) return Malformed("shape has an invalid dimension");
      at_ = static_cast<size_t>(r.ptr - text_.data());
      TakeWord("L");
      header_.shape.push_back(v);
      if (header_.shape.size() > kMaxRank)
        return UnsupportedError("arrays with more than {} dimensions are unsupported", kMaxRank);
      comma = Take(',');
    }
    if (header_.shape.size() == 1 && !comma) return Malformed("shape is not a tuple");
    return {};
  }

  static Result<NpyType> ParseType(std::string_view descr) {
    const auto refuse = [&](std::string_view what) {
      return UnsupportedError("unsupported element type {} ({})", Quote(descr), what);
    };
    if (descr.size() < 2 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
      return ParseError("malformed element type {}", Quote(descr));
    NpyType type;
    type.big_endian = descr[0] == '>';
    type.kind = descr[1];
    if (type.kind == 'O') return refuse("Python objects");
    if (type.kind == 'M' || type.kind == 'm') return refuse("dates and time intervals");
    uint32_t size = 0;
    const auto r = std::from_chars(descr.data() + 2, descr.data() + descr.size(), size);
    if (r.ec != std::errc() || r.ptr != descr.data() + descr.size())
      return ParseError("malformed element type {}", Quote(descr));
    type.item_size = size;
    if (type.kind == 'U') type.item_size *= 4;
    type.dtype = DTypeOf(type.kind, size);
    if (type.dtype == DType::kUnknown) return refuse("tensors have no such element type");
    return type;
  }

  static DType DTypeOf(char kind, uint32_t size) {
    struct Row {
      char kind;
      uint32_t size;
      DType dtype;
    };
    static constexpr Row kRows[] = {
        {'b', 1, DType::kBool}, {'i', 1, DType::kI8},    {'i', 2, DType::kI16},
        {'i', 4, DType::kI32},  {'i', 8, DType::kI64},   {'u', 1, DType::kU8},
        {'u', 2, DType::kU16},  {'u', 4, DType::kU32},   {'u', 8, DType::kU64},
        {'f', 2, DType::kF16},  {'f', 4, DType::kF32},   {'f', 8, DType::kF64},
        {'c', 8, DType::kC64},  {'c', 16, DType::kC128}, {'V', 1, DType::kU8},
        {'V', 2, DType::kU16},
    };
    if (kind == 'S' || kind == 'U') return DType::kString;
    for (const Row& row : kRows)
      if (row.kind == kind && row.size == size) return row.dtype;
    return DType::kUnknown;
  }

  Result<std::string_view> String() {
    SkipSpace();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return Malformed("expected a string");
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) return Malformed("unterminated string");
    const std::string_view s = text_.substr(at_, end - at_);
    at_ = end + 1;
    return s;
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  Status Expect(char c) {
    if (!Take(c)) return Malformed(fmt::format("expected '{}'", c));
    return {};
  }
  tl::unexpected<Error> Malformed(std::string_view what) const {
    return ParseError("malformed .npy header at character {}: {}", at_, what);
  }

  std::string_view text_;
  size_t at_ = 0;
  NpyHeader header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace

Result<NpyHeader> ReadNpyHeader(std::string_view file) {
  if (!file.starts_with(kNpyMagic)) return ParseError("not an .npy file (bad magic)");
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(file[i])); };
  const size_t version_at = kNpyMagic.size();
  if (file.size() < version_at + 4) return ParseError("truncated .npy header");
  const size_t major = byte(version_at), minor = byte(version_at + 1);
  if (major < 1 || major > 3 || minor != 0)
    return UnsupportedError("unsupported .npy format version {}.{}", major, minor);
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t start = version_at + 2 + length_bytes;
  if (file.size() < start) return ParseError("truncated .npy header");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte(version_at + 2 + i) << (8 * i);
  if (length > file.size() - start)
    return ParseError("truncated .npy header: {} bytes declared, {} present", length,
                      file.size() - start);
  NN_ASSIGN(NpyHeader header, DictParser(file.substr(start, length)).Parse());
  header.size = start + length;
  return header;
}

}  // namespace nn

#include "tensorio/literal.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/text/from_chars.h"
#include "base/text/text.h"

namespace nn {
namespace {

// Limit of runs: nested lists of an input that is written on the command line.
constexpr size_t kMaxDepth = 64;
constexpr int64_t kOpen = -1;  // length of an open list

struct Literal {
  std::vector<int64_t> dims;  // of a list; empty for a single value
  std::vector<std::string> elements;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Literal> Parse() {
    SkipSpace();
    if (At('[')) {
      NN_RETURN_IF_ERROR(List(0));
    } else {
      NN_RETURN_IF_ERROR(Element(0));
    }
    SkipSpace();
    if (at_ != text_.size()) return Fail("unexpected text after the value");
    return std::move(literal_);
  }

 private:
  Status List(size_t depth) {
    if (depth == kMaxDepth) return Fail("lists nested too deeply");
    ++at_;
    if (literal_.dims.size() == depth) {
      if (!literal_.elements.empty()) return Fail("lists have different depths");
      literal_.dims.push_back(kOpen);
    }
    int64_t count = 0;
    SkipSpace();
    while (!At(']')) {
      if (count > 0) {
        if (!At(',')) return Fail("expected ',' or ']'");
        ++at_;
        SkipSpace();
      }
      if (At('[')) {
        NN_RETURN_IF_ERROR(List(depth + 1));
      } else {
        NN_RETURN_IF_ERROR(Element(depth + 1));
      }
      ++count;
      SkipSpace();
    }
    ++at_;
    if (literal_.dims[depth] != kOpen && literal_.dims[depth] != count)
      return Fail("lists have different lengths");
    literal_.dims[depth] = count;
    return {};
  }

  Status Element(size_t depth) {
    if (depth != literal_.dims.size()) return Fail("lists have different depths");
    if (At('"')) {
      std::string s;
      for (++at_; !At('"'); ++at_) {
        if (At('\\')) ++at_;
        if (at_ >= text_.size()) return Fail("unterminated string");
        s += text_[at_];
      }
      ++at_;
      literal_.elements.push_back(std::move(s));
      return {};
    }
    const size_t end = std::min(text_.find_first_of(",[] \t\n", at_), text_.size());
    if (end == at_) return Fail("expected a value");
    literal_.elements.emplace_back(text_.substr(at_, end - at_));
    at_ = end;
    return {};
  }

  bool At(char c) const { return at_ < text_.size() && text_[at_] == c; }
  void SkipSpace() {
    while (At(' ') || At('\t') || At('\n')) ++at_;
  }
  tl::unexpected<Error> Fail(std::string_view what) const {
    return UsageError("{}: {} at character {}", Quote(text_), what, at_);
  }

  std::string_view text_;
  size_t at_ = 0;
  Literal literal_;
};

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto r = FromChars(text.data(), text.data() + text.size(), value);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Also of a real number such as 3.0, unless a double may have rounded it.
std::optional<int64_t> ParseWhole(std::string_view text) {
  if (const auto v = ParseNumber<int64_t>(text)) return v;
  const auto real = ParseNumber<double>(text);
  if (!real || std::floor(*real) != *real || std::fabs(*real) >= 0x1p53) return std::nullopt;
  return static_cast<int64_t>(*real);
}

Status SetElement(TensorBuilder& b, int64_t i, const std::string& text, bool quantized) {
  const DType type = b.dtype();
  if (IsFloat(type)) {
    const auto v = ParseNumber<double>(text);
    if (!v) return UsageError("{} is not a number", Quote(text));
    b.SetDouble(i, *v);
    return {};
  }
  if (type == DType::kBool && (text == "true" || text == "false")) {
    b.SetInt(i, text == "true" ? 1 : 0);
    return {};
  }
  if (type == DType::kU64)
    if (const auto v = ParseNumber<uint64_t>(text)) {
      b.SetInt(i, static_cast<int64_t>(*v));
      return {};
    }
  // A real number could be meant as what a quantized integer represents.
  const auto v = quantized ? ParseNumber<int64_t>(text) : ParseWhole(text);
  if (!v || *v < MinInteger(type) || *v > MaxInteger(type))
    return UsageError("{} is not a valid {} value", Quote(text), DTypeName(type));
  b.SetInt(i, *v);
  return {};
}

// The shape of the tensor for the literal.
Result<std::vector<int64_t>> ShapeFor(const Literal& literal, const Type& type) {
  const bool list = !literal.dims.empty();
  if (const auto dims = type.const_dims()) {
    const Dim count = Product(*type.dims);
    const bool fits =
        !list || literal.dims == *dims || (literal.dims.size() == 1 && count == literal.dims[0]);
    if (fits) return *dims;
    return UsageError("a list of shape {} does not fit {}", ToString(ToDims(literal.dims)),
                      type.ToString());
  }
  if (!list)
    return UsageError(
        "a single value cannot fill {}, whose shape is unknown; set the shape or "
        "write a list",
        type.ToString());
  const Type own(type.dtype, ToDims(literal.dims));
  if (!Compatible(type, own))
    return UsageError("a list of shape {} does not fit {}", ToString(ToDims(literal.dims)),
                      type.ToString());
  return literal.dims;
}

std::string ElementLiteral(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::kBool) return tensor.GetInt(i) != 0 ? "true" : "false";
  if (!IsFloat(tensor.dtype())) return std::to_string(tensor.GetInt(i));
  const double value = tensor.GetDouble(i);
  return tensor.dtype() == DType::kF64 ? fmt::format("{}", value)
                                       : FloatText(static_cast<float>(value));
}

}  // namespace

bool LooksLikeLiteral(std::string_view text) {
  if (text.starts_with('[') || text.starts_with('"') || text == "true" || text == "false")
    return true;
  return ParseNumber<double>(text).has_value();
}

Result<Tensor> ParseLiteral(std::string_view text, const Type& type) {
  NN_ASSIGN(const Literal literal, Parser(text).Parse());
  if (type.dtype == DType::kUnknown || IsComplex(type.dtype))
    return UsageError("{} values cannot be written inline; use a file", DTypeName(type.dtype));
  NN_ASSIGN(const std::vector<int64_t> dims, ShapeFor(literal, type));
  const bool fill = literal.dims.empty();
  if (type.dtype == DType::kString) {
    if (!fill) return Tensor(dims, literal.elements);
    const Tensor shape(DType::kI8, dims, {});
    return Tensor(
        dims, std::vector<std::string>(static_cast<size_t>(shape.elements()), literal.elements[0]));
  }
  NN_ASSIGN(TensorBuilder b, TensorBuilder::Create(type.dtype, dims));
  for (int64_t i = 0; i < b.elements(); ++i)
    NN_RETURN_IF_ERROR(
        SetElement(b, i, literal.elements[fill ? 0 : static_cast<size_t>(i)], type.quantized()));
  return b.Finish();
}

std::string LiteralOf(const Tensor& tensor) {
  std::string out;
  bool equal = tensor.elements() > 0;
  std::string first;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const std::string text = ElementLiteral(tensor, i);
    if (i == 0) first = text;
    equal = equal && text == first;
    out += (i == 0 ? "" : ",") + text;
  }
  return equal ? first : "[" + out + "]";
}

}  // namespace nn

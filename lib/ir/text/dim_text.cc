#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/text/text.h"
#include "ir/types/dim_poly.h"

namespace nn {

Dim::Tree Dim::ToTree() const {
  const auto constant = [](int64_t value) { return Tree{Tree::Kind::kConstant, value, {}, {}}; };
  if (poly_ == nullptr) return constant(value_);
  Tree sum{Tree::Kind::kSum, 0, {}, {}};
  for (const Term& t : poly_->terms) {
    Tree product{Tree::Kind::kProduct, 0, {}, {}};
    if (t.coefficient != 1 || t.factors.empty())
      product.operands.push_back(constant(t.coefficient));
    for (const auto& f : t.factors) {
      if (f->kind == Atom::Kind::kSymbol) {
        product.operands.push_back({Tree::Kind::kSymbol, 0, f->symbol, {}});
        continue;
      }
      constexpr Tree::Kind kKinds[] = {Tree::Kind::kSymbol, Tree::Kind::kFloorDiv, Tree::Kind::kMod,
                                       Tree::Kind::kMin, Tree::Kind::kMax};
      product.operands.push_back(
          {kKinds[static_cast<size_t>(f->kind)], 0, {}, {f->a.ToTree(), f->b.ToTree()}});
    }
    const bool single = product.operands.size() == 1;
    sum.operands.push_back(single ? std::move(product.operands[0]) : std::move(product));
  }
  if (sum.operands.size() == 1) return std::move(sum.operands[0]);
  return sum;
}

namespace {

bool IsPlainSymbol(std::string_view s) {
  if (s.empty() || !(std::isalpha(static_cast<unsigned char>(s[0])) || s[0] == '_')) return false;
  return std::all_of(s.begin(), s.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
}

constexpr std::string_view kFunctions[] = {"", "floordiv", "mod", "min", "max"};

}  // namespace

std::string Dim::ToString() const {
  if (!valid_) return "<overflow>";
  if (poly_ == nullptr) return std::to_string(value_);
  std::string out;
  for (const Term& t : poly_->terms) {
    const bool negative = t.coefficient < 0;
    if (!out.empty())
      out += negative ? " - " : " + ";
    else if (negative)
      out += "-";
    const uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(t.coefficient) : static_cast<uint64_t>(t.coefficient);
    bool first = true;
    if (magnitude != 1 || t.factors.empty()) {
      out += std::to_string(magnitude);
      first = false;
    }
    for (const auto& f : t.factors) {
      if (!first) out += "*";
      first = false;
      if (f->kind == Atom::Kind::kSymbol) {
        const bool reserved = std::find(std::begin(kFunctions), std::end(kFunctions), f->symbol) !=
                              std::end(kFunctions);
        if (IsPlainSymbol(f->symbol) && !reserved) {
          out += f->symbol;
        } else {
          out += '\'';
          for (const char c : f->symbol) {
            if (c == '\'' || c == '\\') out += '\\';
            out += c;
          }
          out += '\'';
        }
      } else {
        out += fmt::format("{}({}, {})", kFunctions[static_cast<size_t>(f->kind)], f->a.ToString(),
                           f->b.ToString());
      }
    }
  }
  return out;
}

// Recursive-descent parser: sum := product (('+'|'-') product)*; product := unary ('*' unary)*.
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  Result<Dim> Parse() {
    NN_ASSIGN(Dim d, Sum(0));
    SkipSpace();
    if (pos_ != text_.size()) return Fail();
    return d;
  }

 private:
  // Limit of all formats: nested parentheses and signs of a dimension in the text of a graph.
  static constexpr int kMaxDepth = 64;

  tl::unexpected<Error> Fail() const {
    return ParseError("dimension {}: unexpected text at column {}", Quote(text_), pos_ + 1);
  }
  void SkipSpace() {
    while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
  }
  bool Take(char c) {
    SkipSpace();
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  Result<Dim> Sum(int depth) {
    if (depth > kMaxDepth) return LimitError("dimension {}: nested too deeply", Quote(text_));
    NN_ASSIGN(Dim sum, ProductOf(depth));
    while (true) {
      if (Take('+')) {
        NN_ASSIGN(const Dim d, ProductOf(depth));
        sum = sum + d;
      } else if (Take('-')) {
        NN_ASSIGN(const Dim d, ProductOf(depth, true));
        sum = sum + d;
      } else {
        return sum;
      }
    }
  }

  Result<Dim> ProductOf(int depth, bool negative = false) {
    NN_ASSIGN(Dim product, negative ? Negative(depth) : Unary(depth));
    while (Take('*')) {
      NN_ASSIGN(const Dim d, Unary(depth));
      product = product * d;
    }
    return product;
  }

  // What follows a '-'. The magnitude of the least integer alone does not fit.
  Result<Dim> Negative(int depth) {
    constexpr std::string_view kLeast = "9223372036854775808";
    SkipSpace();
    if (text_.substr(pos_).starts_with(kLeast)) {
      pos_ += kLeast.size();
      return Dim(std::numeric_limits<int64_t>::min());
    }
    NN_ASSIGN(const Dim d, Unary(depth));
    return Dim(0) - d;
  }

  Result<Dim> Unary(int depth) {
    if (depth > kMaxDepth) return LimitError("dimension {}: nested too deeply", Quote(text_));
    SkipSpace();
    if (Take('-')) {
      return Negative(depth + 1);
    }
    if (Take('(')) {
      NN_ASSIGN(Dim d, Sum(depth + 1));
      if (!Take(')')) return Fail();
      return d;
    }
    if (pos_ >= text_.size()) return Fail();
    if (text_[pos_] == '\'') return Quoted();
    if (std::isdigit(static_cast<unsigned char>(text_[pos_]))) {
      int64_t v = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + pos_, text_.data() + text_.size(), v);
      if (error != std::errc()) return Fail();
      pos_ = static_cast<size_t>(end - text_.data());
      return Dim(v);
    }
    const size_t begin = pos_;
    while (pos_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[pos_])) ||
                                   text_[pos_] == '_' || text_[pos_] == '.'))
      ++pos_;
    const std::string_view name = text_.substr(begin, pos_ - begin);
    if (name.empty()) return Fail();
    if (!Take('(')) return Dim::Symbol(name);
    NN_ASSIGN(const Dim a, Sum(depth + 1));
    if (!Take(',')) return Fail();
    NN_ASSIGN(const Dim b, Sum(depth + 1));
    if (!Take(')')) return Fail();
    if (name == "floordiv") return Dim::FloorDiv(a, b);
    if (name == "mod") return Dim::Mod(a, b);
    if (name == "min") return Dim::Min(a, b);
    if (name == "max") return Dim::Max(a, b);
    return Fail();
  }

  Result<Dim> Quoted() {
    std::string name;
    for (++pos_; pos_ < text_.size() && text_[pos_] != '\''; ++pos_) {
      if (text_[pos_] == '\\' && pos_ + 1 < text_.size()) ++pos_;
      name += text_[pos_];
    }
    if (pos_ >= text_.size()) return Fail();
    ++pos_;
    return Dim::Symbol(name);
  }

  std::string_view text_;
  size_t pos_ = 0;
};

Result<Dim> Dim::Parse(std::string_view text) {
  return DimParser(text).Parse();
}

std::string ToString(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) out += ", ";
    out += dims[i].ToString();
  }
  return out + "]";
}

}  // namespace nn

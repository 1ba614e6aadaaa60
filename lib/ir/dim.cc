#include "ir/dim.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/checked_math.h"

namespace nn {

struct Dim::Atom {
  enum class Kind : uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax };
  Kind kind = Kind::kSymbol;
  std::string symbol;               // kSymbol
  std::shared_ptr<const Dim> a, b;  // the others
};

struct Dim::Term {
  int64_t coefficient = 0;
  std::vector<Atom> factors;  // sorted; empty for the constant term
};

// Sum of terms, sorted by factors, no zero coefficients.
struct Dim::Poly {
  std::vector<Term> terms;
};

Dim Dim::Invalid() {
  Dim d;
  d.valid_ = false;
  return d;
}

Dim Dim::FromAtom(Atom atom) {
  Poly poly;
  poly.terms.push_back({1, {std::move(atom)}});
  return FromPoly(std::move(poly));
}

Dim Dim::Symbol(std::string_view name) {
  return FromAtom({Atom::Kind::kSymbol, std::string(name), nullptr, nullptr});
}

Dim Dim::FromPoly(Poly poly) {
  std::erase_if(poly.terms, [](const Term& t) { return t.coefficient == 0; });
  if (poly.terms.empty()) return Dim(0);
  if (poly.terms.size() == 1 && poly.terms[0].factors.empty())
    return Dim(poly.terms[0].coefficient);
  Dim d;
  d.poly_ = std::make_shared<const Poly>(std::move(poly));
  return d;
}

Dim::Poly Dim::ToPoly() const {
  if (poly_ != nullptr) return *poly_;
  Poly poly;
  if (value_ != 0) poly.terms.push_back({value_, {}});
  return poly;
}

int Dim::CompareAtoms(const Atom& a, const Atom& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.kind == Atom::Kind::kSymbol) return a.symbol.compare(b.symbol);
  if (const int c = Compare(*a.a, *b.a); c != 0) return c;
  return Compare(*a.b, *b.b);
}

int Dim::CompareFactors(const std::vector<Atom>& a, const std::vector<Atom>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;  // highest degree first
  for (size_t i = 0; i < a.size(); ++i)
    if (const int c = CompareAtoms(a[i], b[i]); c != 0) return c;
  return 0;
}

int Dim::Compare(const Dim& a, const Dim& b) {
  if (a.valid_ != b.valid_) return a.valid_ ? 1 : -1;
  if (a.poly_ == b.poly_ && a.poly_ != nullptr) return 0;
  if ((a.poly_ == nullptr) != (b.poly_ == nullptr)) return a.poly_ == nullptr ? -1 : 1;
  if (a.poly_ == nullptr) return a.value_ == b.value_ ? 0 : (a.value_ < b.value_ ? -1 : 1);
  const auto& ta = a.poly_->terms;
  const auto& tb = b.poly_->terms;
  if (ta.size() != tb.size()) return ta.size() < tb.size() ? -1 : 1;
  for (size_t i = 0; i < ta.size(); ++i) {
    if (const int c = CompareFactors(ta[i].factors, tb[i].factors); c != 0) return c;
    if (ta[i].coefficient != tb[i].coefficient)
      return ta[i].coefficient < tb[i].coefficient ? -1 : 1;
  }
  return 0;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_) return Dim::Invalid();
  if (a.poly_ == nullptr && b.poly_ == nullptr) {
    const auto sum = CheckedAdd(a.value_, b.value_);
    return sum ? Dim(*sum) : Dim::Invalid();
  }
  Dim::Poly pa = a.ToPoly();
  const Dim::Poly pb = b.ToPoly();
  for (const Dim::Term& t : pb.terms) {
    const auto it = std::lower_bound(pa.terms.begin(), pa.terms.end(), t,
                                     [](const Dim::Term& x, const Dim::Term& y) {
                                       return Dim::CompareFactors(x.factors, y.factors) < 0;
                                     });
    if (it != pa.terms.end() && Dim::CompareFactors(it->factors, t.factors) == 0) {
      const auto sum = CheckedAdd(it->coefficient, t.coefficient);
      if (!sum) return Dim::Invalid();
      it->coefficient = *sum;
      if (*sum == 0) pa.terms.erase(it);
    } else {
      pa.terms.insert(it, t);
    }
  }
  return Dim::FromPoly(std::move(pa));
}

Dim operator-(const Dim& a, const Dim& b) {
  return a + b * Dim(-1);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_) return Dim::Invalid();
  if (a.poly_ == nullptr && b.poly_ == nullptr) {
    const auto product = CheckedMul(a.value_, b.value_);
    return product ? Dim(*product) : Dim::Invalid();
  }
  Dim result;
  const Dim::Poly pa = a.ToPoly();
  const Dim::Poly pb = b.ToPoly();
  for (const Dim::Term& x : pa.terms) {
    for (const Dim::Term& y : pb.terms) {
      const auto c = CheckedMul(x.coefficient, y.coefficient);
      if (!c) return Dim::Invalid();
      Dim::Term t{*c, x.factors};
      t.factors.insert(t.factors.end(), y.factors.begin(), y.factors.end());
      std::sort(t.factors.begin(), t.factors.end(),
                [](const Dim::Atom& p, const Dim::Atom& q) { return Dim::CompareAtoms(p, q) < 0; });
      Dim::Poly one;
      one.terms.push_back(std::move(t));
      result = result + Dim::FromPoly(std::move(one));
    }
  }
  return result;
}

std::optional<Dim> Dim::ExactDiv(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_ || b == Dim(0)) return std::nullopt;
  if (a == b) return Dim(1);
  const Poly pb = b.ToPoly();
  if (pb.terms.size() != 1) return std::nullopt;  // division by a sum is not attempted
  const Term& divisor = pb.terms[0];
  Poly quotient = a.ToPoly();
  for (Term& t : quotient.terms) {
    if (t.coefficient % divisor.coefficient != 0) return std::nullopt;
    t.coefficient /= divisor.coefficient;
    for (const Atom& f : divisor.factors) {
      const auto it = std::find_if(t.factors.begin(), t.factors.end(),
                                   [&](const Atom& x) { return CompareAtoms(x, f) == 0; });
      if (it == t.factors.end()) return std::nullopt;
      t.factors.erase(it);
    }
  }
  std::sort(quotient.terms.begin(), quotient.terms.end(),
            [](const Term& x, const Term& y) { return CompareFactors(x.factors, y.factors) < 0; });
  return FromPoly(std::move(quotient));
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_ || b == Dim(0)) return Invalid();
  if (a.is_const() && b.is_const()) {
    if (b.value_ == -1) return a * Dim(-1);
    return Dim(nn::FloorDiv(a.value_, b.value_));
  }
  if (auto q = ExactDiv(a, b)) return *q;
  if (b.is_const() && b.value_ > 0) {
    // floor((b*q + r) / b) = q + floor(r / b): take the divisible terms out.
    Poly whole;
    Poly rest;
    for (const Term& t : a.ToPoly().terms) {
      if (t.factors.empty()) {
        const int64_t q = nn::FloorDiv(t.coefficient, b.value_);
        whole.terms.push_back({q, {}});
        rest.terms.push_back({t.coefficient - q * b.value_, {}});
      } else if (t.coefficient % b.value_ == 0) {
        whole.terms.push_back({t.coefficient / b.value_, t.factors});
      } else {
        rest.terms.push_back(t);
      }
    }
    const Dim r = FromPoly(std::move(rest));
    const Dim tail = r.is_const() ? Dim(nn::FloorDiv(r.value_, b.value_))
                                  : FromAtom({Atom::Kind::kFloorDiv,
                                              {},
                                              std::make_shared<const Dim>(r),
                                              std::make_shared<const Dim>(b)});
    return FromPoly(std::move(whole)) + tail;
  }
  return FromAtom(
      {Atom::Kind::kFloorDiv, {}, std::make_shared<const Dim>(a), std::make_shared<const Dim>(b)});
}

Dim Dim::CeilDiv(const Dim& a, const Dim& b) {
  return FloorDiv(a + b - Dim(1), b);
}

Dim Dim::Mod(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_ || b == Dim(0)) return Invalid();
  if (a.is_const() && b.is_const()) return a - FloorDiv(a, b) * b;
  if (ExactDiv(a, b)) return Dim(0);
  return FromAtom(
      {Atom::Kind::kMod, {}, std::make_shared<const Dim>(a), std::make_shared<const Dim>(b)});
}

Dim Dim::Min(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_) return Invalid();
  if (a.is_const() && b.is_const()) return a.value_ < b.value_ ? a : b;
  const Dim difference = a - b;
  if (difference.non_negative()) return b;
  if ((b - a).non_negative()) return a;
  const bool ordered = Compare(a, b) <= 0;
  return FromAtom({Atom::Kind::kMin,
                   {},
                   std::make_shared<const Dim>(ordered ? a : b),
                   std::make_shared<const Dim>(ordered ? b : a)});
}

Dim Dim::Max(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_) return Invalid();
  if (a.is_const() && b.is_const()) return a.value_ > b.value_ ? a : b;
  const Dim difference = a - b;
  if (difference.non_negative()) return a;
  if ((b - a).non_negative()) return b;
  const bool ordered = Compare(a, b) <= 0;
  return FromAtom({Atom::Kind::kMax,
                   {},
                   std::make_shared<const Dim>(ordered ? a : b),
                   std::make_shared<const Dim>(ordered ? b : a)});
}

bool Dim::non_negative() const {
  if (!valid_) return false;
  if (poly_ == nullptr) return value_ >= 0;
  const auto atom = [](const Atom& f) {
    switch (f.kind) {
      case Atom::Kind::kSymbol:
        return true;
      case Atom::Kind::kMax:
        return f.a->non_negative() || f.b->non_negative();
      case Atom::Kind::kMod:
        return f.b->non_negative();  // 0 is no divisor
      default:
        return f.a->non_negative() && f.b->non_negative();
    }
  };
  return std::all_of(poly_->terms.begin(), poly_->terms.end(), [&](const Term& t) {
    return t.coefficient >= 0 && std::all_of(t.factors.begin(), t.factors.end(), atom);
  });
}

std::optional<std::string_view> Dim::symbol() const {
  if (poly_ == nullptr || poly_->terms.size() != 1) return std::nullopt;
  const Term& t = poly_->terms[0];
  if (t.coefficient != 1 || t.factors.size() != 1 || t.factors[0].kind != Atom::Kind::kSymbol)
    return std::nullopt;
  return t.factors[0].symbol;
}

void Dim::CollectSymbols(std::set<std::string>& out) const {
  if (poly_ == nullptr) return;
  for (const Term& t : poly_->terms) {
    for (const Atom& f : t.factors) {
      if (f.kind == Atom::Kind::kSymbol) {
        out.insert(f.symbol);
      } else {
        f.a->CollectSymbols(out);
        f.b->CollectSymbols(out);
      }
    }
  }
}

Dim Dim::Substitute(const std::function<std::optional<Dim>(std::string_view)>& fn) const {
  if (poly_ == nullptr) return *this;
  Dim sum;
  for (const Term& t : poly_->terms) {
    Dim product(t.coefficient);
    for (const Atom& f : t.factors) {
      Dim factor;
      if (f.kind == Atom::Kind::kSymbol) {
        auto replacement = fn(f.symbol);
        factor = replacement ? *replacement : Symbol(f.symbol);
      } else {
        const Dim a = f.a->Substitute(fn);
        const Dim b = f.b->Substitute(fn);
        switch (f.kind) {
          case Atom::Kind::kFloorDiv:
            factor = FloorDiv(a, b);
            break;
          case Atom::Kind::kMod:
            factor = Mod(a, b);
            break;
          case Atom::Kind::kMin:
            factor = Min(a, b);
            break;
          default:
            factor = Max(a, b);
            break;
        }
      }
      product = product * factor;
    }
    sum = sum + product;
  }
  return sum;
}

Dim::Tree Dim::ToTree() const {
  const auto constant = [](int64_t value) { return Tree{Tree::Kind::kConstant, value, {}, {}}; };
  if (poly_ == nullptr) return constant(value_);
  Tree sum{Tree::Kind::kSum, 0, {}, {}};
  for (const Term& t : poly_->terms) {
    Tree product{Tree::Kind::kProduct, 0, {}, {}};
    if (t.coefficient != 1 || t.factors.empty())
      product.operands.push_back(constant(t.coefficient));
    for (const Atom& f : t.factors) {
      if (f.kind == Atom::Kind::kSymbol) {
        product.operands.push_back({Tree::Kind::kSymbol, 0, f.symbol, {}});
        continue;
      }
      constexpr Tree::Kind kKinds[] = {Tree::Kind::kSymbol, Tree::Kind::kFloorDiv, Tree::Kind::kMod,
                                       Tree::Kind::kMin, Tree::Kind::kMax};
      product.operands.push_back(
          {kKinds[static_cast<size_t>(f.kind)], 0, {}, {f.a->ToTree(), f.b->ToTree()}});
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
    for (const Atom& f : t.factors) {
      if (!first) out += "*";
      first = false;
      if (f.kind == Atom::Kind::kSymbol) {
        const bool reserved = std::find(std::begin(kFunctions), std::end(kFunctions), f.symbol) !=
                              std::end(kFunctions);
        if (IsPlainSymbol(f.symbol) && !reserved) {
          out += f.symbol;
        } else {
          out += '\'';
          for (const char c : f.symbol) {
            if (c == '\'' || c == '\\') out += '\\';
            out += c;
          }
          out += '\'';
        }
      } else {
        out += fmt::format("{}({}, {})", kFunctions[static_cast<size_t>(f.kind)], f.a->ToString(),
                           f.b->ToString());
      }
    }
  }
  return out;
}

// Recursive descent over: sum := product (('+'|'-') product)*; product := unary ('*' unary)*.
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
  static constexpr int kMaxDepth = 64;

  tl::unexpected<Error> Fail() const {
    return ParseError("dimension \"{}\": unexpected text at column {}", text_, pos_ + 1);
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
    if (depth > kMaxDepth) return LimitError("dimension \"{}\": nested too deeply", text_);
    NN_ASSIGN(Dim sum, ProductOf(depth));
    while (true) {
      if (Take('+')) {
        NN_ASSIGN(const Dim d, ProductOf(depth));
        sum = sum + d;
      } else if (Take('-')) {
        NN_ASSIGN(const Dim d, ProductOf(depth));
        sum = sum - d;
      } else {
        return sum;
      }
    }
  }

  Result<Dim> ProductOf(int depth) {
    NN_ASSIGN(Dim product, Unary(depth));
    while (Take('*')) {
      NN_ASSIGN(const Dim d, Unary(depth));
      product = product * d;
    }
    return product;
  }

  Result<Dim> Unary(int depth) {
    if (depth > kMaxDepth) return LimitError("dimension \"{}\": nested too deeply", text_);
    SkipSpace();
    if (Take('-')) {
      NN_ASSIGN(const Dim d, Unary(depth + 1));
      return Dim(0) - d;
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

Dim Product(const Dims& dims) {
  Dim p(1);
  for (const Dim& d : dims) p = p * d;
  return p;
}

std::string ToString(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) out += ", ";
    out += dims[i].ToString();
  }
  return out + "]";
}

Dims ToDims(const std::vector<int64_t>& dims) {
  return Dims(dims.begin(), dims.end());
}

std::optional<std::vector<int64_t>> ConstDims(const Dims& dims) {
  std::vector<int64_t> out;
  out.reserve(dims.size());
  for (const Dim& d : dims) {
    if (!d.is_const()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

}  // namespace nn

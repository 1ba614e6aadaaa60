#include "ir/types/dim.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/sha256.h"
#include "ir/types/dim_poly.h"

namespace nn {
namespace {

thread_local uint64_t t_steps = 0;

// Number of digits of the digests in symbol names.
constexpr size_t kDigestDigits = 32;
constexpr std::string_view kOpaque = "?+";        // non-negative
constexpr std::string_view kOpaqueSigned = "?-";  // may be negative

std::string Hex(Sha256& hash) {
  return hash.Finish().substr(std::string_view("sha256:").size(), kDigestDigits);
}

// The name, truncated with a digest appended if it is too long.
std::string BoundedName(std::string_view name) {
  if (name.size() <= Dim::kMaxName) return std::string(name);
  Sha256 hash;
  hash.Bytes(name);
  size_t kept = Dim::kMaxName - kDigestDigits - 1;
  while (kept > 0 && (static_cast<uint8_t>(name[kept]) & 0xC0) == 0x80) --kept;  // whole characters
  return std::string(name.substr(0, kept)) + "~" + Hex(hash);
}

}  // namespace

// Helpers that need the representation of Dim.
struct Dim::Internal {
  using Kind = Atom::Kind;
  using AtomPtr = std::shared_ptr<const Atom>;
  using Terms = std::vector<Term>;

  static int CompareAtoms(const AtomPtr& a, const AtomPtr& b) {
    ++t_steps;
    if (a == b) return 0;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->kind == Kind::kSymbol) return a->symbol.compare(b->symbol);
    if (const int c = Compare(a->a, b->a); c != 0) return c;
    return Compare(a->b, b->b);
  }

  static int CompareFactors(const std::vector<AtomPtr>& a, const std::vector<AtomPtr>& b) {
    ++t_steps;
    if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;  // highest degree first
    for (size_t i = 0; i < a.size(); ++i)
      if (const int c = CompareAtoms(a[i], b[i]); c != 0) return c;
    return 0;
  }

  static Terms TermsOf(const Dim& d) {
    if (d.poly_ != nullptr) return d.poly_->terms;
    Terms terms;
    if (d.value_ != 0) terms.push_back({d.value_, {}});
    return terms;
  }

  // Requires sorted terms with distinct factors; drops those with coefficient 0.
  static Dim FromTerms(Terms terms) {
    std::erase_if(terms, [](const Term& t) { return t.coefficient == 0; });
    if (terms.empty()) return Dim(0);
    if (terms.size() == 1 && terms[0].factors.empty()) return Dim(terms[0].coefficient);
    auto poly = std::make_shared<Poly>();
    for (const Term& t : terms) {
      poly->own_size += static_cast<uint32_t>(1 + t.factors.size());
      poly->size += 1;
      poly->non_negative = poly->non_negative && t.coefficient >= 0;
      for (const AtomPtr& f : t.factors) {
        poly->size += f->size;
        poly->non_negative = poly->non_negative && f->non_negative;
      }
    }
    t_steps += poly->own_size;
    poly->terms = std::move(terms);
    Dim d;
    d.poly_ = std::move(poly);
    return d;
  }

  static Dim FromAtom(Atom atom) {
    Terms terms;
    terms.push_back({1, {std::make_shared<const Atom>(std::move(atom))}});
    return FromTerms(std::move(terms));
  }

  static uint32_t SizeOf(const Dim& d) { return d.poly_ == nullptr ? 1 : d.poly_->size; }
  static bool TooLarge(const Dim& d) {
    return d.poly_ != nullptr && (d.poly_->own_size > kMaxOwnSize || d.poly_->size > kMaxSize);
  }

  static std::string DigestOf(const Dim& d) {
    if (d.poly_ == nullptr) return std::to_string(d.value_);
    const Poly& poly = *d.poly_;
    std::call_once(poly.digest_once, [&poly] {
      t_steps += poly.own_size;
      Sha256 hash;
      for (const Term& t : poly.terms) {
        hash.Number(static_cast<uint64_t>(t.coefficient));
        hash.Number(t.factors.size());
        for (const AtomPtr& f : t.factors) {
          hash.Number(static_cast<uint64_t>(f->kind));
          hash.Text(f->kind == Kind::kSymbol ? f->symbol : DigestOf(f->a) + " " + DigestOf(f->b));
        }
      }
      poly.digest = Hex(hash);
    });
    return poly.digest;
  }

  // The opaque symbol for an operation.
  static Dim OpaqueOf(std::string_view operation, const Dim& a, const Dim& b, bool non_negative) {
    Sha256 hash;
    hash.Text(operation);
    hash.Text(DigestOf(a));
    hash.Text(DigestOf(b));
    return Symbol(std::string(non_negative ? kOpaque : kOpaqueSigned) + Hex(hash));
  }
  static Dim OpaqueOfOrdered(std::string_view operation, const Dim& a, const Dim& b,
                             bool non_negative) {
    return Compare(a, b) <= 0 ? OpaqueOf(operation, a, b, non_negative)
                              : OpaqueOf(operation, b, a, non_negative);
  }

  // Sorts terms and combines those with equal factors; nullopt on overflow.
  static std::optional<Terms> Collected(Terms terms) {
    std::sort(terms.begin(), terms.end(), [](const Term& x, const Term& y) {
      return CompareFactors(x.factors, y.factors) < 0;
    });
    Terms out;
    for (Term& t : terms) {
      if (out.empty() || CompareFactors(out.back().factors, t.factors) != 0) {
        out.push_back(std::move(t));
        continue;
      }
      const auto sum = CheckedAdd(out.back().coefficient, t.coefficient);
      if (!sum) return std::nullopt;
      out.back().coefficient = *sum;
    }
    return out;
  }

  // A function of two operands, as an atom.
  static Dim Function(Kind kind, const Dim& a, const Dim& b, bool non_negative) {
    constexpr std::string_view kNames[] = {"", "floordiv", "mod", "min", "max"};
    const uint32_t size = 1 + SizeOf(a) + SizeOf(b);
    if (size >= kMaxSize) return OpaqueOf(kNames[static_cast<size_t>(kind)], a, b, non_negative);
    return FromAtom({kind, non_negative, size, {}, a, b});
  }

  static Dim Extreme(Kind kind, const Dim& a, const Dim& b, bool non_negative) {
    const bool ordered = Compare(a, b) <= 0;
    return Function(kind, ordered ? a : b, ordered ? b : a, non_negative);
  }

  static std::optional<Term> Quotient(const Term& t, const Term& divisor) {
    if (t.factors.size() < divisor.factors.size() || t.coefficient % divisor.coefficient != 0)
      return std::nullopt;
    Term out{t.coefficient / divisor.coefficient, {}};
    auto next = divisor.factors.begin();
    for (const AtomPtr& f : t.factors) {
      if (next != divisor.factors.end() && CompareAtoms(f, *next) == 0)
        ++next;
      else
        out.factors.push_back(f);
    }
    if (next != divisor.factors.end()) return std::nullopt;
    return out;
  }
};

uint64_t Dim::steps() {
  return t_steps;
}

Dim Dim::Invalid() {
  Dim d;
  d.valid_ = false;
  return d;
}

Dim Dim::Symbol(std::string_view name) {
  std::string bounded = BoundedName(name);
  const auto size = static_cast<uint32_t>(1 + bounded.size() / 16);
  const bool non_negative = !(IsOpaque(bounded) && bounded.starts_with(kOpaqueSigned));
  return Internal::FromAtom(
      {Atom::Kind::kSymbol, non_negative, size, std::move(bounded), Dim(), Dim()});
}

bool Dim::IsOpaque(std::string_view symbol) {
  return symbol.size() == kOpaque.size() + kDigestDigits &&
         (symbol.starts_with(kOpaque) || symbol.starts_with(kOpaqueSigned));
}

Dim Dim::Opaque() const {
  if (poly_ == nullptr || symbol()) return *this;
  return Internal::OpaqueOf("", *this, Dim(), non_negative());
}

uint32_t Dim::own_size() const {
  return poly_ == nullptr ? 1 : poly_->own_size;
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
    if (const int c = Internal::CompareFactors(ta[i].factors, tb[i].factors); c != 0) return c;
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
  const Dim::Internal::Terms ta = Dim::Internal::TermsOf(a);
  const Dim::Internal::Terms tb = Dim::Internal::TermsOf(b);
  Dim::Internal::Terms terms;
  terms.reserve(ta.size() + tb.size());
  size_t i = 0;
  for (const Dim::Term& t : tb) {
    int order = 1;
    while (i < ta.size() && (order = Dim::Internal::CompareFactors(ta[i].factors, t.factors)) < 0)
      terms.push_back(ta[i++]);
    terms.push_back(t);
    if (i == ta.size() || order != 0) continue;
    const auto sum = CheckedAdd(ta[i++].coefficient, t.coefficient);
    if (!sum) return Dim::Invalid();
    terms.back().coefficient = *sum;
  }
  terms.insert(terms.end(), ta.begin() + static_cast<ptrdiff_t>(i), ta.end());
  Dim sum = Dim::Internal::FromTerms(std::move(terms));
  if (!Dim::Internal::TooLarge(sum)) return sum;
  return Dim::Internal::OpaqueOfOrdered("+", a, b, a.non_negative() && b.non_negative());
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
  using Internal = Dim::Internal;
  const Internal::Terms ta = Internal::TermsOf(a);
  const Internal::Terms tb = Internal::TermsOf(b);
  // The intermediate terms, before equal ones are combined, are limited, too.
  const auto expanded = [&](uint32_t size_a, uint32_t size_b) {
    return uint64_t{size_a} * tb.size() + uint64_t{size_b} * ta.size();
  };
  Dim product;
  bool too_large = expanded(a.own_size(), b.own_size()) > 4 * Dim::kMaxOwnSize ||
                   expanded(Internal::SizeOf(a), Internal::SizeOf(b)) > 4 * Dim::kMaxSize;
  if (!too_large) {
    Internal::Terms terms;
    for (const Dim::Term& x : ta) {
      for (const Dim::Term& y : tb) {
        const auto c = CheckedMul(x.coefficient, y.coefficient);
        if (!c) return Dim::Invalid();
        terms.push_back({*c, {}});
        std::merge(x.factors.begin(), x.factors.end(), y.factors.begin(), y.factors.end(),
                   std::back_inserter(terms.back().factors),
                   [](const auto& p, const auto& q) { return Internal::CompareAtoms(p, q) < 0; });
      }
    }
    auto collected = Internal::Collected(std::move(terms));
    if (!collected) return Dim::Invalid();
    product = Internal::FromTerms(std::move(*collected));
    too_large = Internal::TooLarge(product);
  }
  if (!too_large) return product;
  return Internal::OpaqueOfOrdered("*", a, b, a.non_negative() && b.non_negative());
}

std::optional<Dim> Dim::ExactDiv(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_ || b == Dim(0)) return std::nullopt;
  if (a == b) return Dim(1);
  const Internal::Terms tb = Internal::TermsOf(b);
  if (tb.size() != 1) return std::nullopt;  // division by a sum is not attempted
  Internal::Terms quotient;
  for (const Term& t : Internal::TermsOf(a)) {
    auto q = Internal::Quotient(t, tb[0]);
    if (!q) return std::nullopt;
    quotient.push_back(std::move(*q));
  }
  auto collected = Internal::Collected(std::move(quotient));
  if (!collected) return std::nullopt;
  return Internal::FromTerms(std::move(*collected));
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_ || b == Dim(0)) return Invalid();
  if (a.is_const() && b.is_const()) {
    if (b.value_ == -1) return a * Dim(-1);
    return Dim(nn::FloorDiv(a.value_, b.value_));
  }
  if (auto q = ExactDiv(a, b)) return *q;
  const auto atom = [&b](const Dim& x) {
    return Internal::Function(Atom::Kind::kFloorDiv, x, b, x.non_negative() && b.non_negative());
  };
  if (b.is_const() && b.value_ > 0) {
    // floor((b*q + r) / b) = q + floor(r / b): extract the divisible terms.
    Internal::Terms whole;
    Internal::Terms rest;
    for (const Term& t : Internal::TermsOf(a)) {
      if (t.factors.empty()) {
        const int64_t q = nn::FloorDiv(t.coefficient, b.value_);
        whole.push_back({q, {}});
        rest.push_back({t.coefficient - q * b.value_, {}});
      } else if (t.coefficient % b.value_ == 0) {
        whole.push_back({t.coefficient / b.value_, t.factors});
      } else {
        rest.push_back(t);
      }
    }
    const Dim r = Internal::FromTerms(std::move(rest));
    const Dim tail = r.is_const() ? Dim(nn::FloorDiv(r.value_, b.value_)) : atom(r);
    return Internal::FromTerms(std::move(whole)) + tail;
  }
  return atom(a);
}

Dim Dim::CeilDiv(const Dim& a, const Dim& b) {
  return FloorDiv(a + b - Dim(1), b);
}

Dim Dim::Mod(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_ || b == Dim(0)) return Invalid();
  if (a.is_const() && b.is_const()) return a - FloorDiv(a, b) * b;
  if (ExactDiv(a, b)) return Dim(0);
  return Internal::Function(Atom::Kind::kMod, a, b, b.non_negative());  // invalid if b = 0
}

Dim Dim::Min(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_) return Invalid();
  if (a.is_const() && b.is_const()) return a.value_ < b.value_ ? a : b;
  if ((a - b).non_negative()) return b;
  if ((b - a).non_negative()) return a;
  return Internal::Extreme(Atom::Kind::kMin, a, b, a.non_negative() && b.non_negative());
}

Dim Dim::Max(const Dim& a, const Dim& b) {
  if (!a.valid_ || !b.valid_) return Invalid();
  if (a.is_const() && b.is_const()) return a.value_ > b.value_ ? a : b;
  if ((a - b).non_negative()) return a;
  if ((b - a).non_negative()) return b;
  return Internal::Extreme(Atom::Kind::kMax, a, b, a.non_negative() || b.non_negative());
}

bool Dim::non_negative() const {
  if (!valid_) return false;
  return poly_ == nullptr ? value_ >= 0 : poly_->non_negative;
}

std::optional<std::string_view> Dim::symbol() const {
  if (poly_ == nullptr || poly_->terms.size() != 1) return std::nullopt;
  const Term& t = poly_->terms[0];
  if (t.coefficient != 1 || t.factors.size() != 1 || t.factors[0]->kind != Atom::Kind::kSymbol)
    return std::nullopt;
  return t.factors[0]->symbol;
}

void Dim::CollectSymbols(std::set<std::string>& out) const {
  if (poly_ == nullptr) return;
  for (const Term& t : poly_->terms) {
    for (const auto& f : t.factors) {
      if (f->kind == Atom::Kind::kSymbol) {
        out.insert(f->symbol);
      } else {
        f->a.CollectSymbols(out);
        f->b.CollectSymbols(out);
      }
    }
  }
}

Dim Dim::Substitute(const std::function<std::optional<Dim>(std::string_view)>& fn) const {
  if (poly_ == nullptr) return *this;
  Dim sum;
  for (const Term& t : poly_->terms) {
    Dim product(t.coefficient);
    for (const auto& f : t.factors) {
      if (f->kind == Atom::Kind::kSymbol) {
        auto replacement = fn(f->symbol);
        product = product * (replacement ? *replacement : Symbol(f->symbol));
        continue;
      }
      const Dim a = f->a.Substitute(fn);
      const Dim b = f->b.Substitute(fn);
      switch (f->kind) {
        case Atom::Kind::kFloorDiv:
          product = product * FloorDiv(a, b);
          break;
        case Atom::Kind::kMod:
          product = product * Mod(a, b);
          break;
        case Atom::Kind::kMin:
          product = product * Min(a, b);
          break;
        default:
          product = product * Max(a, b);
          break;
      }
    }
    sum = sum + product;
  }
  return sum;
}

Dim Product(const Dims& dims) {
  Dim p(1);
  for (const Dim& d : dims) p = p * d;
  return p;
}

size_t OwnSize(const Dims& dims) {
  size_t size = 0;
  for (const Dim& d : dims) size += d.own_size();
  return size;
}

Dims Bounded(Dims dims, size_t limit) {
  if (OwnSize(dims) > limit)
    for (Dim& d : dims) d = d.Opaque();
  return dims;
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

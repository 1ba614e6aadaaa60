// A tensor dimension: an integer, or an integer expression over named symbols ("batch"). Symbols
// denote dimensions and are therefore non-negative.
//
// Expressions are polynomials over atoms; an atom is a symbol, or the floor division, remainder,
// minimum or maximum of two dims. They are kept in a canonical form, so dims that are equal as
// polynomials compare equal: (h + 2 - 3) + 1 == h. Text form, printed and parsed:
//   "batch", "2*h + 1", "floordiv(w - 1, 2) + 1", "max(a, 4)".
//
// Every operation takes bounded time and memory. A result above the limits below is replaced by an
// opaque symbol, whose name is a digest of the operation and its operands: equal computations give
// equal symbols, and nothing else is known about them. IsOpaque() recognizes them by name.
//
// Design: docs/design/009-dimension-limits.md.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nn {

class Dim {
 public:
  // The number of terms and factors of one expression; operands of floordiv, mod, min and max are
  // not included.
  static constexpr uint32_t kMaxOwnSize = 128;
  // The same with these operands included at each occurrence, as in the text. A symbol counts 1,
  // plus 1 for every 16 bytes of its name.
  static constexpr uint32_t kMaxSize = 1024;
  // Longer symbol names are truncated, and a digest of the whole name is appended.
  static constexpr size_t kMaxName = 256;

  Dim() = default;                       // 0
  Dim(int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  static Dim Symbol(std::string_view name);
  // The result of arithmetic overflow; every operation on it is invalid, too.
  static Dim Invalid();
  static Result<Dim> Parse(std::string_view text);

  bool is_const() const { return poly_ == nullptr && valid_; }
  bool is_valid() const { return valid_; }
  // Whether the canonical form proves that the value is non-negative: no coefficient is negative,
  // and no factor may be.
  bool non_negative() const;
  // Requires is_const().
  int64_t value() const { return value_; }
  // The name if this is a symbol.
  std::optional<std::string_view> symbol() const;
  // Whether a symbol replaces a result above the limits.
  static bool IsOpaque(std::string_view symbol);
  // An opaque symbol for the expression; constants and symbols are returned unchanged.
  Dim Opaque() const;
  // The size of a copy, at most kMaxOwnSize.
  uint32_t own_size() const;
  bool operator==(int64_t v) const { return is_const() && value_ == v; }

  // The expression as a tree, for translation to another notation. kConstant and kSymbol have no
  // operands, kSum and kProduct at least two, all others exactly two.
  struct Tree {
    enum class Kind : uint8_t { kConstant, kSymbol, kSum, kProduct, kFloorDiv, kMod, kMin, kMax };
    Kind kind = Kind::kConstant;
    int64_t value = 0;
    std::string symbol;
    std::vector<Tree> operands;
  };
  // Requires is_valid().
  Tree ToTree() const;

  std::string ToString() const;
  void CollectSymbols(std::set<std::string>& out) const;
  // Replaces symbols; the function returns nullopt for symbols to keep.
  Dim Substitute(const std::function<std::optional<Dim>(std::string_view)>& fn) const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Rounds down; invalid if b is 0.
  static Dim FloorDiv(const Dim& a, const Dim& b);
  static Dim CeilDiv(const Dim& a, const Dim& b);
  // a - FloorDiv(a, b) * b
  static Dim Mod(const Dim& a, const Dim& b);
  static Dim Min(const Dim& a, const Dim& b);
  static Dim Max(const Dim& a, const Dim& b);
  // a / b if the canonical form shows that b divides a for all values of the symbols.
  static std::optional<Dim> ExactDiv(const Dim& a, const Dim& b);

  friend bool operator==(const Dim& a, const Dim& b) { return Compare(a, b) == 0; }
  // An arbitrary total order, for canonical forms and containers.
  static int Compare(const Dim& a, const Dim& b);

  // The number of terms and factors that this thread has compared, hashed or created; a measure of
  // work, for tests.
  static uint64_t steps();

 private:
  struct Atom;
  struct Term;
  struct Poly;
  struct Internal;

  int64_t value_ = 0;  // the constant when poly_ is null
  std::shared_ptr<const Poly> poly_;
  bool valid_ = true;
};

using Dims = std::vector<Dim>;

// The product; 1 if empty.
Dim Product(const Dims& dims);
// The sum of Dim::own_size().
size_t OwnSize(const Dims& dims);
// Returns the dims unchanged, or with opaque symbols in place of composite dims if OwnSize()
// exceeds `limit`.
Dims Bounded(Dims dims, size_t limit);
// "[1, batch, 3*h]"
std::string ToString(const Dims& dims);
Dims ToDims(const std::vector<int64_t>& dims);
// The numbers if all dims are constant.
std::optional<std::vector<int64_t>> ConstDims(const Dims& dims);

}  // namespace nn

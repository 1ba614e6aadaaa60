// The representation of Dim; private to dim.cc and dim_text.cc.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ir/types/dim.h"

namespace nn {

// Immutable and shared by copies of an expression.
struct Dim::Atom {
  enum class Kind : uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax };
  Kind kind = Kind::kSymbol;
  bool non_negative = true;
  uint32_t size = 1;   // as limited by kMaxSize
  std::string symbol;  // kSymbol
  Dim a, b;            // all other kinds
};

struct Dim::Term {
  int64_t coefficient = 0;
  std::vector<std::shared_ptr<const Atom>> factors;  // sorted; empty for the constant term
};

// A sum of terms, sorted by factors, without zero coefficients.
struct Dim::Poly {
  std::vector<Term> terms;
  bool non_negative = true;
  uint32_t own_size = 0;
  uint32_t size = 0;
  // Digest of the expression, computed on first use.
  mutable std::once_flag digest_once;
  mutable std::string digest;
};

}  // namespace nn

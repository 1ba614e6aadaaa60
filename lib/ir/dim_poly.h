// What a Dim is made of. For dim.cc and dim_text.cc alone.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ir/dim.h"

namespace nn {

// Immutable and shared: a copy of an expression shares its atoms.
struct Dim::Atom {
  enum class Kind : uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax };
  Kind kind = Kind::kSymbol;
  bool non_negative = true;
  uint32_t size = 1;   // counted as kMaxSize does
  std::string symbol;  // kSymbol
  Dim a, b;            // the others
};

struct Dim::Term {
  int64_t coefficient = 0;
  std::vector<std::shared_ptr<const Atom>> factors;  // sorted; empty for the constant term
};

// Sum of terms, sorted by factors, no zero coefficients.
struct Dim::Poly {
  std::vector<Term> terms;
  bool non_negative = true;
  uint32_t own_size = 0;
  uint32_t size = 0;
  // Of the expression; made when it is first asked for.
  mutable std::once_flag digest_once;
  mutable std::string digest;
};

}  // namespace nn

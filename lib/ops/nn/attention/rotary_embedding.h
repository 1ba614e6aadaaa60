// Rotary position embedding.
//
// rotary_embedding(x, cos, sin): rotates pairs of elements along the last axis of x [..., D]. cos
// and sin have one shape [..., R / 2] that broadcasts to x, except for the last axis; R <= D. With
// (a, b) a pair, c and s the elements of cos and sin for it, each product, sum and difference
// rounded,
//   a' = a c - b s
//   b' = a s + b c
// Pair i is (x_i, x_(i + R / 2)), or (x_(2 i), x_(2 i + 1)) if interleaved. The elements from R on
// are those of x.
//
// The operator is defined by its decomposition (OpDef::eval). That of f16 and bf16 computes in
// float32 and rounds once.
#pragma once

#include <span>

#include "ir/attrs.h"

namespace nn {

struct RotaryEmbeddingAttrs {
  bool interleaved = false;
  static std::span<const AttrField> Fields();
};

}  // namespace nn

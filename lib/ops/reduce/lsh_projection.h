// lsh_projection(hash, x, weights): the side of hyperplanes on which x is, for locality-sensitive
// hashing (TensorFlow Lite and NNAPI LSH_PROJECTION).
//
// hash [F, B] (f32) has a seed for each of B bits of F functions, x [N, ...] is of any type whose
// elements are whole bytes, and weights [N] (f32) are 1 if absent. The bit of a seed is 1 if the
// sum of weights[i] h(i) is above 0, where h(i) is Fingerprint64() of the seed's bytes and those of
// x[i] as stored, taken as a signed integer. The sum is in float64, in order of i, beginning with
// 0; so are the products, and each of both rounds.
//
//   dense    y [F B] (i32): the bits
//   sparse   y [F] (i32): the bits of each function as a number, the first one highest; B <= 32
//   offset   the same plus f 2^B for function f, modulo 2^32
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

enum class LshForm : uint8_t { kDense, kSparse, kOffset };
template <>
struct EnumNames<LshForm> {
  static constexpr std::string_view kNames[] = {"dense", "sparse", "offset"};
};

struct LshProjectionAttrs {
  LshForm form = LshForm::kDense;
  static std::span<const AttrField> Fields();
};

}  // namespace nn

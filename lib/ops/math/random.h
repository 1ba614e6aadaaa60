// Random numbers, the same on every machine. The generator is Philox4x32-10 (numeric/philox.h) with
// `seed` as its key and `seed2` as the high half of its counter. Each run of a model draws the same
// numbers.
//
//   Element i of a uniform or normal tensor, in row-major order, comes from word i mod 4 of block
//   i / 4: u(w) = (w mod 2^23) * 2^-23 is in [0, 1), exactly. A pair of words (a, b), the even one
//   first, gives the normal numbers r * sin(v) and r * cos(v) with
//   r = sqrt(-2 * log(max(u(a), 1e-7))) and v = u(b) * 2 pi (Box and Muller), all in float32.
//   Sample k of a multinomial comes from words a and b of pair k: (b mod 2^20 * 2^32 + a) * 2^-52,
//   in float64.
//
// These are the numbers of the first run of TensorFlow Lite's operators, up to the rounding of
// elementary functions. Other implementations draw different numbers.
//
// Design: docs/design/014-random-numbers.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/types/dim.h"

namespace nn {

struct Seeds {
  int64_t seed = 0;
  int64_t seed2 = 0;
  bool operator==(const Seeds&) const = default;
};

// u * (high - low) + low in float32, rounded to `dtype`, a floating-point type. Because of the
// rounding, high is a possible result. The input `shape`, a list of integers, can replace `dims`.
struct RandomUniformAttrs : Seeds {
  float low = 0;
  float high = 1;
  DType dtype = DType::kF32;
  Dims dims;
  static std::span<const AttrField> Fields();
};

// n * scale + mean for a standard normal n in float32, rounded to `dtype`, a floating-point type.
// The input `shape`, a list of integers, can replace `dims`.
struct RandomNormalAttrs : Seeds {
  float mean = 0;
  float scale = 1;
  DType dtype = DType::kF32;
  Dims dims;
  static std::span<const AttrField> Fields();
};

// 1 where u < p in float32, else 0, for a random_uniform u of the shape of p and the same seeds.
struct BernoulliAttrs : Seeds {
  DType dtype = DType::kUnknown;  // kUnknown: that of p
  static std::span<const AttrField> Fields();
};

// [batch, classes] -> [batch, count]: classes drawn with replacement, with probabilities
// proportional to exp(logits); logits that are not finite have probability 0. The weights
// exp(logit - largest logit) are float32, and their running sums, the uniform number and its
// product with the last sum float64; the result is the first class whose sum exceeds that product,
// or the last class if there is none. The input `count`, a number, can replace the attribute.
struct MultinomialAttrs : Seeds {
  int64_t count = 1;
  DType dtype = DType::kI32;  // or kI64
  static std::span<const AttrField> Fields();
};

// Whether the results of a node are random numbers. Converted models draw their own, so they are
// not constants.
bool IsRandom(const Node& node);

// The seeds of a file that stores a single one. 0 becomes (0, 2^31 - 1), as in TensorFlow: files
// with two seeds store zeros for none.
Seeds SeedsOf(int64_t seed);
// Its inverse; nullopt if a single seed cannot express them.
std::optional<int64_t> SingleSeed(const Seeds& seeds);
// The seeds of an operator without any: its position, counted from 1, among the nodes of the graph.
Seeds SeedsByPosition(const Graph& graph);

}  // namespace nn

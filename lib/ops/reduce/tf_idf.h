// tf_idf(x): how often the n-grams of a pool occur in each row of x, [C] or [B, C] (ONNX
// TfIdfVectorizer-9). y has a number for each output index, [size] or [B, size], where
// size is the largest of `indexes` plus 1.
//
// The pool is `pool` if x has integers, and `words` if it has strings; the other one is empty. It
// holds the n-grams of length 1 from position starts[0] on, those of length 2 from
// starts[1] on, and so on; indexes[i] is the output index of the i-th n-gram of the whole pool. Of
// equal n-grams the last counts. Only those of min_length to max_length elements are searched. An
// n-gram occurs at position p with distance d if its elements are x[p], x[p + d], x[p + 2 d], ...;
// d is 1 to max_skip + 1, and n-grams of one element are counted for d = 1 only.
//
//   tf     the number of occurrences
//   idf    the weight of the index, or 1 without weights, if there are any occurrences
//   tfidf  the weight times the number
// There are as many weights as n-grams; weights[i] is that of output index i, as in ONNX's
// reference implementation, whether or not n-gram i has that index.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/attrs.h"

namespace nn {

enum class TfIdfMode : uint8_t { kTf, kIdf, kTfIdf };
template <>
struct EnumNames<TfIdfMode> {
  static constexpr std::string_view kNames[] = {"tf", "idf", "tfidf"};
};

struct TfIdfAttrs {
  TfIdfMode mode = TfIdfMode::kTf;
  int64_t min_length = 1;
  int64_t max_length = 1;
  int64_t max_skip = 0;
  std::vector<int64_t> starts;
  std::vector<int64_t> indexes;
  std::vector<int64_t> pool;
  std::vector<std::string> words;
  std::vector<float> weights;  // empty: all 1
  static std::span<const AttrField> Fields();
};

}  // namespace nn

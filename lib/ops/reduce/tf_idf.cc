#include "ops/reduce/tf_idf.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/checked_math.h"
#include "ir/op_def.h"
#include "ops/families.h"
#include "ops/support/domain.h"
#include "ops/support/types.h"

namespace nn {

std::span<const AttrField> TfIdfAttrs::Fields() {
  static const AttrField fields[] = {Field<&TfIdfAttrs::mode>("mode"),
                                     Field<&TfIdfAttrs::min_length>("min_length"),
                                     Field<&TfIdfAttrs::max_length>("max_length"),
                                     Field<&TfIdfAttrs::max_skip>("max_skip"),
                                     Field<&TfIdfAttrs::starts>("starts"),
                                     Field<&TfIdfAttrs::indexes>("indexes"),
                                     Field<&TfIdfAttrs::pool>("pool"),
                                     Field<&TfIdfAttrs::words>("words"),
                                     Field<&TfIdfAttrs::weights>("weights")};
  return fields;
}

namespace {

int64_t PoolSize(const TfIdfAttrs& a) {
  return static_cast<int64_t>(a.words.empty() ? a.pool.size() : a.words.size());
}

// The number of output indexes; kModel if the attributes contradict each other.
Result<int64_t> OutputSize(const TfIdfAttrs& a) {
  if (a.min_length < 1 || a.max_length < a.min_length || a.max_skip < 0)
    return ModelError("n-grams have {} to {} elements, and {} may be skipped", a.min_length,
                      a.max_length, a.max_skip);
  if (a.indexes.empty() || std::ranges::min(a.indexes) < 0)
    return ModelError("indexes must not be empty or have negative entries");
  int64_t ngrams = 0;
  const int64_t items = PoolSize(a);
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const int64_t end = i + 1 < a.starts.size() ? a.starts[i + 1] : items;
    const auto length = static_cast<int64_t>(i + 1);
    if (a.starts[i] < 0 || end < a.starts[i] || end > items || (end - a.starts[i]) % length != 0)
      return ModelError("n-grams of length {} from position {} to {} of a pool of {} entries",
                        length, a.starts[i], end, items);
    ngrams += (end - a.starts[i]) / length;
  }
  if (ngrams != static_cast<int64_t>(a.indexes.size()))
    return ModelError("there are {} n-grams and {} indexes", ngrams, a.indexes.size());
  const auto size = CheckedAdd<int64_t>(std::ranges::max(a.indexes), 1);
  if (!size) return LimitError("the largest index is too large");
  if (a.weights.empty()) return *size;
  if (a.weights.size() != a.indexes.size())
    return ModelError("there are {} weights and {} indexes", a.weights.size(), a.indexes.size());
  if (static_cast<int64_t>(a.weights.size()) < *size)
    return ModelError("there are {} weights for {} output indexes", a.weights.size(), *size);
  return *size;
}

Status InferTfIdf(InferContext& ctx) {
  const auto& a = ctx.attrs<TfIdfAttrs>();
  NN_ASSIGN(const int64_t size, OutputSize(a));
  const Type& x = ctx.in(0);
  const bool is_text = x.dtype == DType::kString;
  if ((!IsInteger(x.dtype) && !is_text) || x.quantized())
    return UnsupportedError("{} is not supported", x.ToString());
  if (is_text ? !a.pool.empty() : !a.words.empty())
    return ModelError("the pool has {}, but x is {}", is_text ? "integers" : "strings",
                      x.ToString());
  NN_RETURN_IF_ERROR(RequireRank(ctx, 0, 1, 2));
  Dims dims = *x.dims;
  dims.back() = size;
  ctx.set_out(0, Type(DType::kF32, std::move(dims)));
  return {};
}

// A pool and a tensor as numbers: integers, or the positions of strings in the list of words, which
// lacks some of the tensor's.
struct Numbers {
  std::vector<int64_t> pool, x;
};

Numbers NumbersOf(const TfIdfAttrs& a, const Tensor& x) {
  if (x.dtype() != DType::kString) return {a.pool, x.ToInts()};
  std::unordered_map<std::string_view, int64_t> numbers;
  for (const std::string& word : a.words)
    numbers.emplace(word, static_cast<int64_t>(numbers.size()));
  constexpr int64_t kNone = -1;
  const auto number = [&](const std::string& text) {
    const auto it = numbers.find(text);
    return it == numbers.end() ? kNone : it->second;
  };
  Numbers out;
  std::ranges::transform(a.words, std::back_inserter(out.pool), number);
  std::ranges::transform(x.strings(), std::back_inserter(out.x), number);
  return out;
}

// The output indexes of the n-grams that are searched.
std::map<std::vector<int64_t>, int64_t> SearchedNgrams(const TfIdfAttrs& a,
                                                       const std::vector<int64_t>& pool) {
  std::map<std::vector<int64_t>, int64_t> ngrams;
  size_t number = 0;
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const auto length = static_cast<int64_t>(i + 1);
    const int64_t end =
        i + 1 < a.starts.size() ? a.starts[i + 1] : static_cast<int64_t>(pool.size());
    for (int64_t at = a.starts[i]; at < end; at += length, ++number)
      if (length >= a.min_length && length <= a.max_length)
        ngrams[{pool.begin() + at, pool.begin() + at + length}] = a.indexes[number];
  }
  return ngrams;
}

// Calls fn(output index) for each occurrence in a row.
template <typename Fn>
void ForEachOccurrence(const TfIdfAttrs& a, const std::map<std::vector<int64_t>, int64_t>& ngrams,
                       std::span<const int64_t> row, Fn fn) {
  const auto size = static_cast<int64_t>(row.size());
  const int64_t longest = std::min(a.max_length, static_cast<int64_t>(a.starts.size()));
  int64_t shortest = a.min_length;
  std::vector<int64_t> ngram;
  for (int64_t d = 1; d <= std::min(a.max_skip, size) + 1 && shortest <= longest; ++d) {
    for (int64_t p = 0; p < size; ++p) {
      ngram.clear();
      for (int64_t at = p; at < size && static_cast<int64_t>(ngram.size()) < longest; at += d) {
        ngram.push_back(row[static_cast<size_t>(at)]);
        if (static_cast<int64_t>(ngram.size()) < shortest) continue;
        if (const auto it = ngrams.find(ngram); it != ngrams.end()) fn(it->second);
      }
    }
    shortest = std::max<int64_t>(shortest, 2);
  }
}

Status EvalTfIdf(EvalContext& ctx) {
  const auto& a = ctx.attrs<TfIdfAttrs>();
  const Tensor& x = ctx.in(0);
  NN_ASSIGN(const int64_t size, OutputSize(a));
  NN_ASSIGN(TensorBuilder y, ctx.NewOutput());
  const Numbers numbers = NumbersOf(a, x);
  const auto ngrams = SearchedNgrams(a, numbers.pool);
  const auto columns = static_cast<size_t>(x.dims().back());
  std::vector<int64_t> counts(static_cast<size_t>(size));
  for (int64_t row = 0; size > 0 && row < y.elements() / size; ++row) {
    std::ranges::fill(counts, 0);
    const auto elements = std::span(numbers.x).subspan(static_cast<size_t>(row) * columns, columns);
    ForEachOccurrence(a, ngrams, elements,
                      [&](int64_t index) { ++counts[static_cast<size_t>(index)]; });
    for (size_t i = 0; i < counts.size(); ++i) {
      const float weight = a.mode == TfIdfMode::kTf || a.weights.empty() ? 1.0f : a.weights[i];
      const float factor =
          a.mode == TfIdfMode::kIdf ? (counts[i] > 0 ? 1.0f : 0.0f) : static_cast<float>(counts[i]);
      y.SetDouble(row * size + static_cast<int64_t>(i), weight * factor);
    }
  }
  ctx.set_out(0, y.Finish());
  return {};
}

// Elements that are compared.
std::optional<int64_t> TfIdfComparisons(const Node& node) {
  const auto& a = node.attrs<TfIdfAttrs>();
  const auto x = node.input(0)->type().const_dims();
  if (!x || x->empty()) return std::nullopt;
  std::vector<int64_t> counts = *x;
  counts.push_back(std::min(a.max_skip, x->back()) + 1);
  const int64_t longest = std::clamp<int64_t>(static_cast<int64_t>(a.starts.size()), 1,
                                              std::max<int64_t>(a.max_length, 1));
  counts.push_back(longest);
  counts.push_back(longest);
  return CheckedElements(counts);
}

// Numbers of the pool.
Domain TfIdfDomain(const Node& node, size_t, std::span<const Domain>) {
  const auto& pool = node.attrs<TfIdfAttrs>().pool;
  if (pool.empty()) return {};
  const auto [least, most] = std::ranges::minmax(pool);
  return Between(static_cast<double>(least), static_cast<double>(most));
}

}  // namespace

void RegisterTfIdfOps(OpRegistry& ops) {
  OpDef op;
  op.name = "tf_idf";
  op.summary = "how often the n-grams of a pool occur in each row";
  op.category = Category::kReduction;
  op.attrs = AttrsInfoOf<TfIdfAttrs>();
  op.inputs = {{"x", Arity::kRequired, Elements::kAny}};
  op.infer = InferTfIdf;
  op.eval = EvalTfIdf;
  op.multiply_adds = TfIdfComparisons;
  ops.Add(std::move(op));
}

void AddTfIdfDomains(DomainTable& domains) {
  domains["tf_idf"] = TfIdfDomain;
}

}  // namespace nn

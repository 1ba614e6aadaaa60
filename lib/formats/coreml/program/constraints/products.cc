// Constraints on products of matrices, and on attention.
#include <algorithm>
#include <utility>

#include "base/text/text.h"
#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

void CheckInnerSizes(const ConstraintAt& c) {
  auto x = c.SizesOf(0);
  if (!x || x->empty()) return;
  c.NeedSize(1, -1, x->back(), "the last size of x");
  x->back() = c.SizeOf(1, 0);
  c.NeedResult(0, x);
}

void CheckBiasLength(const ConstraintAt& c) {
  if (c.Has(0)) c.NeedSize(0, 0, c.SizeOf(1, 0), "one for each output channel");
}

void CheckTransposedVector(const ConstraintAt& c) {
  if (c.RankOf(0) == 1 && c.Bool(1) == true)
    c.Add("input {} is a vector, but {} is true", c.Name(0), c.Name(1));
}

// The shape of an operand of a product as matrices: a vector on the left is a row.
std::optional<Sizes> MatrixOf(const ConstraintAt& c, size_t i, size_t transposed) {
  auto sizes = c.SizesOf(i);
  const auto flag = c.Bool(transposed);
  if (!sizes || !flag || (sizes->size() == 1 && *flag)) return std::nullopt;
  if (sizes->size() == 1 && i == 0) sizes->insert(sizes->begin(), 1);
  if (sizes->size() < 2) {
    c.Add("input {} has rank {}, which is no matrix", c.Name(i), sizes->size());
    return std::nullopt;
  }
  if (*flag) std::swap(sizes->back(), *(sizes->end() - 2));
  return sizes;
}

void CheckMatrixProduct(const ConstraintAt& c) {
  const auto x = MatrixOf(c, 0, 2), y = MatrixOf(c, 1, 3);
  if (!x || !y) return;
  const auto batches = [](const Sizes& s) { return std::span(s).first(s.size() - 2); };
  auto out = BroadcastSizes(batches(*x), batches(*y));
  if (!out || !MayEqual(x->back(), *(y->end() - 2)))
    return c.Add("shapes {} and {} have no product", TextOf(*x), TextOf(*y));
  if (c.RankOf(0) != 1) out->push_back(*(x->end() - 2));
  out->push_back(y->back());
  c.NeedResult(0, out);
}

// An equation with its letters replaced by a, b, c, ... in the order of their first use.
std::string Renamed(std::string_view equation) {
  std::string letters, out;
  for (const char letter : equation) {
    if (letter == ',' || letter == '-' || letter == '>') {
      out += letter;
      continue;
    }
    if (letters.find(letter) == std::string::npos) letters += letter;
    out += static_cast<char>('a' + static_cast<int>(letters.find(letter)));
  }
  return out;
}

// Sizes of an axis of both operands; kAnySize if they are not known, nullopt if they differ.
std::optional<int64_t> SharedSize(int64_t a, int64_t b) {
  if (a == 1 || b == 1) return a == kAnySize || b == kAnySize ? kAnySize : std::max(a, b);
  if (!MayEqual(a, b)) return std::nullopt;
  return a == kAnySize ? b : a;
}

void CheckEinsumEquation(const ConstraintAt& c) {
  const auto equation = c.Text(1);
  if (equation && Renamed(*equation) != "abcd,adce->abce" && Renamed(*equation) != "abc,cbd->abd")
    return c.Add("input {} is {}, which is neither nchw,nwhu->nchu nor chw,whr->chr", c.Name(1),
                 Quote(*equation));
  const auto values = c.facts().Values(c.Name(0));
  if (values.size() != 2 || values[0].type == nullptr || values[1].type == nullptr) return;
  const auto x = SizesOf(*values[0].type), y = SizesOf(*values[1].type);
  if (!x || !y || x->size() != y->size() || x->size() < 3 || x->size() > 4) return;
  const size_t r = x->size();
  const auto row = SharedSize((*x)[r - 2], (*y)[r - 2]);
  const auto batch = r == 4 ? SharedSize((*x)[0], (*y)[0]) : std::optional(kAnySize);
  if (!row || !batch || !MayEqual((*x)[r - 1], (*y)[r - 3]))
    return c.Add("shapes {} and {} do not fit the equation", TextOf(*x), TextOf(*y));
  Sizes out{(*x)[r - 3], *row, (*y)[r - 1]};
  if (r == 4) out.insert(out.begin(), *batch);
  c.NeedResult(0, out);
}

// ---- Attention ----------------------------------------------------------------------------------

void CheckAttentionSizes(const ConstraintAt& c) {
  auto query = c.SizesOf(0);
  const auto key = c.SizesOf(1), value = c.SizesOf(2);
  if (!query || !key || !value || query->size() < 2 || key->size() != query->size() ||
      value->size() != query->size())
    return;
  for (size_t i = 0; i + 2 < query->size(); ++i) {
    c.NeedSize(1, static_cast<int64_t>(i), (*query)[i], "the batch of query");
    c.NeedSize(2, static_cast<int64_t>(i), (*query)[i], "the batch of query");
  }
  c.NeedSize(1, -1, query->back(), "the last size of query");
  c.NeedSize(2, -2, c.SizeOf(1, -2), "the number of keys");
  query->back() = value->back();
  c.NeedResult(0, query);
}

void CheckAttentionMask(const ConstraintAt& c) {
  auto query = c.SizesOf(0);
  const auto mask = c.SizesOf(2);
  if (!query || !mask || query->empty() || mask->empty()) return;
  c.NeedSize(2, -1, c.SizeOf(1, -2), "the number of keys");
  const auto rows = [](const Sizes& s) { return std::span(s).first(s.size() - 1); };
  if (!BroadcastSizes(rows(*query), rows(*mask)))
    c.Add("input {} has shape {}, which is not broadcast to {} queries", c.Name(2), TextOf(*mask),
          TextOf(rows(*query)));
}

constexpr ConstraintRow kProductConstraints[] = {
    {Label::kInnerSizes, CheckInnerSizes},
    {Label::kBiasLength, CheckBiasLength},
    {Label::kNoTransposedVector, CheckTransposedVector},
    {Label::kMatrixProduct, CheckMatrixProduct},
    {Label::kEinsumEquation, CheckEinsumEquation},
    {Label::kAttentionSizes, CheckAttentionSizes},
    {Label::kAttentionMask, CheckAttentionMask},
};

}  // namespace

std::span<const ConstraintRow> ProductConstraintRows() {
  return kProductConstraints;
}

}  // namespace nn::coreml::program

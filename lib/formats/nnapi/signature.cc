#include "formats/nnapi/signature.h"

#include <fmt/core.h>

#include <string>

namespace nn::nnapi {
namespace {

// "x4" is a data tensor of rank 4, "x1-4" of rank 1 to 4, "x2/4" of rank 2 or 4, "x2-" of 2 or
// more; "?" is optional, "*" repeats. The letters are those of Argument::Kind.
struct Row {
  OperationType type;
  std::string_view data_types;
  std::string_view inputs;
  std::string_view outputs;
};

using enum OperationType;

constexpr Row kRows[] = {
    {kAdd, "fq", "x1-4 x1-4 a", "x1-4"},
    {kAveragePool2d, "fq", "x4 n n n n s s s s a", "x4"},
    {kAveragePool2d, "fq", "x4 p s s s s a", "x4"},
    {kConcatenation, "fq", "x1-4* i", "x1-4"},
    {kConv2d, "fq", "x4 x4 b1 n n n n s s a", "x4"},
    {kConv2d, "fq", "x4 x4 b1 p s s a", "x4"},
    {kDepthwiseConv2d, "fq", "x4 x4 b1 n n n n s s s a", "x4"},
    {kDepthwiseConv2d, "fq", "x4 x4 b1 p s s s a", "x4"},
    {kDepthToSpace, "fq", "x4 s", "x4"},
    {kDequantize, "q", "x1-4", "f1-4"},
    {kEmbeddingLookup, "f", "t1 x2-", "x2-"},
    {kFloor, "f", "x1-4", "x1-4"},
    {kFullyConnected, "fq", "x2-4 x2 b1 a", "x2"},
    {kHashtableLookup, "fqi", "t1 t1 x1-", "x1- q1"},
    {kL2Normalization, "f", "x4", "x4"},
    {kL2Pool2d, "f", "x4 n n n n s s s s a", "x4"},
    {kL2Pool2d, "f", "x4 p s s s s a", "x4"},
    {kLocalResponseNormalization, "f", "x4 n r r r", "x4"},
    {kLogistic, "fq", "x1-4", "x1-4"},
    {kLshProjection, "", "f2 y1- f1? i", "t1"},
    {kLstm, "f", "x2 x2? x2 x2 x2 x2? x2 x2 x2 x1? x1? x1? x1? x1 x1 x1 x2? x1? x2 x2 i r r",
     "x2 x2 x2 x2"},
    {kMaxPool2d, "fq", "x4 n n n n s s s s a", "x4"},
    {kMaxPool2d, "fq", "x4 p s s s s a", "x4"},
    {kMul, "fq", "x1-4 x1-4 a", "x1-4"},
    {kRelu, "fq", "x1-4", "x1-4"},
    {kRelu1, "fq", "x1-4", "x1-4"},
    {kRelu6, "fq", "x1-4", "x1-4"},
    {kReshape, "fq", "x1-4 t1", "x1-4"},
    {kResizeBilinear, "f", "x4 s s", "x4"},
    {kRnn, "f", "x2 x2 x2 x1 x2 a?", "x2 x2"},
    {kSoftmax, "fq", "x2/4 r", "x2/4"},
    {kSpaceToDepth, "fq", "x4 s", "x4"},
    {kSvdf, "f", "x2 x2 x2 x1? x2 s a?", "x2 x2"},
    {kTanh, "f", "x1-4", "x1-4"},
};

std::vector<Argument> ParseArguments(std::string_view text) {
  std::vector<Argument> list;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (c >= 'a' && c <= 'z') {
      list.push_back({static_cast<Argument::Kind>(c)});
    } else if (digit && list.back().min_rank == 0) {
      list.back().min_rank = list.back().max_rank = c - '0';
    } else if (digit) {
      list.back().max_rank = c - '0';
    } else if (c == '-') {
      list.back().max_rank = 0;
    } else if (c == '/') {
      list.back().ends_only = true;
    } else if (c == '?') {
      list.back().optional = true;
    } else if (c == '*') {
      list.back().repeats = true;
    }
  }
  return list;
}

const std::vector<Signature>& Signatures() {
  static const auto* const kSignatures = [] {
    auto* list = new std::vector<Signature>;
    for (const Row& row : kRows)
      list->push_back(
          {row.type, row.data_types, ParseArguments(row.inputs), ParseArguments(row.outputs)});
    return list;
  }();
  return *kSignatures;
}

}  // namespace

bool Argument::is_tensor() const {
  return std::string_view("xbftqy").find(static_cast<char>(kind)) != std::string_view::npos;
}

bool Argument::TakesRank(size_t rank) const {
  const bool low = static_cast<int>(rank) == min_rank;
  const bool high = static_cast<int>(rank) == max_rank;
  if (ends_only) return low || high;
  return rank >= static_cast<size_t>(min_rank) &&
         (max_rank == 0 || rank <= static_cast<size_t>(max_rank));
}

std::string Argument::RanksText() const {
  if (max_rank == 0) return fmt::format("{} or more", min_rank);
  if (min_rank == max_rank) return std::to_string(min_rank);
  return fmt::format("{} {} {}", min_rank, ends_only ? "or" : "to", max_rank);
}

bool Signature::Takes(size_t count) const {
  for (const Argument& a : inputs)
    if (a.repeats) return count >= inputs.size();
  return count == inputs.size();
}

const Argument& Signature::InputAt(size_t i, size_t count) const {
  if (!inputs.front().repeats) return inputs[i];
  const size_t repeated = count - inputs.size() + 1;
  return i < repeated ? inputs.front() : inputs[i - repeated + 1];
}

std::vector<const Signature*> SignaturesOf(OperationType type) {
  std::vector<const Signature*> found;
  for (const Signature& s : Signatures())
    if (s.type == type) found.push_back(&s);
  return found;
}

std::string InputCounts(OperationType type) {
  std::string counts;
  for (const Signature* s : SignaturesOf(type))
    counts += fmt::format("{}{}{}", counts.empty() ? "" : " or ", s->inputs.size(),
                          s->inputs.front().repeats ? " or more" : "");
  return counts;
}

const Signature* FindSignature(OperationType type, size_t inputs) {
  for (const Signature& s : Signatures())
    if (s.type == type && s.Takes(inputs)) return &s;
  return nullptr;
}

}  // namespace nn::nnapi

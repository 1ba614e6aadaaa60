// Constraints on what inputs and results have in common.
#include <algorithm>
#include <cmath>

#include "coreml_mil.pb.h"
#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

// A value among the operands of a constraint.
struct Like {
  std::string title;  // "input values[1]"
  const BoundValue* value;
};

// All values of all operands. The first one that differs is reported.
std::vector<Like> LikesOf(const ConstraintAt& c) {
  std::vector<Like> out;
  for (size_t i = 0; i < c.size(); ++i) {
    const auto values = c.facts().Values(c.Name(i));
    for (size_t k = 0; k < values.size(); ++k)
      if (values[k].type != nullptr)
        out.push_back({values.size() == 1 ? fmt::format("input {}", c.Name(i))
                                          : fmt::format("input {}[{}]", c.Name(i), k),
                       &values[k]});
  }
  return out;
}

void CheckSameType(const ConstraintAt& c) {
  const std::vector<Like> values = LikesOf(c);
  for (const Like& v : values) {
    const auto first = ElementOf(*values.front().value->type), type = ElementOf(*v.value->type);
    if (type != first)
      return c.Add("{} is {}, but {} is {}", v.title, TextOf(type), values.front().title,
                   TextOf(first));
  }
}

// Calls differs(first, v, sizes of first, sizes of v) for each value v of known rank, first the
// first one of them, until it returns true.
template <typename Differs>
void CompareWithFirst(const ConstraintAt& c, const Differs& differs) {
  const Like* first = nullptr;
  const std::vector<Like> values = LikesOf(c);
  for (const Like& v : values) {
    const auto sizes = SizesOf(*v.value->type);
    if (!sizes) continue;
    if (first == nullptr) first = &v;
    if (differs(*first, v, *SizesOf(*first->value->type), *sizes)) return;
  }
}

void CheckSameRank(const ConstraintAt& c) {
  CompareWithFirst(c, [&](const Like& first, const Like& v, const Sizes& a, const Sizes& b) {
    if (a.size() == b.size()) return false;
    c.Add("{} has rank {}, but {} has rank {}", v.title, b.size(), first.title, a.size());
    return true;
  });
}

void CheckSameShape(const ConstraintAt& c) {
  CompareWithFirst(c, [&](const Like& first, const Like& v, const Sizes& a, const Sizes& b) {
    if (MayEqual(a, b)) return false;
    c.Add("{} has shape {}, but {} has shape {}", v.title, TextOf(b), first.title, TextOf(a));
    return true;
  });
}

void CheckSameLength(const ConstraintAt& c) {
  const size_t first = c.facts().Values(c.Name(0)).size();
  for (size_t i = 1; i < c.size(); ++i)
    if (const size_t n = c.facts().Values(c.Name(i)).size(); n != first)
      c.Add("input {} has {} values, but input {} has {}", c.Name(i), n, c.Name(0), first);
}

void CheckBroadcast(const ConstraintAt& c) {
  auto sizes = c.SizesOf(0);
  for (size_t i = 1; i < c.size(); ++i) {
    const auto other = c.SizesOf(i);
    if (!sizes || !other) return;
    auto both = BroadcastSizes(*sizes, *other);
    if (!both)
      return c.Add("input {} has shape {}, which is not broadcast to {}", c.Name(i), TextOf(*other),
                   TextOf(*sizes));
    sizes = std::move(both);
  }
  if (c.size() == 2) c.NeedResult(0, sizes);
}

void CheckKeepsShape(const ConstraintAt& c) {
  for (size_t i = 0; i < c.facts().results(); ++i) c.NeedResult(i, c.SizesOf(0));
}

void CheckShapeIs(const ConstraintAt& c) {
  auto sizes = c.Ints(0);
  if (!sizes) {
    const auto length = c.SizeOf(0, 0);
    if (length == kAnySize || length > int64_t{1} << 10) return;
    sizes.emplace(static_cast<size_t>(length), kAnySize);
  }
  for (int64_t& size : *sizes) size = std::max(size, kAnySize);
  c.NeedResult(0, *sizes);
}

void CheckChannels(const ConstraintAt& c) {
  if (c.Has(1)) c.NeedSize(1, 0, c.SizeOf(0, 1), "one for each channel");
}

void CheckOneValueUnlessRank4(const ConstraintAt& c) {
  constexpr double kTolerance = 1e-5;
  const auto rank = c.RankOf(0);
  const auto values = c.facts().Doubles(c.Name(1));
  if (!rank || *rank == 4 || !values || values->empty()) return;
  const auto is_other = [&](double v) { return std::abs(v - values->front()) > kTolerance; };
  if (std::ranges::any_of(*values, is_other))
    c.Add("input {} has different values, but input {} has rank {}", c.Name(1), c.Name(0), *rank);
}

void CheckSameBatch(const ConstraintAt& c) {
  c.NeedSize(1, 0, c.SizeOf(0, 0), "the batch of the other input");
}

void CheckNamedType(const ConstraintAt& c) {
  const auto name = c.Text(1);
  const auto named = name ? TypeNamed(*name) : std::nullopt;
  const auto type = c.facts().ElementOf(c.Name(0));
  if (named && type && *type != *named)
    c.Add("input {} is {}, but {} is {}", c.Name(0), TextOf(*type), c.Name(1), TextOf(*named));
}

// The type of a product is that of the operand that is not a constant.
void CheckTypeOfVariable(const ConstraintAt& c) {
  const auto a = c.facts().ElementOf(c.Name(0)), b = c.facts().ElementOf(c.Name(1));
  if (!a || !b) return;
  const auto is_constant = [&](size_t i) {
    return c.facts().Values(c.Name(i)).front().constant != nullptr;
  };
  const bool both = is_constant(0) == is_constant(1);
  if (both && *a != *b)
    return c.Add("input {} is {}, but input {} is {}", c.Name(1), TextOf(*b), c.Name(0),
                 TextOf(*a));
  const pb::mil::ValueType* const result = c.facts().ResultType(0);
  const pb::mil::DataType want = !both && is_constant(0) ? *b : *a;
  if (result != nullptr && result->has_tensortype() && ElementOf(*result) != want)
    c.AddResult("result 0 is {} instead of {}", TextOf(ElementOf(*result)), TextOf(want));
}

void CheckFloatsIfNormalized(const ConstraintAt& c) {
  const auto type = c.facts().ElementOf(c.Name(0));
  if (type && c.Bool(1) == true && *type != pb::mil::FLOAT16 && *type != pb::mil::FLOAT32)
    c.Add("input {} is {}, but {} is true", c.Name(0), TextOf(*type), c.Name(1));
}

void CheckOffsetType(const ConstraintAt& c) {
  const auto data = c.facts().ElementOf(c.Name(0)), type = c.facts().ElementOf(c.Name(1));
  if (!data || !type || *type == *data) return;
  if (*type != pb::mil::FLOAT16 && *type != pb::mil::FLOAT32)
    c.Add("input {} is {}, which is neither a float nor the type of input {}, {}", c.Name(1),
          TextOf(*type), c.Name(0), TextOf(*data));
}

void CheckStoredAsAttributes(const ConstraintAt& c) {
  for (const auto& input : c.facts().operation().inputs())
    if (c.facts().definition().Input(input.key()) != nullptr)
      c.Add("{} is an input, but must be an attribute", input.key());
}

constexpr ConstraintRow kLikenessConstraints[] = {
    {Label::kSameType, CheckSameType},
    {Label::kSameRank, CheckSameRank},
    {Label::kSameShape, CheckSameShape},
    {Label::kSameLength, CheckSameLength},
    {Label::kBroadcast, CheckBroadcast},
    {Label::kKeepsShape, CheckKeepsShape},
    {Label::kShapeIs, CheckShapeIs},
    {Label::kChannels, CheckChannels},
    {Label::kOneValueUnlessRank4, CheckOneValueUnlessRank4},
    {Label::kSameBatch, CheckSameBatch},
    {Label::kNamedType, CheckNamedType},
    {Label::kTypeOfVariable, CheckTypeOfVariable},
    {Label::kFloatsIfNormalized, CheckFloatsIfNormalized},
    {Label::kOffsetType, CheckOffsetType},
    {Label::kStoredAsAttributes, CheckStoredAsAttributes},
};

}  // namespace

std::span<const ConstraintRow> LikenessConstraints() {
  return kLikenessConstraints;
}

}  // namespace nn::coreml::program

// Constraints on the contents of inputs.
#include <algorithm>

#include "base/text/text.h"
#include "formats/coreml/program/spec/constraint.h"

namespace nn::coreml::program {
namespace {

// Adds a misfit for each operand with a number that `is_bad`.
template <typename IsBad>
void NeedNumbers(const ConstraintAt& c, std::string_view what, const IsBad& is_bad) {
  for (size_t i = 0; i < c.size(); ++i) {
    const auto numbers = c.facts().Doubles(c.Name(i));
    if (!numbers) continue;
    const auto bad = std::ranges::find_if(*numbers, is_bad);
    if (bad != numbers->end()) c.Add("input {} has {}, {}", c.Name(i), *bad, what);
  }
}

void CheckPositive(const ConstraintAt& c) {
  NeedNumbers(c, "which is not above 0", [](double n) { return n <= 0; });
}

void CheckNotNegative(const ConstraintAt& c) {
  NeedNumbers(c, "which is below 0", [](double n) { return n < 0; });
}

void CheckZero(const ConstraintAt& c) {
  NeedNumbers(c, "but must be 0", [](double n) { return n != 0; });
}

void CheckNonzero(const ConstraintAt& c) {
  const auto numbers = c.facts().Doubles(c.Name(0));
  const auto is_zero = [](double n) { return n == 0; };
  if (numbers && !numbers->empty() && std::ranges::all_of(*numbers, is_zero))
    c.Add("input {} is 0", c.Name(0));
}

void CheckTrue(const ConstraintAt& c) {
  if (c.Bool(0) == false) c.Add("input {} is false, but must be true", c.Name(0));
}

void CheckLess(const ConstraintAt& c) {
  const auto a = c.facts().Doubles(c.Name(0)), b = c.facts().Doubles(c.Name(1));
  if (a && b && a->size() == 1 && b->size() == 1 && !(a->front() < b->front()))
    c.Add("input {} is {}, which is not below input {}, {}", c.Name(0), a->front(), c.Name(1),
          b->front());
}

void CheckSameLower(const ConstraintAt& c) {
  if (c.facts().view().opset == Opset::kIos15 && c.Text(0) == "same_lower")
    c.Add("input {} is same_lower, which iOS15 does not have", c.Name(0));
}

void CheckBits(const ConstraintAt& c) {
  const auto bits = c.Int(0);
  if (bits && (*bits < 1 || *bits > 8))
    c.Add("input {} is {}, which is not from 1 to 8", c.Name(0), *bits);
}

// Values other than 0 have no effect without "custom".
void CheckPadIfCustom(const ConstraintAt& c) {
  const auto mode = c.Text(1);
  if (!mode) return;
  if (*mode == "custom" && !c.Has(0))
    c.Add("input {} is missing, but {} is custom", c.Name(0), c.Name(1));
  if (*mode == "custom" || !c.Has(0)) return;
  const auto pad = c.Ints(0);
  if (pad && std::ranges::any_of(*pad, [](int64_t n) { return n != 0; }))
    c.Add("input {} has no effect, because {} is {}", c.Name(0), c.Name(1), Quote(*mode));
}

void CheckDtypeIfReturned(const ConstraintAt& c) {
  if (c.Has(0) && c.Bool(1) == false)
    c.Add("input {} is given, but {} is false", c.Name(0), c.Name(1));
}

void CheckNumberOrSizes(const ConstraintAt& c) {
  if (!c.Has(0) && !c.Has(1)) c.Add("input {} or {} is missing", c.Name(0), c.Name(1));
}

void CheckBothDirections(const ConstraintAt& c) {
  if (c.Text(0) != "bidirectional") return;
  for (size_t i = 1; i < c.size(); ++i)
    if (!c.Has(i)) c.Add("input {} is missing, but the direction is bidirectional", c.Name(i));
}

void CheckTwoValues(const ConstraintAt& c) {
  if (const size_t n = c.facts().Values(c.Name(0)).size(); n != 0 && n != 2)
    c.Add("input {} has {} values instead of 2", c.Name(0), n);
}

constexpr ConstraintRow kNumberConstraints[] = {
    {Label::kPositive, CheckPositive},
    {Label::kNotNegative, CheckNotNegative},
    {Label::kZero, CheckZero},
    {Label::kNonzero, CheckNonzero},
    {Label::kTrue, CheckTrue},
    {Label::kLess, CheckLess},
    {Label::kSameLowerSinceIos16, CheckSameLower},
    {Label::kBitsUpTo8, CheckBits},
    {Label::kPadIfCustom, CheckPadIfCustom},
    {Label::kDtypeIfReturned, CheckDtypeIfReturned},
    {Label::kNumberOrSizes, CheckNumberOrSizes},
    {Label::kBothDirections, CheckBothDirections},
    {Label::kTwoValues, CheckTwoValues},
};

}  // namespace

std::span<const ConstraintRow> NumberConstraints() {
  return kNumberConstraints;
}

}  // namespace nn::coreml::program

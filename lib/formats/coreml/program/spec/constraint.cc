#include "formats/coreml/program/spec/constraint.h"

#include <array>

namespace nn::coreml::program {
namespace {

// Labels that have no function of their own.
constexpr Label kUnchecked[] = {
    // Whether there is such an operation, which is asked before.
    Label::kBuilderOnly,
    Label::kFileOnly,
    // How the strings of a row are compared, and whether type inference compares them.
    Label::kKnownValue,
    Label::kAnyCase,
    // What a 0 copies, which same_elements asks.
    Label::kZerosFromTheEnd,
};

using ConstraintTable = std::array<ConstraintRow, kLabels>;

const ConstraintTable& Table() {
  static const ConstraintTable table = [] {
    ConstraintTable all{};
    for (const auto& part :
         {NumberConstraints(), LikenessConstraints(), AxisConstraintRows(), ShapeConstraintRows(),
          SliceConstraintRows(), BlockConstraintRows(), ControlConstraintRows(),
          ProductConstraintRows(), WindowConstraintRows(), RecurrentConstraintRows(),
          IndexConstraintRows(), ImageConstraintRows(), CompressedConstraintRows()})
      for (const ConstraintRow& row : part) all[static_cast<size_t>(row.label)] = row;
    return all;
  }();
  return table;
}

}  // namespace

std::span<const Label> UncheckedLabels() {
  return kUnchecked;
}

const ConstraintRow* RowOf(Label label) {
  const ConstraintRow& row = Table()[static_cast<size_t>(label)];
  return row.check == nullptr ? nullptr : &row;
}

void ConstraintAt::Append(Misfit::About about, std::string text) const {
  out_.push_back({about, constraint_.label, constraint_.published, std::move(text)});
}

void ConstraintAt::NeedSize(size_t i, int64_t axis, int64_t size, std::string_view why) const {
  const int64_t is = SizeOf(i, axis);
  if (MayEqual(is, size)) return;
  if (RankOf(i) == 1)
    Add("input {} has {} elements instead of {}, {}", Name(i), is, size, why);
  else
    Add("input {} has size {} along axis {} instead of {}, {}", Name(i), is, axis, size, why);
}

bool ConstraintAt::NeedAxis(size_t i, int64_t rank) const {
  const auto axis = Int(i);
  if (!axis || (*axis >= -rank && *axis < rank)) return true;
  Add("input {} is {}, which is out of range for rank {}", Name(i), *axis, rank);
  return false;
}

void ConstraintAt::NeedResult(size_t i, const std::optional<Sizes>& sizes) const {
  const pb::mil::ValueType* const type = facts_.ResultType(i);
  if (type == nullptr || !sizes) return;
  const auto declared = program::SizesOf(*type);
  if (declared && !MayEqual(*declared, *sizes))
    AddResult("result {} has shape {} instead of {}", i, TextOf(*declared), TextOf(*sizes));
}

}  // namespace nn::coreml::program

// What is known about the operands and results of an operation, for the constraints on it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/coreml/program/spec/check.h"
#include "formats/coreml/program/spec/sizes.h"

namespace nn::coreml::program {

// Contents are those of constants, or defaults. nullopt: not known.
class OperationFacts {
 public:
  // Must outlive this object.
  explicit OperationFacts(const OperationView& view) : view_(view) {}

  const OperationView& view() const { return view_; }
  const Definition& definition() const { return *view_.definition; }
  const pb::mil::Operation& operation() const { return *view_.operation; }

  // Of an operand; empty if it is absent.
  std::span<const BoundValue> Values(std::string_view name) const;
  bool Has(std::string_view name) const { return !Values(name).empty(); }

  // Of an operand, or the first value of a list.
  const pb::mil::ValueType* TypeOf(std::string_view name) const;  // nullptr if it is not known
  std::optional<Sizes> SizesOf(std::string_view name) const;
  std::optional<int64_t> RankOf(std::string_view name) const;
  std::optional<pb::mil::DataType> ElementOf(std::string_view name) const;
  // The size of one axis, from the end if it is negative; kAnySize if there is no such axis.
  int64_t SizeOf(std::string_view name, int64_t axis) const;

  // The constant of an operand; nullptr if it is not known or has more than `most` elements.
  const Tensor* Constant(std::string_view name, int64_t most = kMostElements) const;
  // `count`: the length of a default that is one number for all.
  std::optional<std::vector<int64_t>> Ints(std::string_view name, int64_t count = 1) const;
  std::optional<std::vector<double>> Doubles(std::string_view name, int64_t count = 1) const;
  std::optional<int64_t> Int(std::string_view name) const;
  std::optional<bool> Bool(std::string_view name) const;
  // In lower case if the definition accepts any case.
  std::optional<std::string> Text(std::string_view name) const;
  bool IsAnyCase(std::string_view name) const;

  // Axes from 0 to rank - 1; nullopt also if one is out of range. Absent axes are all.
  std::optional<int64_t> Axis(std::string_view name, int64_t rank) const;
  std::optional<std::vector<int64_t>> Axes(std::string_view name, int64_t rank) const;

  size_t results() const;
  const pb::mil::ValueType* ResultType(size_t i) const;  // nullptr if there is none

 private:
  // Contents that are longer are taken as unknown, because a file may use them many times.
  static constexpr int64_t kMostElements = int64_t{1} << 12;

  std::string_view DefaultOf(std::string_view name) const;

  const OperationView& view_;
};

}  // namespace nn::coreml::program

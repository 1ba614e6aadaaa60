// The elementwise functions of one operand. Internal to lib/ops/math/elementwise.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/op_def.h"
#include "ops/math/elementwise/impl.h"

namespace nn {

struct UnaryFacts {
  // Fields of OpDef.
  Interval (*range)(RangeContext&, size_t) = nullptr;
  std::optional<RealDomain> domain = std::nullopt;
  std::span<const FixedQuant> fixed_quants = {};
  // Shape arithmetic; nullopt: unknown. Null: the operator does not compute dimensions.
  std::optional<Dim> (*dim)(const Dim&) = nullptr;
};

// float32 uses functions-inl.h; 16-bit floats go through float32; float64 uses double_functions.h.
struct UnaryRow {
  std::string_view name;
  std::string_view summary;
  Category category;
  const AttrsInfo* attrs;
  UnaryFacts facts;
  double (*f64)(double, const FunctionParams&);
  IntegerUnary integer;
  std::vector<FormatName> formats;
  Interval (*clamp)(const Node&) = nullptr;
};

const std::vector<UnaryRow>& UnaryRows();
const UnaryRow& UnaryRowOf(const Node& node);

}  // namespace nn

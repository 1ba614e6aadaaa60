#include "ops/support/types.h"

#include <algorithm>
#include <set>
#include <string>

namespace nn {

Result<DType> SameDType(const InferContext& ctx, std::initializer_list<size_t> indices) {
  DType dtype = DType::kUnknown;
  for (const size_t i : indices) {
    if (!ctx.has(i) || ctx.in(i).dtype == DType::kUnknown) continue;
    if (dtype == DType::kUnknown) dtype = ctx.in(i).dtype;
    if (dtype != ctx.in(i).dtype)
      return ModelError("inputs have different element types, {} and {}", DTypeName(dtype),
                        DTypeName(ctx.in(i).dtype));
  }
  return dtype;
}

Status RequireRank(const InferContext& ctx, size_t input, int at_least, int at_most) {
  const Type& type = ctx.in(input);
  if (!type.ranked()) return UnsupportedError("the rank of input {} is not known", input);
  if (type.rank() < at_least || type.rank() > at_most)
    return ModelError("input {} is {}; its rank must be {}", input, type.ToString(),
                      at_least == at_most   ? fmt::format("{}", at_least)
                      : at_most >= kMaxRank ? fmt::format("at least {}", at_least)
                                            : fmt::format("{} to {}", at_least, at_most));
  return {};
}

Status RequireIntegers(const InferContext& ctx, size_t input, std::string_view what) {
  if (!ctx.has(input)) return {};
  const Type& type = ctx.in(input);
  if (type.dtype == DType::kUnknown || IsInteger(type.dtype)) return {};
  return ModelError("input {} holds {} and must be an integer tensor, but is {}", input, what,
                    type.ToString());
}

Status RequireOneNumber(const InferContext& ctx, size_t input) {
  if (!ctx.has(input) || !ctx.in(input).ranked()) return {};
  const Dims& dims = *ctx.in(input).dims;
  if (dims.empty() || (dims.size() == 1 && (!dims[0].is_const() || dims[0] == 1))) return {};
  return ModelError("input {} is {}; must have one element", input, ctx.in(input).ToString());
}

std::optional<int64_t> KnownLength(const Type& list) {
  if (!list.ranked() || list.rank() != 1 || !list.dim(0).is_const()) return std::nullopt;
  return list.dim(0).value();
}

Status RequireList(const InferContext& ctx, size_t input, size_t count) {
  if (!ctx.has(input) || !ctx.in(input).ranked()) return {};
  const Dims& dims = *ctx.in(input).dims;
  if (dims.size() == 1 && (!dims[0].is_const() || dims[0] == Dim(static_cast<int64_t>(count))))
    return {};
  return ModelError("input {} is {}; must be a vector of {} elements", input,
                    ctx.in(input).ToString(), count);
}

Result<Dims> BroadcastDims(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    const Dim& x = longer[offset + i];
    const Dim& y = shorter[i];
    if (x == y || y == 1) continue;
    if (x == 1) {
      out[offset + i] = y;
    } else if (x.is_const() && y.is_const()) {
      return ModelError("shapes {} and {} do not broadcast: {} and {} on axis {}", ToString(a),
                        ToString(b), x.ToString(), y.ToString(), offset + i);
    } else if (y.is_const()) {
      out[offset + i] = y;  // the symbol can only be 1 or the same number
    }
  }
  return out;
}

bool KnownBeforeRun(const Dims& dims) {
  std::set<std::string> symbols;
  for (const Dim& d : dims) d.CollectSymbols(symbols);
  return std::none_of(symbols.begin(), symbols.end(),
                      [](const std::string& s) { return InferContext::IsNewSymbol(s); });
}

Result<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return ModelError("axis {} is out of range for a tensor of rank {}", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Result<std::vector<int>> NormalizeAxes(std::span<const int64_t> axes, int rank) {
  std::vector<int> out;
  for (const int64_t axis : axes) {
    NN_ASSIGN(const int a, NormalizeAxis(axis, rank));
    if (std::find(out.begin(), out.end(), a) != out.end())
      return ModelError("axis {} is repeated", a);
    out.push_back(a);
  }
  return out;
}

Interval IndexRange(const Type& type) {
  const auto dims = type.const_dims();
  if (!dims || dims->empty()) return {0, kLargestSize};
  return {0, static_cast<double>(std::ranges::max(*dims))};
}

}  // namespace nn

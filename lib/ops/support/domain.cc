#include "ops/support/domain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace nn {

bool Domain::restricted() const {
  return contents || nonzero || std::isfinite(min) || std::isfinite(max);
}

std::string Domain::Describe() const {
  if (contents) return fmt::format("[{}]", fmt::join(*contents, ", "));
  std::string text;
  if (std::isfinite(min) && std::isfinite(max))
    text = fmt::format("in [{:.6g}, {:.6g}]", min, max);
  else if (std::isfinite(min))
    text = fmt::format("at least {:.6g}", min);
  else if (std::isfinite(max))
    text = fmt::format("at most {:.6g}", max);
  if (nonzero) text += text.empty() ? "not 0" : ", not 0";
  return text;
}

Domain Intersection(const Domain& a, const Domain& b) {
  if (a.contents || !b.restricted()) return a;
  if (b.contents || !a.restricted()) return b;
  Domain both = a;
  both.min = std::max(a.min, b.min);
  both.max = std::min(a.max, b.max);
  both.nonzero = a.nonzero || b.nonzero;
  if (both.min > both.max || (both.nonzero && both.min == 0 && both.max == 0)) return a;
  // The narrower requirement explains the domain.
  if (b.max - b.min < a.max - a.min) both.node = b.node;
  return both;
}

Domain Between(double min, double max) {
  Domain d;
  if (min > max) return d;
  d.min = min;
  d.max = max;
  return d;
}

Domain IndexDomain(int64_t size) {
  return Between(0, static_cast<double>(size - 1));
}

Domain Exactly(std::span<const int64_t> contents) {
  Domain d;
  d.contents.emplace(contents.begin(), contents.end());
  return d;
}

Domain SelectsElements(const Node&, size_t input, std::span<const Domain> y) {
  return input == 0 ? y[0] : Domain();
}

std::optional<std::vector<int64_t>> DimsOf(const Value* value) {
  return value == nullptr ? std::nullopt : value->type().const_dims();
}

std::optional<int64_t> LengthOf(const Value* value) {
  const auto dims = DimsOf(value);
  return dims && dims->size() == 1 ? std::optional((*dims)[0]) : std::nullopt;
}

}  // namespace nn

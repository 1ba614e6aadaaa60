// The requirements of operators on the contents of their inputs. Input generators draw from these
// domains (passes/facts/input_domains.h), so that a model with indices, shapes or logarithms can be
// run without real data. Each family declares the requirements of its operators in a function
// Add<Family>Domains(DomainTable& domains) (ops/families.h).
//
// Design: docs/design/033-seeded-inputs.md.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace nn {

// A set of tensor contents. Numbers are those that the elements represent: real numbers in
// quantized tensors.
struct Domain {
  double min = -std::numeric_limits<double>::infinity();  // inclusive
  double max = std::numeric_limits<double>::infinity();
  bool nonzero = false;
  // The one tensor in the set, such as a shape, in row-major order. `min` and `max` are then
  // ignored.
  std::optional<std::vector<double>> contents;
  // The node that requires it, for messages. Functions in the DomainTable leave it empty.
  std::string node;

  bool restricted() const;
  // "in [0, 9]", "not 0", "[2, 3]"; "" if not restricted.
  std::string Describe() const;
};

// Both requirements; `a` where they contradict each other.
Domain Intersection(const Domain& a, const Domain& b);

// The distance that generated numbers keep from poles and from open ends of domains, so that
// results are neither infinite nor all dominated by one element.
inline constexpr double kDomainMargin = 0x1p-6;

// The contents of input `input` for which the node succeeds, has finite results, and has outputs in
// the domains `y`. Elements are assumed to vary independently. An unrestricted domain if the
// operator accepts everything, or if nothing is known. Shapes of inputs are numbers where the model
// has no symbols.
using DomainFn = Domain (*)(const Node& node, size_t input, std::span<const Domain> y);

// By operator. An operator that is not listed restricts nothing itself; requirements on its outputs
// propagate through it if its definition says that elements are only moved or clamped, or that
// their representation changes (Movement, `clamp`, `converts`).
using DomainTable = std::map<std::string_view, DomainFn>;
const DomainTable& Domains();

// ---- For families

// Elements of an index into an axis of `size` elements.
Domain IndexDomain(int64_t size);
Domain Between(double min, double max);
Domain Exactly(std::span<const int64_t> contents);

// The requirement of an operator whose outputs hold elements of input 0, and whose other inputs are
// unrestricted.
Domain SelectsElements(const Node& node, size_t input, std::span<const Domain> y);

// The dimensions of an input or output if all are known.
std::optional<std::vector<int64_t>> DimsOf(const Value* value);
// The number of elements of an input, such as a list of axes; nullopt if unknown or not a vector.
std::optional<int64_t> LengthOf(const Value* value);

}  // namespace nn

#include "passes/facts/input_domains.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/random.h"
#include "base/text/text.h"
#include "ir/op_def.h"
#include "ir/seeded.h"
#include "ops/control/region.h"
#include "passes/core/ports.h"

namespace nn {
namespace {

// The requirement that follows from the definition of an operator without an entry in Domains().
Domain DemandOfDefinition(const Node& node, size_t input, const Domain& y) {
  const OpDef& op = node.op();
  if (input != 0) return {};
  if (op.movement == Movement::kInOrder) return y;
  if (y.contents) return {};
  if (op.movement == Movement::kPermuted || op.converts) return y;
  if (op.clamp == nullptr) return {};
  const Interval bounds = op.clamp(node);
  Domain x = y;
  if (bounds.min >= y.min) x.min = -std::numeric_limits<double>::infinity();
  if (bounds.max <= y.max) x.max = std::numeric_limits<double>::infinity();
  if (y.nonzero && bounds.min <= 0) x.min = std::max(x.min, kDomainMargin);
  return x;
}

using Restricted = std::unordered_map<const Value*, Domain>;

void Demand(const Node& node, DomainFn demands, Restricted& domains) {
  std::vector<Domain> y(node.outputs().size());
  for (size_t i = 0; !domains.empty() && i < y.size(); ++i)
    if (const auto it = domains.find(node.output(i)); it != domains.end()) y[i] = it->second;
  if (y.empty()) return;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* x = node.input(i);
    if (x == nullptr || x->is_constant()) continue;
    Domain d = demands != nullptr ? demands(node, i, y) : DemandOfDefinition(node, i, y[0]);
    if (!d.restricted()) continue;
    if (d.node.empty()) d.node = node.Describe();
    Domain& all = domains[x];
    all = Intersection(all, d);
  }
}

std::vector<Domain> DomainsFor(const Graph& graph, const std::vector<Domain>& outputs);

// The requirements of the regions of a node. Those on a result are taken for ones on each
// iteration.
void DemandOfRegions(const Node& node, Restricted& domains) {
  const RegionPorts ports(node);
  for (const auto& region : node.regions()) {
    std::vector<Domain> outputs(region->outputs().size());
    for (size_t i = 0; i < outputs.size(); ++i)
      if (const auto result = ports.ResultOf(i); result && !ports.IsStacked(*result))
        if (const auto it = domains.find(node.output(*result)); it != domains.end())
          outputs[i] = it->second;
    const std::vector<Domain> inputs = DomainsFor(*region, outputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto operand = ports.OperandOf(i);
      if (!operand || !inputs[i].restricted() || node.input(*operand)->is_constant()) continue;
      Domain& all = domains[node.input(*operand)];
      all = Intersection(all, inputs[i]);
    }
  }
}

// The requirements on the inputs of a graph with these requirements on its outputs.
std::vector<Domain> DomainsFor(const Graph& graph, const std::vector<Domain>& outputs) {
  std::unordered_map<const OpDef*, DomainFn> demands;
  Restricted domains;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].restricted()) {
      Domain& all = domains[graph.outputs()[i].value];
      all = Intersection(all, outputs[i]);
    }
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    if (!node->regions().empty()) {
      DemandOfRegions(*node, domains);
      continue;
    }
    const auto [it, is_new] = demands.try_emplace(&node->op(), nullptr);
    if (is_new)
      if (const auto row = Domains().find(node->op_name()); row != Domains().end())
        it->second = row->second;
    Demand(*node, it->second, domains);
  }
  std::vector<Domain> out;
  for (const Port& p : graph.inputs()) {
    const auto it = domains.find(p.value);
    out.push_back(it == domains.end() ? Domain() : it->second);
  }
  return out;
}

// The integers of a type that a domain allows.
struct IntegerRange {
  int64_t min, max;
  int64_t zero;  // that represents 0
};

std::optional<IntegerRange> IntegerRangeIn(const Domain& d, const Type& type) {
  const int bits = DTypeBits(type.dtype);
  const bool is_signed = IsSigned(type.dtype);
  const bool small = bits <= 16;
  // Doubles hold them, and so do int64_t the integers of unsigned types.
  const double least = type.dtype == DType::kBool || !is_signed ? 0 : -std::ldexp(1, bits - 1);
  const double most = type.dtype == DType::kBool ? 1
                      : is_signed                ? std::ldexp(1, bits - 1) - 1
                                                 : std::ldexp(1, bits) - 1;
  constexpr double kExact = 0x1p52;
  double min = d.min, max = d.max;
  int64_t zero = 0;
  if (type.quantized()) {
    if (type.quant->per_axis() || type.quant->scale() <= 0) return std::nullopt;
    zero = type.quant->zero_point();
    min = min / type.quant->scale() + static_cast<double>(zero);
    max = max / type.quant->scale() + static_cast<double>(zero);
  }
  min = std::ceil(min - 1e-6);
  max = std::floor(max + 1e-6);
  if (small) {
    min = std::max(min, least);
    max = std::min(max, most);
  } else if (!std::isfinite(min) && !std::isfinite(max)) {
    min = 0;
    max = 9;
  } else if (!std::isfinite(min)) {
    min = max >= 0 ? std::max(least, 0.0) : max - 9;
  } else if (!std::isfinite(max)) {
    min = std::max(min, least);
    max = std::min(std::max(min, 0.0) + 9, most);
  }
  min = std::clamp(min, std::max(least, -kExact), kExact);
  max = std::clamp(max, -kExact, std::min(most, kExact));
  if (min > max) return std::nullopt;
  return IntegerRange{static_cast<int64_t>(min), static_cast<int64_t>(max), zero};
}

void FillIntegers(const Domain& d, const IntegerRange& range, const SeededStream& random,
                  TensorBuilder& out) {
  const auto count = static_cast<uint64_t>(range.max - range.min) + 1;
  const int64_t instead = range.max != range.zero ? range.max : range.min;
  for (int64_t k = 0; k < out.elements(); ++k) {
    const int64_t v =
        range.min + static_cast<int64_t>((random.Bits(static_cast<uint64_t>(k)) >> 11) % count);
    out.SetInt(k, d.nonzero && v == range.zero ? instead : v);
  }
}

// The part of a domain that floats are drawn from.
std::pair<double, double> FloatsIn(const Domain& d) {
  double min = std::max(d.min, -1.0), max = std::min(d.max, 1.0);
  if (max - min >= std::min(0.01, d.max - d.min)) return {min, max};
  if (d.min > -1) return {d.min, std::min(d.max, d.min + 2)};
  return {std::max(d.min, d.max - 2), d.max};
}

void FillFloats(const Domain& d, const SeededStream& random, TensorBuilder& out) {
  const auto [min, max] = FloatsIn(d);
  for (int64_t k = 0; k < out.elements(); ++k) {
    double v = min + (max - min) / 2 * (1 + double{random.Unit(static_cast<uint64_t>(k))});
    if (d.nonzero && std::fabs(v) < kDomainMargin) {
      const double away = v < 0 ? v - kDomainMargin : v + kDomainMargin;
      v = away > max ? v - kDomainMargin : away < min ? v + kDomainMargin : away;
    }
    out.SetDouble(k, v);
  }
}

void FillContents(const std::vector<double>& contents, TensorBuilder& out) {
  for (size_t k = 0; k < contents.size(); ++k) {
    if (IsFloat(out.dtype()))
      out.SetDouble(static_cast<int64_t>(k), contents[k]);
    else
      out.SetInt(static_cast<int64_t>(k), static_cast<int64_t>(contents[k]));
  }
}

}  // namespace

std::vector<Domain> InputDomains(const Graph& graph) {
  return DomainsFor(graph, {});
}

Result<Tensor> SeededInput(std::string_view name, const Type& type, size_t i, uint64_t seed,
                           const Domain& domain) {
  NN_RETURN_IF_ERROR(RequireShape(name, type));
  const bool integer = IsInteger(type.dtype) || type.dtype == DType::kBool;
  const auto integers = integer ? IntegerRangeIn(domain, type) : std::nullopt;
  auto dims = *type.const_dims();
  const bool drawn = domain.restricted() && (integers || IsFloat(type.dtype));
  if (drawn) {
    auto out = TensorBuilder::Create(type.dtype, dims);
    if (!out) return tl::unexpected(out.error().In("input " + Quote(name)));
    const SeededStream random(seed, i);
    if (!domain.contents) {
      if (integers)
        FillIntegers(domain, *integers, random, *out);
      else
        FillFloats(domain, random, *out);
      return out->Finish();
    }
    if (std::ssize(*domain.contents) == out->elements()) {
      FillContents(*domain.contents, *out);
      return out->Finish();
    }
  }
  auto tensor = SeededTensor(type.dtype, std::move(dims), seed, i);
  if (!tensor) return tl::unexpected(tensor.error().In("input " + Quote(name)));
  return tensor;
}

Domain Narrowed(const Domain& domain, const Type& type, int level) {
  if (level == 0 || domain.contents) return domain;
  Domain d = domain;
  if (IsFloat(type.dtype)) {
    const Domain positive = Intersection(domain, Between(kDomainMargin, 1));
    return positive;
  }
  if ((!IsInteger(type.dtype) && type.dtype != DType::kBool) || type.quantized()) return d;
  d.min = std::clamp(0.0, domain.min, domain.max);
  if (d.nonzero && d.min == 0) d.min = domain.max >= 1 ? 1 : -1;
  d.max = std::min(domain.max, d.min + (level == 1 ? 1 : 0));
  return d;
}

}  // namespace nn

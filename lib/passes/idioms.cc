#include "passes/idioms.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ops/math/elementwise.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduce.h"
#include "ops/support/types.h"
#include "passes/passes.h"
#include "passes/pattern.h"

namespace nn {
namespace {

// The operator in place of a match.
struct Fused {
  std::vector<Value*> inputs;
  Attrs attrs;
};

struct Idiom {
  std::string_view op;
  // An operator inside, whose result, through nodes with one use each, reaches that of the idiom.
  std::string_view key;
  std::string_view pattern;
  std::optional<Fused> (*fuse)(const Pattern::Match&);
};

Value* ValueOf(const Pattern::Match& m, std::string_view name) {
  const auto it = m.values.find(name);
  return it == m.values.end() ? nullptr : it->second;
}

std::optional<Fused> OfX(const Pattern::Match& m) {
  return Fused{{ValueOf(m, "x")}, {}};
}

template <GeluApproximation approximation>
std::optional<Fused> Gelu(const Pattern::Match& m) {
  return Fused{{ValueOf(m, "x")}, GeluAttrs{approximation}};
}

// The first axis over which a node reduces; nullopt if it does not keep them, or others follow.
std::optional<int64_t> FirstReducedAxis(const Node& reduction) {
  const auto& a = reduction.attrs<ReduceAttrs>();
  const Type& x = reduction.input(0)->type();
  if (!a.keep_dims || reduction.input(1) != nullptr || !x.ranked()) return std::nullopt;
  const auto axes = NormalizeAxes(a.axes, x.rank());
  if (!axes || axes->empty()) return std::nullopt;
  std::vector<int64_t> sorted(axes->begin(), axes->end());
  std::ranges::sort(sorted);
  if (sorted.back() != x.rank() - 1 || sorted.back() - sorted.front() + 1 != std::ssize(sorted))
    return std::nullopt;
  return sorted.front();
}

// The axis of all of the named reductions.
std::optional<int64_t> CommonAxis(const Pattern::Match& m,
                                  std::initializer_list<std::string_view> reductions) {
  std::optional<int64_t> common;
  for (const std::string_view name : reductions) {
    const auto axis = FirstReducedAxis(*ValueOf(m, name)->def());
    if (!axis || (common && *axis != *common)) return std::nullopt;
    common = axis;
  }
  return common;
}

std::optional<Fused> LayerNorm(const Pattern::Match& m) {
  const auto axis = CommonAxis(m, {"mean", "variance"});
  if (!axis) return std::nullopt;
  return Fused{{ValueOf(m, "x"), ValueOf(m, "scale"), ValueOf(m, "bias")},
               LayerNormAttrs{*axis, static_cast<float>(m.numbers.at("epsilon"))}};
}

std::optional<Fused> RmsNorm(const Pattern::Match& m) {
  const auto axis = CommonAxis(m, {"mean"});
  if (!axis) return std::nullopt;
  return Fused{{ValueOf(m, "x"), ValueOf(m, "scale")},
               RmsNormAttrs{*axis, static_cast<float>(m.numbers.at("epsilon"))}};
}

template <EpsilonRule rule>
std::optional<Fused> L2Normalization(const Pattern::Match& m) {
  const Node& norm = *ValueOf(m, "norm")->def();
  const auto& a = norm.attrs<ReduceAttrs>();
  if (!a.keep_dims || norm.input(1) != nullptr) return std::nullopt;
  return Fused{{ValueOf(m, "x")},
               L2NormalizationAttrs{a.axes, static_cast<float>(m.numbers.at("epsilon")), rule}};
}

// x * clip(x + 3, 0, 6) / 6
std::optional<Fused> HardSwishOfClip(const Pattern::Match& m) {
  const auto& a = ValueOf(m, "clip")->def()->attrs<ClipAttrs>();
  if (a.min != 0 || a.max != 6) return std::nullopt;
  return OfX(m);
}

std::optional<Fused> HardSwishOfHardSigmoid(const Pattern::Match& m) {
  const auto& a = ValueOf(m, "gate")->def()->attrs<HardSigmoidAttrs>();
  constexpr float kSixth = 1.0f / 6;
  if (std::abs(a.alpha - kSixth) > 1e-6f || a.beta != 0.5f) return std::nullopt;
  return OfX(m);
}

// Of one operator, the larger ones first. The forms are those of PyTorch's ONNX exporters (gelu,
// layer_norm, functional.normalize, silu, mish, Hardswish before operator set 14), Hugging Face's
// NewGELU and QuickGELU, LLaMA's RMSNorm, and tf2onnx.
constexpr Idiom kIdioms[] = {
    {"gelu", "erf", "product(0.5, x, add(erf(product(0.7071067811865476, x)), 1))",
     Gelu<GeluApproximation::kNone>},
    {"gelu", "tanh",
     "product(0.5, x, add(tanh(product(0.7978845608028654, add(x, product(0.044715, x, x, x)))), "
     "1))",
     Gelu<GeluApproximation::kTanh>},
    {"gelu", "tanh",
     "product(0.5, x, add(tanh(product(0.7978845608028654, x, add(product(0.044715, x, x), 1))), "
     "1))",
     Gelu<GeluApproximation::kTanh>},
    {"gelu", "sigmoid", "product(x, sigmoid(product(1.702, x)))",
     Gelu<GeluApproximation::kSigmoid>},
    {"silu", "sigmoid", "product(x, sigmoid(x))", OfX},
    {"mish", "softplus", "product(x, tanh(softplus(x)))", OfX},
    {"mish", "log", "product(x, tanh(log(add(exp(x), 1))))", OfX},
    {"softplus", "log", "log(add(exp(x), 1))", OfX},
    {"softsign", "abs", "product(x, inverse(add(abs(x), 1)))", OfX},
    {"hard_swish", "clip", "product(0.16666666666666666, x, clip:clip(add(x, 3)))",
     HardSwishOfClip},
    {"hard_swish", "hard_sigmoid", "product(x, gate:hard_sigmoid(x))", HardSwishOfHardSigmoid},
    {"layer_norm", "reduce_mean",
     "add(product(d:sub(x, mean:reduce_mean(x)), #scale, "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon)))), #bias)",
     LayerNorm},
    {"layer_norm", "reduce_mean",
     "product(d:sub(x, mean:reduce_mean(x)), #scale, "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon))))",
     LayerNorm},
    {"layer_norm", "reduce_mean",
     "product(d:sub(x, mean:reduce_mean(x)), "
     "inverse(sqrt(add(variance:reduce_mean(square(d)), $epsilon))))",
     LayerNorm},
    {"rms_norm", "reduce_mean",
     "product(x, #scale, inverse(sqrt(add(mean:reduce_mean(square(x)), $epsilon))))", RmsNorm},
    {"rms_norm", "reduce_mean",
     "product(x, inverse(sqrt(add(mean:reduce_mean(square(x)), $epsilon))))", RmsNorm},
    {"l2_normalization", "reduce_l2", "product(x, inverse(maximum(norm:reduce_l2(x), $epsilon)))",
     L2Normalization<EpsilonRule::kFloor>},
    {"l2_normalization", "reduce_l2", "product(x, inverse(add(norm:reduce_l2(x), $epsilon)))",
     L2Normalization<EpsilonRule::kOutside>},
    {"l2_normalization", "reduce_sum_square",
     "product(x, inverse(sqrt(add(norm:reduce_sum_square(x), $epsilon))))",
     L2Normalization<EpsilonRule::kInside>},
    {"l2_normalization", "reduce_sum",
     "product(x, inverse(sqrt(add(norm:reduce_sum(square(x)), $epsilon))))",
     L2Normalization<EpsilonRule::kInside>},
};

constexpr size_t kMostStepsToResult = 8;  // from the key to the result

// The results that nodes of one use each reach from the key, the nearest first.
std::vector<Value*> ResultsBehind(const Graph& graph, const Node& key) {
  std::vector<Value*> out;
  Value* v = key.output();
  while (true) {
    out.push_back(v);
    const auto uses = v->uses();
    if (out.size() == kMostStepsToResult || uses.empty() || graph.IsOutput(v)) return out;
    const Node* const user = uses[0].node;
    const bool one = std::ranges::all_of(uses, [&](const Use& use) { return use.node == user; });
    if (!one || user->outputs().size() != 1) return out;
    v = user->output();
  }
}

bool IsPlainFloat(const Value* v) {
  return v->dtype() == DType::kF32 && !v->type().quantized() && v->type().ranked();
}

struct Rule {
  const Idiom* idiom;
  Pattern pattern;
};

// The rules by key.
using Rules = std::map<std::string_view, std::vector<Rule>>;

const Rules& AllRules() {
  static const Rules rules = [] {
    Rules out;
    for (const Idiom& idiom : kIdioms) out[idiom.key].push_back({&idiom, Pattern(idiom.pattern)});
    return out;
  }();
  return rules;
}

// Replaces the value if it is the result of the idiom.
Result<bool> Fuse(Graph& graph, const Rule& rule, Value* y, const IdiomOptions& options) {
  const auto match = rule.pattern.Find(graph, y);
  if (!match || !std::ranges::all_of(match->values,
                                     [](const auto& entry) { return IsPlainFloat(entry.second); }))
    return false;
  auto fused = rule.idiom->fuse(*match);
  if (!fused) return false;
  while (!fused->inputs.empty() && fused->inputs.back() == nullptr) fused->inputs.pop_back();
  Node* const root = y->def();
  auto node =
      graph.Append(rule.idiom->op, std::move(fused->inputs), std::move(fused->attrs), 1, root);
  // The parameters may not fit the operator.
  if (!node) return false;
  const bool fits = (*node)->output()->type().dims == y->type().dims;
  if (!fits || (options.takes && !options.takes(**node))) {
    graph.Erase(*node);
    return false;
  }
  (*node)->set_source(root->source());
  (*node)->set_name(root->name());
  graph.Replace(root, (*node)->output());
  return true;
}

}  // namespace

Result<std::map<std::string_view, uint64_t>> FuseIdioms(Graph& graph, const IdiomOptions& options) {
  std::map<std::string_view, uint64_t> counts;
  std::vector<const Node*> keys;
  for (const Node& node : graph.nodes())
    if (AllRules().contains(node.op_name()) && IsPlainFloat(node.output()) &&
        (!options.is_wanted || options.is_wanted(node)))
      keys.push_back(&node);
  // Fusing erases one node, the last of the idiom, which is no key or the present one.
  for (const Node* key : keys) {
    const auto results = ResultsBehind(graph, *key);
    const auto& rules = AllRules().at(key->op_name());
    bool done = false;
    for (auto y = results.rbegin(); y != results.rend() && !done; ++y)
      for (const Rule& rule : rules) {
        NN_ASSIGN(done, Fuse(graph, rule, *y, options));
        if (!done) continue;
        ++counts[rule.idiom->op];
        break;
      }
  }
  if (!counts.empty()) NN_RETURN_IF_ERROR(RemoveDeadCode(graph));
  return counts;
}

}  // namespace nn

#include "convert/quantize/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/edits/interface.h"
#include "convert/edits/node_pattern.h"
#include "convert/quantize/half_range.h"
#include "ir/op_def.h"
#include "ops/control/region.h"
#include "ops/math/elementwise/elementwise.h"
#include "ops/quant/block_weights.h"
#include "passes/core/passes.h"
#include "passes/qdq/qdq.h"
#include "passes/simplify/simplify.h"
#include "passes/types/half.h"
#include "rewrite/interface_axes.h"
#include "rewrite/target.h"

namespace nn {

namespace {

bool IsHalf(const Value* v) {
  return v != nullptr && (v->dtype() == DType::kF16 || v->dtype() == DType::kBF16);
}

// Whether the graph has numbers of 16 bits of which it makes float32 ones.
bool Widens(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) {
    return node.Is<CastAttrs>() && IsHalf(node.input(0)) && node.output()->dtype() == DType::kF32;
  });
}

// The node as a model of its own, written and read again; nullopt if the format does not have it,
// or in another type only.
std::optional<Graph> WrittenAlone(const Node& node, const Format& format,
                                  const ExportOptions& output) {
  const ExportOptions options =
      format.writer.InOneFile({.path = output.path,
                               .opset = output.opset,
                               .core_ml = output.core_ml,
                               .deployment_target = output.deployment_target});
  Graph graph;
  std::vector<Value*> inputs;
  for (const Value* v : node.inputs()) {
    if (v == nullptr)
      inputs.push_back(nullptr);
    else if (v->is_constant())
      inputs.push_back(graph.AddConstant(v->constant(), v->name(), v->type().quant));
    else
      inputs.push_back(graph.AddInput(fmt::format("in{}", inputs.size()), v->type()));
  }
  const auto copy = graph.Append(node.op_name(), inputs, node.attrs(), node.outputs().size());
  if (!copy) return std::nullopt;
  graph.AddOutput("out", (*copy)->output());
  InterfaceAxes axes;
  const auto unsupported = Legalize(graph, TargetOf(format, options), &axes);
  if (!unsupported || !unsupported->empty()) return std::nullopt;
  if (!format.writer.Lower(graph, options, nullptr)) return std::nullopt;
  if (!node.Is<CastAttrs>() && Widens(graph)) return std::nullopt;
  const auto image = format.writer.Write(graph, options);
  if (!image) return std::nullopt;
  auto written = ImportImage(*image, options.path, format);
  return written ? std::optional(*std::move(written)) : std::nullopt;
}

bool IsInBlocks(const Value* v) {
  return v != nullptr && v->is_constant() && StoredBlocks(v->constant()) != nullptr;
}

// Whether the format keeps weights of the node, which the source file has in blocks.
bool KeepsBlocks(const Node& node, const Format& format, const ExportOptions& options) {
  if (std::ranges::none_of(node.inputs(), IsInBlocks)) return false;
  const auto written = WrittenAlone(node, format, options);
  return written &&
         std::ranges::any_of(written->values(), [](const Value& v) { return IsInBlocks(&v); });
}

}  // namespace

bool IsOneOperator(const Node& node, const Format& format, const ExportOptions& options) {
  const auto written = WrittenAlone(node, format, options);
  return written &&
         std::ranges::any_of(written->nodes(), [&](const Node& n) { return n.Is(node.op_name()); });
}

namespace {

// Moves transposes where that leaves fewer nodes, all of them legal.
Status JoinAxes(Graph& graph, const Target& target, RewriteCounts& rewrites) {
  Graph moved = graph.Clone();
  NN_RETURN_IF_ERROR(ChangeAxes(moved).map([](bool) {}));
  RewriteCounts counts;
  NN_RETURN_IF_ERROR(Simplify(moved, &counts));
  const auto any = [](const Node&) { return true; };
  if (CountNodes(moved, any) >= CountNodes(graph, any) || !IsLegal(moved, target)) return {};
  graph = std::move(moved);
  for (const auto& [rewrite, count] : counts) rewrites[rewrite] += count;
  return {};
}

// Whether the writer stores the constants, which are float32 in the graph, in 16 bits.
bool Narrows(const Target& target, const HalfOptions& options) {
  return target.narrows_constants && options.type == DType::kF16;
}

// The first newer operator set in which the format has the operators of the graph on the type; 0 if
// there is none.
int64_t OpsetWithOperators(const Graph& graph, const Format& format, const HalfOptions& options,
                           ExportOptions output) {
  const int64_t opset = output.opset;
  constexpr int64_t kMaxTried = 16;
  for (int64_t newer = opset + 1; opset != 0 && newer <= opset + kMaxTried; ++newer) {
    HalfOptions tried = options;
    output.opset = newer;
    tried.accepts = [&](const Node& node) { return IsOneOperator(node, format, output); };
    Graph copy = graph.Clone();
    if (const auto done = ComputeInHalf(copy, tried); done && done->operators > 0) return newer;
  }
  return 0;
}

// `newer` is OpsetWithOperators().
tl::unexpected<Error> NoOperators(const Format& format, const ExportOptions& output,
                                  const HalfOptions& options, int64_t newer = 0) {
  std::string remedy;
  if (Narrows(TargetOf(format, output), options))
    remedy = "; --fp16 --weights-only stores their weights in it";
  else if (newer != 0)
    remedy = fmt::format(" in this operator set; use --opset {}", newer);
  else
    return UnsupportedError("{} has none of the model's operators on {}", format.label,
                            DTypeName(options.type));
  return UnsupportedError("{} models have no operators on {}{}", format.label,
                          DTypeName(options.type), remedy);
}

// kUnsupported or kUsage if nothing was changed in the graph.
Status CheckChanges(const HalfSummary& done, const Graph& graph, const Format& format,
                    const HalfOptions& options, const ExportOptions& output) {
  if (done.weights != 0 || done.operators != 0) return {};
  if (done.unaccepted != 0)
    return NoOperators(format, output, options, OpsetWithOperators(graph, format, options, output));
  return UsageError("the model has no float32 {} that could be {}",
                    options.weights_only ? "weights" : "operators", DTypeName(options.type));
}

// What the options change if all numbers are in range; with one operator on the type, it is not
// looked for more.
Result<HalfSummary> TryHalving(const Graph& graph, const HalfOptions& options) {
  bool found = false;
  HalfOptions first = options;
  first.accepts = [&](const Node& node) { return !found && (found = options.accepts(node)); };
  Graph copy = graph.Clone();
  return ComputeInHalf(copy, first);
}

}  // namespace

Result<bool> SimplifyFor(const Target& target, Graph& graph, InterfaceAxes& axes,
                         RewriteCounts& rewrites) {
  NN_RETURN_IF_ERROR(Simplify(graph, &rewrites));
  if (IsQuantized(graph) || !IsLegal(graph, target)) return false;
  NN_RETURN_IF_ERROR(JoinAxes(graph, target, rewrites));
  axes = IdentityInterface(graph);
  return true;
}

Status HalveSource(Graph& graph, const Format& format, const ConvertJob& o, size_t states,
                   const VerifyOptions& runs, Conversion& out) {
  if (IsQuantized(graph))
    return UsageError("the model is quantized; --dequantize makes it a float model");
  HalfOptions options = {*o.half};
  const ExportOptions output = OutputOf(o);
  options.keeps = NodesMatching(o.keep_float32);
  options.states = states;
  if (!options.accepts)
    options.accepts = [&](const Node& node) { return IsOneOperator(node, format, output); };
  // A small constant would keep the others of its operator in float32.
  if (TargetOf(format, output).narrows_constants) options.least_elements = 1;
  std::set<const Node*> kept;
  if (o.verify && !options.weights_only) {
    // Before the model runs.
    NN_ASSIGN(const HalfSummary tried, TryHalving(graph, options));
    NN_RETURN_IF_ERROR(CheckChanges(tried, graph, format, options, output));
    NN_ASSIGN(const std::vector<bool> outside, OutOfRange(graph, options.type, runs));
    size_t i = 0;
    for (const Node& node : graph.nodes())
      if (outside[i++]) {
        kept.insert(&node);
        out.out_of_range.push_back(node.Describe());
      }
  }
  const auto by_option = options.keeps;
  options.keeps = [&](const Node& node) {
    return kept.contains(&node) || (by_option && by_option(node)) ||
           KeepsBlocks(node, format, output);
  };
  NN_ASSIGN(out.half, ComputeInHalf(graph, options));
  return CheckChanges(*out.half, graph, format, options, output);
}

std::set<DType> NarrowWeights(const Graph& graph) {
  constexpr DType kNarrow[] = {DType::kF16, DType::kBF16, DType::kI8, DType::kU8};
  std::set<DType> types;
  for (const Value& v : graph.values())
    if (v.is_constant() && v.constant().elements() >= HalfOptions().least_elements &&
        std::ranges::find(kNarrow, v.dtype()) != std::end(kNarrow))
      types.insert(v.dtype());
  for (const Node& node : graph.nodes())
    for (const auto& region : node.regions()) types.merge(NarrowWeights(*region));
  return types;
}

namespace {

// The numbers in the type, which has those from `least` to `most`; nullopt if it does not hold all
// of them.
Result<std::optional<Tensor>> ExactIn(const Tensor& tensor, DType type, double least, double most) {
  NN_ASSIGN(TensorBuilder builder, TensorBuilder::Create(type, tensor.dims()));
  for (int64_t i = 0; i < builder.elements(); ++i) {
    const double number = tensor.GetDouble(i);
    if (!(number >= least && number <= most)) return std::nullopt;
    builder.SetDouble(i, number);
  }
  Tensor narrow = builder.Finish();
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (std::bit_cast<uint64_t>(narrow.GetDouble(i)) !=
        std::bit_cast<uint64_t>(tensor.GetDouble(i)))
      return std::nullopt;
  return narrow;
}

bool HasAllUsers(const Target& target, const Value& value) {
  return std::ranges::all_of(value.uses(),
                             [&](const Use& use) { return !target.why_illegal(*use.node); });
}

// Makes the users of `v` those of a dequantized constant; false if the target has not all of them.
Result<bool> Widen(Graph& graph, Value* v, Value* stored, const Target& target) {
  NN_ASSIGN(Node* const wide,
            graph.Append("dequantize", {stored}, DequantizeAttrs{}, 1, &graph.nodes().front()));
  graph.ReplaceUses(v, wide->output());
  if (!target.why_illegal(*wide) && HasAllUsers(target, *wide->output())) return true;
  graph.ReplaceUses(wide->output(), v);
  graph.Erase(wide);
  return false;
}

}  // namespace

Status StoreNarrowWeights(Graph& fitted, const Target& target, const std::set<DType>& types) {
  if (types.empty() || target.narrows_constants) return {};
  NN_RETURN_IF_ERROR(ForEachRegion(
      fitted, [&](Graph& region) { return StoreNarrowWeights(region, target, types); }));
  // Most numbers of bf16 are numbers of f16, too.
  std::vector<DType> halves = {DType::kF16};
  if (types.contains(DType::kBF16)) halves.insert(halves.begin(), DType::kBF16);
  std::vector<Value*> weights;
  for (Value& v : fitted.values())
    if (v.is_constant() && v.dtype() == DType::kF32 && !v.type().quantized() && !v.uses().empty() &&
        !fitted.IsOutput(&v) && v.constant().elements() >= HalfOptions().least_elements &&
        HasAllUsers(target, v))
      weights.push_back(&v);
  for (Value* const v : weights) {
    NN_ASSIGN(auto integers, ExactIn(v->constant(), DType::kI8, -128, 127));
    if (integers) {
      Value* const stored =
          fitted.AddConstant(*std::move(integers), v->name(), Quant::PerTensor(1, 0));
      NN_ASSIGN(const bool done, Widen(fitted, v, stored, target));
      if (done) continue;
    }
    for (const DType type : halves) {
      NN_ASSIGN(auto half, ExactIn(v->constant(), type, -LargestHalf(type), LargestHalf(type)));
      if (!half) continue;
      Value* const stored = fitted.AddConstant(*std::move(half), v->name());
      NN_ASSIGN(const bool done, Widen(fitted, v, stored, target));
      if (done) break;
    }
  }
  return RemoveDeadCode(fitted);
}

bool HasBlocks(const Graph& graph) {
  return std::ranges::any_of(graph.values(), [](const Value& v) { return IsInBlocks(&v); }) ||
         AnyRegion(graph, HasBlocks);
}

Status ForgetBlocks(Graph& graph) {
  NN_RETURN_IF_ERROR(ForEachRegion(graph, ForgetBlocks));
  for (Value& v : graph.values()) {
    if (!IsInBlocks(&v)) continue;
    BlockWeights weights = *StoredBlocks(v.constant());
    weights.source = BlockSource::kNone;
    NN_ASSIGN(Tensor numbers, TensorOf(std::move(weights), v.constant().dims()));
    graph.MakeConstant(&v, std::move(numbers));
  }
  return {};
}

Status CheckHalved(const Graph& fitted, const Format& format, const ExportOptions& output,
                   const HalfOptions& options) {
  if (HasType(fitted, options.type)) return {};
  if (options.weights_only && Narrows(TargetOf(format, output), options)) return {};
  return NoOperators(format, output, options);
}

}  // namespace nn

#include "formats/onnx/export/schema_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/per_thread.h"
#include "formats/common/node_memo.h"
#include "formats/onnx/export/export.h"
#include "formats/onnx/export/lowerings.h"
#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/roles.h"
#include "formats/onnx/spec/schema.h"
#include "ir/op_def.h"
#include "ops/array/arrange/pad.h"
#include "ops/nn/resize/resize.h"
#include "passes/core/passes.h"
#include "rewrite/apply_rule.h"
#include "rewrite/functions.h"
#include "rewrite/rewrite.h"

namespace nn::onnx {
namespace {

bool IsHalf(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16;
}

// ONNX operators that do not round.
bool IsExact(std::string_view op) {
  static constexpr std::array kExact = {"Cast",   "CastLike", "Concat",  "Expand",    "Flatten",
                                        "Gather", "Identity", "Pad",     "Reshape",   "Shape",
                                        "Slice",  "Split",    "Squeeze", "Transpose", "Unsqueeze",
                                        "Where",  "Constant", "Max",     "Min",       "Neg"};
  return std::find(kExact.begin(), kExact.end(), op) != kExact.end();
}

// Compares the values of one list of a node with the parameters of its schema; binds the schema's
// type variables.
template <typename Names>
std::optional<std::string> WhyNotTypes(const ExportContext& ctx, const Schema& schema,
                                       const std::vector<SchemaParameter>& parameters,
                                       const Names& names,
                                       std::map<std::string, DType, std::less<>>& variables) {
  for (int i = 0; i < names.size(); ++i) {
    const SchemaParameter* p = ParameterAt(parameters, i);
    const DType dtype = ctx.TypeOf(names[i]);
    if (p == nullptr || dtype == DType::kUnknown) continue;
    const auto types = schema.types.find(p->type);
    const std::string name(DTypeName(dtype));
    if (types != schema.types.end() && !types->second.contains(name))
      return fmt::format("{} of ONNX does not support {} as {}", schema.op, name, p->name);
    if (p->own_type) continue;
    const auto [bound, is_new] = variables.emplace(p->type, dtype);
    if (!is_new && bound->second != dtype)
      return fmt::format(
          "{} of ONNX needs one element type for {} and other operands, not {} and {}", schema.op,
          p->name, name, DTypeName(bound->second));
  }
  return std::nullopt;
}

bool HasReduction(const pb::NodeProto& node, std::initializer_list<std::string_view> reductions) {
  return std::ranges::any_of(node.attribute(), [&](const pb::AttributeProto& a) {
    return a.name() == "reduction" && std::ranges::find(reductions, a.s()) != reductions.end();
  });
}

bool AddsOrMultiplies(const pb::NodeProto& scatter) {
  return HasReduction(scatter, {"add", "mul"});
}

bool Reduces(const pb::NodeProto& scatter) {
  return HasReduction(scatter, {"add", "mul", "max", "min"});
}

// Types that a schema permits, but no runtime takes: where the function that ONNX defines an
// operator by has another type inside, which onnx.checker refuses, and where ONNX Runtime loads a
// node and ends when it runs it. (Other operators without a kernel it computes in float32.)
struct Narrower {
  std::string_view op;
  std::initializer_list<DType> types;
  std::string_view reason;
  bool (*applies)(const pb::NodeProto&) = nullptr;  // null: to all nodes
  int64_t before = kNewestOpset + 1;                // the first operator set without the defect
};

constexpr Narrower kNarrower[] = {
    {"MeanVarianceNormalization",
     {DType::kF16, DType::kBF16},
     "the function that defines it has a float32 number inside"},
    // Squeezes the axes of size 1, that of one image included.
    {"AffineGrid",
     {DType::kF16, DType::kBF16},
     "the function that defines it does not take a single image"},
    {"ScatterElements",
     {DType::kF16},
     "ONNX Runtime has no kernel with this reduction",
     &AddsOrMultiplies},
    {"ScatterElements", {DType::kBF16}, "ONNX Runtime has no kernel with a reduction", &Reduces},
    {"ScatterND",
     {DType::kF16, DType::kBF16},
     "ONNX Runtime has no kernel with a reduction",
     &Reduces},
    {"Clip",
     {DType::kBF16},
     "the function that defines it has Where, which takes the type from operator set 16 on",
     nullptr,
     16},
};

std::optional<std::string> WhyNotRun(const ExportContext& ctx, const pb::NodeProto& node) {
  if (!node.domain().empty() || node.input_size() == 0) return std::nullopt;
  const DType dtype = ctx.TypeOf(node.input(0));
  for (const Narrower& n : kNarrower)
    if (n.op == node.op_type() && ctx.opset() < n.before &&
        std::ranges::find(n.types, dtype) != n.types.end() &&
        (n.applies == nullptr || n.applies(node)))
      return fmt::format("{} of ONNX does not support {}, because {}", n.op, DTypeName(dtype),
                         n.reason);
  return std::nullopt;
}

// Sets the types of the results that the schema determines.
void InferTypes(ExportContext& ctx, const Schema& schema, const pb::NodeProto& node,
                const std::map<std::string, DType, std::less<>>& variables) {
  for (int i = 0; i < node.output_size(); ++i) {
    const SchemaParameter* p = ParameterAt(schema.outputs, i);
    if (p == nullptr || ctx.TypeOf(node.output(i)) != DType::kUnknown) continue;
    const auto bound = variables.find(p->type);
    const auto types = schema.types.find(p->type);
    if (bound != variables.end())
      ctx.SetType(node.output(i), bound->second);
    else if (types != schema.types.end() && types->second.size() == 1)
      ctx.SetType(node.output(i), ParseDType(*types->second.begin()).value_or(DType::kUnknown));
  }
}

// Why the node cannot be written in the operator set. Sets `has_form` to whether the set has a form
// for it, of which a type, an attribute or the precision does not fit.
std::optional<std::string> WhyNotIn(const Node& node, int64_t opset, bool& has_form) {
  pb::GraphProto graph;
  PayloadTable payloads;
  const int64_t ml_opset = MlOpsetOf(node);
  ExportContext ctx(&graph, payloads, opset, ml_opset, ExportContext::Mode::kTrial);
  const Status written = WriteNode(ctx, node);
  has_form = written.has_value();
  if (!written) return written.error().message();
  int roundings = 0;
  for (const pb::NodeProto& n : graph.node()) {
    if (n.domain() == kMicrosoft) {  // its rows say which nodes it has
      ++roundings;
      continue;
    }
    const Schema* schema =
        FindSchema(n.domain(), n.op_type(), n.domain().empty() ? opset : ml_opset);
    if (schema == nullptr || schema->deprecated)
      return fmt::format("{} of ONNX is not in operator set {}", n.op_type(), opset);
    std::map<std::string, DType, std::less<>> variables;
    if (auto why = WhyNotTypes(ctx, *schema, schema->inputs, n.input(), variables)) return why;
    if (auto why = WhyNotTypes(ctx, *schema, schema->outputs, n.output(), variables)) return why;
    if (auto why = WhyNotRun(ctx, n)) return why;
    InferTypes(ctx, *schema, n, variables);
    for (const pb::AttributeProto& a : n.attribute())
      if (!schema->open_attributes && !schema->attributes.contains(a.name()))
        return fmt::format("{} of operator set {} has no {}", n.op_type(), opset, a.name());
    if (!IsExact(n.op_type())) ++roundings;
  }
  const auto half = [](const Value* v) { return v != nullptr && IsHalf(v->dtype()); };
  if (roundings > 1 && std::any_of(node.outputs().begin(), node.outputs().end(), half))
    return fmt::format("it is {} operators in ONNX, which round to {} one by one", roundings,
                       DTypeName(node.output()->dtype()));
  return std::nullopt;
}

SchemaFit Fit(const Node& node, int64_t least, int64_t most) {
  SchemaFit fit;
  const ExportRow* row = FindExport(node.op_name());
  const FormatName* format = node.op().FindFormat("onnx");
  int64_t opset = least;
  if (row != nullptr && row->min_opset != nullptr) opset = std::max(opset, row->min_opset(node));
  if (row == nullptr && format != nullptr) opset = std::max(opset, int64_t{format->since_version});
  for (; opset <= most; ++opset) {
    const auto why = WhyNotIn(node, opset, fit.has_form);
    if (!why) {
      fit.opset = opset;
      return fit;
    }
    fit.reason = *why;
  }
  if (fit.reason.empty())
    fit.reason = fmt::format("{} needs operator set {}", node.op_name(), opset);
  return fit;
}

}  // namespace

SchemaFit FitToSchemas(const Node& node, int64_t least, int64_t most) {
  static PerThread<NodeMemo<SchemaFit>> memos;
  NodeMemo<SchemaFit>& memo = memos.Get();
  const ExportRow* const row = FindExport(node.op_name());
  // Writers rely on it. It may look at neighbors, which the memo does not know.
  if (row != nullptr && row->why_not != nullptr)
    if (auto reason = row->why_not(node)) {
      SchemaFit fit;
      fit.reason = *std::move(reason);
      return fit;
    }
  // The encoding of a one-to-one operator does not depend on the contents of constants.
  const bool by_contents = row != nullptr;
  return memo.Find(node, by_contents, {least, most},
                   [&](const Node& n) { return Fit(n, least, most); });
}

namespace {

// Any operator set has loops, recurrent layers, and pads of constants. A resize by computed numbers
// stays one operator, if only in an old set.
bool LowersByFunction(const Node& node, const FunctionRow& row) {
  if (node.Is<ResizeAttrs>()) return row.name != FunctionName::kComputedGathers;
  if (node.Is<PadAttrs>())
    return row.name != FunctionName::kSlicesOfInput &&
           node.attrs<PadAttrs>().mode != PadMode::kConstant;
  return node.regions().empty() && node.op().category != Category::kRecurrent;
}

// Decomposes a node that needs an operator set other than those from `least` to `most`. The name of
// the rewrite; empty if there is nothing to do.
Result<std::string_view> LowerNode(Graph& graph, Node& node, int64_t least, int64_t most) {
  if (FitToSchemas(node, least, most).opset != 0 || OnnxTarget().why_illegal(node))
    return std::string_view();
  const RuleTarget target = {
      [&](const Node& n) {
        auto reason = OnnxTarget().why_illegal(n);
        if (reason) return reason;
        SchemaFit fit = FitToSchemas(n, least, most);
        return fit.opset != 0 ? std::nullopt : std::optional(std::move(fit.reason));
      },
      [](const Node& n) { return HasRewrite(Lowerings(), n, LowersByFunction); }, LowersByFunction,
      kOlderForms};
  NN_ASSIGN(const std::string_view applied, ApplyRewrites(graph, node, Lowerings(), target));
  if (!applied.empty()) return applied;
  if (node.op().decompose == nullptr) return std::string_view();
  NN_ASSIGN(bool lowered, node.op().decompose(graph, node));
  if (!lowered) {
    NN_ASSIGN(lowered, ComputeInFloat(graph, node));
  }
  return lowered ? kDecomposition : std::string_view();
}

}  // namespace

Status OnnxWriter::Lower(Graph& graph, const ExportOptions& options,
                         RewriteCounts* rewrites) const {
  // Write() refuses others.
  const bool is_open = options.opset == 0;
  if (!is_open && (options.opset < kOldestOpset || options.opset > kNewestOpset)) return {};
  const int64_t least = is_open ? kDefaultOpset : options.opset;
  const int64_t most = is_open ? kNewestOpset : options.opset;
  // Older sets have attributes where newer ones have inputs.
  if (!is_open) NN_RETURN_IF_ERROR(FoldConstants(graph));
  for (Node& node : graph.nodes())
    for (const auto& region : node.regions()) NN_RETURN_IF_ERROR(Lower(*region, options, rewrites));
  return RewriteNodes(
             graph, OnnxTarget().name,
             [&](Node& node) { return LowerNode(graph, node, least, most); }, rewrites)
      .map([](bool) {});
}

}  // namespace nn::onnx

// IF, WHILE, STABLEHLO_CASE and STABLEHLO_COMPOSITE: see formats/common/control_flow.h.
#include <fmt/core.h>

#include <algorithm>

#include "formats/tflite/importer.h"
#include "ir/number.h"

namespace nn::tflite {
namespace {

// Limit on subgraphs that call each other.
constexpr int kMaxDepth = 16;

Result<Value*> AsScalar(ImportContext& ctx) {
  NN_ASSIGN(Value* const v, ctx.Ranked(0));
  if (v->type().rank() == 0) return v;
  return ctx.Add("reshape", {v}, ReshapeAttrs{});
}

struct WhileSubgraphs {
  int64_t condition, body;
};

Result<WhileSubgraphs> SubgraphsOfWhile(const ImportContext& ctx) {
  if (OperatorOf(ctx.code()) == fb::BuiltinOperator::WHILE) {
    NN_ASSIGN(const auto* const o, ctx.Options<fb::WhileOptions>());
    return WhileSubgraphs{o->cond_subgraph_index(), o->body_subgraph_index()};
  }
  const auto* const o = ctx.op().builtin_options_2_as_StablehloWhileOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  return WhileSubgraphs{o->cond_subgraph_index(), o->body_subgraph_index()};
}

}  // namespace

bool CallsSubgraphs(fb::BuiltinOperator op) {
  using Op = fb::BuiltinOperator;
  return op == Op::STABLEHLO_COMPOSITE || op == Op::STABLEHLO_CASE || op == Op::IF ||
         op == Op::WHILE || op == Op::STABLEHLO_WHILE;
}

Status Importer::ImportControl(ImportContext& ctx) {
  using Op = fb::BuiltinOperator;
  ImportMark mark(graph_, unsupported_);
  const Op op = OperatorOf(ctx.code());
  Status status = op == Op::STABLEHLO_COMPOSITE ? ImportComposite(ctx)
                  : op == Op::STABLEHLO_CASE    ? ImportCase(ctx)
                  : op == Op::IF                ? ImportIf(ctx)
                                                : ImportWhile(ctx);
  if (!status) mark.Undo(status.error());
  return status;
}

Result<std::vector<Value*>> Importer::InlineSubgraph(int64_t index, std::span<Value* const> inputs,
                                                     size_t outputs) {
  // Tensors cost little, but a subgraph may have any number.
  constexpr int64_t kTensorsPerOperator = 8;
  const fb::SubGraph* const sub = At(model_.root->subgraphs(), index);
  if (sub == nullptr) return ModelError("subgraph {} does not exist", index);
  if (depth_ == kMaxDepth)
    return UnsupportedError("subgraphs in more than {} subgraphs are unsupported", kMaxDepth);
  NN_RETURN_IF_ERROR(state_.inlined.Take(
      std::max(SizeOf(sub->operators()), SizeOf(sub->tensors()) / kTensorsPerOperator)));
  if (std::ranges::find(inputs, nullptr) != inputs.end())
    return ModelError("an input of subgraph {} is missing", index);
  auto results = Importer(model_, *sub, state_, depth_ + 1).Inline(inputs, dynamic_);
  if (!results) return tl::unexpected(results.error().In(fmt::format("subgraph {}", index)));
  if (results->size() != outputs)
    return ModelError("subgraph {} has {} outputs, not {}", index, results->size(), outputs);
  return results;
}

// A composite is what its decomposition computes, as the kernel does it.
Status Importer::ImportComposite(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_StableHLOCompositeOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  NN_ASSIGN(const std::vector<Value*> outputs,
            InlineSubgraph(o->decomposition_subgraph_index(), ctx.inputs(), ctx.output_count()));
  for (size_t i = 0; i < outputs.size(); ++i) ctx.SetOutput(i, outputs[i]);
  return {};
}

// A result of the branch that is taken if the condition is true, and of the other one if not.
Result<Value*> Importer::Choose(ImportContext& ctx, Value* condition, Value* taken, Value* other,
                                std::string_view why) {
  if (taken == other) return taken;
  if (auto alike = CheckAlike(taken->type(), other->type()); !alike)
    return tl::unexpected(InBranch(alike.error(), why));
  return ctx.Add("select", {condition, taken, other}, {}, taken->type().quant);
}

// Both branches are computed if the condition is unknown.
Status Importer::ImportIf(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::IfOptions>());
  NN_ASSIGN(Value* const condition, ctx.Ranked(0));
  const auto inputs = std::span<Value* const>(ctx.inputs()).subspan(1);
  if (const auto known = state_.known.Bool(condition)) {
    const int64_t index = *known ? o->then_subgraph_index() : o->else_subgraph_index();
    NN_ASSIGN(const auto results, InlineSubgraph(index, inputs, ctx.output_count()));
    for (size_t i = 0; i < results.size(); ++i) ctx.SetOutput(i, results[i]);
    return {};
  }
  const std::string why = "the condition " + WhyUnknown(condition);
  NN_ASSIGN(Value* const scalar, AsScalar(ctx));
  const auto yes = InlineSubgraph(o->then_subgraph_index(), inputs, ctx.output_count());
  if (!yes) return tl::unexpected(InBranch(yes.error(), why));
  const auto no = InlineSubgraph(o->else_subgraph_index(), inputs, ctx.output_count());
  if (!no) return tl::unexpected(InBranch(no.error(), why));
  for (size_t i = 0; i < yes->size(); ++i) {
    NN_ASSIGN(Value* const y, Choose(ctx, scalar, (*yes)[i], (*no)[i], why));
    ctx.SetOutput(i, y);
  }
  return {};
}

// An index out of range takes the last branch.
Status Importer::ImportCase(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_StablehloCaseOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  const auto branches = ListOf<int64_t>(o->branch_subgraph_indices());
  if (branches.empty()) return ModelError("there are no branches");
  const auto inputs = std::span<Value* const>(ctx.inputs()).subspan(1);
  NN_ASSIGN(Value* const given, ctx.Ranked(0));
  const auto known = state_.known.Int(given);
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  const int64_t first = !known ? last : *known < 0 || *known > last ? last : *known;
  NN_ASSIGN(std::vector<Value*> chosen,
            InlineSubgraph(branches[static_cast<size_t>(first)], inputs, ctx.output_count()));
  const std::string why = "the index " + WhyUnknown(given);
  for (size_t k = known ? 0 : branches.size() - 1; k-- > 0;) {
    NN_ASSIGN(Value* const index, AsScalar(ctx));
    NN_ASSIGN(Tensor number, Number(index->dtype(), static_cast<double>(k)));
    NN_ASSIGN(Value* const taken, ctx.Add("equal", {index, ctx.Constant(std::move(number))}));
    NN_ASSIGN(const auto branch, InlineSubgraph(branches[k], inputs, ctx.output_count()));
    for (size_t i = 0; i < chosen.size(); ++i) {
      NN_ASSIGN(chosen[i], Choose(ctx, taken, branch[i], chosen[i], why));
    }
  }
  for (size_t i = 0; i < chosen.size(); ++i) ctx.SetOutput(i, chosen[i]);
  return {};
}

// Unrolled for as long as the condition is known. Only its result is of interest: its operators do
// not stay in the graph.
Status Importer::ImportWhile(ImportContext& ctx) {
  NN_ASSIGN(const WhileSubgraphs subgraphs, SubgraphsOfWhile(ctx));
  std::vector<Value*> values = ctx.inputs();
  if (values.size() != ctx.output_count())
    return ModelError("there are {} loop values, but {} outputs", values.size(),
                      ctx.output_count());
  const LoopScope loop(state_.loops);
  for (int64_t i = 0;; ++i) {
    ImportMark mark(graph_, unsupported_);
    NN_ASSIGN(const auto condition, InlineSubgraph(subgraphs.condition, values, 1));
    const auto go_on = state_.known.Bool(condition[0]);
    if (!go_on)
      return i == 0 ? UnsupportedError("the condition {}", WhyUnknown(condition[0]))
                    : UnsupportedError("the condition after {} iterations {}", i,
                                       WhyUnknown(condition[0]));
    mark.EraseNodes();
    if (!*go_on) break;
    NN_ASSIGN(values, InlineSubgraph(subgraphs.body, values, values.size()));
    // The next iterations would report it again.
    if (mark.HasUnsupported()) return UnsupportedError("the body is unsupported");
  }
  for (size_t i = 0; i < values.size(); ++i) ctx.SetOutput(i, values[i]);
  return {};
}

}  // namespace nn::tflite

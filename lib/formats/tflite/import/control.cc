// IF, WHILE, STABLEHLO_CASE, STABLEHLO_COMPOSITE and CALL_ONCE: see formats/common/control_flow.h.
#include <fmt/core.h>

#include <algorithm>

#include "base/text/text.h"
#include "formats/common/regions.h"
#include "formats/tflite/import/importer.h"
#include "ir/eval.h"
#include "ops/control/loop.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {
namespace {

using Op = fb::BuiltinOperator;

// Limit of TensorFlow Lite: nested subgraphs.
constexpr int kMaxDepth = 16;

// Limit of TensorFlow Lite: bytes of the values of an initialization.
constexpr uint64_t kMaxInitialBytes = uint64_t{1} << 30;
// Limit of TensorFlow Lite: operations on elements of an initialization.
constexpr uint64_t kMaxInitialWork = uint64_t{1} << 30;

}  // namespace

struct Importer::WhileSubgraphs {
  int64_t condition, body;
};

Result<Importer::WhileSubgraphs> Importer::SubgraphsOfWhile(const ImportContext& ctx) {
  if (OperatorOf(ctx.code()) == fb::BuiltinOperator::WHILE) {
    NN_ASSIGN(const auto* const o, ctx.Options<fb::WhileOptions>());
    return WhileSubgraphs{o->cond_subgraph_index(), o->body_subgraph_index()};
  }
  const auto* const o = ctx.op().builtin_options_2_as_StablehloWhileOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  return WhileSubgraphs{o->cond_subgraph_index(), o->body_subgraph_index()};
}

bool CallsSubgraphs(fb::BuiltinOperator op) {
  return op == Op::STABLEHLO_COMPOSITE || op == Op::STABLEHLO_CASE || op == Op::IF ||
         op == Op::WHILE || op == Op::STABLEHLO_WHILE || op == Op::CALL_ONCE;
}

Status Importer::ImportControl(ImportContext& ctx) {
  ImportMark mark(graph_, unsupported_);
  const std::vector<Value*> variables = state_.variables.Values();
  const Op op = OperatorOf(ctx.code());
  Status status = op == Op::STABLEHLO_COMPOSITE ? ImportComposite(ctx)
                  : op == Op::STABLEHLO_CASE    ? ImportCase(ctx)
                  : op == Op::IF                ? ImportIf(ctx)
                  : op == Op::CALL_ONCE         ? ImportCallOnce(ctx)
                                                : ImportWhile(ctx);
  if (!status) {
    mark.Undo(status.error());
    state_.variables.Restore(variables);
  }
  return status;
}

// The initial values of the variables that the subgraph assigns, and the contents of the hash
// tables that it fills: it is run here.
Status Importer::ImportCallOnce(ImportContext& ctx) {
  NN_ASSIGN(const auto* const o, ctx.Options<fb::CallOnceOptions>());
  const int64_t index = o->init_subgraph_index();
  const fb::SubGraph* const sub = At(model_.root->subgraphs(), index);
  if (sub == nullptr) return ModelError("subgraph {} does not exist", index);
  if (depth_ > 0) return UnsupportedError("CALL_ONCE in a called subgraph is unsupported");
  if (!state_.initialized.insert(index).second) return {};
  if (SizeOf(sub->inputs()) > 0 || SizeOf(sub->outputs()) > 0)
    return ModelError("subgraph {} has inputs or outputs", index);
  ImportState state{.hybrid_as_float = state_.hybrid_as_float};
  const auto in_subgraph = [&](const Error& error) {
    return tl::unexpected(error.In(fmt::format("subgraph {}", index)));
  };
  if (const Status done = Importer(model_, *sub, state, depth_ + 1, index).Run(); !done)
    return in_subgraph(done.error());
  if (!state.result.unsupported.empty())
    return UnsupportedError("subgraph {}: {}: {}", index, state.result.unsupported[0].source,
                            state.result.unsupported[0].reason);
  const auto assigned = state.variables.Assigned();
  for (const auto& [name, value] : assigned) state.result.graph.AddOutput(name, value);
  const auto tables = state.variables.Filled();
  for (const auto& t : tables) {
    state.result.graph.AddOutput(fmt::format("hash table {}: keys", t.id), t.keys);
    state.result.graph.AddOutput(fmt::format("hash table {}: values", t.id), t.values);
  }
  EvalBudget budget{.bytes = kMaxInitialBytes, .work = kMaxInitialWork};
  auto initial = EvalGraph(state.result.graph, {}, budget, false);
  if (!initial) return in_subgraph(initial.error());
  for (size_t i = 0; i < assigned.size(); ++i)
    NN_RETURN_IF_ERROR(state_.variables.SetInitial(assigned[i].first, std::move((*initial)[i])));
  for (size_t i = 0, at = assigned.size(); i < tables.size(); ++i) {
    const auto& t = tables[i];
    NN_ASSIGN(const Value* const handle,
              state_.variables.TableHandle(graph_, t.id, t.key, t.value));
    NN_ASSIGN(const size_t table, state_.variables.OfTableHandle(handle));
    Value* const keys = graph_.AddConstant(std::move((*initial)[at++]));
    Value* const values = graph_.AddConstant(std::move((*initial)[at++]));
    NN_RETURN_IF_ERROR(state_.variables.Fill(table, keys, values));
  }
  return {};
}

// Refuses an operator whose subgraphs have changed a variable since `before`.
Status Importer::RequireUnchanged(const std::vector<Value*>& before, std::string_view why) const {
  const auto changed = state_.variables.ChangedSince(before);
  if (!changed) return {};
  if (state_.variables.IsTable(*changed))
    return UnsupportedError("{}, and {} is filled in a subgraph", why,
                            state_.variables.NameOf(*changed));
  return UnsupportedError("{}, and variable {} is assigned in a subgraph", why,
                          Quote(state_.variables.NameOf(*changed)));
}

// Selects the values of the variables after the branches of an IF. `before` and `yes` are those
// before both and after the branch of a true condition; the current ones are those after the other
// branch.
Status Importer::SelectVariables(ImportContext& ctx, Value* condition,
                                 const std::vector<Value*>& before, const std::vector<Value*>& yes,
                                 std::string_view why) {
  Variables& variables = state_.variables;
  const std::vector<Value*> no = variables.Values();
  const auto in = [](const std::vector<Value*>& values, size_t i) {
    return i < values.size() ? values[i] : nullptr;
  };
  variables.Restore(before);
  for (size_t i = 0; i < no.size(); ++i) {
    Value *taken = in(yes, i), *other = no[i];
    if (taken == other) {
      if (taken != nullptr) NN_RETURN_IF_ERROR(variables.Assign(i, taken));
      continue;
    }
    if (variables.IsTable(i))
      return UnsupportedError("{}, and {} is filled in a branch", why, variables.NameOf(i));
    const Type type = (taken != nullptr ? taken : other)->type();
    NN_ASSIGN(Value* const kept, variables.Read(graph_, state_.known_inputs, i, type));
    NN_ASSIGN(Value* const value, Choose(ctx, condition, taken == nullptr ? kept : taken,
                                         other == nullptr ? kept : other, why));
    NN_RETURN_IF_ERROR(variables.Assign(i, value));
  }
  return {};
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
  auto results = Importer(model_, *sub, state_, depth_ + 1, index).Inline(inputs, dynamic_);
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
  ctx.SetOutputs(outputs);
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
    ctx.SetOutputs(results);
    return {};
  }
  const std::string why = "the condition " + WhyUnknown(condition);
  ImportMark mark(graph_, unsupported_);
  NN_ASSIGN(Value* const scalar, AsScalar(ctx, condition));
  const std::vector<Value*> variables = state_.variables.Values();
  const auto yes = InlineSubgraph(o->then_subgraph_index(), inputs, ctx.output_count());
  if (!yes) return tl::unexpected(InBranch(yes.error(), why));
  const std::vector<Value*> variables_if_yes = state_.variables.Values();
  state_.variables.Restore(variables);
  const auto no = InlineSubgraph(o->else_subgraph_index(), inputs, ctx.output_count());
  if (!no) return tl::unexpected(InBranch(no.error(), why));
  for (size_t i = 0; i < yes->size(); ++i) {
    const auto y = Choose(ctx, scalar, (*yes)[i], (*no)[i], why);
    if (!y && y.error().code() == ErrorCode::kUnsupported && !mark.HasUnsupported()) {
      mark.EraseNodes();
      state_.variables.Restore(variables);
      return ImportOpenIf(ctx, o->then_subgraph_index(), o->else_subgraph_index(),
                          y.error().message());
    }
    if (!y) return tl::unexpected(y.error());
    ctx.SetOutput(i, *y);
  }
  return SelectVariables(ctx, scalar, variables, variables_if_yes, why);
}

Result<std::vector<Value*>> Importer::RunRegion(int64_t index, std::span<Value* const> inputs,
                                                size_t outputs) {
  const size_t unsupported = unsupported_.size();
  NN_ASSIGN(auto results, InlineSubgraph(index, inputs, outputs));
  if (unsupported_.size() > unsupported)
    return UnsupportedError("subgraph {} is unsupported", index);
  return results;
}

// The results differ too much to select from them.
Status Importer::ImportOpenIf(ImportContext& ctx, int64_t yes, int64_t no, std::string why) {
  const auto given = std::span<Value* const>(ctx.inputs()).subspan(1);
  const RunBranchFn runs[] = {[&] { return RunRegion(yes, given, ctx.output_count()); },
                              [&] { return RunRegion(no, given, ctx.output_count()); }};
  const std::vector<Value*> variables = state_.variables.Values();
  auto branches = TakeBranches(graph_, unsupported_, runs);
  if (!branches) return tl::unexpected(InBranch(branches.error(), why));
  NN_RETURN_IF_ERROR(RequireUnchanged(variables, why));
  return EmitBranch(ctx, ctx.input(0), *std::move(branches), std::move(why));
}

// A run decides about the end.
Status Importer::ImportOpenWhile(ImportContext& ctx, const WhileSubgraphs& subgraphs,
                                 std::string why) {
  const std::vector<Value*>& values = ctx.inputs();
  const auto condition_of = [&](std::span<Value* const> v) -> Result<Value*> {
    NN_ASSIGN(const auto condition, RunRegion(subgraphs.condition, v, 1));
    return AsScalar(ctx, condition[0]);
  };
  const auto run = [&](std::span<Value* const> given) -> Result<std::vector<Value*>> {
    NN_ASSIGN(std::vector<Value*> results,
              RunRegion(subgraphs.body, given.subspan(1), values.size()));
    NN_ASSIGN(Value* const condition, condition_of(results));
    results.insert(results.begin(), condition);
    return results;
  };
  std::vector<Type> types;
  types.reserve(values.size());
  for (const Value* v : values) types.push_back(v->type());
  const std::vector<Value*> variables = state_.variables.Values();
  auto loop = TakeLoop(graph_, unsupported_, std::move(types), run);
  if (!loop) return tl::unexpected(InBranch(loop.error(), why));
  NN_RETURN_IF_ERROR(RequireUnchanged(variables, why));
  NN_ASSIGN(Value* const first, condition_of(values));
  return EmitLoop(ctx, nullptr, first, values, *std::move(loop), std::move(why));
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
  const std::vector<Value*> variables = state_.variables.Values();
  const int64_t first = !known ? last : *known < 0 || *known > last ? last : *known;
  NN_ASSIGN(std::vector<Value*> chosen,
            InlineSubgraph(branches[static_cast<size_t>(first)], inputs, ctx.output_count()));
  const std::string why = "the index " + WhyUnknown(given);
  for (size_t k = known ? 0 : branches.size() - 1; k-- > 0;) {
    NN_ASSIGN(Value* const index, AsScalar(ctx, given));
    NN_ASSIGN(Value* const taken, ctx.Build(Equal(index, k)));
    NN_ASSIGN(const auto branch, InlineSubgraph(branches[k], inputs, ctx.output_count()));
    for (size_t i = 0; i < chosen.size(); ++i) {
      NN_ASSIGN(chosen[i], Choose(ctx, taken, branch[i], chosen[i], why));
    }
  }
  if (!known) NN_RETURN_IF_ERROR(RequireUnchanged(variables, why));
  ctx.SetOutputs(chosen);
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
  const std::vector<Value*> variables = state_.variables.Values();
  ImportMark all(graph_, unsupported_);
  const LoopScope loop(state_.loops);
  for (int64_t i = 0;; ++i) {
    ImportMark mark(graph_, unsupported_);
    NN_ASSIGN(const auto condition, InlineSubgraph(subgraphs.condition, values, 1));
    const auto go_on = state_.known.Bool(condition[0]);
    if (!go_on) {
      std::string why =
          i == 0 ? "the condition " + WhyUnknown(condition[0])
                 : fmt::format("the condition after {} iterations {}", i, WhyUnknown(condition[0]));
      all.EraseNodes();
      state_.variables.Restore(variables);
      return ImportOpenWhile(ctx, subgraphs, std::move(why));
    }
    mark.EraseNodes();
    if (!*go_on) break;
    NN_ASSIGN(values, InlineSubgraph(subgraphs.body, values, values.size()));
    // The next iterations would report it again.
    if (mark.HasUnsupported()) return UnsupportedError("the body is unsupported");
  }
  ctx.SetOutputs(values);
  return {};
}

}  // namespace nn::tflite

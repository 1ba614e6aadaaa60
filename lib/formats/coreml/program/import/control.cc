// cond and while_loop: see formats/common/control_flow.h.
#include <fmt/core.h>

#include <algorithm>

#include "base/text/text.h"
#include "formats/common/regions.h"
#include "formats/coreml/program/import/importer.h"
#include "ops/control/loop.h"
#include "ops/support/term_ops.h"

namespace nn::coreml::program {
namespace {

// The blocks of the operations.
constexpr int kTrue = 0, kFalse = 1, kCondition = 0, kBody = 1;

// Limit of Core ML: blocks of an ML Program in blocks.
constexpr int kMaxDepth = 32;

}  // namespace

Status Importer::ImportControl(ImportContext& ctx) {
  if (ctx.operation().blocks_size() != 2)
    return ModelError("there are {} blocks, not 2", ctx.operation().blocks_size());
  ImportMark mark(graph_, unsupported_);
  const auto before = states_;
  Status status = ctx.kind() == "cond" ? ImportCond(ctx) : ImportWhile(ctx);
  if (!status) {
    mark.Undo(status.error());
    states_ = before;
  }
  return status;
}

Result<std::vector<Value*>> Importer::RunBlock(const ImportContext& ctx, int block,
                                               std::span<Value* const> inputs) {
  const mil::Block& inner = ctx.operation().blocks(block);
  if (depth_ == kMaxDepth)
    return UnsupportedError("blocks in more than {} blocks are unsupported", kMaxDepth);
  const LoopScope depth(depth_);
  NN_RETURN_IF_ERROR(unrolled_.Take(inner.operations_size()));
  if (static_cast<size_t>(inner.inputs_size()) != inputs.size())
    return ModelError("block {} has {} inputs, but gets {}", block, inner.inputs_size(),
                      inputs.size());
  for (int i = 0; i < inner.inputs_size(); ++i)
    Declare(inner.inputs(i).name(), inputs[static_cast<size_t>(i)]);
  const std::string place = fmt::format(
      "block {} of {} {}", block, ctx.kind(),
      ctx.place().empty() ? std::to_string(ctx.index()) : std::string(ctx.place().view()));
  if (auto done = ImportBlock(inner, ctx.index(), place); !done)
    return tl::unexpected(done.error().In(fmt::format("block {}", block)));
  std::vector<Value*> results;
  for (const std::string& name : inner.outputs()) {
    const auto it = scope_.find(name);
    if (it == scope_.end()) return ModelError("block {}: {} is not defined", block, Quote(name));
    Value* const value = ValueOf(graph_, *it->second);
    if (value == nullptr) return UnsupportedError("{} is not a tensor", Quote(name));
    results.push_back(value);
  }
  for (const auto& operation : inner.operations())
    for (const auto& output : operation.outputs()) scope_.erase(output.name());
  for (const auto& input : inner.inputs()) scope_.erase(input.name());
  return results;
}

Result<std::vector<Value*>> Importer::RunRegion(const ImportContext& ctx, int block,
                                                std::span<Value* const> inputs) {
  const size_t unsupported = unsupported_.size();
  const auto before = StateValues();
  NN_ASSIGN(auto results, RunBlock(ctx, block, inputs));
  if (unsupported_.size() > unsupported) return UnsupportedError("block {} is unsupported", block);
  if (StateValues() != before)
    return UnsupportedError("block {} uses a state, which only a function can", block);
  return results;
}

// Both blocks are computed if the condition is unknown.
Status Importer::ImportCond(ImportContext& ctx) {
  NN_ASSIGN(Value* const condition, ctx.Ranked("pred"));
  if (const auto known = known_.Bool(condition)) {
    NN_ASSIGN(const auto results, RunBlock(ctx, *known ? kTrue : kFalse, {}));
    ctx.SetOutputs(results);
    return {};
  }
  const std::string why = "the condition " + WhyUnknown(condition);
  ImportMark mark(graph_, unsupported_);
  const auto before = StateValues();
  NN_ASSIGN(Value* const scalar, AsScalar(ctx, condition));
  const auto yes = RunRegion(ctx, kTrue, {});
  if (!yes) return tl::unexpected(InBranch(yes.error(), why));
  const auto no = RunRegion(ctx, kFalse, {});
  if (!no) return tl::unexpected(InBranch(no.error(), why));
  if (yes->size() != no->size() || yes->size() != ctx.output_count())
    return ModelError("the blocks have {} and {} results; expected {}", yes->size(), no->size(),
                      ctx.output_count());
  for (size_t i = 0; i < yes->size(); ++i) {
    if ((*yes)[i] == (*no)[i]) {
      ctx.SetOutput(i, (*yes)[i]);
      continue;
    }
    if (const auto alike = CheckAlike((*yes)[i]->type(), (*no)[i]->type()); !alike) {
      if (alike.error().code() != ErrorCode::kUnsupported || mark.HasUnsupported())
        return tl::unexpected(InBranch(alike.error(), why));
      mark.EraseNodes();
      return ImportOpenCond(ctx, condition, InBranch(alike.error(), why).message());
    }
    NN_RETURN_IF_ERROR(ctx.EmitTerm(Select(scalar, (*yes)[i], (*no)[i]), i));
  }
  return {};
}

// The results differ too much to select from them.
Status Importer::ImportOpenCond(ImportContext& ctx, Value* condition, std::string why) {
  const RunBranchFn runs[] = {[&] { return RunRegion(ctx, kTrue, {}); },
                              [&] { return RunRegion(ctx, kFalse, {}); }};
  auto branches = TakeBranches(graph_, unsupported_, runs);
  if (!branches) return tl::unexpected(InBranch(branches.error(), why));
  return EmitBranch(ctx, condition, *std::move(branches), std::move(why));
}

// Unrolled for as long as the condition is known. Only its result is of interest: its operators do
// not stay in the graph.
Status Importer::ImportWhile(ImportContext& ctx) {
  NN_ASSIGN(std::vector<Value*> values, ctx.List("loop_vars"));
  if (values.size() != ctx.output_count())
    return ModelError("there are {} loop variables, but {} outputs", values.size(),
                      ctx.output_count());
  const auto before = states_;
  ImportMark all(graph_, unsupported_);
  const LoopScope loop(loops_);
  for (int64_t i = 0;; ++i) {
    ImportMark mark(graph_, unsupported_);
    NN_ASSIGN(const auto condition, RunBlock(ctx, kCondition, values));
    if (condition.size() != 1) return ModelError("the condition has {} results", condition.size());
    const auto go_on = known_.Bool(condition[0]);
    if (!go_on) {
      std::string why =
          i == 0 ? "the condition " + WhyUnknown(condition[0])
                 : fmt::format("the condition after {} iterations {}", i, WhyUnknown(condition[0]));
      all.EraseNodes();
      states_ = before;
      return ImportOpenWhile(ctx, std::move(why));
    }
    mark.EraseNodes();
    if (!*go_on) break;
    NN_ASSIGN(values, RunBlock(ctx, kBody, values));
    // The next iterations would report it again.
    if (mark.HasUnsupported()) return UnsupportedError("the body is unsupported");
    if (values.size() != ctx.output_count())
      return ModelError("the body has {} results; expected {}", values.size(), ctx.output_count());
  }
  ctx.SetOutputs(values);
  return {};
}

// A run decides about the end.
Status Importer::ImportOpenWhile(ImportContext& ctx, std::string why) {
  NN_ASSIGN(const std::vector<Value*> values, ctx.List("loop_vars"));
  const auto condition_of = [&](std::span<Value* const> v) -> Result<Value*> {
    NN_ASSIGN(const auto condition, RunRegion(ctx, kCondition, v));
    if (condition.size() != 1) return ModelError("the condition has {} results", condition.size());
    return AsScalar(ctx, condition[0]);
  };
  const auto run = [&](std::span<Value* const> given) -> Result<std::vector<Value*>> {
    NN_ASSIGN(std::vector<Value*> results, RunRegion(ctx, kBody, given.subspan(1)));
    if (results.size() != values.size())
      return ModelError("the body has {} results; expected {}", results.size(), values.size());
    NN_ASSIGN(Value* const condition, condition_of(results));
    results.insert(results.begin(), condition);
    return results;
  };
  std::vector<Type> types;
  types.reserve(values.size());
  for (const Value* v : values) types.push_back(v->type());
  auto loop = TakeLoop(graph_, unsupported_, std::move(types), run);
  if (!loop) return tl::unexpected(InBranch(loop.error(), why));
  NN_ASSIGN(Value* const first, condition_of(values));
  return EmitLoop(ctx, nullptr, first, values, *std::move(loop), std::move(why));
}

}  // namespace nn::coreml::program

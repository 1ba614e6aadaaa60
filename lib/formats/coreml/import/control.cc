// Layers branch, loop, loopBreak and loopContinue: see formats/common/control_flow.h. Blobs are
// variables that the networks of these layers may assign.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text/text.h"
#include "formats/common/regions.h"
#include "formats/coreml/edit/network_parts.h"
#include "formats/coreml/import/importer.h"
#include "ops/control/loop.h"
#include "ops/support/term_ops.h"

namespace nn::coreml {
namespace {

// The networks of these layers, by field.
constexpr std::string_view kIfBranch = "ifBranch", kElseBranch = "elseBranch",
                           kCondition = "conditionNetwork", kBody = "bodyNetwork";

// Adds the blobs that a layer and the networks in it write.
void AddWritten(const Fields& layer, std::set<std::string>& out) {
  for (std::string& name : layer.Texts("output")) out.insert(std::move(name));
  for (const Fields& network : NestedNetworks(layer))
    for (const Fields& inner : network.List("layers")) AddWritten(inner, out);
}

}  // namespace

bool IsControlFlow(std::string_view kind) {
  return kind == "branch" || kind == "loop" || kind == "loopBreak" || kind == "loopContinue";
}

std::map<std::string, Value*> Importer::TakeChanges(size_t mark) {
  std::map<std::string, Value*> changes;
  for (size_t i = mark; i < journal_.size(); ++i) {
    const auto it = scope_.find(journal_[i].first);
    if (it != scope_.end()) changes[it->first] = it->second;
  }
  while (journal_.size() > mark) {
    const auto& [name, before] = journal_.back();
    if (before == nullptr)
      scope_.erase(name);
    else
      scope_[name] = before;
    journal_.pop_back();
  }
  return changes;
}

Result<Importer::Flow> Importer::ImportControl(ImportContext& ctx, int64_t index) {
  const std::string& kind = ctx.kind();
  if (kind == "loopBreak" || kind == "loopContinue") {
    if (loops_ > 0) return Flow{true, kind == "loopBreak"};
    NN_RETURN_IF_ERROR(MakeOpaque(ctx, ctx.layer().Texts("output"), "the layer is not in a loop"));
    return Flow{};
  }
  ImportMark mark(graph_, unsupported_);
  const size_t before = journal_.size();
  bool on_opaque = false;
  for (size_t i = 0; i < ctx.input_count(); ++i) on_opaque |= !ctx.input(i)->type().ranked();
  auto flow = on_opaque          ? Result<Flow>(UnsupportedError("an input is unsupported"))
              : kind == "branch" ? ImportBranch(ctx, index)
                                 : ImportLoop(ctx, index);
  if (flow || flow.error().code() != ErrorCode::kUnsupported) return flow;
  // What is unsupported in a network is the reason why its layer is.
  const bool follows = on_opaque || mark.HasUnsupported();
  TakeChanges(before);
  mark.EraseNodes();
  std::set<std::string> written;
  AddWritten(ctx.layer(), written);
  NN_RETURN_IF_ERROR(MakeOpaque(ctx, {written.begin(), written.end()},
                                follows ? std::string() : flow.error().message()));
  return Flow{};
}

Result<Importer::Flow> Importer::RunNetwork(const ImportContext& ctx, std::string_view network,
                                            int64_t index) {
  const Fields layers = ctx.params().Sub(network);
  if (loops_ > 0) NN_RETURN_IF_ERROR(unrolled_.Take(static_cast<int64_t>(layers.Count("layers"))));
  std::string outer = std::exchange(
      within_,
      fmt::format("{} of {} {}", network, ctx.kind(),
                  ctx.place().empty() ? std::to_string(index) : std::string(ctx.place().view())));
  auto flow = ImportLayers(layers, index);
  within_ = std::move(outer);
  return flow;
}

Result<Importer::Decision> Importer::Choose(ImportContext& ctx, const Decision& condition,
                                            const Decision& yes, const Decision& no) {
  if (const bool* const known = std::get_if<bool>(&condition)) return *known ? yes : no;
  if (yes == no) return yes;
  const auto value = [&](const Decision& d) {
    const bool* const known = std::get_if<bool>(&d);
    return known != nullptr ? ctx.Constant(Tensor::Scalar(*known)) : std::get<Value*>(d);
  };
  NN_ASSIGN(Value* const chosen,
            ctx.Add("select", {std::get<Value*>(condition), value(yes), value(no)}));
  return Decision(chosen);
}

Status Importer::MatchTypes(ImportContext& ctx, Value*& a, Value*& b) {
  if (a->dtype() != b->dtype()) {
    NN_ASSIGN(a, ctx.AsFloat(a));
    NN_ASSIGN(b, ctx.AsFloat(b));
  }
  return {};
}

Result<Importer::Flow> Importer::ImportGuarded(ImportContext& ctx, const Flow& flow,
                                               const std::function<Result<Flow>()>& next) {
  const size_t mark = journal_.size();
  NN_ASSIGN(const Flow after, next());
  for (const auto& [name, v] : TakeChanges(mark)) {
    const auto it = scope_.find(name);
    Value* changed = v;
    if (it != scope_.end() && it->second != v) {
      Value* kept = it->second;
      NN_RETURN_IF_ERROR(MatchTypes(ctx, kept, changed));
      const std::string why =
          "the end of an iteration " + WhyUnknown(std::get<Value*>(flow.ends_iteration));
      if (auto alike = CheckAlike(kept->type(), changed->type()); !alike)
        return tl::unexpected(InBranch(alike.error().In("blob " + Quote(name)), why));
      NN_ASSIGN(changed, ctx.Add("select", {std::get<Value*>(flow.ends_iteration), kept, changed}));
    }
    Declare(changed, name);
  }
  Flow both;
  NN_ASSIGN(both.ends_iteration, Choose(ctx, flow.ends_iteration, true, after.ends_iteration));
  NN_ASSIGN(both.ends_loop, Choose(ctx, flow.ends_iteration, flow.ends_loop, after.ends_loop));
  return both;
}

// Both networks are computed if the condition is unknown, and their blobs selected where they have
// one type.
Result<Importer::Flow> Importer::ImportBranch(ImportContext& ctx, int64_t index) {
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(1, 1));
  if (const auto known = known_.Bool(ctx.input(0))) {
    const LoopScope inlined(branches_);
    return RunNetwork(ctx, *known ? kIfBranch : kElseBranch, index);
  }
  const std::string why = "the condition " + WhyUnknown(ctx.input(0));
  ImportMark all(graph_, unsupported_);
  NN_ASSIGN(Value * condition, ctx.Bool(0));
  NN_ASSIGN(condition, AsScalar(ctx, condition));
  const size_t mark = journal_.size();
  const auto after_yes = RunNetwork(ctx, kIfBranch, index);
  if (!after_yes) return tl::unexpected(InBranch(after_yes.error(), why));
  auto taken = TakeChanges(mark);
  const auto after_no = RunNetwork(ctx, kElseBranch, index);
  if (!after_no) return tl::unexpected(InBranch(after_no.error(), why));
  auto other = TakeChanges(mark);
  // A blob that only one network writes has its earlier value after the other one, if any.
  for (auto& changes : {&taken, &other})
    for (const auto& [name, v] : *changes)
      if (const auto it = scope_.find(name); it != scope_.end())
        for (auto& both : {&taken, &other}) both->try_emplace(name, it->second);
  std::erase_if(taken, [&](const auto& change) { return !other.contains(change.first); });
  Flow flow;
  NN_ASSIGN(flow.ends_iteration,
            Choose(ctx, condition, after_yes->ends_iteration, after_no->ends_iteration));
  NN_ASSIGN(flow.ends_loop, Choose(ctx, condition, after_yes->ends_loop, after_no->ends_loop));
  for (const auto& [name, v] : taken) {
    Value *a = v, *b = other.at(name);
    NN_RETURN_IF_ERROR(MatchTypes(ctx, a, b));
    if (a != b) {
      if (auto alike = CheckAlike(a->type(), b->type()); !alike) {
        std::string reason = InBranch(alike.error().In("blob " + Quote(name)), why).message();
        if (flow.ends_iteration != Decision(false) || all.HasUnsupported())
          return UnsupportedError("{}", reason);
        std::map<std::string, bool> blobs;
        for (const auto& [blob, value] : taken)
          blobs[blob] = value->dtype() != other.at(blob)->dtype();
        TakeChanges(mark);
        all.EraseNodes();
        return ImportOpenBranch(ctx, index, blobs, std::move(reason));
      }
      NN_ASSIGN(a, ctx.Add("select", {condition, a, b}));
    }
    Declare(a, name);
  }
  return flow;
}

Result<Importer::Flow> Importer::ImportOpenBranch(ImportContext& ctx, int64_t index,
                                                  const std::map<std::string, bool>& blobs,
                                                  std::string why) {
  const auto run = [&](std::string_view network) -> Result<std::vector<Value*>> {
    const size_t mark = journal_.size();
    NN_RETURN_IF_ERROR(RunNetwork(ctx, network, index));
    std::vector<Value*> results;
    for (const auto& [name, as_float] : blobs) {
      results.push_back(scope_.at(name));
      if (as_float) {
        NN_ASSIGN(results.back(), ctx.AsFloat(results.back()));
      }
    }
    TakeChanges(mark);
    return results;
  };
  const RunBranchFn runs[] = {[&] { return run(kIfBranch); }, [&] { return run(kElseBranch); }};
  NN_ASSIGN(BranchRegions branches, TakeBranches(graph_, unsupported_, runs));
  NN_ASSIGN(Value * condition, ctx.Bool(0));
  NN_ASSIGN(condition, AsScalar(ctx, condition));
  std::vector<Value*> inputs = {condition};
  inputs.insert(inputs.end(), branches.captured.begin(), branches.captured.end());
  NN_ASSIGN(const Node* const node,
            ctx.AddNode("branch", std::move(inputs), BranchAttrs{std::move(why)}, blobs.size(),
                        branches.regions));
  size_t k = 0;
  for (const auto& [name, as_float] : blobs) Declare(node->output(k++), name);
  return Flow{};
}

Result<int64_t> Importer::TripCount(ImportContext& ctx) {
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  NN_RETURN_IF_ERROR(ctx.ExpectInputs(0, 1));
  if (ctx.input_count() == 1) {
    const Tensor* const count = known_.Of(ctx.input(0));
    if (count == nullptr || count->elements() != 1)
      return ModelError("the trip count is not one number");
    const double n = count->GetDouble(0);
    if (!(n >= 0)) return ModelError("the trip count is {}", n);
    return n < 0x1p62 ? static_cast<int64_t>(n) : kNoLimit;
  }
  const int64_t count = ctx.params().Int("maxLoopIterations");
  if (count != 0) return count;
  if (ctx.params().Sub(kCondition).Has("layers")) return kNoLimit;
  return ModelError("the loop has neither a trip count nor a condition");
}

Result<Importer::Flow> Importer::ImportLoop(ImportContext& ctx, int64_t index) {
  if (ctx.input_count() == 1 && known_.Of(ctx.input(0)) == nullptr)
    return ImportOpenLoop(ctx, index, "the trip count " + WhyUnknown(ctx.input(0)));
  NN_ASSIGN(const int64_t trips, TripCount(ctx));
  const Fields condition = ctx.params().Sub(kCondition);
  const std::string variable = ctx.params().Text("conditionVar");
  ImportMark all(graph_, unsupported_);
  const size_t journal = journal_.size();
  const auto open_loop = [&](std::string why) {
    TakeChanges(journal);
    all.EraseNodes();
    return ImportOpenLoop(ctx, index, std::move(why));
  };
  const LoopScope loop(loops_);
  for (int64_t i = 0; i < trips; ++i) {
    const ImportMark mark(graph_, unsupported_);
    if (condition.Has("layers")) {
      NN_RETURN_IF_ERROR(RunNetwork(ctx, kCondition, index));
      const auto it = scope_.find(variable);
      if (it == scope_.end()) return ModelError("the condition {} is not defined", Quote(variable));
      const auto go_on = known_.Bool(it->second);
      if (!go_on) {
        return open_loop(
            fmt::format("the condition before iteration {} {}", i, WhyUnknown(it->second)));
      }
      if (!*go_on) break;
    }
    NN_ASSIGN(const Flow flow, RunNetwork(ctx, kBody, index));
    // The next iterations would report it again.
    if (mark.HasUnsupported()) return UnsupportedError("the body is unsupported");
    if (Value* const* const ends = std::get_if<Value*>(&flow.ends_loop))
      return open_loop(fmt::format("the end of iteration {} {}", i, WhyUnknown(*ends)));
    if (std::get<bool>(flow.ends_loop)) break;
  }
  return Flow{};
}

Result<Value*> Importer::RunCondition(ImportContext& ctx, int64_t index) {
  const Fields network = ctx.params().Sub(kCondition);
  if (!network.Has("layers")) return ctx.Constant(Tensor::Scalar(true));
  NN_RETURN_IF_ERROR(RunNetwork(ctx, kCondition, index));
  const std::string variable = ctx.params().Text("conditionVar");
  const auto it = scope_.find(variable);
  if (it == scope_.end()) return ModelError("the condition {} is not defined", Quote(variable));
  NN_ASSIGN(Value* const condition, ctx.AsBool(it->second));
  return AsScalar(ctx, condition);
}

// Blobs that the networks write and that have a value before the loop are carried by it, as
// float32. The others exist in an iteration only.
Result<Importer::Flow> Importer::ImportOpenLoop(ImportContext& ctx, int64_t index,
                                                std::string why) {
  const LoopScope scope(loops_);
  NN_ASSIGN(Value* const first, RunCondition(ctx, index));
  std::set<std::string> written;
  AddWritten(ctx.layer(), written);
  std::erase_if(written, [&](const std::string& name) { return !scope_.contains(name); });
  std::vector<Value*> inputs = {nullptr, first};
  if (ctx.input_count() == 1) {
    NN_ASSIGN(Value* const trips, ctx.Index(0));
    NN_ASSIGN(inputs[0], ctx.Build(Reshape(trips, {})));
  } else if (const int64_t most = ctx.params().Int("maxLoopIterations"); most != 0) {
    inputs[0] = ctx.Constant(Tensor::Scalar(most));
  }
  std::vector<Type> types;
  for (const std::string& name : written) {
    NN_ASSIGN(Value* const v, ctx.AsFloat(scope_.at(name)));
    inputs.push_back(v);
    types.push_back(v->type());
  }
  const auto run = [&](std::span<Value* const> given) -> Result<std::vector<Value*>> {
    const ImportMark mark(graph_, unsupported_);
    const size_t before = journal_.size();
    size_t k = 1;
    for (const std::string& name : written) Assign(name, given[k++]);
    NN_ASSIGN(const Flow flow, RunNetwork(ctx, kBody, index));
    Value* go_on = ctx.Constant(Tensor::Scalar(false));
    if (std::holds_alternative<Value*>(flow.ends_loop)) {
      // The network of the condition does not run after the last iteration.
      NN_RETURN_IF_ERROR(ImportGuarded(ctx, {flow.ends_loop, true}, [&]() -> Result<Flow> {
        NN_ASSIGN(go_on, RunCondition(ctx, index));
        return Flow{};
      }));
      NN_ASSIGN(const Decision go, Choose(ctx, flow.ends_loop, false, go_on));
      go_on = std::get<Value*>(go);
    } else if (!std::get<bool>(flow.ends_loop)) {
      NN_ASSIGN(go_on, RunCondition(ctx, index));
    }
    std::vector<Value*> results = {go_on};
    for (const std::string& name : written) {
      NN_ASSIGN(Value* const v, ctx.AsFloat(scope_.at(name)));
      results.push_back(v);
    }
    TakeChanges(before);
    if (mark.HasUnsupported()) return UnsupportedError("the body is unsupported");
    return results;
  };
  auto loop = TakeLoop(graph_, unsupported_, std::move(types), run);
  if (!loop) return tl::unexpected(InBranch(loop.error(), why));
  inputs.insert(inputs.end(), loop->captured.begin(), loop->captured.end());
  const LoopAttrs attrs{static_cast<int64_t>(written.size()), std::move(why)};
  NN_ASSIGN(const Node* const node, ctx.AddNode("loop", std::move(inputs), attrs, written.size(),
                                                std::span(&loop->region, 1)));
  size_t k = 0;
  for (const std::string& name : written) Declare(node->output(k++), name);
  return Flow{};
}

}  // namespace nn::coreml

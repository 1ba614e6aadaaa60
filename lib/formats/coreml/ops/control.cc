#include <set>

#include "formats/coreml/family.h"
#include "formats/coreml/file/weights.h"
#include "ops/control/loop.h"
#include "ops/control/region.h"

// The layers branch and loop are imported by import_control.cc. Their networks assign blobs of the
// networks around them.

namespace nn::coreml {
namespace {

Status WriteLayers(ExportContext& ctx, const Graph& region) {
  for (const Node& node : region.nodes())
    if (auto s = WriteNode(ctx, node); !s) return tl::unexpected(s.error().In(node.Describe()));
  return {};
}

void AddCopy(ExportContext& ctx, const std::string& from, const std::string& to) {
  ctx.AddHelper("copy", {from}, {to});
}

Status WriteBranch(ExportContext& ctx, const Node& node) {
  std::vector<std::string> results;
  for (const Value* y : node.outputs()) results.push_back(ctx.NameOf(y));
  for (const auto& region : node.regions()) ctx.CaptureOperands(node, *region, 0);
  Writer params = ctx.AddLayer(node, "branch", {ctx.NameOf(node.input(0))}, {});
  if (ctx.trial()) return {};
  for (const size_t i : {0, 1}) {
    const Graph& region = *node.regions()[i];
    const Writer around = ctx.Enter(params.Sub(i == 0 ? "ifBranch" : "elseBranch"));
    std::vector<size_t> copies;
    for (size_t k = 0; k < results.size(); ++k) {
      const Value* const v = region.outputs()[k].value;
      if (v->def() != nullptr && !ctx.HasName(v))
        ctx.SetName(v, results[k]);
      else
        copies.push_back(k);
    }
    NN_RETURN_IF_ERROR(WriteLayers(ctx, region));
    for (const size_t k : copies) AddCopy(ctx, ctx.NameOf(region.outputs()[k].value), results[k]);
    ctx.Enter(around);
  }
  return {};
}

// Assigns the next values of the blobs that a loop carries, at the end of the iteration, which
// reads the present ones.
class Assignments {
 public:
  void Add(std::string from, std::string to) {
    if (from != to) assignments_.emplace_back(std::move(from), std::move(to));
  }
  void Write(ExportContext& ctx) {
    std::set<std::string> assigned;
    for (const auto& [from, to] : assignments_) assigned.insert(to);
    for (auto& [from, to] : assignments_) {
      if (!assigned.contains(from)) continue;
      std::string copy = ctx.NewName(from);
      AddCopy(ctx, from, copy);
      from = std::move(copy);
    }
    for (const auto& [from, to] : assignments_) AddCopy(ctx, from, to);
  }

 private:
  std::vector<std::pair<std::string, std::string>> assignments_;
};

// The layers of an iteration. Empty names: the loop does not have the blob.
Status WriteIteration(ExportContext& ctx, const Graph& body, const std::vector<std::string>& blobs,
                      const std::string& number, const std::string& condition) {
  if (!number.empty()) ctx.SetName(body.inputs()[0].value, number);
  for (size_t k = 0; k < blobs.size(); ++k) ctx.SetName(body.inputs()[1 + k].value, blobs[k]);
  NN_RETURN_IF_ERROR(WriteLayers(ctx, body));
  Assignments next;
  if (!condition.empty()) next.Add(ctx.NameOf(body.outputs()[0].value), condition);
  for (size_t k = 0; k < blobs.size(); ++k)
    next.Add(ctx.NameOf(body.outputs()[1 + k].value), blobs[k]);
  if (!number.empty()) {
    const std::string more = ctx.NewName(number);
    ctx.AddHelper("add", {number}, {more}).Float("alpha", 1);
    next.Add(more, number);
  }
  next.Write(ctx);
  return {};
}

Status WriteLoop(ExportContext& ctx, const Node& node) {
  const Graph& body = *node.regions()[0];
  const RegionPorts ports(node);
  const Value* const trips = node.input(0);
  ctx.CaptureOperands(node, body, 1 + ports.carried());
  std::vector<std::string> blobs;
  for (size_t k = 0; k < ports.carried(); ++k) {
    blobs.push_back(ctx.NameOf(node.output(k)));
    AddCopy(ctx, ctx.NameOf(node.input(ports.first_carried() + k)), blobs[k]);
  }
  std::string number, condition;
  if (body.HasUses(body.inputs()[0].value)) {
    number = ctx.NewName("iteration");
    ctx.AddConstant(Tensor::Of({1}, std::vector<float>{0}), number);
  }
  if (node.input(1) != nullptr) {
    condition = ctx.NewName("condition");
    AddCopy(ctx, ctx.NameOf(node.input(1)), condition);
  }
  std::vector<std::string> inputs;
  if (trips != nullptr && !trips->is_constant()) inputs.push_back(ctx.NameOf(trips));
  Writer params = ctx.AddLayer(node, "loop", inputs, {});
  if (trips != nullptr && trips->is_constant())
    params.Int("maxLoopIterations", trips->constant().GetInt(0));
  if (ctx.trial()) return {};
  const Writer around = ctx.Enter(params.Sub("bodyNetwork"));
  NN_RETURN_IF_ERROR(WriteIteration(ctx, body, blobs, number, condition));
  if (!condition.empty()) {
    ctx.Enter(params.Sub("conditionNetwork"));
    const std::string go_on = ctx.NewName("go_on");
    AddCopy(ctx, condition, go_on);
    params.Text("conditionVar", go_on);
  }
  ctx.Enter(around);
  return {};
}

std::optional<std::string> WhyNotLoop(const Node& node) {
  const Value* const trips = node.input(0);
  if (trips == nullptr && node.input(1) == nullptr)
    return "it has neither a trip count nor a condition";
  if (trips != nullptr && trips->is_constant() && trips->constant().GetInt(0) < 1)
    return "it has no iterations";
  if (RegionPorts(node).carried() < node.outputs().size())
    return "Core ML has no lists of the results of iterations, only arrays, which need a constant "
           "trip count, no condition and constant shapes";
  return std::nullopt;
}

constexpr ExportRow kControlExports[] = {
    {.op = "branch", .write = WriteBranch, .types = Types::kAny},
    {.op = "loop", .write = WriteLoop, .why_not = WhyNotLoop, .types = Types::kAny},
};

}  // namespace

Family ControlFamily() {
  return {.exports = kControlExports};
}

}  // namespace nn::coreml

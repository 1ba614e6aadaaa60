#include "formats/onnx/family.h"
#include "ops/control/loop.h"
#include "ops/control/region.h"

// If, Loop and Scan are imported by import_control.cc.

namespace nn::onnx {
namespace {

// The outputs of a region with new names.
std::vector<Port> NamedOutputs(ExportContext& ctx, const Graph& region) {
  std::vector<Port> ports;
  for (const Port& p : region.outputs())
    ports.push_back({ctx.NewName(p.name.empty() ? p.value->name() : p.name), p.value});
  return ports;
}

pb::GraphProto* AddGraph(pb::NodeProto* node, std::string_view name) {
  pb::AttributeProto* const a = node->add_attribute();
  a->set_name(std::string(name));
  a->set_type(pb::AttributeProto::GRAPH);
  a->mutable_g()->set_name(std::string(name));
  return a->mutable_g();
}

std::vector<std::string> ResultNames(ExportContext& ctx, const Node& node) {
  std::vector<std::string> names;
  for (const Value* v : node.outputs()) names.push_back(ctx.NameOf(v));
  return names;
}

bool IsScalar(const Value* v) {
  return v->type().ranked() && v->type().rank() == 0;
}

// The value as a scalar. A trip count or a condition may also be a vector of one element.
std::string ScalarOf(ExportContext& ctx, const Value* v) {
  const std::string name = ctx.NameOf(v);
  return IsScalar(v) ? name : ctx.AddValue("Reshape", {name, ctx.AddInts({}, "scalar")}, name);
}

// The number of the iteration, which the region may take as a vector of one element.
void AddNumber(ExportContext& ctx, const std::string& name, const Value* number) {
  if (IsScalar(number)) return ctx.AddInput(name, number);
  ctx.AddInput(name, Type(DType::kI64, Dims()));
  ctx.Claim(number, ctx.AddValue("Reshape", {name, ctx.AddInts({1}, "vector")}, name));
}

Status WriteBranch(ExportContext& ctx, const Node& node) {
  std::string condition = ctx.NameOf(node.input(0));
  if (!node.input(0)->type().ranked())
    condition = ctx.AddValue("Reshape", {condition, ctx.AddInts({}, "scalar")}, condition);
  pb::NodeProto* const out =
      ctx.AddNode(node, "If", {ResultNames(ctx, node), {std::move(condition)}});
  for (const size_t i : {0, 1}) {
    pb::GraphProto* const g = AddGraph(out, i == 0 ? "then_branch" : "else_branch");
    if (ctx.trial()) continue;
    const Graph& region = *node.regions()[i];
    ctx.CaptureOperands(node, region, 0);
    const ExportContext::Subgraph subgraph(ctx, g);
    NN_RETURN_IF_ERROR(ctx.WriteContents(region, NamedOutputs(ctx, region)));
  }
  return {};
}

// Up to operator set 10, the results of both branches have the same shapes.
int64_t BranchOpset(const Node& node) {
  const auto& yes = node.regions()[0]->outputs();
  const auto& no = node.regions()[1]->outputs();
  for (size_t k = 0; k < node.outputs().size(); ++k)
    if (!Compatible(yes[k].value->type(), no[k].value->type())) return 11;
  return 1;
}

// Without a condition, the body returns one that is true, because runtimes differ in whether they
// read it.
Status WriteLoop(ExportContext& ctx, const Node& node) {
  const RegionPorts ports(node);
  const size_t carried = ports.carried();
  std::vector<std::string> inputs;
  for (size_t i = 0; i < ports.first_carried(); ++i)
    inputs.push_back(node.input(i) == nullptr ? "" : ScalarOf(ctx, node.input(i)));
  for (size_t i = 0; i < carried; ++i)
    inputs.push_back(ctx.NameOf(node.input(ports.first_carried() + i)));
  pb::NodeProto* const out = ctx.AddNode(node, "Loop", {ResultNames(ctx, node), std::move(inputs)});
  while (out->input_size() < static_cast<int>(ports.first_carried())) out->add_input("");
  pb::GraphProto* const g = AddGraph(out, "body");
  if (ctx.trial()) return {};
  const Graph& region = *node.regions()[0];
  ctx.CaptureOperands(node, region, 1 + carried);
  const ExportContext::Subgraph subgraph(ctx, g);
  const Type flag(DType::kBool, Dims());
  const auto name_of = [&](const Port& p) {
    return ctx.NewName(p.name.empty() ? p.value->name() : p.name);
  };
  AddNumber(ctx, name_of(region.inputs()[0]), region.inputs()[0].value);
  ctx.AddInput(ctx.NewName("condition"), flag);
  for (size_t i = 1; i < 1 + carried; ++i)
    ctx.AddInput(name_of(region.inputs()[i]), region.inputs()[i].value);
  std::vector<Port> outputs = NamedOutputs(ctx, region);
  const Port more = outputs[0];
  if (node.input(1) != nullptr && IsScalar(more.value)) return ctx.WriteContents(region, outputs);
  outputs.erase(outputs.begin());
  ctx.AddOutput(more.name, flag);
  NN_RETURN_IF_ERROR(ctx.WriteContents(region, outputs));
  if (node.input(1) == nullptr)
    ctx.AddHelper("Identity", {{more.name}, {ctx.AddTensor(Tensor::Scalar(true), "true")}});
  else
    ctx.AddHelper("Reshape", {{more.name}, {ctx.NameOf(more.value), ctx.AddInts({}, "scalar")}});
  return {};
}

std::optional<std::string> WhyNotLoop(const Node& node) {
  if (node.input(0) == nullptr && node.input(1) == nullptr)
    return "it has neither a trip count nor a condition";
  return std::nullopt;
}

// Up to operator set 10, a loop needs a carried value.
int64_t LoopOpset(const Node& node) {
  return node.attrs<LoopAttrs>().carried == 0 ? 11 : 1;
}

constexpr ExportRow kControlExports[] = {
    {.op = "branch", .write = WriteBranch, .min_opset = BranchOpset},
    {.op = "loop", .write = WriteLoop, .why_not = WhyNotLoop, .min_opset = LoopOpset},
};

}  // namespace

Family ControlFamily() {
  return {.exports = kControlExports};
}

}  // namespace nn::onnx

// Branches and loops that a run decides about: regions of graph nodes.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "formats/common/regions.h"
#include "formats/onnx/importer.h"
#include "ops/array/sequence.h"
#include "ops/control/loop.h"
#include "ops/control/region.h"

namespace nn::onnx {
namespace {

Status CheckTensors(std::span<Value* const> values) {
  for (const Value* v : values)
    if (IsSequence(v) || IsEmptyOptional(v))
      return UnsupportedError("sequences and optionals in such subgraphs are unsupported");
  return {};
}

}  // namespace

Result<std::vector<Value*>> Importer::RunRegion(const Body& body, std::span<Value* const> inputs) {
  const size_t unsupported = unsupported_.size();
  NN_ASSIGN(auto results, RunBody(body, inputs));
  if (unsupported_.size() > unsupported)
    return UnsupportedError("{} is unsupported", body.attribute);
  NN_RETURN_IF_ERROR(CheckTensors(results));
  return results;
}

// The types of the carried values must hold for all iterations: the body is imported again as long
// as it changes one of their sizes, which is unknown from then on.
Status Importer::ImportOpenLoop(ImportContext& ctx, Body body, std::span<Value* const> values,
                                std::string why) {
  const auto because = [&](const Error& error) { return tl::unexpected(InBranch(error, why)); };
  if (auto s = CheckTensors(values); !s) return because(s.error());
  body.unrolled = false;
  const size_t carried = values.size();
  std::vector<Type> types;
  for (const Value* v : values) types.push_back(v->type());
  int symbols = 0;
  const int64_t id = LastId(graph_);
  const auto new_symbol = [&] { return Dim::Symbol(fmt::format("?loop{}.{}", id, symbols++)); };
  std::vector<Value*> captured;
  std::vector<Graph> regions;
  while (regions.empty()) {
    Placeholders placeholders(graph_);
    std::vector<Value*> inputs = {placeholders.Add(Type(DType::kI64, Dims()))};
    NN_ASSIGN(Value* const yes, NumberInput(body, 1, DType::kBool, 1));
    inputs.push_back(yes);
    for (const Type& type : types) inputs.push_back(placeholders.Add(type));
    ImportMark mark(graph_, unsupported_);
    const auto undo = [&](const Error& error) {
      mark.Undo(error);
      return because(error);
    };
    if (const auto dims = TypeOf(*body.shared.inputs[0]).const_dims(); dims && !dims->empty()) {
      NN_ASSIGN(inputs[0], ctx.Add("reshape", {inputs[0]}, ReshapeAttrs{ToDims(*dims)}));
    }
    auto results = RunRegion(body, inputs);
    if (!results) return undo(results.error());
    bool changed = false;
    for (size_t k = 0; k < carried; ++k) {
      const auto wider = Widen(types[k], (*results)[1 + k]->type(), new_symbol);
      if (!wider) return undo(wider.error());
      changed = changed || *wider;
    }
    if (changed) {
      mark.EraseNodes();
      continue;
    }
    NN_ASSIGN(results->front(), AsScalar(ctx, results->front()));
    regions.push_back(TakeRegion(graph_, mark, placeholders.values(), *results, captured));
  }
  std::vector<Value*> inputs;
  for (const size_t i : {0, 1}) {
    inputs.push_back(ctx.input(i));
    if (inputs[i] == nullptr) continue;
    NN_ASSIGN(inputs[i], AsScalar(ctx, inputs[i]));
  }
  inputs.insert(inputs.end(), values.begin(), values.end());
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  const size_t count = regions[0].outputs().size() - 1;
  NN_ASSIGN(const Node* const loop,
            ctx.AddNode("loop", std::move(inputs),
                        LoopAttrs{static_cast<int64_t>(carried), std::move(why)}, count,
                        std::move(regions)));
  for (size_t i = 0; i < count; ++i) ctx.SetOutput(i, loop->output(i));
  return {};
}

Status Importer::ImportOpenBranch(ImportContext& ctx, const Body& yes, const Body& no,
                                  Value* condition, std::string why) {
  std::vector<Value*> captured;
  std::vector<Graph> regions;
  for (const Body* body : {&yes, &no}) {
    ImportMark mark(graph_, unsupported_);
    const auto results = RunRegion(*body, {});
    if (!results) {
      mark.Undo(results.error());
      return tl::unexpected(InBranch(results.error(), why));
    }
    const size_t count = ctx.output_count();
    regions.push_back(TakeRegion(graph_, mark, {}, std::span(*results).first(count), captured));
  }
  // The second region may have captured more values.
  for (size_t i = regions[0].inputs().size(); i < captured.size(); ++i)
    regions[0].AddInput("", captured[i]->type());
  NN_ASSIGN(Value* const flag, AsScalar(ctx, condition));
  std::vector<Value*> inputs = {flag};
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  NN_ASSIGN(const Node* const branch,
            ctx.AddNode("branch", std::move(inputs), BranchAttrs{std::move(why)},
                        ctx.output_count(), std::move(regions)));
  for (size_t i = 0; i < ctx.output_count(); ++i) ctx.SetOutput(i, branch->output(i));
  return {};
}

}  // namespace nn::onnx

// Branches and loops that a run decides about: regions of graph nodes.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/text.h"
#include "formats/common/regions.h"
#include "formats/onnx/import/importer.h"
#include "ops/array/sequence.h"
#include "ops/array/shape.h"
#include "ops/control/loop.h"

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
  // It may be imported several times.
  NN_RETURN_IF_ERROR(unrolled_.Take(std::max(body.graph.node_size(), body.graph.output_size())));
  NN_ASSIGN(auto results, RunBody(body, inputs));
  if (unsupported_.size() > unsupported)
    return UnsupportedError("{} is unsupported", body.attribute);
  NN_RETURN_IF_ERROR(CheckTensors(results));
  return results;
}

Status Importer::ImportOpenLoop(ImportContext& ctx, Body body, std::span<Value* const> values,
                                std::string why) {
  body.unrolled = false;
  std::vector<Type> types;
  types.reserve(values.size());
  for (const Value* v : values) types.push_back(v->type());
  const auto run = [&](std::span<Value* const> given) -> Result<std::vector<Value*>> {
    NN_RETURN_IF_ERROR(CheckTensors(values));
    std::vector<Value*> inputs(given.begin(), given.end());
    if (const auto dims = TypeOf(*body.shared.inputs[0]).const_dims(); dims && !dims->empty()) {
      NN_ASSIGN(inputs[0], ctx.Add("reshape", {inputs[0]}, ReshapeAttrs{ToDims(*dims)}));
    }
    NN_ASSIGN(Value* const yes, NumberInput(body, 1, DType::kBool, 1));
    inputs.insert(inputs.begin() + 1, yes);
    NN_ASSIGN(auto results, RunRegion(body, inputs));
    results.resize(1 + ctx.output_count());
    NN_ASSIGN(results[0], AsScalar(ctx, results[0]));
    return results;
  };
  auto loop = TakeLoop(graph_, unsupported_, std::move(types), run);
  if (!loop) return tl::unexpected(InBranch(loop.error(), why));
  Value* limits[] = {ctx.input(0), ctx.input(1)};
  for (Value*& v : limits) {
    if (v == nullptr) continue;
    NN_ASSIGN(v, AsScalar(ctx, v));
  }
  return EmitLoop(ctx, limits[0], limits[1], values, *std::move(loop), std::move(why));
}

Status Importer::ImportOpenBranch(ImportContext& ctx, const Body& yes, const Body& no,
                                  Value* condition, std::string why) {
  const auto results_of = [&](const Body& body) -> Result<std::vector<Value*>> {
    NN_ASSIGN(std::vector<Value*> results, RunRegion(body, {}));
    results.resize(ctx.output_count());
    return results;
  };
  const RunBranchFn runs[] = {[&] { return results_of(yes); }, [&] { return results_of(no); }};
  auto branches = TakeBranches(graph_, unsupported_, runs);
  if (!branches) return tl::unexpected(InBranch(branches.error(), why));
  return EmitBranch(ctx, condition, *std::move(branches), std::move(why));
}

}  // namespace nn::onnx

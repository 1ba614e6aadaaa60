#include "formats/onnx/import/scan_loop.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

#include "formats/common/control_flow.h"
#include "formats/common/regions.h"
#include "ops/array/arrange/slice.h"
#include "ops/control/loop.h"
#include "ops/support/term_ops.h"
#include "ops/support/types.h"

namespace nn::onnx {
namespace {

// The size of an axis as a scalar.
Term SizeOf(Value* x, int64_t axis) {
  return Reshape(SizeOfAxis(x, axis), {});
}

// What an iteration reads.
Term ElementOf(Value* x, int64_t axis, bool backward, const Term& number) {
  return Gather(x, backward ? -1 - number : number, axis);
}

// The elements of a stack in the order and along the axis of a scan output.
Result<Term> ScanOutput(Value* stack, int64_t axis, bool backward) {
  if (!stack->type().ranked() && axis != 0)
    return UnsupportedError("the rank of a scan output along another axis than 0 is unknown");
  Term y = stack;
  if (backward) {
    constexpr int64_t kBeforeFirst = std::numeric_limits<int64_t>::min();
    y = Apply("slice", {y}, SliceAttrs{{0}, {-1}, {kBeforeFirst}, {-1}});
  }
  if (axis == 0) return y;
  NN_ASSIGN(const int to, NormalizeAxis(axis, stack->type().rank()));
  std::vector<int64_t> perm;
  for (int k = 1; k < stack->type().rank(); ++k) perm.push_back(k);
  perm.insert(perm.begin() + to, 0);
  return Transpose(y, std::move(perm));
}

}  // namespace

Result<int64_t> CommonLength(std::span<Value* const> values, std::span<int64_t> axes,
                             std::string* open) {
  std::optional<int64_t> length;
  std::string why;
  for (size_t i = 0; i < values.size(); ++i) {
    const Type& type = values[i]->type();
    if (!type.ranked()) return UnsupportedError("the rank of scan input {} is unknown", i);
    if (axes[i] < 0) axes[i] += type.rank();
    if (axes[i] < 0 || axes[i] >= type.rank())
      return ModelError("axis {} of scan input {} is out of range for rank {}", axes[i], i,
                        type.rank());
    const Dim& dim = type.dim(static_cast<int>(axes[i]));
    if (!dim.is_const()) {
      why = fmt::format("the length of scan input {} {}", i, WhyUnknown(dim));
      continue;
    }
    if (length && *length != dim.value())
      return ModelError("the scan inputs have lengths {} and {}", *length, dim.value());
    length = dim.value();
  }
  if (!length && open != nullptr) {
    *open = std::move(why);
    return 0;
  }
  if (!length) return UnsupportedError("{}", why);
  if (*length == 0) return UnsupportedError("scans of length 0 are unsupported");
  return *length;
}

Status EmitScanLoop(ImportContext& ctx, Graph& graph, std::vector<UnsupportedNode>& unsupported,
                    const OpenScan& scan) {
  const auto run = [&](std::span<Value* const> given) -> Result<std::vector<Value*>> {
    std::vector<Value*> values(given.begin() + 1, given.end());
    for (size_t k = 0; k < scan.scanned.size(); ++k) {
      const bool backward = scan.in_directions[k] != 0;
      NN_ASSIGN(values.emplace_back(),
                ctx.Build(ElementOf(scan.scanned[k], scan.in[k], backward, given[0])));
    }
    NN_ASSIGN(std::vector<Value*> results, scan.run_body(values));
    results.resize(ctx.output_count());
    NN_ASSIGN(Value* const go_on, ctx.Number(DType::kBool, 1));
    results.insert(results.begin(), go_on);
    return results;
  };
  std::vector<Type> types;
  for (const Value* v : scan.states) types.push_back(v->type());
  NN_ASSIGN(Value* const trips, ctx.Build(SizeOf(scan.scanned[0], scan.in[0])));
  auto loop = TakeLoop(graph, unsupported, std::move(types), run);
  if (!loop) return tl::unexpected(InBranch(loop.error(), scan.why));
  std::vector<Value*> inputs = {trips, nullptr};
  inputs.insert(inputs.end(), scan.states.begin(), scan.states.end());
  inputs.insert(inputs.end(), loop->captured.begin(), loop->captured.end());
  const LoopAttrs attrs{std::ssize(scan.states), scan.why};
  NN_ASSIGN(const Node* const node, ctx.AddNode("loop", std::move(inputs), attrs,
                                                ctx.output_count(), std::span(&loop->region, 1)));
  for (size_t i = 0; i < ctx.output_count(); ++i) {
    Term y = node->output(i);
    if (i >= scan.states.size()) {
      const size_t k = i - scan.states.size();
      NN_ASSIGN(y, ScanOutput(node->output(i), scan.out[k], scan.out_directions[k] != 0));
    }
    NN_RETURN_IF_ERROR(ctx.EmitTerm(y, i));
  }
  return {};
}

}  // namespace nn::onnx

#include "exec/steps/conv/conv_step.h"

#include <cmath>
#include <vector>

namespace nn {

bool HasConstantFilter(const Node& node, Layout layout) {
  const Value* bias = node.input(2);
  return node.output()->dtype() == DType::kF32 && layout == Layout::kNxc &&
         node.input(1)->is_constant() && (bias == nullptr || bias->is_constant());
}

bool TakesFilter(const ConvGeometry& g, const Tensor& filter, size_t most_taps) {
  if (g.windows.size() > 3 || static_cast<size_t>(g.taps()) > most_taps) return false;
  for (size_t i = 0; i < static_cast<size_t>(filter.elements()); ++i)
    if (!std::isfinite(LoadFloat(filter.blob().data(), i))) return false;
  return true;
}

bool IsDepthwise(const ConvGeometry& g, size_t most_rows) {
  const Spatial3 s = ToThree(g.windows);
  return g.in_channels == 1 && g.out_channels == 1 && g.groups > 1 &&
         static_cast<size_t>(s[0].kernel * s[1].kernel) <= most_rows;
}

void AddConvStep(PlanContext& ctx, std::unique_ptr<ConvStepBase> step, PostOpProgram post_ops,
                 bool rows_follow) {
  if (const Value* bias = ctx.node().input(2)) {
    step->sources.bias.resize(static_cast<size_t>(bias->constant().elements()));
    std::memcpy(step->sources.bias.data(), bias->constant().blob().data(),
                step->sources.bias.size() * sizeof(float));
  }
  std::vector<BufferId> reads = post_ops.reads();
  reads.insert(reads.end(), {step->packed, step->in.buffer});
  step->post_ops = std::move(post_ops);
  step->post_ops.MoveInto(step->epilogue, step->sources, rows_follow);
  step->out = ctx.ViewOf(ctx.group().result());
  const BufferId out = step->out.buffer;
  ctx.AddStep(std::move(step), std::move(reads), {out});
}

}  // namespace nn

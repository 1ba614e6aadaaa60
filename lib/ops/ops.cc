#include "ops/ops.h"

#include "ir/op_def.h"

namespace nn {

void InstallOps() {
  static const OpRegistry* const registry = [] {
    auto* ops = new OpRegistry();  // lives as long as the program: definitions are referred to
    RegisterConvOps(*ops);
    RegisterConvTransposeOps(*ops);
    RegisterElementwiseOps(*ops);
    RegisterShapeOps(*ops);
    RegisterMatmulOps(*ops);
    RegisterNormAxesOps(*ops);
    RegisterConcatOps(*ops);
    RegisterSliceOps(*ops);
    RegisterGatherOps(*ops);
    RegisterScatterOps(*ops);
    RegisterPadOps(*ops);
    RegisterTileOps(*ops);
    RegisterShapeOfOps(*ops);
    RegisterGenerateOps(*ops);
    RegisterSelectOps(*ops);
    RegisterBlockOps(*ops);
    RegisterResizeOps(*ops);
    RegisterGridSampleOps(*ops);
    RegisterNormOps(*ops);
    RegisterOpaqueOp(*ops);
    RegisterAssumeShapeOp(*ops);
    RegisterOrderOps(*ops);
    RegisterPoolOps(*ops);
    RegisterReduceOps(*ops);
    RegisterRecurrentOps(*ops);
    RegisterSoftmaxOps(*ops);
    RegisterUnpoolOps(*ops);
    return ops;
  }();
  SetOps(registry);
}

}  // namespace nn

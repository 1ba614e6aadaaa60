// All operators. One registration function a family, each in its own file of this folder.
#pragma once

namespace nn {

class OpRegistry;

// Makes Ops() hold every operator. Call once at the start of a program; later calls do nothing.
void InstallOps();

void RegisterConvOps(OpRegistry& ops);
void RegisterConvTransposeOps(OpRegistry& ops);
void RegisterElementwiseOps(OpRegistry& ops);
void RegisterShapeOps(OpRegistry& ops);
void RegisterMatmulOps(OpRegistry& ops);
void RegisterNormAxesOps(OpRegistry& ops);
void RegisterConcatOps(OpRegistry& ops);
void RegisterSliceOps(OpRegistry& ops);
void RegisterGatherOps(OpRegistry& ops);
void RegisterScatterOps(OpRegistry& ops);
void RegisterPadOps(OpRegistry& ops);
void RegisterTileOps(OpRegistry& ops);
void RegisterShapeOfOps(OpRegistry& ops);
void RegisterGenerateOps(OpRegistry& ops);
void RegisterSelectOps(OpRegistry& ops);
void RegisterBlockOps(OpRegistry& ops);
void RegisterResizeOps(OpRegistry& ops);
void RegisterGridSampleOps(OpRegistry& ops);
void RegisterNormOps(OpRegistry& ops);
void RegisterOpaqueOp(OpRegistry& ops);
void RegisterAssumeShapeOp(OpRegistry& ops);
void RegisterOrderOps(OpRegistry& ops);
void RegisterPoolOps(OpRegistry& ops);
void RegisterReduceOps(OpRegistry& ops);
void RegisterRecurrentOps(OpRegistry& ops);
void RegisterSoftmaxOps(OpRegistry& ops);
void RegisterUnpoolOps(OpRegistry& ops);

}  // namespace nn

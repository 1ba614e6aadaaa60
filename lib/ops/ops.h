// All operators. One registration function a family, each in its own file of this folder.
#pragma once

namespace nn {

class OpRegistry;

// Makes Ops() hold every operator. Call once at the start of a program; later calls do nothing.
void InstallOps();

void RegisterConvOps(OpRegistry& ops);
void RegisterElementwiseOps(OpRegistry& ops);
void RegisterShapeOps(OpRegistry& ops);
void RegisterNormOps(OpRegistry& ops);
void RegisterOpaqueOp(OpRegistry& ops);

}  // namespace nn

// The list of kernels. One function a family, in plan_<family>.cc.
#pragma once

#include <vector>

#include "exec/plan.h"

namespace nn {

void AddConvKernels(std::vector<KernelInfo>& kernels);
void AddConvTransposeKernels(std::vector<KernelInfo>& kernels);
void AddElementwiseKernels(std::vector<KernelInfo>& kernels);
void AddGatherKernels(std::vector<KernelInfo>& kernels);
void AddGenerateKernels(std::vector<KernelInfo>& kernels);
void AddGridSampleKernels(std::vector<KernelInfo>& kernels);
void AddQuantizeKernels(std::vector<KernelInfo>& kernels);
void AddMatmulKernels(std::vector<KernelInfo>& kernels);
void AddMovementKernels(std::vector<KernelInfo>& kernels);
void AddNormKernels(std::vector<KernelInfo>& kernels);
void AddOrderKernels(std::vector<KernelInfo>& kernels);
void AddPoolKernels(std::vector<KernelInfo>& kernels);
void AddRecurrentKernels(std::vector<KernelInfo>& kernels);
void AddReduceKernels(std::vector<KernelInfo>& kernels);
void AddResampleKernels(std::vector<KernelInfo>& kernels);
void AddRowKernels(std::vector<KernelInfo>& kernels);
void AddScatterKernels(std::vector<KernelInfo>& kernels);
void AddShapeKernels(std::vector<KernelInfo>& kernels);
void AddSoftmaxKernels(std::vector<KernelInfo>& kernels);

}  // namespace nn

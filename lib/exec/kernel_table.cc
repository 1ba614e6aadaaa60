#include "exec/kernel_table.h"

#include <map>

namespace nn {

const KernelInfo* FindKernel(std::string_view op) {
  static const auto table = [] {
    std::vector<KernelInfo> kernels;
    AddConvKernels(kernels);
    AddConvTransposeKernels(kernels);
    AddElementwiseKernels(kernels);
    AddGatherKernels(kernels);
    AddGenerateKernels(kernels);
    AddGridSampleKernels(kernels);
    AddQuantizeKernels(kernels);
    AddMatmulKernels(kernels);
    AddMovementKernels(kernels);
    AddNormKernels(kernels);
    AddOrderKernels(kernels);
    AddPoolKernels(kernels);
    AddRecurrentKernels(kernels);
    AddReduceKernels(kernels);
    AddResampleKernels(kernels);
    AddRowKernels(kernels);
    AddScatterKernels(kernels);
    AddShapeKernels(kernels);
    AddSoftmaxKernels(kernels);
    std::map<std::string_view, KernelInfo> m;
    for (const KernelInfo& k : kernels) m[k.op] = k;
    return m;
  }();
  const auto it = table.find(op);
  return it == table.end() ? nullptr : &it->second;
}

}  // namespace nn

#include "exec/plan/families.h"

namespace nn {

std::vector<KernelInfo> AllKernels() {
  std::vector<KernelInfo> kernels;
#define NN_ADD(family) Add##family##Kernels(kernels);
  NN_KERNEL_FAMILIES(NN_ADD)
#undef NN_ADD
  return kernels;
}

}  // namespace nn

// The families of kernels. Each defines Add<Family>Kernels in a file of this folder; a function
// that is not listed here is a warning, one that is listed and not defined an error of the linker.
//
// Design: docs/design/005-lists-of-families.md.
#pragma once

#include <vector>

#include "exec/runtime/kernel_table.h"

namespace nn {

#define NN_KERNEL_FAMILIES(X) \
  X(BitCast)                  \
  X(Conv)                     \
  X(ConvTranspose)            \
  X(Dft)                      \
  X(DynamicQuantize)          \
  X(Elementwise)              \
  X(Gather)                   \
  X(Generate)                 \
  X(GridSample)               \
  X(IntegerProduct)           \
  X(Matmul)                   \
  X(Movement)                 \
  X(Norm)                     \
  X(Pool)                     \
  X(Quantize)                 \
  X(Recurrent)                \
  X(Reduce)                   \
  X(Resample)                 \
  X(Roi)                      \
  X(Row)                      \
  X(Scan)                     \
  X(Scatter)                  \
  X(Selection)                \
  X(Shape)                    \
  X(Softmax)                  \
  X(TreeEnsemble)

#define NN_DECLARE(family) void Add##family##Kernels(std::vector<KernelInfo>& kernels);
NN_KERNEL_FAMILIES(NN_DECLARE)
#undef NN_DECLARE

}  // namespace nn

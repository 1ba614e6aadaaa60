// The operators of this format by family (formats/common/family.h).
#pragma once

#include "formats/common/family.h"
#include "formats/onnx/export/export.h"
#include "formats/onnx/import/import.h"

namespace nn::onnx {

using Family = FamilyOf<ImportRow, ExportRow>;

// Each defines <Name>Family in a file of ops/; a function that is not listed here is a warning, one
// that is listed and not defined an error of the linker.
#define NN_ONNX_FAMILIES(X) \
  X(Attention)              \
  X(BitCast)                \
  X(Blocks)                 \
  X(Cast)                   \
  X(Col2Im)                 \
  X(Concat)                 \
  X(ContribAttention)       \
  X(ContribBlocks)          \
  X(ContribCrop)            \
  X(ContribFused)           \
  X(ContribGqa)             \
  X(ContribNorm)            \
  X(ContribOrdered)         \
  X(Control)                \
  X(Conv)                   \
  X(DeformConv)             \
  X(Einsum)                 \
  X(Elementwise)            \
  X(Gather)                 \
  X(GridSample)             \
  X(Image)                  \
  X(Integer)                \
  X(LinearAttention)        \
  X(Lookup)                 \
  X(Loss)                   \
  X(Map)                    \
  X(Matmul)                 \
  X(MlFeatures)             \
  X(MlLinear)               \
  X(Norm)                   \
  X(Optimizer)              \
  X(Pad)                    \
  X(Pool)                   \
  X(Qlinear)                \
  X(Qonnx)                  \
  X(Quantize)               \
  X(Random)                 \
  X(Recurrent)              \
  X(Reduce)                 \
  X(Resize)                 \
  X(ResizeExport)           \
  X(Roi)                    \
  X(Scan)                   \
  X(Selection)              \
  X(Sequence)               \
  X(Shape)                  \
  X(Slice)                  \
  X(Softmax)                \
  X(Spectrum)               \
  X(State)                  \
  X(Svm)                    \
  X(Swish)                  \
  X(Text)                   \
  X(TfIdf)                  \
  X(TreeEnsemble)           \
  X(TreeVotes)              \
  X(Window)                 \
  X(ZipMap)

#define NN_DECLARE(name) Family name##Family();
NN_ONNX_FAMILIES(NN_DECLARE)
#undef NN_DECLARE

std::span<const Family> Families();

}  // namespace nn::onnx

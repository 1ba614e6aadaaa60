// The families of operators. Each defines Register<Family>Ops in a file of lib/ops/<kind>, and
// Add<Family>Domains if its operators restrict their inputs (ops/support/domain.h). A function that
// is not listed here is a warning, one that is listed and not defined an error of the linker.
//
// Design: docs/design/005-lists-of-families.md.
#pragma once

#include "ir/op_def.h"
#include "ops/support/domain.h"

namespace nn {

#define NN_OP_FAMILIES(X)  \
  X(AssumeShape)           \
  X(Attention)             \
  X(BatchNormTraining)     \
  X(Binary)                \
  X(BitCast)               \
  X(Block)                 \
  X(Cast)                  \
  X(Col2Im)                \
  X(Concat)                \
  X(Control)               \
  X(Conv)                  \
  X(ConvTranspose)         \
  X(DeformConv)            \
  X(Det)                   \
  X(Dft)                   \
  X(ElementwiseSelect)     \
  X(ExtendedLstm)          \
  X(FakeQuantize)          \
  X(FixedDft)              \
  X(Gather)                \
  X(Generate)              \
  X(GridSample)            \
  X(Image)                 \
  X(LinearAttention)       \
  X(Logic)                 \
  X(Lookup)                \
  X(LshProjection)         \
  X(Matmul)                \
  X(Mel)                   \
  X(NonMaxSuppression)     \
  X(Norm)                  \
  X(NormAxes)              \
  X(Opaque)                \
  X(Pad)                   \
  X(Pool)                  \
  X(Quantize)              \
  X(Random)                \
  X(Recurrent)             \
  X(Reduce)                \
  X(Regex)                 \
  X(Resize)                \
  X(Roi)                   \
  X(RotaryEmbedding)       \
  X(Scan)                  \
  X(Scatter)               \
  X(Select)                \
  X(Selection)             \
  X(Sequence)              \
  X(Shape)                 \
  X(ShapeOf)               \
  X(SkipGram)              \
  X(Slice)                 \
  X(SoftNonMaxSuppression) \
  X(Softmax)               \
  X(StringNormalizer)      \
  X(Svdf)                  \
  X(Text)                  \
  X(TfIdf)                 \
  X(Tile)                  \
  X(TreeEnsemble)          \
  X(Unary)                 \
  X(Unpool)

#define NN_DOMAIN_FAMILIES(X) \
  X(Block)                    \
  X(Col2Im)                   \
  X(Concat)                   \
  X(Dft)                      \
  X(Elementwise)              \
  X(Gather)                   \
  X(Generate)                 \
  X(GridSample)               \
  X(Image)                    \
  X(Mel)                      \
  X(NonMaxSuppression)        \
  X(Norm)                     \
  X(Pad)                      \
  X(Position)                 \
  X(Random)                   \
  X(Recurrent)                \
  X(Reduce)                   \
  X(Resize)                   \
  X(Roi)                      \
  X(Scan)                     \
  X(Scatter)                  \
  X(Selection)                \
  X(Shape)                    \
  X(Slice)                    \
  X(SoftNonMaxSuppression)    \
  X(TfIdf)                    \
  X(Tile)                     \
  X(TreeEnsemble)             \
  X(Unpool)

#define NN_DECLARE(family) void Register##family##Ops(OpRegistry& ops);
NN_OP_FAMILIES(NN_DECLARE)
#undef NN_DECLARE

#define NN_DECLARE(family) void Add##family##Domains(DomainTable& domains);
NN_DOMAIN_FAMILIES(NN_DECLARE)
#undef NN_DECLARE

}  // namespace nn

// The operators of this format by family (formats/common/family.h).
#pragma once

#include "formats/common/family.h"
#include "formats/tflite/export/export.h"
#include "formats/tflite/import/import.h"

namespace nn::tflite {

using Family = FamilyOf<ImportRow, ExportRow>;
using Op = fb::BuiltinOperator;

// Each defines <Name>Family in a file of ops/; a function that is not listed here is a warning, one
// that is listed and not defined an error of the linker.
#define NN_TFLITE_FAMILIES(X) \
  X(Audio)                    \
  X(BitCast)                  \
  X(Concat)                   \
  X(Control)                  \
  X(Conv)                     \
  X(Detection)                \
  X(Dft)                      \
  X(ElementScatter)           \
  X(Elementwise)              \
  X(ExtendedLstm)             \
  X(Gather)                   \
  X(HashTable)                \
  X(LshProjection)            \
  X(Lstm)                     \
  X(Matmul)                   \
  X(NonMaxSuppression)        \
  X(Norm)                     \
  X(Pad)                      \
  X(Pool)                     \
  X(Random)                   \
  X(RandomBits)               \
  X(Recurrent)                \
  X(RecurrentLayer)           \
  X(Reduce)                   \
  X(Resize)                   \
  X(Scan)                     \
  X(Scatter)                  \
  X(Selection)                \
  X(Shape)                    \
  X(Signal)                   \
  X(SignalBank)               \
  X(SignalTransform)          \
  X(Slice)                    \
  X(Stablehlo)                \
  X(Variable)                 \
  X(Window)

#define NN_DECLARE(name) Family name##Family();
NN_TFLITE_FAMILIES(NN_DECLARE)
#undef NN_DECLARE

std::span<const Family> Families();

}  // namespace nn::tflite

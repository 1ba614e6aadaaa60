// The operations of ML Programs by family (formats/common/family.h).
#pragma once

#include "formats/common/family.h"
#include "formats/coreml/program/export/export.h"
#include "formats/coreml/program/import/import.h"

namespace nn::coreml::program {

using Family = FamilyOf<ImportRow, ExportRow>;

// Each defines <Name>Family() in a file of program/ops/.
#define NN_PROGRAM_FAMILIES(X) \
  X(Elementwise)               \
  X(Activation)                \
  X(Control)                   \
  X(Conv)                      \
  X(Compressed)                \
  X(Image)                     \
  X(Index)                     \
  X(Linear)                    \
  X(List)                      \
  X(Norm)                      \
  X(Pool)                      \
  X(Quantize)                  \
  X(Random)                    \
  X(Recurrent)                 \
  X(Reduce)                    \
  X(Select)                    \
  X(Shape)                     \
  X(Slice)

#define NN_DECLARE(name) Family name##Family();
NN_PROGRAM_FAMILIES(NN_DECLARE)
#undef NN_DECLARE

std::span<const Family> Families();

}  // namespace nn::coreml::program

// The operators of this format by family (formats/common/family.h).
#pragma once

#include "formats/common/family.h"
#include "formats/coreml/export/export.h"
#include "formats/coreml/import/import.h"

namespace nn::coreml {

using Family = FamilyOf<ImportRow, ExportRow>;

// Each defines <Name>Family in a file of ops/; a function that is not listed here is a warning, one
// that is listed and not defined an error of the linker.
#define NN_COREML_FAMILIES(X) \
  X(Concat)                   \
  X(Control)                  \
  X(Conv)                     \
  X(Elementwise)              \
  X(Gather)                   \
  X(Generate)                 \
  X(Matmul)                   \
  X(NonMaxSuppression)        \
  X(Norm)                     \
  X(Pad)                      \
  X(Pool)                     \
  X(Random)                   \
  X(Recurrent)                \
  X(RecurrentLayer)           \
  X(Reduce)                   \
  X(Resize)                   \
  X(Scan)                     \
  X(Selection)                \
  X(Shape)                    \
  X(Slice)

#define NN_DECLARE(name) Family name##Family();
NN_COREML_FAMILIES(NN_DECLARE)
#undef NN_DECLARE

std::span<const Family> Families();

}  // namespace nn::coreml

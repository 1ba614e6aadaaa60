// The operators of this format by family (formats/common/family.h).
#pragma once

#include "formats/common/family.h"
#include "formats/nnapi/export/export.h"
#include "formats/nnapi/import/import.h"

namespace nn::nnapi {

using Family = FamilyOf<ImportRow, ExportRow>;

// Each defines <Name>Family in a file of ops/; a function that is not listed here is a warning, one
// that is listed and not defined an error of the linker.
#define NN_NNAPI_FAMILIES(X) \
  X(Conv)                    \
  X(Elementwise)             \
  X(Lookup)                  \
  X(LshProjection)           \
  X(Matmul)                  \
  X(Norm)                    \
  X(Pool)                    \
  X(Recurrent)               \
  X(RecurrentLayer)          \
  X(Shape)

#define NN_DECLARE(name) Family name##Family();
NN_NNAPI_FAMILIES(NN_DECLARE)
#undef NN_DECLARE

std::span<const Family> Families();

}  // namespace nn::nnapi

// The operators of this format by family (formats/common/family.h).
#pragma once

#include "formats/common/family.h"
#include "formats/nnapi/export/export.h"
#include "formats/nnapi/import/import.h"

namespace nn::nnapi {

using Family = FamilyOf<ImportRow, ExportRow>;

std::span<const Family> Families();

}  // namespace nn::nnapi

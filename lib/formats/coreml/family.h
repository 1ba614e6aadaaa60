// The operators of this format by family (formats/common/family.h).
#pragma once

#include "formats/common/family.h"
#include "formats/coreml/export/export.h"
#include "formats/coreml/import/import.h"

namespace nn::coreml {

using Family = FamilyOf<ImportRow, ExportRow>;

std::span<const Family> Families();

}  // namespace nn::coreml

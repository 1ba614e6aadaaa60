// The operators of this format by family (formats/common/family.h).
#pragma once

#include "formats/common/family.h"
#include "formats/tflite/export/export.h"
#include "formats/tflite/import/import.h"

namespace nn::tflite {

using Family = FamilyOf<ImportRow, ExportRow>;
using Op = fb::BuiltinOperator;

std::span<const Family> Families();

}  // namespace nn::tflite

// The operators of this format by family (formats/common/family.h).
#pragma once

#include "formats/common/family.h"
#include "formats/onnx/export/export.h"
#include "formats/onnx/import/import.h"

namespace nn::onnx {

using Family = FamilyOf<ImportRow, ExportRow>;

std::span<const Family> Families();

}  // namespace nn::onnx

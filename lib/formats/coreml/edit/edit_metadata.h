// Changes of a model's metadata (NativeEdit::metadata and strip).
#pragma once

#include "base/status.h"
#include "formats/common/edit/native_edit.h"
#include "formats/coreml/file/native.h"

namespace nn::coreml {

// Entries are named as in ModelSummary::metadata: the texts of Metadata, and user-defined ones.
// kUnsupported for what the summary takes from elsewhere.
Status EditMetadata(const Model& source, const NativeEdit& edit, Model& model);

}  // namespace nn::coreml

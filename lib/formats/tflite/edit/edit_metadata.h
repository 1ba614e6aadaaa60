// Changes of a model's metadata (NativeEdit::metadata).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/common/edit/native_edit.h"
#include "formats/tflite/file/native.h"

namespace nn::tflite {

// Entries of the metadata to write, and which ones of the source stay as they are.
struct MetadataEdit {
  std::vector<bool> keeps;                 // by entry
  std::map<std::string, Blob> texts;       // by name: those of entries that get other contents
  std::optional<std::string> description;  // "": none
};

// Entries are named as in ModelSummary::metadata: a text of TFLITE_METADATA changes there. Without
// it, "description" is that of the model. kUnsupported for entries that are not text, and for
// signatures that the model does not have. `drops_operators`: those that refer to
// operators by index are dropped.
Result<MetadataEdit> EditMetadata(const Model& model, const NativeEdit& edit, bool drops_operators);

// Whether the signature stays: "signature" without a text removes all of them, and with the key of
// one, all others.
bool KeepsSignature(const NativeEdit& edit, const fb::SignatureDef& signature);

}  // namespace nn::tflite

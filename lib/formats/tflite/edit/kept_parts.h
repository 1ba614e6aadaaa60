// What an edit of a model keeps of its lists.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/common/edit/native_edit.h"
#include "formats/tflite/edit/edit_metadata.h"
#include "formats/tflite/file/native.h"

namespace nn::tflite {

// The new indices of a list's elements by the old ones; kDropped for those that nothing uses.
inline constexpr int64_t kDropped = -1;
using NewIndices = std::vector<int64_t>;

struct KeptParts {
  // By the names of lists in the schema's attribute "refers_to".
  std::map<std::string_view, NewIndices> lists;
  std::vector<NewIndices> tensors;  // by subgraph
  std::vector<bool> external_buffers;
  MetadataEdit metadata;

  int64_t CountOf(std::string_view list) const;
};

// The number of elements with new indices.
int64_t CountOf(const NewIndices& list);

// Subgraphs other than the main one are kept as a whole, if an operator calls them or if they have
// a signature. kModel for references to what the file does not have; the errors of EditMetadata.
Result<KeptParts> FindKeptParts(const Model& model, const NativeEdit& edit);

// The values of ports that are no inputs, or outputs, of the source.
std::vector<bool> NewPorts(const fb::SubGraph& main, const std::vector<NativeEdit::Port>& ports,
                           const flatbuffers::Vector<int32_t>* present);

}  // namespace nn::tflite

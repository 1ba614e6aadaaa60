// What a rewritten TensorFlow Lite model keeps of its source besides the description: metadata
// entries of any contents, the archive of associated files, the signatures of the main subgraph,
// the names of resource variables, and which elements of sparse tensors are stored.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/tflite/file/native.h"
#include "ir/graph.h"

namespace nn::tflite {

// How the description begins that the writer gives to models without one.
inline constexpr std::string_view kProducer = "nnconvert";

// The frame for a graph of which these ports are written: its metadata describe those.
// kUnsupported, by name, for metadata that are not in their schema.
Result<std::shared_ptr<const NativeModel>> FrameFor(const std::shared_ptr<const NativeModel>& frame,
                                                    const Graph& graph,
                                                    const std::vector<Port>& inputs,
                                                    const std::vector<Port>& outputs);

// An entry of a signature.
struct SignatureEntry {
  std::string name;
  size_t port = 0;  // of the graph
};

struct FramedSignature {
  std::string key;
  std::vector<SignatureEntry> inputs, outputs;
};

// The signatures of the frame for ports that may have been renamed, added or removed. A
// port that the source does not have, or has by another name, is named as the port.
std::vector<FramedSignature> SignaturesOf(const NativeModel& frame, const std::vector<Port>& inputs,
                                          const std::vector<Port>& outputs);

// A resource variable, as VAR_HANDLE names it.
struct FramedVariable {
  std::string container, shared_name;
  bool operator==(const FramedVariable&) const = default;
};

// The resource variables of the frame, those of all subgraphs of the source.
std::vector<FramedVariable> VariablesOf(const NativeModel& frame);

struct FramedEntry {
  std::string name;
  Blob bytes;
};

// The metadata entries of the frame, in order, and the contents of the buffers that it lists as
// metadata without a name.
std::vector<FramedEntry> EntriesOf(const NativeModel& frame);
std::vector<Blob> UnnamedEntriesOf(const NativeModel& frame);

struct FramedSparse {
  const fb::Tensor* tensor;
  bool is_densified;  // by DENSIFY, before other operators read it
};

// The sparse tensors of the source, in order.
std::vector<FramedSparse> SparseTensorsOf(const NativeModel& frame);

// Adds the archive of the frame, if it has one, to the end of a file.
Status AddArchive(const NativeModel& frame, FileImage& image);

}  // namespace nn::tflite

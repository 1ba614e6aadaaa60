// Options for reading, writing and running models: resource limits, and the form of written files.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace nnsuite {

// The limits of readers. Violations are kLimit and name the limit as the programs' options do:
// max-file-bytes, max-piped-bytes, max-unpacked-bytes, max-depth, max-items.
struct ReadLimits {
  // Of the model file, or the files of its folder, and all side files that are read, together.
  uint64_t max_file_bytes = uint64_t{64} << 30;
  uint64_t max_piped_bytes = uint64_t{2} << 30;     // of a pipe, which is read into memory
  uint64_t max_unpacked_bytes = uint64_t{4} << 30;  // of all entries of an archive
  int max_depth = 100;                              // nested messages or subgraphs
  uint64_t max_items = uint64_t{16} << 20;          // nodes, tensors, operands: any one list
};

// The limits of a run.
struct RunLimits {
  // The limit on the bytes of inputs, outputs, intermediate values and packed weights that exist at
  // the same time. 0: four fifths of the memory that is available when the program is compiled.
  uint64_t max_memory = 0;
  // The limit on operations on elements. An operation of the reference evaluation, which is slower,
  // counts as kReferenceWork.
  uint64_t max_work = kAnyWork;
  // The limit on iterations of a loop whose end a run decides about, with those of the loops in it.
  uint64_t max_steps = 1'000'000;

  static constexpr uint64_t kAnyWork = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kReferenceWork = 64;
};

// Where the constants of a model are stored.
struct ExternalData {
  // A file beside the model for constants of `threshold` bytes or more. "": none, except for ONNX
  // models above 2 GiB, which get a file named after the model.
  std::string file = {};
  uint64_t threshold = 1024;
  bool embed = false;  // store all inside the model; kLimit if they do not fit
};

// The form of tensors of 1 KiB and more in a dump; kFile also covers smaller tensors that have a
// name.
enum class DumpWeights : uint8_t {
  kBase64,  // Base64; can be restored
  kInline,  // lists of numbers where the type is known; can be restored
  kStats,   // size, type, range, mean, deviation
  kDigest,  // size and SHA-256
  kNone,    // size
  kFile,    // as tensors in a file beside the dump; can be restored
};

struct DumpOptions {
  DumpWeights weights = DumpWeights::kBase64;
  // For kFile: the path of the file below the dump's folder, .npz or .safetensors.
  std::string file = {};
};

}  // namespace nnsuite

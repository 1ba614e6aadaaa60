// The part of a format that reads files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/model/native_model.h"
#include "nnsuite/options.h"

namespace nn {

class DumpNode;

using nnsuite::ReadLimits;

// How likely it is that a file has a format, by its contents.
enum class Likeness : uint8_t {
  kNone,
  kPossible,  // nothing contradicts the format
  kLikely,    // has the fields that every model of the format has
  kSure,      // has the format's identifier
};

class ModelReader {
 public:
  virtual ~ModelReader() = default;

  // Cheap: reads only the beginning of the file and of the data it refers to.
  virtual Likeness LikenessOf(std::span<const std::byte> bytes) const = 0;
  // `path` is the path of the file; external data is beside it. kParse for damaged files, kLimit
  // beyond the limits.
  virtual Result<std::unique_ptr<NativeModel>> Read(const Blob& file, const std::string& path,
                                                    const ReadLimits& limits) const = 0;
  // The inverse of ModelDescriber::Dump. `path` is as for Read. kParse, with the location, for
  // values that do not match the schema.
  virtual Result<std::unique_ptr<NativeModel>> Restore(const DumpNode& dump,
                                                       const std::string& path,
                                                       const ReadLimits& limits) const = 0;

  // Whether the format has models that are folders.
  virtual bool HasFolders() const { return false; }
  // Whether the folder is one of them.
  virtual bool IsModelFolder(const std::string& path) const;
  // Reads one; kUnsupported if the format has none.
  virtual Result<std::unique_ptr<NativeModel>> ReadFolder(const std::string& path,
                                                          const ReadLimits& limits) const;
};

}  // namespace nn

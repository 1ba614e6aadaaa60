// The metadata entry that describes a model and its inputs and outputs: a flatbuffer of its own
// (schemas/tflite_metadata.fbs).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"

namespace nn::tflite {

inline constexpr std::string_view kModelMetadata = "TFLITE_METADATA";

// Whether the bytes are such metadata, and valid.
bool IsModelMetadata(const Blob& bytes);

// Whether the name is that of a text which describes the model: "name", "description" and so on.
bool IsModelText(std::string_view name);

// An input or output of the changed model.
struct DescribedPort {
  std::string name;
  std::optional<size_t> source;  // its position in the source; nullopt: it is new
  bool is_normalized = false;    // the model has the normalization before it
};

struct MetadataChange {
  std::map<std::string, std::string, std::less<>> texts;  // by IsModelText(); "": remove
  // Nullopt: they stay. Lists that do not match the `sources` ports of the source stay, too.
  struct Ports {
    size_t sources = 0;
    std::vector<DescribedPort> ports;
  };
  std::optional<Ports> inputs, outputs;
};

// Requires IsModelMetadata(). kUnsupported, by name, for fields that are not in the schema.
Result<Blob> ChangeModelMetadata(const Blob& bytes, const MetadataChange& change);

}  // namespace nn::tflite

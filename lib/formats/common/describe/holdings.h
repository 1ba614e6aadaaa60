// The inventories of formats (formats/holdings.h), made from the schema: a table says which fields
// of a file are its graph, and every other field is a holding.
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection.h>
#include <google/protobuf/message.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "formats/holdings.h"

namespace nn {

struct FieldUse {
  enum class Kind : uint8_t {
    kGraph,  // a part of the graph, with all that the schema has below it
    kParts,  // messages or tables whose fields have rows of their own
    kHeld,   // a holding; for a list, each element
  };
  std::string_view field;  // "NodeProto.doc_string", or a oneof: "NeuralNetworkLayer.layer"
  Kind kind = Kind::kGraph;
  std::string_view holding = "";  // Holding::kind
  std::string_view becomes = "";  // Holding::becomes
  std::string_view key = "";      // in Holding::name, if the field is an entry of its own
};

// Who wrote the file. A written file names its own.
inline constexpr std::string_view kProducerKind = "producer";
inline constexpr std::string_view kNewProducer = "the producer of the written file";

// The digest of contents.
std::string DigestOf(std::string_view contents);
std::string DigestOf(const Blob& contents);

// The holdings of a message. Fields without a row are holdings with the field's name as the kind,
// and unknown fields are "unknown field". A message of a key and a value is named by its key; other
// holdings have the name of the innermost named message around them. `visit` is called for each
// message that is a part, unless it is null.
std::vector<Holding> HoldingsOf(
    const google::protobuf::Message& message, std::span<const FieldUse> uses,
    const std::function<void(const google::protobuf::Message& part)>& visit = nullptr);

// The same for a table of a verified flatbuffer.
std::vector<Holding> HoldingsOf(const flatbuffers::Table& table, const reflection::Object& type,
                                const reflection::Schema& schema, std::span<const FieldUse> uses);

}  // namespace nn

// Identifies protobuf files by their contents.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace nn {

// How well the fields of a message match a schema. Reads the first 64 fields of each message,
// nested messages two levels deep.
struct PbMatch {
  int known = 0;             // schema fields with the correct wire type
  int unknown = 0;           // fields not in the schema
  int wrong = 0;             // fields with a wrong wire type, and text with control characters
  bool damaged = false;      // not the wire format
  bool truncated = false;    // the bytes end within a field
  std::vector<int> numbers;  // of the top-level fields, in order

  // Whether the bytes may be such a message, or the beginning of one. A truncated field proves
  // nothing: any letter begins one.
  bool IsPlausible() const { return !damaged && wrong == 0 && known > unknown + int{truncated}; }
  bool Has(int number) const;
};

PbMatch MatchPb(std::span<const std::byte> bytes, const google::protobuf::Descriptor& type);

}  // namespace nn

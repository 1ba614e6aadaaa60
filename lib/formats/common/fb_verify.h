// Checking flatbuffers before they are read.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "base/status.h"
#include "formats/format.h"

namespace nn {

// Checks that all of a flatbuffer lies inside its bytes; `verify` is what flatc made for the root
// of the named schema. kLimit, with the limit's name, for one that would be sound with twice the
// tables (65536 at least) or with 1000 of them in each other; kParse for all others.
Status VerifyFlatbuffer(std::span<const std::byte> bytes, std::string_view schema,
                        bool (*verify)(flatbuffers::Verifier& verifier), const ReadLimits& limits);

}  // namespace nn

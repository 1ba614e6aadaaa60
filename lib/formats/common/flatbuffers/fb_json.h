// Flatbuffers in dumps, through the binary schema: an object whose members are the stored fields,
// even those with default values, with the names of the schema. Enumerators and union types are
// names, or numbers if unnamed; so are integers with the attribute "names", which are always
// present. A [ubyte] is a Base64 string.
//
// "$data" is the data outside the flatbuffer that a table refers to.
//
// Schemas cannot have fixed arrays, structs in structs or vectors, or vectors of unions.
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/common/describe/dump.h"
#include "formats/common/describe/dump_writer.h"
#include "formats/common/flatbuffers/fb_stable.h"

namespace nn {

// The data outside the flatbuffer that a table of the named type refers to, if any.
using FbOuterData =
    std::function<std::optional<Blob>(const flatbuffers::Table& table, std::string_view type)>;

// The type and name of a table's [ubyte] fields and outer data, where known.
using FbDataInfo = std::function<DataInfo(const flatbuffers::Table& table, std::string_view type)>;

// kParse if anything is outside the file, kLimit if shared vectors make the output several times
// larger than the file. kUnsupported, by name, for fields and union members that are not in the
// schema, because their type is unknown.
Status DumpFlatbuffer(const StableFlatbuffer& flatbuffer, const reflection::Schema& schema,
                      const FbOuterData& outer_data, const FbDataInfo& data_info, DumpWriter& out);

struct RestoredFlatbuffer {
  struct OuterData {
    size_t table;  // position in `file`
    std::string_view type;
    Blob bytes;
  };
  flatbuffers::DetachedBuffer file;
  std::vector<OuterData> outer_data;
};

// The inverse. kLimit above 2 GiB, the maximum of a flatbuffer.
Result<RestoredFlatbuffer> RestoreFlatbuffer(const DumpNode& dump, const reflection::Schema& schema,
                                             int max_depth);

}  // namespace nn

// Flatbuffers in dumps, through the binary schema: an object whose members are the fields that are
// stored (a field that is stored with its default is there, one that is left out is not), in the
// names of the schema. Enumerators and the types of unions are names, or numbers where there is
// none; so are integers with the attribute "names", which are always there. A [ubyte] is a string
// of Base64.
//
// "$data" is what a table refers to outside of the flatbuffer.
//
// Schemas may not have fixed arrays, structs in structs or vectors, and vectors of unions.
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/blob.h"
#include "base/status.h"
#include "formats/common/dump.h"
#include "formats/common/dump_writer.h"
#include "formats/common/fb_stable.h"

namespace nn {

// The data outside of the flatbuffer that a table of the named type refers to, if it does.
using FbOuterData =
    std::function<std::optional<Blob>(const flatbuffers::Table& table, std::string_view type)>;

// What is known of a table's [ubyte] fields and outer data.
using FbDataInfo = std::function<DataInfo(const flatbuffers::Table& table, std::string_view type)>;

// Checks while it goes that all lies inside the file (kParse), vectors that tables share not
// leading to more than several times its size (kLimit). kUnsupported, by name, for fields and
// members of unions that the schema does not have: their type is not known.
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

// The inverse. kLimit beyond the 2 GiB that a flatbuffer can have.
Result<RestoredFlatbuffer> RestoreFlatbuffer(const DumpNode& dump, const reflection::Schema& schema,
                                             int max_depth);

}  // namespace nn

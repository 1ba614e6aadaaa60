// What an NNAPI file holds beside its graph.
#include "formats/common/describe/holdings.h"
#include "formats/nnapi/file/native.h"
#include "formats/nnapi/roles.h"

namespace nn::nnapi {

std::vector<Holding> NnapiDescriber::HoldingsOf(const NativeModel& native) const {
  const auto& m = ModelOf(native);
  std::vector<Holding> out;
  if (m.request) {
    std::string contents;
    for (const auto* arguments : {&m.request->inputs, &m.request->outputs})
      for (const RequestArgument& a : *arguments) {
        contents += a.has_no_value ? "-" : "";
        for (const uint32_t n : {a.location.pool_index, a.location.offset, a.location.length})
          contents += std::to_string(n) + " ";
        for (const uint32_t n : a.dimensions) contents += std::to_string(n) + ",";
        contents += ";";
      }
    for (const uint64_t size : m.request->pool_sizes) contents += std::to_string(size) + " ";
    out.push_back({"request", "", DigestOf(contents), ""});
  }
  for (const Pool& pool : m.pools)
    if (!pool.file.empty())
      out.push_back({"external file", pool.file, "", "the data of its constants"});
  return out;
}

}  // namespace nn::nnapi

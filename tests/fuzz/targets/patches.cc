// libFuzzer: arbitrary bytes as a patch (RFC 6902) of a small model's dump.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/file/blob.h"
#include "formats/format.h"

namespace {

constexpr std::string_view kModel = R"(
  ir_version: 8 opset_import { version: 13 }
  graph { name: "g"
    node { op_type: "Relu" input: "x" output: "a" }
    node { op_type: "Add" input: "a" input: "w" output: "y" }
    initializer { name: "w" data_type: 1 dims: 1 float_data: 2 }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 5 } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 5 } } } } } })";

const nn::ReadModel& Model() {
  static const auto model = nn::ReadModelBytes(
      nn::Blob::Copy(std::as_bytes(std::span(kModel.data(), kModel.size()))), "m.textproto");
  if (!model) std::abort();
  return *model;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nn::ReadLimits limits;
  limits.max_items = 100'000;
  limits.max_unpacked_bytes = uint64_t{16} << 20;
  const std::string_view patch(reinterpret_cast<const char*>(data), size);
  const auto patched = nn::PatchModel(Model(), patch, "m.textproto", limits);
  if (patched || patched.error().code() != nn::ErrorCode::kInternal) return 0;
  std::fprintf(stderr, "%s\n", patched.error().message().c_str());
  std::abort();
}

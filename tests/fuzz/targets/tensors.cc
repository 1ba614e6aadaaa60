// libFuzzer: any bytes as a file of tensors (.npz, .npy) and as a graph's text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/blob.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "tensorio/npy.h"
#include "tensorio/npz.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  nn::InstallOps();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const nn::Blob file = nn::Blob::Copy(bytes);
  nn::NpzLimits limits;
  limits.max_bytes = uint64_t{64} << 20;
  if (const auto tensors = nn::ReadNpz(file, limits)) return 0;
  if (nn::ReadNpy(file)) return 0;
  const auto graph = nn::ParseGraph({reinterpret_cast<const char*>(data), size});
  if (!graph) return 0;
  const std::string text = nn::PrintGraph(*graph);
  const auto again = nn::ParseGraph(text);
  if (!again || nn::PrintGraph(*again) != text) {
    std::fprintf(stderr, "a printed graph is read otherwise:\n%s\n", text.c_str());
    std::abort();
  }
  return 0;
}

// libFuzzer: any bytes as a model file of the form that NN_FUZZ_PATH's extension tells.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/exercise.h"
#include "ops/ops.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  nn::InstallOps();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto result =
      nn::test::Exercise({reinterpret_cast<const char*>(data), size}, NN_FUZZ_PATH, true);
  if (!result.broken.empty()) {
    std::fprintf(stderr, "broken: %s\n", result.broken.c_str());
    std::abort();
  }
  return 0;
}

// Writes one of the models of tests/support/large_models.h, to measure the time and memory of the
// programs: make_large NAME N OUT.onnx
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "support/large_models.h"

int main(int argc, char** argv) {
  using nn::test::LargeModels;
  if (argc == 4) {
    for (const auto& model : LargeModels()) {
      if (model.name != argv[1]) continue;
      std::ofstream file(argv[3], std::ios::binary);
      file << model.make(std::strtoull(argv[2], nullptr, 10));
      return file.good() ? 0 : 1;
    }
  }
  std::fputs("make_large NAME N OUT.onnx, where N is how many there are of:\n", stderr);
  for (const auto& model : LargeModels())
    std::fprintf(stderr, "  %-18s %s\n", model.name.data(), model.what.data());
  return 2;
}

// libFuzzer: arbitrary bytes as a model file of the form given by the extension of NN_FUZZ_PATH.
// Binary forms are mutated field by field as well (mutate_model.h).
//
// NN_FUZZ_CONVERT: written in every format; NN_FUZZ_RUN: run on both backends.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fuzz/exercise.h"
#include "fuzz/mutate_model.h"

#ifndef NN_FUZZ_CONVERT
#define NN_FUZZ_CONVERT false
#endif
#ifndef NN_FUZZ_RUN
#define NN_FUZZ_RUN false
#endif

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto result = nn::test::Exercise({reinterpret_cast<const char*>(data), size}, NN_FUZZ_PATH,
                                         {.copy = !NN_FUZZ_CONVERT && !NN_FUZZ_RUN,
                                          .convert = NN_FUZZ_CONVERT,
                                          .verify = NN_FUZZ_CONVERT,
                                          .run = NN_FUZZ_RUN});
  if (!result.broken.empty()) {
    std::fprintf(stderr, "broken: %s\n", result.broken.c_str());
    std::abort();
  }
  return 0;
}

#ifdef NN_FUZZ_BY_FIELD
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Three in four are mutated by field; those that cannot be read, by bytes.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  static nn::test::ModelDictionary dictionary;
  static int models = 0;
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const nn::test::Seed model{NN_FUZZ_PATH, {reinterpret_cast<const char*>(data), size}};
  if (models < 200)
    if (const auto dump = nn::test::DumpOfBytes(model.bytes, model.path)) {
      dictionary.Add(*dump);
      ++models;
    }
  const auto mutant = nn::test::MutateModel(model, dictionary, seed / 4);
  if (!mutant || mutant->size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, mutant->data(), mutant->size());
  return mutant->size();
}
#endif

// Small models of every format and form, from which damaged ones are created.
#pragma once

#include <string>
#include <vector>

#include "ir/tensor.h"

namespace nn::test {

struct Seed {
  std::string path;  // its extension determines the form
  std::string bytes;
  std::vector<Tensor> inputs = {};  // of a run, if the model has some
};

// Of the forms ".onnx", ".tflite", ".mlmodel", ".nnapi", ".nnapi.json", ".textproto", ".onnxjson"
// and ".json" (dumps): the models of tests/cases and those of corpus/, up to 16 KiB.
std::vector<Seed> Seeds(const std::string& extension);
// Only those of corpus/: sound models, a few for each family of operators.
std::vector<Seed> CorpusSeeds(const std::string& extension);
// ONNX's own models of single operators with their inputs (Debian: libonnx-testdata); none if they
// are not installed.
std::vector<Seed> InstalledOnnxSeeds();

}  // namespace nn::test

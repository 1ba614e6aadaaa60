// Small models of every format and form, from which damaged ones are made.
#pragma once

#include <string>
#include <vector>

namespace nn::test {

struct Seed {
  std::string path;  // its extension tells the form
  std::string bytes;
};

// Of the forms ".onnx", ".tflite", ".mlmodel", ".nnapi", ".nnapi.json", ".textproto", ".onnxjson"
// and ".json" (dumps): the models of tests/cases, and some that are made here, up to 16 KiB.
std::vector<Seed> Seeds(const std::string& extension);

}  // namespace nn::test

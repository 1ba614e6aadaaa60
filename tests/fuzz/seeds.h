// Small models of every format and form, from which damaged ones are created.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/tensor.h"

namespace nn::test {

struct Seed {
  std::string path;  // its extension determines the form
  std::string bytes;
  std::vector<Tensor> inputs = {};  // of a run, if the model has some
};

// Of the forms ".onnx", ".tflite", ".mlmodel" (neural networks), ".mil.mlmodel" (ML Programs in one
// file), ".nnapi", ".nnapi.json", ".textproto", ".onnxjson" and ".json" (dumps): the models of
// tests/cases and those of corpus/, up to 16 KiB.
std::vector<Seed> Seeds(const std::string& extension);
// Only those of corpus/: sound models, a few for each family of operators.
std::vector<Seed> CorpusSeeds(const std::string& extension);

// A model in a folder, with the bytes of its files by their names.
struct FolderSeed {
  std::string name;  // of the folder
  std::map<std::string, std::string> files;
};
// ML Programs of corpus/: as packages with weight files, as dumps of these, and compiled, which
// have the program as text.
const std::vector<FolderSeed>& PackageSeeds();
std::vector<Seed> PackageDumps();
const std::vector<FolderSeed>& CompiledSeeds();

// ONNX's own models of single operators with their inputs (Debian: libonnx-testdata); none if they
// are not installed.
std::vector<Seed> InstalledOnnxSeeds();

}  // namespace nn::test

// libFuzzer: arbitrary bytes as one file of an ML Program in a folder, NN_FUZZ_FILE: the program as
// text (model.mil), the weights, or the manifest of a package. The other files are sound.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz/exercise.h"
#include "fuzz/mutate_model.h"

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = R"(program(1.0)
{
    func main<ios18>(tensor<fp32, [1, 8]> x) {
            tensor<fp16, [2, 8]> a = const()[val = tensor<fp16, [2, 8]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp32, [2, 8]> w = cast(dtype = string("fp32"), x = a)[name = string("w")];
            tensor<uint4, [2, 8]> i = const()[val = tensor<uint4, [2, 8]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(192)))];
            tensor<fp32, [1, 1, 16, 1]> t = const()[val = tensor<fp32, [1, 1, 16, 1]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(320)))];
            tensor<fp32, [2, 8]> v = constexpr_lut_to_dense(indices = i, lut = t)[name = string("v")];
            tensor<fp32, [1, 2]> p = linear(weight = w, x = x)[name = string("p")];
            tensor<fp32, [1, 2]> q = linear(weight = v, x = x)[name = string("q")];
            tensor<fp32, [1, 2]> y = add(x = p, y = q)[name = string("y")];
        } -> (y);
}
)";

constexpr std::string_view kModel = R"({"nn_dump": 1, "format": "coreml", "model": {
  "specificationVersion": 4, "description": {
    "input": [{"name": "x", "type": {"multiArrayType": {"shape": [4], "dataType": "FLOAT32"}}}],
    "output": [{"name": "y", "type": {"multiArrayType": {"shape": [4], "dataType": "FLOAT32"}}}]},
  "neuralNetwork": {"arrayInputShapeMapping": "EXACT_ARRAY_MAPPING",
    "layers": [{"name": "r", "input": ["x"], "output": ["y"], "activation": {"ReLU": {}}}]}}})";

void Write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

// A folder that has the other files.
const fs::path& Folder() {
  static const fs::path folder = [] {
    const bool is_package = std::string_view(NN_FUZZ_FILE) == "Manifest.json";
    const fs::path path = fs::temp_directory_path() / ("nnfuzz." + std::to_string(getpid()) +
                                                       (is_package ? ".mlpackage" : ".mlmodelc"));
    if (is_package)
      Write(path / "Data/model.mlmodel",
            nn::test::BytesOfDump(nn::Json::parse(kModel), "m.mlmodel").value_or(""));
    else
      Write(path / "model.mil", kProgram);
    return path;
  }();
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Write(Folder() / NN_FUZZ_FILE, {reinterpret_cast<const char*>(data), size});
  const auto result =
      nn::test::ExerciseFolder(Folder().string(), {.copy = true, .convert = true, .run = true});
  if (!result.broken.empty()) {
    std::fprintf(stderr, "broken: %s\n", result.broken.c_str());
    std::abort();
  }
  return 0;
}

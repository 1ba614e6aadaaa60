#include "fuzz/seeds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "formats/format.h"
#include "support/files.h"

namespace nn::test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = size_t{16} << 10;

// In operators that all formats have.
constexpr std::string_view kGraphs[] = {
    R"(graph {
  in %x: f32[1, 6, 6, 3]
  const %w: f32[4, 3, 3, 3] = seeded(1, 0.3)
  const %b: f32[4] = [1, 2, 3, 4]
  %y = conv(%x, %w, %b) {pads = [1, 1, 1, 1], layout = nxc, filter_layout = oxi} "c"
  %r = relu(%y)
  %p = max_pool(%r) {kernel = [2, 2], strides = [2, 2], layout = nxc}
  %f = reshape(%p) {dims = [1, 36]}
  %s = softmax(%f) {axis = 1}
  out "s" = %s
})",
    R"(graph {
  in %x: f32[2, 3]
  in %y: f32[2, 3]
  %a = add(%x, %y)
  %b = mul(%a, %x)
  %c = concat(%a, %b) {axis = 1}
  out "a" = %a
  out "c" = %c
})",
};

void AddFile(const std::string& path, const std::string& as, std::vector<Seed>& seeds) {
  std::string bytes = ReadText(path);
  if (bytes.size() <= kMaxBytes) seeds.push_back({as, std::move(bytes)});
}

// The same model in another form, if it has one.
void AddConverted(const std::string& from, const std::string& extension, std::vector<Seed>& seeds) {
  const TempDir dir;
  const auto model = ReadModelFile(from);
  if (!model) return;
  const std::string to = dir / "m" + extension;
  if (extension == ".json") {
    if (WriteDump(*model, to)) AddFile(to, "m" + extension, seeds);
    return;
  }
  const Format* format = FormatOfPath(to);
  if (format != model->format) return;
  const auto image = format->save(*model->model, ExportOptions{to});
  if (!image || !image->side_files.empty()) return;
  std::string bytes;
  for (const Blob& b : image->parts)
    bytes.append(reinterpret_cast<const char*>(b.data()), b.size());
  if (bytes.size() <= kMaxBytes) seeds.push_back({"m" + extension, std::move(bytes)});
}

}  // namespace

std::vector<Seed> Seeds(const std::string& extension) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(NN_SOURCE_DIR "/tests/cases"))
    if (entry.is_regular_file() && FormatOfPath(entry.path().string()) != nullptr)
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  const TempDir dir;
  int n = 0;
  for (const char* format : {".onnx", ".tflite", ".mlmodel", ".nnapi"})
    for (const std::string_view graph : kGraphs) {
      files.push_back(dir / std::to_string(n++) + format);
      WriteModel(files.back(), graph);
    }
  std::vector<Seed> seeds;
  for (const std::string& file : files) {
    if (file.ends_with(extension))
      AddFile(file, "m" + extension, seeds);
    else
      AddConverted(file, extension, seeds);
  }
  REQUIRE_FALSE(seeds.empty());
  return seeds;
}

}  // namespace nn::test

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "formats/common/dump.h"
#include "formats/coreml/coreml.h"
#include "formats/format.h"
#include "formats/nnapi/nnapi.h"
#include "formats/onnx/onnx.h"
#include "formats/tflite/tflite.h"

namespace nn {

std::string_view KnownNonModel(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min<size_t>(bytes.size(), 512));
  if (text.starts_with("version https://git-lfs.github.com/spec/"))
    return "a Git LFS pointer, not the model itself: run \"git lfs pull\" where it came from";
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const size_t start = lower.find_first_not_of(" \t\r\n");
  if (start != std::string::npos) {
    const std::string_view rest = std::string_view(lower).substr(start);
    if (rest.starts_with("<!doctype html") || rest.starts_with("<html"))
      return "an HTML page, probably of the site that it was downloaded from";
  }
  if (text.starts_with("PK\x03\x04")) return "a ZIP archive";
  if (text.starts_with("\x1f\x8b")) return "a gzip archive";
  if (text.starts_with("\x93NUMPY")) return "a NumPy array";
  if (text.starts_with("\x89HDF")) return "an HDF5 file (Keras?)";
  if (text.starts_with("GGUF")) return "a GGUF file (llama.cpp)";
  if (text.starts_with("<?xml")) return "an XML file (OpenVINO?)";
  if (text.starts_with("\x80\x02") || text.starts_with("\x80\x04"))
    return "a Python pickle (PyTorch?)";
  return {};
}

namespace {

uint64_t SizeOf(const std::vector<Blob>& parts) {
  uint64_t n = 0;
  for (const Blob& b : parts) n += b.size();
  return n;
}

}  // namespace

uint64_t SideFile::size() const {
  return SizeOf(parts);
}

uint64_t FileImage::size() const {
  uint64_t n = SizeOf(parts);
  if (is_folder)
    for (const SideFile& side : side_files) n += side.size();
  return n;
}

std::span<const Format> Formats() {
  static const std::array formats = {onnx::OnnxFormat(), tflite::TfliteFormat(),
                                     coreml::CoremlFormat(), nnapi::NnapiFormat()};
  return formats;
}

const Format* FindFormat(std::string_view name) {
  for (const Format& f : Formats())
    if (f.name == name) return &f;
  return nullptr;
}

const Format* FormatOfPath(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const Format* best = nullptr;
  size_t length = 0;
  for (const Format& f : Formats())
    for (const std::string_view e : f.extensions)
      if (path.size() > e.size() && path.ends_with(e) && e.size() > length) {
        best = &f;
        length = e.size();
      }
  return best;
}

namespace {

Result<ReadModel> ReadModelFolder(const std::string& path, const ReadLimits& limits) {
  const Format* format = FormatOfPath(path);
  if (format == nullptr || format->read_folder == nullptr)
    return IoError("{}: is a directory, not a model; models that are directories end in .mlpackage",
                   path);
  auto model = format->read_folder(path, limits);
  if (!model) return tl::unexpected(model.error().In(path));
  return ReadModel{format, *std::move(model)};
}

}  // namespace

Result<ReadModel> ReadModelFile(const std::string& path, const ReadLimits& limits) {
  std::error_code error;
  if (coreml::IsCompiledModel(path) && std::filesystem::exists(path, error))
    return UnsupportedError(
        "{}: a compiled Core ML model, whose form is not published; the .mlmodel or .mlpackage "
        "that it was made from is needed",
        path);
  if (std::filesystem::is_directory(path, error)) return ReadModelFolder(path, limits);
  NN_ASSIGN(const Blob file, ReadFile(path, limits.max_file_bytes, limits.max_piped_bytes));
  return ReadModelBytes(file, path, limits);
}

Result<ReadModel> ReadModelBytes(const Blob& file, const std::string& path,
                                 const ReadLimits& limits) {
  if (file.empty()) return ParseError("{}: the file is empty", path);
  if (IsDump(file.bytes())) {
    auto read = ReadDump(file, path, limits);
    if (!read) return tl::unexpected(read.error().In(path));
    return read;
  }
  const Format* format = FormatOfPath(path);
  if (format == nullptr || !format->sniff(file.bytes())) {
    for (const Format& f : Formats())
      if (&f != format && f.sniff(file.bytes()) && format == nullptr) format = &f;
    if (const auto what = KnownNonModel(file.bytes()); !what.empty())
      return ParseError("{}: this is {}", path, what);
    if (format == nullptr && path.ends_with(".json"))
      return ParseError("{}: no dump of a model: its first member is not \"nn_dump\"", path);
    if (format == nullptr) {
      std::string known;
      for (const Format& f : Formats()) known += fmt::format(" {}", f.extensions[0]);
      return ParseError("{}: not a model file; known extensions are{}", path, known);
    }
  }
  auto model = format->read(file, path, limits);
  if (!model) return tl::unexpected(model.error().In(path));
  return ReadModel{format, *std::move(model)};
}

Result<Graph> ReadGraph(const std::string& path, const ReadLimits& limits) {
  NN_ASSIGN(const ReadModel read, ReadModelFile(path, limits));
  auto imported = read.format->import(*read.model);
  if (!imported) return tl::unexpected(imported.error().In(path));
  if (!imported->obstacles.empty())
    return tl::unexpected(ObstaclesError("this suite's graph", imported->obstacles).In(path));
  return std::move(imported->graph);
}

}  // namespace nn

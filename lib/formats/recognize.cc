#include "formats/recognize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/text/text.h"

namespace nn {
namespace {

// Bytes at a fixed offset that identify a file type.
struct Signature {
  size_t offset;
  std::string_view bytes;
  std::string_view what;
};

using namespace std::string_view_literals;

constexpr Signature kSignatures[] = {
    {0, "version https://git-lfs.github.com/spec/"sv,
     "a Git LFS pointer, not the model itself; run \"git lfs pull\" in the repository"},
    {0, "\x1f\x8b"sv, "a gzip archive; unpack it first"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "an xz archive; unpack it first"},
    {0, "BZh"sv, "a bzip2 archive; unpack it first"},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd archive; unpack it first"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive; unpack it first"},
    {257, "ustar"sv, "a tar archive; unpack it first"},
    {0, "\x93NUMPY"sv, "a NumPy array, not a model; pass it to nnrun --input"},
    {0, "\x89HDF\r\n"sv,
     "an HDF5 file, such as a Keras model; convert it with tf2onnx or tf.lite.TFLiteConverter"},
    {0, "GGUF"sv, "a GGUF file of llama.cpp: weights without a graph"},
    {4, "ORTM"sv, "an ONNX Runtime .ort file; use the original .onnx file"},
    {4, "ET12"sv, "an ExecuTorch program; use the original model"},
    {0, "<?xml"sv, "an XML file, perhaps an OpenVINO model; use the original model"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program or library, not a model"},
    {0, "\x89PNG"sv, "a PNG image, not a model"},
    {0, "\xff\xd8\xff"sv, "a JPEG image, not a model"},
    {0, "%PDF-"sv, "a PDF document, not a model"},
};

// Names in the first bytes of a ZIP archive; local headers store them uncompressed.
constexpr std::pair<std::string_view, std::string_view> kZipMembers[] = {
    {"data.pkl"sv,
     "a PyTorch checkpoint or TorchScript archive; export the model with torch.onnx.export"},
    {"model.weights.h5"sv, "a Keras archive; convert it with tf2onnx or tf.lite.TFLiteConverter"},
    {".mlpackage/"sv, "a zipped .mlpackage; unpack it and pass the folder"},
    {".npy"sv, "an .npz archive of arrays, not a model; pass it to nnrun --inputs"},
    {"AndroidManifest.xml"sv, "an Android archive; unpack it and pass the model in it"},
};

constexpr std::string_view kPickle =
    "a Python pickle, perhaps a PyTorch checkpoint; export the model with torch.onnx.export";
constexpr std::string_view kSavedModel =
    "a TensorFlow SavedModel; convert it with tf2onnx or tf.lite.TFLiteConverter";

std::string_view TextOf(std::span<const std::byte> bytes, size_t most) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), most)};
}

std::string_view ZipKind(std::span<const std::byte> bytes) {
  constexpr size_t kSearched = 4096;
  const std::string_view text = TextOf(bytes, kSearched);
  for (const auto& [name, what] : kZipMembers)
    if (text.find(name) != std::string_view::npos) return what;
  return "a ZIP archive; unpack it and pass the model in it";
}

// A pickle of protocol 2 or later begins with an opcode and the protocol's number.
bool IsPickle(std::string_view text) {
  return text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
}

// The size of a JSON header, then the header.
bool IsSafetensors(std::span<const std::byte> bytes) {
  uint64_t size = 0;
  if (bytes.size() <= sizeof(size)) return false;
  std::memcpy(&size, bytes.data(), sizeof(size));
  return size <= bytes.size() - sizeof(size) && bytes[sizeof(size)] == std::byte{'{'};
}

bool IsHtml(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const size_t start = lower.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return false;
  const std::string_view rest = std::string_view(lower).substr(start);
  return rest.starts_with("<!doctype html") || rest.starts_with("<html");
}

// Consumes the tag and length of a length-delimited protobuf field.
bool TakeHeader(std::string_view& text, char tag) {
  constexpr size_t kMaxLength = 10;
  if (!text.starts_with(tag)) return false;
  size_t at = 1;
  while (at < text.size() && at < kMaxLength && (text[at] & '\x80') != 0) ++at;
  text.remove_prefix(std::min(at + 1, text.size()));
  return !text.empty();
}

// TensorFlow's messages, by their first fields. A SavedModel begins with its schema's version, 1,
// and a MetaGraphDef with a MetaInfoDef of an operator list, tags or a version.
bool IsSavedModel(std::string_view text) {
  if (!text.starts_with("\x08\x01"sv)) return false;
  text.remove_prefix(2);
  return TakeHeader(text, '\x12') && TakeHeader(text, '\x0a') &&
         (text[0] == '\x12' || text[0] == '\x22' || text[0] == '\x2a');
}

// A GraphDef begins with a NodeDef, which begins with its name and operator.
bool IsGraphDef(std::string_view text) {
  if (!TakeHeader(text, '\x0a') || text.size() < 2 || text[0] != '\x0a') return false;
  text.remove_prefix(std::min(size_t{2} + static_cast<unsigned char>(text[1]), text.size()));
  return TakeHeader(text, '\x12') && std::isupper(static_cast<unsigned char>(text[0])) != 0;
}

// "ONNX or Core ML".
std::string LabelsOf(const std::vector<const Format*>& formats) {
  std::string out;
  for (const Format* f : formats) out += fmt::format("{}{}", out.empty() ? "" : " or ", f->label);
  return out;
}

}  // namespace

std::string_view KnownNonModel(std::span<const std::byte> bytes) {
  const std::string_view text = TextOf(bytes, 512);
  for (const Signature& s : kSignatures)
    if (text.size() >= s.offset && text.substr(s.offset).starts_with(s.bytes)) return s.what;
  if (text.starts_with("PK\x03\x04"sv)) return ZipKind(bytes);
  if (IsHtml(text)) return "an HTML page, probably from the download site";
  if (IsPickle(text)) return kPickle;
  if (IsSafetensors(bytes)) return "a safetensors file: weights without a graph";
  if (IsSavedModel(text)) return kSavedModel;
  if (IsGraphDef(text)) return "a TensorFlow graph (GraphDef); convert it with tf2onnx";
  return {};
}

std::string_view KnownNonModelFolder(const std::string& path) {
  std::error_code error;
  const std::string saved_model = path + "/saved_model.pb";
  return std::filesystem::exists(saved_model, error) ? kSavedModel : std::string_view();
}

Result<const Format*> RecognizeFormat(std::span<const std::byte> bytes, const std::string& path) {
  Likeness most = Likeness::kNone;
  std::vector<const Format*> best;
  for (const Format& f : Formats()) {
    const Likeness likeness = f.reader.LikenessOf(bytes);
    if (likeness > most) best.clear();
    most = std::max(most, likeness);
    if (likeness == most && most != Likeness::kNone) best.push_back(&f);
  }
  const Format* const named = FormatOfPath(path);
  if (most <= Likeness::kPossible) {
    if (const auto what = KnownNonModel(bytes); !what.empty())
      return ParseError("{}: this is {}", path, what);
    if (named != nullptr) return named;
  }
  if (std::ranges::find(best, named) != best.end()) return named;
  if (best.size() == 1) return best.front();
  if (!best.empty())
    return ParseError(
        "{}: the contents may be {}; rename the file with the extension of its format", path,
        LabelsOf(best));
  if (path.ends_with(".json"))
    return ParseError("{}: not a dump of a model: the first member is not \"nn_dump\"", path);
  std::string known;
  for (const Format& f : Formats()) known += fmt::format(" {}", f.extensions[0]);
  return ParseError("{}: {}; the extensions of model files are{}", path,
                    !bytes.empty() && IsPlainText(TextOf(bytes, 512))
                        ? "this is a text file, not a model"
                        : "not a model file of a known format",
                    known);
}

}  // namespace nn

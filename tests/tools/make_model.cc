// Writes a graph in the text form as a model file: make_model GRAPH OUT [KIND]. The kind of model
// is one of OutputKinds(), "onnx" or "mil", or else that of the format of OUT's extension. For the
// models of golden/, and seeds of fuzz targets.
#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>

#include "base/file/file.h"
#include "formats/format.h"
#include "ir/text/text.h"
#include "rewrite/legalize.h"

namespace nn {
namespace {

// The kind with the name, or, without one, of the path's extension; null if there is none.
const OutputKind* FindKind(std::string_view name, std::string_view path) {
  const Format* const format = FormatOfPath(path);
  const auto kind = std::ranges::find_if(OutputKinds(), [&](const OutputKind& k) {
    return name.empty() ? k.format == format : k.name == name;
  });
  return kind == OutputKinds().end() ? nullptr : &*kind;
}

Status MakeModel(const std::string& from, const std::string& to, std::string_view name) {
  NN_ASSIGN(const Blob text, ReadFile(from));
  auto graph =
      ParseGraph({reinterpret_cast<const char*>(text.bytes().data()), text.bytes().size()});
  if (!graph) return tl::unexpected(graph.error().In(from));
  const OutputKind* const kind = FindKind(name, to);
  if (kind == nullptr) return UsageError("{}: no kind of model that can be written", to);
  NN_ASSIGN(const auto unsupported, Legalize(*graph, kind->target()));
  if (!unsupported.empty())
    return tl::unexpected(UnsupportedNodesError(kind->label, unsupported).In(from));
  NN_ASSIGN(const FileImage image, kind->format->writer.Write(*graph, kind->options));
  if (!image.side_files.empty()) return UsageError("{}: the model needs more than one file", to);
  return WriteFile(to, image.parts);
}

}  // namespace
}  // namespace nn

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::cerr << "usage: make_model GRAPH OUT [KIND]\n";
    return 2;
  }
  const nn::Status status = nn::MakeModel(argv[1], argv[2], argc == 4 ? argv[3] : "");
  if (status) return 0;
  std::cerr << "make_model: " << status.error().message() << "\n";
  return nn::ExitCode(status.error().code());
}

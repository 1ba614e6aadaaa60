// Writes a graph in the text form as a model file: make_model GRAPH OUT. The extension of OUT
// determines the format. For the models of golden/.
#include <iostream>

#include "base/file/file.h"
#include "formats/format.h"
#include "ir/text/text.h"
#include "rewrite/legalize.h"

namespace nn {
namespace {

Status MakeModel(const std::string& from, const std::string& to) {
  NN_ASSIGN(const Blob text, ReadFile(from));
  auto graph =
      ParseGraph({reinterpret_cast<const char*>(text.bytes().data()), text.bytes().size()});
  if (!graph) return tl::unexpected(graph.error().In(from));
  const Format* format = FormatOfPath(to);
  if (format == nullptr)
    return UsageError("{}: no format that can be written has this extension", to);
  NN_ASSIGN(const auto unsupported, Legalize(*graph, *format->target));
  if (!unsupported.empty())
    return tl::unexpected(UnsupportedNodesError(format->label, unsupported).In(from));
  NN_ASSIGN(const FileImage image, format->writer.Write(*graph, ExportOptions{}));
  if (!image.side_files.empty()) return UsageError("{}: the model needs more than one file", to);
  return WriteFile(to, image.parts);
}

}  // namespace
}  // namespace nn

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: make_model GRAPH OUT\n";
    return 2;
  }
  const nn::Status status = nn::MakeModel(argv[1], argv[2]);
  if (status) return 0;
  std::cerr << "make_model: " << status.error().message() << "\n";
  return nn::ExitCode(status.error().code());
}

#include "formats/tflite_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/legalize.h"

namespace nn::test {

namespace fb = tflite::fb;

const Format& Tflite() {
  return *FindFormat("tflite");
}

std::string Joined(const FileImage& image) {
  std::string out;
  for (const Blob& b : image.parts) out.append(reinterpret_cast<const char*>(b.data()), b.size());
  return out;
}

std::string FileOf(const Graph& graph) {
  Graph fitted = graph.Clone();
  const auto unsupported = Legalize(fitted, *Tflite().target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  for (const UnsupportedNode& o : *unsupported) FAIL(o.node << ": " << o.reason);
  const auto image = Tflite().write(fitted, {});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  return Joined(*image);
}

Result<Graph> ImportFile(const std::string& file) {
  NN_ASSIGN(const auto model,
            Tflite().read(Blob::Copy(std::as_bytes(std::span(file))), "m.tflite", {}));
  NN_ASSIGN(ImportedModel imported, Tflite().import(*model));
  if (!imported.unsupported.empty()) return UnsupportedError("{}", imported.unsupported[0].reason);
  return std::move(imported.graph);
}

std::vector<std::string> OperatorsOf(const std::string& file) {
  std::vector<std::string> out;
  const fb::Model& m = Root(file);
  for (const fb::Operator* op : *m.subgraphs()->Get(0)->operators()) {
    const fb::OperatorCode* code = m.operator_codes()->Get(op->opcode_index());
    out.push_back(
        fmt::format("{} v{}", fb::EnumNameBuiltinOperator(code->builtin_code()), code->version()));
  }
  return out;
}

}  // namespace nn::test

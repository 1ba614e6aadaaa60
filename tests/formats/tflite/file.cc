#include "formats/tflite/file.h"

#include <doctest/doctest.h>
#include <flatbuffers/flexbuffers.h>
#include <fmt/format.h>

#include <cstring>
#include <span>

#include "rewrite/legalize.h"

namespace nn::test {

namespace fb = tflite::fb;

const Format& Tflite() {
  return *FindFormat("tflite");
}

std::string FileOf(const Graph& graph) {
  Graph fitted = graph.Clone();
  const auto unsupported = Legalize(fitted, *Tflite().target);
  REQUIRE_MESSAGE(unsupported.has_value(), unsupported.error().message());
  for (const UnsupportedNode& o : *unsupported) FAIL(o.node << ": " << o.reason);
  const auto image = Tflite().writer.Write(fitted, {});
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  return Joined(*image);
}

Result<Graph> ImportFile(const std::string& file) {
  NN_ASSIGN(const auto model,
            Tflite().reader.Read(Blob::Copy(std::as_bytes(std::span(file))), "m.tflite", {}));
  NN_ASSIGN(ImportedModel imported, Tflite().importer.Import(*model));
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

std::string FileOfCustom(const std::string& name, const std::vector<uint8_t>& options,
                         const std::vector<CustomTensor>& inputs,
                         const std::vector<CustomTensor>& outputs) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {fb::CreateBuffer(b)};
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
  std::vector<int32_t> from, to, interface;
  const auto add = [&](const CustomTensor& t, std::vector<int32_t>& list) {
    uint32_t buffer = 0;
    const bool is_constant = !t.contents.empty() || !t.shorts.empty();
    if (is_constant) {
      const auto contents = t.shorts.empty() ? std::as_bytes(std::span(t.contents))
                                             : std::as_bytes(std::span(t.shorts));
      std::vector<uint8_t> bytes(contents.size());
      std::memcpy(bytes.data(), contents.data(), bytes.size());
      b.ForceVectorAlignment(bytes.size(), 1, 16);
      buffer = static_cast<uint32_t>(buffers.size());
      buffers.push_back(fb::CreateBuffer(b, b.CreateVector(bytes)));
    }
    flatbuffers::Offset<fb::QuantizationParameters> quant;
    if (t.scale != 0)
      quant = fb::CreateQuantizationParameters(b, 0, 0, b.CreateVector(std::vector<float>{t.scale}),
                                               b.CreateVector(std::vector<int64_t>{0}));
    const auto index = static_cast<int32_t>(tensors.size());
    tensors.push_back(fb::CreateTensor(b, b.CreateVector(t.shape), t.type, buffer,
                                       b.CreateString(fmt::format("t{}", index)), quant));
    list.push_back(index);
    if (&list == &from && !is_constant) interface.push_back(index);
  };
  for (const CustomTensor& t : inputs) add(t, from);
  for (const CustomTensor& t : outputs) add(t, to);
  const auto node = fb::CreateOperator(b, 0, b.CreateVector(from), b.CreateVector(to),
                                       fb::BuiltinOptions::NONE, 0, b.CreateVector(options));
  const auto code =
      fb::CreateOperatorCode(b, 32, b.CreateString(name), 1, fb::BuiltinOperator::CUSTOM);
  const auto graph = fb::CreateSubGraph(b, b.CreateVector(tensors), b.CreateVector(interface),
                                        b.CreateVector(to), b.CreateVector(&node, 1));
  b.Finish(fb::CreateModel(b, 3, b.CreateVector(&code, 1), b.CreateVector(&graph, 1), 0,
                           b.CreateVector(buffers)),
           fb::ModelIdentifier());
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

std::vector<uint8_t> IntOptions(const std::vector<std::pair<std::string, int64_t>>& options) {
  flexbuffers::Builder b;
  b.Map([&] {
    for (const auto& [name, value] : options) b.Int(name.c_str(), value);
  });
  b.Finish();
  return b.GetBuffer();
}

}  // namespace nn::test

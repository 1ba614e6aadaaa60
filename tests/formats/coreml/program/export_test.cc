// The export of graphs as ML Programs.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coreml_model.pb.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/file/native.h"
#include "formats/format.h"
#include "formats/state_frame.h"
#include "ir/tensor.h"
#include "ir/text/text.h"
#include "rewrite/legalize.h"
#include "support/files.h"

namespace nn::test::coreml_program_export_test {
namespace {

namespace mil = coreml::pb::mil;
using coreml::Model;

ExportOptions ProgramOptions(std::string deployment_target = {}) {
  return {
      .path = "m.mlmodel", .core_ml = "program", .deployment_target = std::move(deployment_target)};
}

// Legalizes and writes a graph.
Result<FileImage> Write(const std::string& text, const ExportOptions& options) {
  const Format& format = *FindFormat("coreml");
  auto graph = ParseGraph(text);
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  InterfaceAxes axes;
  std::vector<UnsupportedNode> unsupported;
  NN_RETURN_IF_ERROR(FitTo(TargetOf(format, options), *graph, axes, unsupported));
  if (!unsupported.empty())
    return tl::unexpected(UnsupportedNodesError("ML Programs", unsupported));
  return format.writer.Write(*graph, options);
}

// The model of a file.
std::unique_ptr<NativeModel> ReadImage(const FileImage& image) {
  auto model = FindFormat("coreml")->reader.Read(image.Contents(), "m.mlmodel", {});
  REQUIRE_MESSAGE(model.has_value(), model.error().message());
  return *std::move(model);
}

std::unique_ptr<NativeModel> Written(const std::string& text,
                                     const ExportOptions& options = ProgramOptions()) {
  const auto image = Write(text, options);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  return ReadImage(*image);
}

std::string WhyNotWritten(const std::string& text, const ExportOptions& options) {
  const auto image = Write(text, options);
  return image ? std::string() : image.error().message();
}

const mil::Function& FunctionOf(const NativeModel& model) {
  return coreml::ModelOf(model).proto->mlprogram().functions(0).value();
}

const mil::Block& BlockOf(const NativeModel& model) {
  return FunctionOf(model).block_specializations(0).value();
}

// The types of the operations but constants, in their order.
std::string OperationsOf(const NativeModel& model) {
  std::string out;
  for (const mil::Operation& operation : BlockOf(model).operations())
    if (operation.type() != "const") out += (out.empty() ? "" : " ") + operation.type();
  return out;
}

TEST_CASE("coreml programs: the oldest operation set that has all operations is written") {
  struct Row {
    const char* graph;
    const char* opset;
    int version;
    const char* operations;
  };
  const Row rows[] = {
      {R"(graph { in %x: f32[2]  %y = relu(%x)  out "y" = %y })", "CoreML5", 6, "relu"},
      {R"(graph { in %x: f32[1, 4, 2, 2]  %y = space_to_depth(%x) {mode = crd}  out "y" = %y })",
       "CoreML6", 7, "pixel_unshuffle"},
      {R"(graph { in %q: f32[1, 2, 3, 4]  %y = attention(%q, %q, %q)  out "y" = %y })", "CoreML8",
       9, "scaled_dot_product_attention"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.graph);
    const auto model = Written(row.graph);
    CHECK(FunctionOf(*model).opset() == row.opset);
    CHECK(coreml::ModelOf(*model).proto->specificationversion() == row.version);
    CHECK(OperationsOf(*model) == row.operations);
  }
}

TEST_CASE("coreml programs: states are read before all operations and written after them") {
  auto frame = std::make_shared<StateFrame>();
  frame->states = {{"s:0", "s_in", "s_out", std::nullopt}};
  ExportOptions options = ProgramOptions();
  options.frame = frame;
  const auto model = Written(R"(graph {
    in %x: f16[2]  in %s_in: f16[2]
    %y = relu(%x)  %s_out = add(%y, %s_in)
    out "y" = %y  out "s_out" = %s_out })",
                             options);
  CHECK(OperationsOf(*model) == "read_state relu add write_state");
  const mil::Function& function = FunctionOf(*model);
  CHECK(function.opset() == "CoreML8");
  REQUIRE(function.inputs_size() == 2);
  CHECK(function.inputs(1).name() == "s_0");
  CHECK(function.inputs(1).type().has_statetype());
  const auto& description = coreml::ModelOf(*model).proto->description();
  CHECK(description.input_size() == 1);
  CHECK(description.output_size() == 1);
  REQUIRE(description.state_size() == 1);
  CHECK(description.state(0).name() == "s_0");
  const auto& array = description.state(0).type().statetype().arraytype();
  CHECK(array.datatype() == coreml::pb::ArrayFeatureType::FLOAT16);
  CHECK(array.shape_size() == 1);

  frame->states[0].initial = Tensor::Of({2}, std::vector<float>{1, 2});
  CHECK(WhyNotWritten("graph { in %x: f16[2]  in %s_in: f16[2]  %y = add(%x, %s_in)  "
                      "out \"y\" = %y  out \"s_out\" = %y }",
                      options) ==
        "state \"s:0\": states of ML Programs begin as 0, and it does not");
}

TEST_CASE("coreml programs: a deployment target limits the operation set") {
  const std::string attention =
      R"(graph { in %q: f32[1, 2, 3, 4]  %y = attention(%q, %q, %q)  out "y" = %y })";
  const auto model = Written(attention, ProgramOptions("iOS16"));
  CHECK(FunctionOf(*model).opset() == "CoreML5");
  CHECK(OperationsOf(*model).find("softmax") != std::string::npos);

  const ModelWriter& writer = FindFormat("coreml")->writer;
  const auto why = [&](const ExportOptions& options) {
    const Status s = writer.CheckOptions(options);
    return s ? std::string() : s.error().message();
  };
  CHECK(why(ProgramOptions("iOS26")).empty());
  CHECK(why(ProgramOptions("iOS9")) ==
        "--deployment-target accepts iOS15 to iOS18 and iOS26, not \"iOS9\"");
  CHECK(why({.path = "m.mlmodel", .core_ml = "network", .deployment_target = "iOS16"}) ==
        "--deployment-target is for ML Programs");
  CHECK(why({.path = "m.mlmodel", .core_ml = "tree"}) ==
        "--core-ml accepts network and program, not \"tree\"");
  const Status elsewhere =
      FindFormat("onnx")->writer.CheckOptions({.path = "m.onnx", .core_ml = "program"});
  REQUIRE(!elsewhere.has_value());
  CHECK(elsewhere.error().message() == "--core-ml is for Core ML");
}

TEST_CASE("coreml programs: the path selects the kind of model") {
  const std::string relu = R"(graph { in %x: f32[2]  %y = relu(%x)  out "y" = %y })";
  CHECK(coreml::ModelOf(*Written(relu, {.path = "m.mlmodel"})).has_network());
  const auto package = Write(relu, {.path = "m.mlpackage"});
  REQUIRE(package.has_value());
  CHECK(package->is_folder);
  const auto network = Write(relu, {.path = "m.mlpackage", .core_ml = "network"});
  REQUIRE(network.has_value());
  CHECK(network->side_files.size() == 2);  // the manifest and the model
}

TEST_CASE("coreml programs: large constants of a package are in its weight file") {
  const std::string text = R"(graph {
    in %x: f32[1, 16]
    const %w: f32[16, 16] = seeded(1)
    const %b: f16[16] = seeded(2)
    %h = matmul(%x, %w) {transpose_b = true}
    %c = cast(%b) {to = f32}
    %y = add(%h, %c)
    out "y" = %y
  })";
  const TempDir dir;
  const std::string path = dir / "m.mlpackage";
  const auto image = Write(text, {.path = path});
  REQUIRE(image.has_value());
  const auto weights = std::ranges::find_if(image->side_files, [](const SideFile& f) {
    return f.name == "Data/com.apple.CoreML/weights/weight.bin";
  });
  REQUIRE(weights != image->side_files.end());
  FileImage contents;
  contents.parts = weights->parts;
  const auto storage = coreml::BlobStorage::Open(contents.Contents());
  REQUIRE(storage.has_value());
  CHECK(storage->count() == 2);
  // A header, and for each entry a header and its data, each at a multiple of 64.
  const auto first = storage->At(64);
  REQUIRE(first.has_value());
  CHECK(first->type == "FLOAT32");
  CHECK(first->elements == 256);
  const auto second = storage->At(64 + 64 + 1024);
  REQUIRE(second.has_value());
  CHECK(second->elements == 16);

  // In one file, the program contains them.
  const auto model = Written(text);
  CHECK(coreml::WeightFileOf(coreml::ModelOf(*model)).empty());
}

// The type of the packed operand of an operation, which is an input or an attribute.
std::string PackedTypeOf(const mil::Operation& operation) {
  const auto text = [](const mil::ValueType& type) {
    std::vector<uint64_t> dims;
    for (const mil::Dimension& d : type.tensortype().dimensions())
      dims.push_back(d.constant().size());
    return fmt::format("{}[{}]", coreml::TypeName(type.tensortype().datatype()),
                       fmt::join(dims, ", "));
  };
  const auto is_packed = [](const std::string& key) { return key == "indices" || key == "mask"; };
  for (const auto& input : operation.inputs())
    if (is_packed(input.key())) return text(input.value().arguments(0).value().type());
  for (const auto& attribute : operation.attributes())
    if (is_packed(attribute.key())) return text(attribute.value().type());
  return {};
}

TEST_CASE("coreml programs: constants of few numbers or many zeros are packed") {
  // 64 x 64 numbers: 0, 0, 0, 1, 0, 0, 0, 2, ... with `period` different ones.
  const auto graph = [](const std::string& type, int period) {
    std::string numbers;
    for (int i = 0; i < 64 * 64; ++i)
      numbers += fmt::format("{}{}", i == 0 ? "" : ", ", i % 4 == 3 ? 1 + i / 4 % period : 0);
    return fmt::format(R"(graph {{
      in %x: {0}[1, 64]
      const %w: {0}[64, 64] = [{1}]
      %y = matmul(%x, %w)
      %q = reshape(%y) {{dims = [1, 1, 1, 64]}}
      %z = attention(%q, %q, %q)
      out "z" = %z
    }})",
                       type, numbers);
  };
  struct Row {
    std::string type;
    int period;
    std::string system, operation, operand;
  };
  const Row rows[] = {
      {"f32", 3, "iOS16", "constexpr_lut_to_dense", "UINT8[1024]"},
      {"f32", 3, "iOS18", "constexpr_lut_to_dense", "UINT2[64, 64]"},
      {"f16", 3, "iOS16", "constexpr_lut_to_dense", "UINT8[1024]"},
      {"f16", 3, "iOS18", "constexpr_lut_to_dense", "UINT2[64, 64]"},
      {"f32", 500, "iOS16", "constexpr_sparse_to_dense", "UINT8[512]"},
      {"f32", 500, "iOS18", "constexpr_sparse_to_dense", "UINT1[64, 64]"},
      {"f16", 500, "iOS16", "constexpr_sparse_to_dense", "UINT8[512]"},
      {"f16", 500, "iOS18", "constexpr_sparse_to_dense", "UINT1[64, 64]"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.type);
    CAPTURE(row.system);
    CAPTURE(row.operation);
    const std::string text = graph(row.type, row.period);
    const auto model = Written(text, ProgramOptions(row.system));
    const mil::Operation& first = BlockOf(*model).operations(0);
    CHECK(first.type() == row.operation);
    CHECK(PackedTypeOf(first) == row.operand);
    // The numbers are those of the graph.
    const auto imported = FindFormat("coreml")->importer.Import(*model);
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
    const auto source = ParseGraph(text);
    const auto constant = [](const Graph& g) {
      for (const Value& v : g.values())
        if (v.is_constant() && v.constant().elements() == 64 * 64) return v.constant();
      return Tensor();
    };
    CHECK(constant(imported->graph).Identical(constant(*source)));
  }
  // Packing is a reason for a newer operation set only if it saves much.
  const auto opset = [](const std::string& constant) {
    return FunctionOf(*Written(fmt::format(R"(graph {{
      in %x: f32[64, 64]
      const %w: f32[64, 64] = {}
      %y = add(%x, %w)
      out "y" = %y
    }})",
                                           constant)))
        .opset();
  };
  CHECK(opset("seeded(1)") == "CoreML5");
  std::string zeros = "[0";
  for (int i = 1; i < 64 * 64; ++i) zeros += ", 0";
  CHECK(opset(zeros + "]") == "CoreML6");
}

TEST_CASE("coreml programs: a filter of integers has the axes of the operation in the file") {
  const auto model = Written(R"(graph {
    in %x: u8[1, 5, 5, 3]{scale = 0.1, zp = 3}
    const %w: u8[4, 2, 2, 3]{scale = 0.2, zp = 100} = seeded(1)
    %y = conv(%x, %w) {layout = nxc, filter_layout = oxi} @tflite
        : u8[1, 4, 4, 4]{scale = 0.5, zp = 10}
    out "y" = %y
  })");
  for (const mil::Operation& operation : BlockOf(*model).operations()) {
    if (operation.type() != "constexpr_affine_dequantize") continue;
    std::vector<uint64_t> dims;
    for (const mil::Dimension& d : operation.outputs(0).type().tensortype().dimensions())
      dims.push_back(d.constant().size());
    CHECK(dims == std::vector<uint64_t>{4, 3, 2, 2});
  }
  const std::string operations = OperationsOf(*model);
  CHECK(operations.find("constexpr_affine_dequantize") != std::string::npos);
  CHECK(operations.find("reshape") == std::string::npos);
}

TEST_CASE("coreml programs: types that arrays lack are converted inside") {
  const auto model = Written(R"(graph {
    in %p: bool[2]
    in %n: i64[2]
    %q = not(%p)
    %m = add(%n, %n)
    out "q" = %q
    out "m" = %m
  })");
  CHECK(OperationsOf(*model) == "cast logical_not add cast");
  const mil::Function& function = FunctionOf(*model);
  CHECK(function.inputs(0).type().tensortype().datatype() == mil::FLOAT32);
  CHECK(function.inputs(1).type().tensortype().datatype() == mil::INT32);
}

TEST_CASE("coreml programs: names become identifiers") {
  const auto model =
      Written(R"(graph { in %x "serving:0": f32[2]  %y = relu(%x)  out "1/out" = %y })");
  CHECK(FunctionOf(*model).inputs(0).name() == "serving_0");
  CHECK(BlockOf(*model).outputs(0) == "_1_out");
  const auto& description = coreml::ModelOf(*model).proto->description();
  CHECK(description.input(0).name() == "serving_0");
  CHECK(description.output(0).name() == "_1_out");
}

TEST_CASE("coreml programs: open sizes are computed") {
  const auto model = Written(R"(graph {
    in %x: f32[n, 4]
    %y = reshape(%x) {dims = [2, floordiv(n, 2), 4]}
    %z = expand(%x) {dims = [3, n, 4]}
    out "y" = %y
    out "z" = %z
  })");
  CHECK(OperationsOf(*model).find("reshape") != std::string::npos);
  const mil::TensorType& y = [&]() -> const mil::TensorType& {
    for (const mil::Operation& operation : BlockOf(*model).operations())
      if (operation.type() == "reshape") return operation.outputs(0).type().tensortype();
    FAIL("no reshape");
    return FunctionOf(*model).inputs(0).type().tensortype();
  }();
  CHECK(y.dimensions(0).constant().size() == 2);
  CHECK(y.dimensions(1).has_unknown());
}

TEST_CASE("coreml programs: what they cannot hold is named") {
  struct Row {
    const char* graph;
    const char* reason;
  };
  const Row rows[] = {
      {R"(graph { in %x: f64[2]  %y = sin(%x)  out "y" = %y })", "input x is fp64"},
      {R"(graph { in %x: i64[2]  const %c: i64[] = [5000000000]  %y = add(%x, %c)
          out "y" = %y })",
       "a constant has 5000000000, but ML Programs have integers of 32 bits"},
      {R"(graph { in %x: f32[1, 1, 1, 1, 1, 2]  %y = relu(%x)  out "y" = %y })",
       "Core ML has no arrays of 6 axes"},
      // Without an operator whose operand it is.
      {R"(graph { in %x: f32[*]  out "y" = %x })",
       "input \"x\": it is f32[*], but arrays of Core ML have 1 to 5 axes"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.graph);
    const std::string why = WhyNotWritten(row.graph, ProgramOptions());
    CHECK_MESSAGE(why.find(row.reason) != std::string::npos, why);
  }
}

}  // namespace
}  // namespace nn::test::coreml_program_export_test

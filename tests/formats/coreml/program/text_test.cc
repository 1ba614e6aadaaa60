// ML Programs as text, and the compiled models that have them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "coreml_mil.pb.h"
#include "formats/coreml/program/text/parse.h"
#include "formats/coreml/program/text/print.h"
#include "formats/format.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::coreml_program_text_test {
namespace {

namespace fs = std::filesystem;
namespace mil = coreml::pb::mil;

mil::Program Parsed(const std::string& text) {
  mil::Program program;
  const auto status = coreml::program::ParseProgram(text, program);
  REQUIRE_MESSAGE(status.has_value(), status.error().message());
  return program;
}

std::string WhyNotParsed(const std::string& text) {
  mil::Program program;
  const auto status = coreml::program::ParseProgram(text, program);
  return status ? "" : status.error().message();
}

// A program with these operations.
std::string ProgramOf(const std::string& operations) {
  return "program(1.0)\n{\n func main<ios16>(tensor<fp32, [2]> x) {\n" + operations +
         "\n } -> (y);\n}\n";
}

TEST_CASE("coreml program text: what a program has") {
  const mil::Program p = Parsed(R"(program(1.3)
[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"coremlc-version", "3505.4.1"}, {"a", "b\"c\\"}})]
{
    func main<ios17>(tensor<fp32, [1, ?]> x, state<tensor<fp16, [4]>> s)
        [RangeDims = tuple<string, dict<string, list<int32, ?>>>(("shapes", {{"x", [1, 16]}}))] {
            string mode = const()[name = string("mode"), val = string("valid")];
            tensor<fp16, [2]> half = const()[val = tensor<fp16, [2]>([0x1.8p+1, -inf])];
            tensor<uint8, [3]> bytes = const()[val = tensor<uint8, [3]>([0, 1, 255])];
            tensor<int32, [2, 2]> pairs = const()[val = tensor<int32, [2, 2]>([[1, -2], [3, 4]])];
            tensor<fp32, [3]> w = const()[val = tensor<fp32, [3]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp32, [1, ?]> a, tensor<fp32, [1, ?]> b = split(axis = int32(0), values = (x, half), x = x)[name = string("ab")];
            write_state(data = half, input = s)[name = string("w")];
        } -> (a, b);
}
)");
  CHECK(p.version() == 1);
  REQUIRE(p.attributes_size() == 1);
  const auto& build = p.attributes(0).value().immediatevalue().dictionary();
  REQUIRE(build.values_size() == 2);
  CHECK(build.values(1).value().immediatevalue().tensor().strings().values(0) == "b\"c\\");
  REQUIRE(p.functions_size() == 1);
  CHECK(p.functions(0).key() == "main");
  const mil::Function& f = p.functions(0).value();
  CHECK(f.opset() == "CoreML7");
  REQUIRE(f.inputs_size() == 2);
  CHECK(f.inputs(0).type().tensortype().dimensions(1).has_unknown());
  CHECK(f.inputs(1).type().statetype().wrappedtype().tensortype().datatype() == mil::FLOAT16);
  const auto& shapes = f.attributes(0).value().immediatevalue().tuple();
  REQUIRE(shapes.values_size() == 2);
  CHECK(shapes.values(1)
            .immediatevalue()
            .dictionary()
            .values(0)
            .value()
            .immediatevalue()
            .list()
            .values(1)
            .immediatevalue()
            .tensor()
            .ints()
            .values(0) == 16);
  const mil::Block& block = f.block_specializations(0).value();
  CHECK(f.block_specializations(0).key() == "CoreML7");
  REQUIRE(block.operations_size() == 7);
  const auto value = [&](int operation) -> const mil::Value& {
    const auto& attributes = block.operations(operation).attributes();
    return attributes.Get(attributes.size() - 1).value();
  };
  CHECK(value(0).immediatevalue().tensor().strings().values(0) == "valid");
  CHECK(value(1).immediatevalue().tensor().bytes().values() == std::string("\x00\x42\x00\xfc", 4));
  CHECK(value(2).immediatevalue().tensor().bytes().values() == std::string("\x00\x01\xff", 3));
  const auto& pairs = value(3).immediatevalue().tensor().ints();
  CHECK(std::vector<int>(pairs.values().begin(), pairs.values().end()) ==
        std::vector<int>{1, -2, 3, 4});
  CHECK(value(4).blobfilevalue().filename() == "@model_path/weights/weight.bin");
  CHECK(value(4).blobfilevalue().offset() == 64);
  const mil::Operation& split = block.operations(5);
  CHECK(split.outputs(1).name() == "b");
  REQUIRE(split.inputs_size() == 3);
  CHECK(split.inputs(0).value().arguments(0).value().immediatevalue().tensor().ints().values(0) ==
        0);
  CHECK(split.inputs(1).value().arguments(1).name() == "half");
  CHECK(block.operations(6).type() == "write_state");
  CHECK(block.operations(6).outputs_size() == 0);
  CHECK(block.outputs(1) == "b");
}

// The sum of 1 to the input by a loop, halved if it is large.
constexpr std::string_view kBlocks = R"(program(1.0)
{
    func main<ios15>(tensor<fp32, [1]> x) {
        tensor<fp32, [1]> zero = const()[val = tensor<fp32, [1]>([0x0p+0])];
        tensor<fp32, [1]> rest, tensor<fp32, [1]> sum = while_loop(loop_vars = (x, zero),
            (tensor<fp32, [1]> a, tensor<fp32, [1]> b) {
                tensor<bool, [1]> more = greater(x = a, y = zero);
                bool go = squeeze(x = more);
            } -> (go)
            (tensor<fp32, [1]> c, tensor<fp32, [1]> d) {
                tensor<fp32, [1]> e = add(x = c, y = fp32(-0x1p+0));
                tensor<fp32, [1]> f = add(x = d, y = c);
            } -> (e, f))[name = string("loop")];
        tensor<bool, [1]> large = greater(x = sum, y = fp32(0x1.4p+3));
        bool is_large = squeeze(x = large);
        tensor<fp32, [1]> y = cond(pred = is_large,
            () {
                tensor<fp32, [1]> half = mul(x = sum, y = fp32(0x1p-1));
            } -> (half)
            () {
            } -> (sum));
    } -> (y);
}
)";

TEST_CASE("coreml program text: the blocks of operations") {
  const mil::Program p = Parsed(std::string(kBlocks));
  const mil::Block& main = p.functions(0).value().block_specializations(0).value();
  const mil::Operation& loop = main.operations(1);
  REQUIRE(loop.blocks_size() == 2);
  CHECK(loop.inputs(0).value().arguments_size() == 2);
  CHECK(loop.attributes_size() == 1);
  CHECK(loop.blocks(0).outputs(0) == "go");
  CHECK(loop.blocks(1).inputs(1).name() == "d");
  CHECK(loop.blocks(1).operations_size() == 2);
  CHECK(main.operations(4).blocks(1).operations_size() == 0);
  const auto text = coreml::program::PrintProgram(p, {});
  REQUIRE_MESSAGE(text.has_value(), text.error().message());
  CHECK(*text == kBlocks);
}

std::string WhyNotPrinted(const mil::Program& program) {
  const auto text = coreml::program::PrintProgram(program, {});
  return text ? "" : text.error().message();
}

TEST_CASE("coreml program text: programs are printed as they are parsed") {
  const mil::Program p = Parsed(R"(program(1.0)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}, {"a", "b\"c\\\nd"}})]
{
    func main<ios18>(tensor<fp32, [1, ?]> x, state<tensor<fp16, [4]>> s)
        [RangeDims = tuple<string, dict<string, list<int32, ?>>>(("shapes", {{"x", [1, 16]}}))] {
            tensor<fp16, [3]> half = const()[val = tensor<fp16, [3]>([0x1.8p+1, -inf, nan])];
            tensor<fp32, [2]> single = const()[val = tensor<fp32, [2]>([-0x0p+0, 0x1.99999ap-4])];
            tensor<uint8, [3]> bytes = const()[val = tensor<uint8, [3]>([0, 1, 255])];
            tensor<int32, [2, 2]> pairs = const()[val = tensor<int32, [2, 2]>([[1, -2], [3, 4]])];
            tensor<uint16, [2]> wide = const()[val = tensor<uint16, [2]>([0, 65535])];
            tensor<int32, [0]> none = const()[val = tensor<int32, [0]>([])];
            bool yes = const()[val = bool(true)];
            tensor<fp32, [3]> w = const()[val = tensor<fp32, [3]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))];
            tensor<fp32, [1, ?]> a, tensor<fp32, [1, ?]> b = split(axis = int32(0), values = (x, half), x = x)[name = string("ab")];
            write_state(data = half, input = s)[name = string("w")];
        } -> (a, b);
    func other<ios15>() {
        } -> ();
}
)");
  const auto text = coreml::program::PrintProgram(p, {});
  REQUIRE_MESSAGE(text.has_value(), text.error().message());
  CHECK(Parsed(*text).SerializeAsString() == p.SerializeAsString());
  CHECK(text->find("val = tensor<fp16, [3]>([0x1.8p+1, -inf, nan])];") != std::string::npos);
  CHECK(text->find("    func main<ios18>(tensor<fp32, [1, ?]> x, state<tensor<fp16, [4]>> s)\n") !=
        std::string::npos);
}

TEST_CASE("coreml program text: what has no text form is named") {
  const auto operation_of = [](mil::Program& p) -> mil::Operation& {
    return *p.mutable_functions(0)
                ->mutable_value()
                ->mutable_block_specializations(0)
                ->mutable_value()
                ->mutable_operations(0);
  };
  const mil::Program p = Parsed(ProgramOf("tensor<fp32, [2]> y = relu(x = x);"));
  CHECK(WhyNotPrinted(p).empty());
  mil::Program blocks = p;
  operation_of(blocks).set_type("cond");
  operation_of(blocks).add_blocks()->add_attributes()->set_key("a");
  CHECK(WhyNotPrinted(blocks) ==
        "function \"main\": operation 0 (cond): the text form has no attributes of blocks");
  mil::Program inner = p;
  operation_of(inner).add_blocks()->add_operations()->set_type("a.b");
  CHECK(WhyNotPrinted(inner) ==
        "function \"main\": operation 0 (relu): operation 0 (a.b): the text form has no name "
        "\"a.b\"");
  mil::Program name = p;
  operation_of(name).mutable_outputs(0)->set_name("a.b");
  CHECK(WhyNotPrinted(name).find("the text form has no name \"a.b\"") != std::string::npos);
  mil::Program narrow =
      Parsed(ProgramOf("tensor<uint8, [2]> y = const()[val = tensor<uint8, [2]>([1, 2])];"));
  operation_of(narrow)
      .mutable_attributes(0)
      ->mutable_value()
      ->mutable_type()
      ->mutable_tensortype()
      ->set_datatype(mil::INT4);
  CHECK(WhyNotPrinted(narrow).find("the text form has no constants of INT4") != std::string::npos);
  mil::Program opset = p;
  opset.mutable_functions(0)->mutable_value()->set_opset("CoreML99");
  CHECK(WhyNotPrinted(opset).find("the operation set \"CoreML99\" is unknown") !=
        std::string::npos);
}

TEST_CASE("coreml program text: errors name the line and the column") {
  CHECK(WhyNotParsed("") == "line 1, column 1: expected \"program\"");
  CHECK(WhyNotParsed("program(2.0)") ==
        "line 1, column 12: version 2 of the text form is unsupported");
  CHECK(WhyNotParsed("program(1.0)\n{\n  func main<ios99>()") ==
        "line 3, column 13: the operation set \"ios99\" is unknown");
  CHECK(WhyNotParsed(ProgramOf("tensor<fp32, [2]> y = relu(x = x)")) ==
        "line 5, column 2: expected \";\"");
  CHECK(WhyNotParsed(ProgramOf("tensor<fp33, [2]> y = relu(x = x);")) ==
        "line 4, column 8: expected an element type");
  CHECK(WhyNotParsed(ProgramOf("tensor<fp32, [2]> y = const()[val = tensor<fp32, [2]>([1])];")) ==
        "line 4, column 58: 1 elements for a type that has 2");
  CHECK(WhyNotParsed(ProgramOf("tensor<fp32, [2]> y = const()[val = tensor<fp32, [1]>([[1]])];")) ==
        "line 4, column 56: the value has more axes than its type");
  CHECK(WhyNotParsed(ProgramOf("tensor<fp32, [2]> y = cond(pred = p, () -> (x));")) ==
        "line 4, column 41: expected \"{\"");
  CHECK(WhyNotParsed(ProgramOf("string y = const()[val = string(\"abc)];")).find("has no end") !=
        std::string::npos);
  CHECK(WhyNotParsed(ProgramOf("tensor<fp32, [2]> y = relu(x = x);") + "x") ==
        "line 7, column 1: expected the end of the text");
  const std::string deep(100, '[');
  CHECK_FALSE(WhyNotParsed(ProgramOf("int32 y = const()[val = int32(" + deep + ")];")).empty());
  std::string types;
  for (int i = 0; i < 100; ++i) types += "state<";
  CHECK(WhyNotParsed(ProgramOf(types)).find("types are nested too deeply") != std::string::npos);
  std::string blocks;
  for (int i = 0; i < 100; ++i) blocks += "cond(() {";
  CHECK(WhyNotParsed(ProgramOf(blocks)).find("blocks are nested too deeply") != std::string::npos);
  CHECK(WhyNotParsed(ProgramOf("string y = const()[val = string(\"\xff\")];")) ==
        "line 4, column 36: the text is not UTF-8");
}

TEST_CASE("coreml program text: numbers are those of their types") {
  const auto why_not = [](const std::string& type, const std::string& number) {
    return WhyNotParsed(ProgramOf(type + " y = const()[val = " + type + "(" + number + ")];"));
  };
  const std::pair<const char*, const char*> good[] = {
      {"int8", "-128"},         {"uint8", "255"},         {"int16", "-32768"},  {"uint16", "65535"},
      {"int32", "-2147483648"}, {"uint32", "4294967295"}, {"int64", "0x1p+53"}, {"fp16", "1e30"},
      {"fp32", "nan"},          {"fp64", "0x1p-1074"}};
  for (const auto& [type, number] : good)
    CHECK_MESSAGE(why_not(type, number).empty(), why_not(type, number));
  const std::pair<const char*, const char*> bad[] = {
      {"int8", "128"},          {"uint8", "-1"},         {"uint8", "0.5"}, {"int16", "32768"},
      {"uint16", "1e30"},       {"int32", "2147483648"}, {"int32", "nan"}, {"int32", "-inf"},
      {"uint32", "4294967296"}, {"int64", "0x1p+54"}};
  for (const auto& [type, number] : bad) {
    CAPTURE(type);
    CAPTURE(number);
    CHECK(why_not(type, number).find("there is no ") != std::string::npos);
  }
  CHECK(why_not("tensor<int32, [?]>", "[1]").find("no number of elements") != std::string::npos);
  CHECK(why_not("tensor<int32, [4294967296, 4294967296]>", "[]").find("no number of elements") !=
        std::string::npos);
}

// What a text of a type and a value with so many axes lacks.
std::string ManyAxes(size_t axes, bool has_value) {
  std::string type = "tensor<int32, [1", value = "7";
  for (size_t i = 1; i < axes; ++i) type += ", 1";
  type += "]>";
  value = std::string(axes, '[') + value + std::string(axes, ']');
  return WhyNotParsed(ProgramOf(
      type + " y = " +
      (has_value ? "const()[val = " + type + "(" + value + ")];" : std::string("relu(x = x);"))));
}

TEST_CASE("coreml program text: values of many axes are nested too deeply") {
  CHECK(ManyAxes(16, true).empty());
  CHECK(ManyAxes(100'000, false).empty());
  CHECK(ManyAxes(100'000, true).find("values are nested too deeply") != std::string::npos);
  mil::Program program = Parsed(ProgramOf("int32 y = const()[val = int32(7)];"));
  auto& value = *program.mutable_functions(0)
                     ->mutable_value()
                     ->mutable_block_specializations(0)
                     ->mutable_value()
                     ->mutable_operations(0)
                     ->mutable_attributes(0)
                     ->mutable_value();
  auto& type = *value.mutable_type()->mutable_tensortype();
  type.set_rank(100'000);
  for (int i = 0; i < 100'000; ++i) type.add_dimensions()->mutable_constant()->set_size(1);
  CHECK(WhyNotPrinted(program).find("values are nested too deeply") != std::string::npos);
}

TEST_CASE("coreml program text: lists of empty entries have a limit on their types") {
  const auto why_not = [](size_t types, size_t entries) {
    std::string tuple = "tuple<";
    for (size_t i = 0; i < types; ++i) tuple += i == 0 ? "bool" : ", bool";
    tuple += ">";
    std::string values = "[]";
    for (size_t i = 1; i < entries; ++i) values += ", []";
    const std::string type = "list<list<" + tuple + ", ?>, ?>";
    return WhyNotParsed(ProgramOf(type + " y = const()[val = " + type + "([" + values + "])];"));
  };
  CHECK(why_not(100, 1000).empty());
  CHECK(why_not(10'000, 10'000).find("the entries have too many types") != std::string::npos);
}

TEST_CASE("coreml program text: damaged texts are errors, or other programs") {
  const std::string text = ProgramOf(
      "tensor<fp16, [2, 2]> c = const()[val = tensor<fp16, [2, 2]>([[0x1p+1, -1.5], [inf, 0]])];"
      "string s = const()[val = dict<string, tuple<int8, bool>>({{\"a\\\"\", (1, true)}})];"
      "tensor<fp32, [2]> y = add(x = x, y = fp32(1))[name = string(\"y\")];");
  std::mt19937 random(1);
  const std::string_view characters = "<>[](){},=\"\\?;-0x1 \n";
  int errors = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    const size_t at = random() % damaged.size();
    if (i % 3 == 0)
      damaged.erase(at, 1 + random() % 8);
    else if (i % 3 == 1)
      damaged[at] = characters[random() % characters.size()];
    else
      damaged.resize(at);
    mil::Program program;
    errors += coreml::program::ParseProgram(damaged, program) ? 0 : 1;
  }
  CHECK(errors > 2000);
  CHECK(errors < 3000);
}

template <typename T>
void Put(std::string& to, size_t at, T value) {
  to.resize(std::max(to.size(), at + sizeof(value)));
  std::memcpy(to.data() + at, &value, sizeof(value));
}

// A weight file with one entry: two numbers of float32.
std::string Weights(float a, float b) {
  std::string out(128, '\0');
  Put(out, 0, uint32_t{1});
  Put(out, 4, uint32_t{2});
  Put(out, 64, uint32_t{0xDEADBEEF});
  Put(out, 68, uint32_t{2});
  Put(out, 72, uint64_t{8});
  Put(out, 80, uint64_t{128});
  Put(out, 128, a);
  Put(out, 132, b);
  return out;
}

// A folder of a compiled model: y = x + w.
void WriteCompiled(const std::string& path, const std::string& type, const std::string& metadata) {
  fs::create_directories(path + "/weights");
  WriteText(path + "/coremldata.bin", "x");
  WriteText(path + "/weights/weight.bin", Weights(10, 20));
  WriteText(path + "/model.mil", R"(program(1.0)
{
    func main<ios15>()" + type + R"( x) {
            tensor<fp32, [2]> w = const()[name = tensor<string, []>("w"), val = tensor<fp32, [2]>(BLOBFILE(path = tensor<string, []>("@model_path/weights/weight.bin"), offset = tensor<uint64, []>(64)))];
            )" + type + R"( y = add(x = x, y = w)[name = tensor<string, []>("y")];
        } -> (y);
}
)");
  if (!metadata.empty()) WriteText(path + "/metadata.json", metadata);
}

TEST_CASE("compiled models of ML Programs are read, run and written as packages") {
  const TempDir dir;
  WriteCompiled(dir / "m.mlmodelc", "tensor<fp32, [2]>",
                R"([{"author": "A", "userDefinedMetadata": {"k": "v"},
                     "inputSchema": [{"name": "x", "shortDescription": "numbers"}]}])");
  const ReadModel read = ReadOrFail(dir / "m.mlmodelc");
  auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(imported->unsupported.empty());
  CHECK(imported->graph.metadata["author"] == "A");
  CHECK(imported->graph.metadata["coreml.k"] == "v");
  CHECK(imported->graph.metadata["coreml.description.x"] == "numbers");
  const auto outputs = RunEverywhere(imported->graph, InputsOf(imported->graph, {{1, 2}}));
  CHECK(outputs[0].ToDoubles() == std::vector<double>{11, 22});
  // The package has the same weights.
  ExportOptions options;
  options.path = dir / "m.mlpackage";
  const auto image = read.format->writer.Save(*read.model, options);
  REQUIRE_MESSAGE(image.has_value(), image.error().message());
  const auto weights = std::ranges::find_if(
      image->side_files, [](const auto& f) { return f.name.ends_with("weights/weight.bin"); });
  CHECK(weights != image->side_files.end());
}

TEST_CASE("compiled models: a classifier has labels, and images are described by the metadata") {
  const TempDir dir;
  const std::string path = dir / "m.mlmodelc";
  fs::create_directories(path);
  WriteText(path + "/model.mil", R"(program(1.0)
{
    func main<ios17>(tensor<fp32, [1, 3, 1, 1]> x) {
            tensor<fp32, [3]> y = reduce_sum(axes = tensor<int32, [3]>([0, 2, 3]), x = x);
            string label, dict<string, fp32> scores = classify(classes = tensor<string, [3]>(["a", "b", "c"]), probabilities = y);
        } -> (label, scores);
}
)");
  WriteText(path + "/metadata.json", R"([{"inputSchema": [{"name": "x", "type": "Image",
      "colorspace": "BGR", "width": "1", "height": "1"}]}])");
  const ReadModel read = ReadOrFail(path);
  const auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(read.format->importer.ImageColorsOf(imported->graph, "x") == ImageColors::kBgr);
  const auto classes = read.format->importer.ClassesOf(imported->graph);
  REQUIRE(classes.has_value());
  CHECK(classes->label == "label");
  CHECK(classes->scores == "scores");
  CHECK(classes->labels.strings() == std::vector<std::string>{"a", "b", "c"});
  const auto outputs = RunEverywhere(imported->graph, InputsOf(imported->graph, {{4, 5, 6}}));
  CHECK(outputs[0].ToDoubles() == std::vector<double>{4, 5, 6});
}

TEST_CASE("compiled models: blocks run") {
  const TempDir dir;
  const std::string path = dir / "m.mlmodelc";
  fs::create_directories(path);
  WriteText(path + "/model.mil", std::string(kBlocks));
  const ReadModel read = ReadOrFail(path);
  const auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  REQUIRE(imported->unsupported.empty());
  const auto result = [&](double x) {
    return RunEverywhere(imported->graph, InputsOf(imported->graph, {{x}}))[0].ToDoubles();
  };
  CHECK(result(4) == std::vector<double>{10});
  CHECK(result(5) == std::vector<double>{7.5});
}

TEST_CASE("compiled models: one of several functions is chosen") {
  const TempDir dir;
  const std::string path = dir / "m.mlmodelc";
  fs::create_directories(path);
  WriteText(path + "/model.mil", R"(program(1.0)
{
    func twice<ios17>(tensor<fp32, [2]> x) {
            tensor<fp32, [2]> y = mul(x = x, y = fp32(2));
        } -> (y);
    func thrice<ios18>(tensor<fp32, [1]> z) {
            tensor<fp32, [1]> w = mul(x = z, y = fp32(3));
        } -> (w);
}
)");
  const auto results = [&](const std::string& function, const std::vector<double>& input) {
    auto read = WithFunction(ReadOrFail(path), function);
    REQUIRE_MESSAGE(read.has_value(), read.error().message());
    auto imported = read->format->importer.Import(*read->model);
    REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
    return RunEverywhere(imported->graph, InputsOf(imported->graph, {input}))[0].ToDoubles();
  };
  const ReadModel read = ReadOrFail(path);
  CHECK(read.format->editor.FunctionsOf(*read.model) ==
        std::vector<std::string>{"twice", "thrice"});
  CHECK(results("", {1, 2}) == std::vector<double>{2, 4});
  CHECK(results("twice", {1, 2}) == std::vector<double>{2, 4});
  CHECK(results("thrice", {5}) == std::vector<double>{15});
  WriteText(path + "/metadata.json", R"([{"defaultFunctionName": "thrice", "functions": [
      {"name": "thrice", "inputSchema": [{"name": "z", "shortDescription": "a number"}]}]}])");
  CHECK(results("", {5}) == std::vector<double>{15});
  const auto other = WithFunction(ReadOrFail(path), "once");
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code() == ErrorCode::kUsage);
  CHECK(other.error().message() ==
        "--function once: the model has no such function, but twice, thrice");
}

TEST_CASE("compiled models: open sizes are those of the metadata") {
  const TempDir dir;
  WriteCompiled(dir / "m.mlmodelc", "tensor<fp32, [?, 2]>",
                R"([{"inputSchema": [{"name": "x", "shapeRange": "[[1, 9], [2, 2]]"}],
                     "outputSchema": [{"name": "y", "shapeRange": "[[1, 9], [2, 2]]"}]}])");
  const ReadModel read = ReadOrFail(dir / "m.mlmodelc");
  const auto imported = read.format->importer.Import(*read.model);
  REQUIRE_MESSAGE(imported.has_value(), imported.error().message());
  CHECK(imported->graph.inputs()[0].value->type().ToString() == "f32[x_0, 2]");
  WriteCompiled(dir / "n.mlmodelc", "tensor<fp32, [?, 2]>", "");
  const auto none = ReadModelFile(dir / "n.mlmodelc");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code() == ErrorCode::kUnsupported);
  CHECK(none.error().message().find("feature \"x\": its sizes are open") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::coreml_program_text_test

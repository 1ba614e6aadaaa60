// Rules of ONNX models, each broken and nearly broken.
#include <doctest/doctest.h>

#include <filesystem>

#include "formats/format.h"
#include "support/files.h"
#include "validators/rule_cases.h"
#include "validators/runner.h"

namespace nn::test::onnx_rules_test {
namespace {

std::string Encode(const std::string& text) {
  return EncodeProto("nn.onnx.pb.ModelProto", text);
}

// data.bin and folder/data.bin, of 16 bytes, and a link to the latter are beside the models.
void MakeData(const std::string& folder) {
  std::filesystem::create_directory(folder + "/folder");
  for (const char* name : {"/data.bin", "/folder/data.bin"})
    WriteText(folder + name, "0123456789abcdef");
  std::filesystem::create_symlink("data.bin", folder + "/folder/link.bin");
}

TEST_CASE("ONNX rules") {
  CheckRuleCases({"ONNX-", "m.onnx", Encode, ExamplesOf("onnx"), MakeData});
}

std::string ErrorOfImport(const std::string& text) {
  const TempDir dir;
  const std::string path = dir / "m.onnx";
  WriteText(path, Encode(text));
  const auto read = ReadModelFile(path);
  REQUIRE(read.has_value());
  const auto imported = read->format->importer.Import(*read->model);
  return imported.has_value() ? std::string() : imported.error().message();
}

TEST_CASE("ONNX: models that break rules are refused on import") {
  const std::string head = "ir_version: 8 opset_import { version: 24 } graph { name: \"g\" ";
  const auto input = [](const std::string& fields) {
    return "input { name: \"x\" type { tensor_type { " + fields + " shape { dim {} } } } } }";
  };
  for (const std::string op : {"Constant attribute { name: \"value_int\" type: INT i: 1 }",
                               "Identity", "Clip", "Sum", "Mean", "Gemm"}) {
    CAPTURE(op);
    const std::string name = op.substr(0, op.find(' '));
    const std::string rest = op.substr(name.size());
    const std::string error = ErrorOfImport(head + "node { input: \"x\" op_type: \"" + name +
                                            "\" " + rest + " } " + input("elem_type: 1"));
    CHECK(error.find("the node has no output") != std::string::npos);
  }
  const std::string swish =
      "node { input: \"x\" output: \"y\" op_type: \"Swish\" "
      "attribute { name: \"alpha\" type: FLOAT f: 2 } } ";
  for (const char* type : {"", "elem_type: 0", "elem_type: 99"})
    CHECK(ErrorOfImport(head + swish + input(type)).find("an unknown element type") !=
          std::string::npos);
  CHECK(ErrorOfImport(head + swish + input("elem_type: 8"))
            .find("Swish needs a floating-point input") != std::string::npos);
  CHECK(ErrorOfImport(head + swish + input("elem_type: 1")).empty());
}

// F calls G, which calls itself; H and I call each other; neither F nor J is recursive.
TEST_CASE("ONNX-FUNC-006: a function that only leads into a cycle is not reported") {
  const auto function = [](const std::string& name, const std::string& callee) {
    return "functions { name: \"" + name + "\" domain: \"f\" input: \"a\" output: \"b\" " +
           "node { input: \"a\" output: \"b\" op_type: \"" + callee + "\" domain: \"f\" } } ";
  };
  const TempDir dir;
  const std::string path = dir / "m.onnx";
  WriteText(path, Encode("ir_version: 8 opset_import { version: 17 } " + function("F", "G") +
                         function("G", "G") + function("H", "I") + function("I", "H") +
                         function("J", "H") + "graph { name: \"g\" }"));
  const auto read = ReadModelFile(path);
  REQUIRE(read.has_value());
  std::string names;
  for (const Finding& f : Validate(*read->model, *read->format, {}))
    if (f.rule == "ONNX-FUNC-006") names += f.message.substr(0, f.message.find(" calls")) + ";";
  CHECK(names == "function \"G\";function \"H\";function \"I\";");
}

// As optimizers do that add the entries of all values without a look at those that are there.
TEST_CASE("ONNX-VALUE-008: one finding for all entries of a graph that are repeated") {
  const TempDir dir;
  const std::string path = dir / "m.onnx";
  const std::string type = " type { tensor_type { elem_type: 1 shape {} } } } ";
  std::string infos;
  for (const char* name : {"a", "b", "c", "b", "c", "c"})
    infos += std::string("value_info { name: \"") + name + "\"" + type;
  const auto node = [](const std::string& x, const std::string& y) {
    return "node { input: \"" + x + "\" output: \"" + y + "\" op_type: \"Relu\" } ";
  };
  WriteText(path,
            Encode("ir_version: 8 opset_import { version: 17 } graph { name: \"g\" " +
                   node("x", "a") + node("a", "b") + node("b", "c") + node("c", "y") +
                   "input { name: \"x\"" + type + "output { name: \"y\"" + type + infos + "}"));
  const auto read = ReadModelFile(path);
  REQUIRE(read.has_value());
  std::string found;
  for (const Finding& f : Validate(*read->model, *read->format, {}))
    found += f.rule + " " + f.location.element + ": " + f.message + "\n";
  CHECK(found ==
        "ONNX-VALUE-008 graph.value_info[3]: value_info describes \"b\" more than once, and 2 more "
        "entries\n");
}

}  // namespace
}  // namespace nn::test::onnx_rules_test

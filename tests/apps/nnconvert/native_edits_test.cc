// Edits with nnconvert: --extract, --cut-before, --rename and so on (edit/edit.h).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"

namespace nn::test::nnconvert_native_edits_test {
namespace {

// Two branches from a product; one through a function and an If that captures the other's value,
// and an operator that nobody knows behind "d".
constexpr std::string_view kModel = R"(
  ir_version: 10 producer_name: "maker"
  opset_import { domain: "" version: 21 } opset_import { domain: "f" version: 1 }
  opset_import { domain: "odd" version: 1 }
  metadata_props { key: "author" value: "me" } metadata_props { key: "stale" value: "1" }
  graph {
    name: "g" doc_string: "the graph"
    node { op_type: "MatMul" name: "mul" input: "x" input: "w" output: "a" doc_string: "product" }
    node { op_type: "Relu" name: "act" input: "a" output: "b" }
    node { op_type: "Twice" domain: "f" name: "twice" input: "b" output: "c" }
    node { op_type: "Greater" input: "limit" input: "zero" output: "flag" }
    node { op_type: "If" name: "if" input: "flag" output: "d"
      attribute { name: "then_branch" type: GRAPH g { name: "t"
        node { op_type: "Add" input: "c" input: "a" output: "t1" } output { name: "t1" } } }
      attribute { name: "else_branch" type: GRAPH g { name: "e"
        node { op_type: "Sub" input: "c" input: "v" output: "e1" } output { name: "e1" } } } }
    node { op_type: "Odd" domain: "odd" input: "d" output: "o" }
    node { op_type: "Neg" name: "neg" input: "b" output: "n" }
    initializer { name: "w" data_type: 1 dims: 3 dims: 2 float_data: [1, -2, 3, -4, 5, -6] }
    initializer { name: "v" data_type: 1 dims: 2 float_data: [7, 8] }
    initializer { name: "zero" data_type: 1 float_data: 0 }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" }
                                                               dim { dim_value: 3 } } } } }
    input { name: "limit" type { tensor_type { elem_type: 1 shape { } } } }
    output { name: "o" type { tensor_type { elem_type: 1 } } }
    output { name: "n" type { tensor_type { elem_type: 1 } } }
  }
  functions { name: "Twice" domain: "f" input: "p" output: "q" opset_import { version: 21 }
    node { op_type: "Add" input: "p" input: "p" output: "q" } })";

struct Edited {
  int code = 0;
  std::string out, err;
  Json report;
  std::string text;  // of the written model
};

Edited Edit(const std::string& options, std::string_view model = kModel) {
  const TempDir dir;
  WriteText(dir / "m.textproto", std::string(model));
  const ProgramResult r = RunProgram("nnconvert " + options + " --report " + dir / "r.json " +
                                     dir / "m.textproto " + dir / "out.textproto");
  Edited edited = {r.code, r.out, r.err, {}, {}};
  if (r.code != 0) return edited;
  edited.report = Json::parse(ReadText(dir / "r.json"));
  edited.text = ReadText(dir / "out.textproto");
  return edited;
}

using Names = std::vector<std::string>;

TEST_CASE("nnconvert --extract: a part between values, verified against the source") {
  const Edited e = Edit("--extract b..d");
  REQUIRE_MESSAGE(e.code == 0, e.err);
  const Json& edit = e.report["native_edits"];
  CHECK(e.report["result"] == "edited");
  // "a" is captured by a branch, so what computes it is needed, too.
  CHECK(edit["operators"] == Json{{"before", 7}, {"after", 4}});
  CHECK(edit["new_inputs"] == Names{"b"});
  CHECK(edit["dropped_outputs"] == Names{"o", "n"});
  CHECK(edit["new_outputs"] == Names{"d"});
  CHECK(Contains(e.text, "Twice"));
  CHECK_FALSE(Contains(e.text, "\"Odd\""));
}

TEST_CASE("nnconvert --extract: operators stand for what they read and write") {
  const Edited e = Edit("--extract twice..twice");
  REQUIRE_MESSAGE(e.code == 0, e.err);
  CHECK(e.report["native_edits"]["new_inputs"] == Names{"b"});
  CHECK(e.report["native_edits"]["new_outputs"] == Names{"c"});
  CHECK(e.report["native_edits"]["dropped_inputs"] == Names{"x", "limit"});
  CHECK(e.report["native_edits"]["verification"]["passed"] == true);
  CHECK(e.report["native_edits"]["verification"]["outputs"][0]["identical"] == true);
  CHECK(Contains(e.text, "dim_param: \"N\""));
  CHECK_FALSE(Contains(e.text, "float_data"));
}

TEST_CASE("nnconvert --extract: ports state the shapes that the file leaves out or has wrong") {
  std::string model(kModel);
  const size_t end = model.find("  functions {");
  REQUIRE(end != std::string::npos);
  model.insert(model.rfind('}', end), R"(
    value_info { name: "a" type { tensor_type { elem_type: 1 } } }
    value_info { name: "b" doc_string: "after relu"
                 type { tensor_type { elem_type: 1 shape { dim { dim_value: 9 } } } } } )");
  const Edited e = Edit("--extract a..b", model);
  REQUIRE_MESSAGE(e.code == 0, e.err);
  CHECK(Contains(e.text, "after relu"));
  size_t shapes = 0;
  for (size_t at = 0; (at = e.text.find("dim_value: 2", at)) != std::string::npos; ++at) ++shapes;
  CHECK(shapes == 2);
  CHECK_FALSE(Contains(e.text, "dim_value: 9"));
}

TEST_CASE("nnconvert --remove-output, --cut-after: what nothing needs any more is dropped") {
  const Edited e = Edit("--remove-output o");
  REQUIRE_MESSAGE(e.code == 0, e.err);
  CHECK(e.report["native_edits"]["operators"] == Json{{"before", 7}, {"after", 3}});
  CHECK(e.report["native_edits"]["dropped_inputs"] == Names{"limit"});
  CHECK(e.report["native_edits"]["verification"]["passed"] == true);
  CHECK_FALSE(Contains(e.text, "functions"));
  CHECK_FALSE(Contains(e.text, "\"v\""));
  CHECK(Contains(e.out, "3 of 7 operators kept"));
  CHECK(Contains(e.out, "bit-identical"));

  const Edited cut = Edit("--cut-after b");
  REQUIRE_MESSAGE(cut.code == 0, cut.err);
  CHECK(cut.report["native_edits"]["new_outputs"] == Names{"b"});
  CHECK(cut.report["native_edits"]["dropped_outputs"] == Names{"o", "n"});
  CHECK(cut.report["native_edits"]["operators"]["after"] == 2);
}

TEST_CASE("nnconvert --add-output, --cut-before: unknown operators are carried") {
  const Edited e = Edit("--add-output 'c' --add-output act");
  REQUIRE_MESSAGE(e.code == 0, e.err);
  CHECK(e.report["native_edits"]["new_outputs"] == Names{"c", "b"});
  CHECK(Contains(e.text, "\"Odd\""));
  CHECK(Contains(e.report["native_edits"]["unverified"].get<std::string>(), "Odd"));
  CHECK(Contains(e.out, "the edit is not verified: "));

  const Edited cut = Edit("--cut-before odd.Odd");
  REQUIRE_MESSAGE(cut.code == 0, cut.err);
  CHECK(cut.report["native_edits"]["new_inputs"] == Names{"d"});
  CHECK(cut.report["native_edits"]["dropped_inputs"] == Names{"limit"});
}

TEST_CASE("nnconvert --rename: patterns, subgraphs, ports, and names that are taken") {
  const Edited e = Edit("--rename a=first --rename x=image --rename n=y_0");
  REQUIRE_MESSAGE(e.code == 0, e.err);
  CHECK(Contains(e.text, "input: \"first\""));
  CHECK_FALSE(Contains(e.text, "input: \"a\""));
  CHECK(Contains(e.text, "output: \"y_0\""));
  CHECK(Contains(e.text, "input: \"image\""));

  const Edited taken = Edit("--rename a=b");
  CHECK(taken.code == 2);
  CHECK(Contains(taken.err, "\"a\" and \"b\" would both be \"b\""));
  CHECK(Contains(Edit("--rename '[abc]=z'").err, "matches 3 values"));
  CHECK(Contains(Edit("--rename nothing=z").err, "has no value of that name"));
  const Edited stars = Edit("--rename 'li*t=up*'");
  REQUIRE_MESSAGE(stars.code == 0, stars.err);
  CHECK(Contains(stars.text, "\"upmi\""));
}

TEST_CASE("nnconvert --set-metadata, --strip: texts alone are not run") {
  const Edited e = Edit("--set-metadata author=you --set-metadata stale= --set-metadata n=1=2");
  REQUIRE_MESSAGE(e.code == 0, e.err);
  CHECK(Contains(e.text, "value: \"you\""));
  CHECK(Contains(e.text, "value: \"1=2\""));
  CHECK_FALSE(Contains(e.text, "stale"));
  CHECK(e.report["native_edits"]["verification"].is_null());

  const Edited s = Edit("--strip all --remove-output o");
  REQUIRE_MESSAGE(s.code == 0, s.err);
  for (const std::string_view gone : {"doc_string", "author", "\"mul\"", "\"a\"", "\"w\""}) {
    CAPTURE(gone);
    CHECK_FALSE(Contains(s.text, std::string(gone)));
  }
  CHECK(Contains(s.text, "\"x\""));
  CHECK(s.report["native_edits"]["verification"]["passed"] == true);
  CHECK(Edit("--strip all,weights").code == 2);
}

TEST_CASE("nnconvert: edited models are sorted, also in subgraphs and functions") {
  const Edited edited = Edit("--set-metadata author=you", R"(
    ir_version: 10 opset_import { domain: "" version: 21 }
    opset_import { domain: "f" version: 1 }
    graph { name: "g"
      node { op_type: "If" input: "flag" output: "y"
        attribute { name: "then_branch" type: GRAPH g { name: "t"
          node { op_type: "Abs" input: "t1" output: "t2" }
          node { op_type: "Neg" input: "a" output: "t1" } output { name: "t2" } } }
        attribute { name: "else_branch" type: GRAPH g { name: "e"
          node { op_type: "Exp" input: "a" output: "e1" } output { name: "e1" } } } }
      node { op_type: "Twice" domain: "f" input: "x" output: "a" }
      input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }
      input { name: "flag" type { tensor_type { elem_type: 9 shape { } } } }
      output { name: "y" type { tensor_type { elem_type: 1 } } } }
    functions { name: "Twice" domain: "f" input: "p" output: "q" opset_import { version: 21 }
      node { op_type: "Abs" input: "r" output: "q" }
      node { op_type: "Add" input: "p" input: "p" output: "r" } })");
  CHECK_MESSAGE(edited.code == 0, edited.err);
  CHECK(Contains(edited.out,
                 "the operators are sorted: some came before those whose results they "
                 "need\n"));
  CHECK(edited.report["native_edits"]["sorted"] == true);
  CHECK(edited.text.find("\"Twice\"") < edited.text.find("\"If\""));
  CHECK(edited.text.find("\"Neg\"") < edited.text.find("\"Abs\""));
  CHECK(edited.text.find("\"Add\"") < edited.text.rfind("\"Abs\""));
  CHECK(Edit("--set-metadata author=you").report["native_edits"]["sorted"] == false);
}

TEST_CASE("nnconvert: an edit and a conversion in one step") {
  const TempDir dir;
  WriteText(dir / "m.textproto", std::string(kModel));
  const ProgramResult r = RunProgram("nnconvert --extract ..n --input-shape x:4,3 " +
                                     dir / "m.textproto " + dir / "n.tflite");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "3 of 7 operators kept"));
  const Json model = Inspect(dir / "n.tflite");
  CHECK(model["outputs"][0]["name"] == "n");
}

TEST_CASE("nnconvert --compose-json: a patch of the dump, and patches that do not apply") {
  const TempDir dir;
  WriteText(dir / "m.textproto", std::string(kModel));
  const auto patch = [&](const std::string& text) {
    WriteText(dir / "p.json", text);
    return RunProgram("nnconvert --compose-json " + dir / "p.json " + dir / "m.textproto " +
                      dir / "out.textproto");
  };
  ProgramResult r =
      patch(R"([{"op": "test", "path": "/model/graph/node/1/op_type", "value": "Relu"},
    {"op": "replace", "path": "/model/graph/node/1/op_type", "value": "Tanh"},
    {"op": "remove", "path": "/model/graph/doc_string"}])");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "patched: what the patch changes is not verified"));
  const std::string text = ReadText(dir / "out.textproto");
  CHECK(Contains(text, "\"Tanh\""));
  CHECK_FALSE(Contains(text, "the graph"));
  r = patch(R"([{"op": "replace", "path": "/model/graph/node/99", "value": 1}])");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "the patch does not apply: "));
  r = patch(R"([{"op": "add", "path": "/model/graph/nodes", "value": 1}])");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "/model/graph/nodes"));
  CHECK(patch("no patch").code == 2);
  struct Row {
    std::string_view patch, message;
  };
  for (const Row& row : {
           Row{R"({"op": "remove", "path": ""})", "it is not a list of operations"},
           Row{R"([3])", "operation 0: it has no \"op\""},
           Row{R"([{"op": "remove"}])", "operation 0: it has no \"path\""},
           Row{R"([{"op": "drop", "path": ""}])", "\"drop\" is not add, remove"},
           Row{R"([{"op": "add", "path": "/model"}])", "it has no \"value\""},
           Row{R"([{"op": "add", "path": "model", "value": 1}])", "does not begin with /"},
           Row{R"([{"op": "add", "path": "/a~2", "value": 1}])", "has ~ without 0 or 1"},
           Row{R"([{"op": "add", "path": "/model/graph/node/01", "value": 1}])", "cannot be added"},
           Row{R"([{"op": "add", "path": "/model/graph/node/99", "value": 1}])", "cannot be added"},
           Row{R"([{"op": "remove", "path": "/model/graph/node/-"}])", "there is no"},
           Row{R"([{"op": "remove", "path": ""}])", "the whole document cannot be removed"},
           Row{R"([{"op": "move", "from": "/model", "path": "/model/graph"}])",
               "is in what it moves"},
           Row{R"([{"op": "test", "path": "/format", "value": "x"}])", "is another one"},
       }) {
    CAPTURE(row.patch);
    r = patch(std::string(row.patch));
    CHECK(r.code == 2);
    CHECK_MESSAGE(Contains(r.err, row.message), r.err);
  }
  // Operations build on those before.
  r = patch(R"([{"op": "copy", "from": "/model/graph/node/0", "path": "/model/graph/node/-"},
    {"op": "remove", "path": "/model/graph/node/0"},
    {"op": "move", "from": "/model/graph/name", "path": "/model/producer_name"},
    {"op": "add", "path": "/model/graph/name", "value": "g"}])");
  CHECK_FALSE_MESSAGE(Contains(r.err, "does not apply"), r.err);
}

TEST_CASE("nnconvert --compose-json: what a patch makes is bounded") {
  const TempDir dir;
  WriteText(dir / "m.textproto", std::string(kModel));
  std::string wide, deep;
  for (int i = 0; i < 60; ++i) {
    wide += fmt::format(R"(, {{"op": "copy", "from": "", "path": "/x{}"}})", i);
    deep += fmt::format(R"(, {{"op": "copy", "from": "/d", "path": "/d{}"}})", [&] {
      std::string path;
      for (int k = 0; k <= i; ++k) path += "/d";
      return path;
    }());
  }
  const auto patch = [&](const std::string& text, const std::string& options) {
    WriteText(dir / "p.json", text);
    return RunProgram("nnconvert " + options + " --compose-json " + dir / "p.json " +
                      dir / "m.textproto " + dir / "out.textproto");
  };
  ProgramResult r = patch("[" + wide.substr(2) + "]", "--max-unpacked-bytes 10MB");
  CHECK(r.code == 4);
  CHECK_MESSAGE(Contains(r.err, "max-unpacked-bytes"), r.err);
  r = patch(R"([{"op": "add", "path": "/d", "value": {}})" + deep + "]", "--max-depth 8");
  CHECK(r.code == 4);
  CHECK_MESSAGE(Contains(r.err, "max-depth"), r.err);
  r = patch("[" + std::string(100000, '[') + std::string(100000, ']') + "]", "");
  CHECK(r.code == 4);
  CHECK_MESSAGE(Contains(r.err, "max-depth"), r.err);
}

TEST_CASE("nnconvert: edits that are not possible say why") {
  const Edited none = Edit("--extract x..nothing");
  CHECK(none.code == 2);
  CHECK(Contains(none.err, "has no value or operator of that name"));
  CHECK(Contains(Edit("--extract x").err, "expected FROM..TO"));
  CHECK(Contains(Edit("--remove-output '*'").err, "leaves no output"));
  CHECK(Contains(Edit("--cut-before w").err, "is a constant"));
  CHECK(Contains(Edit("--extract n..d").err, "no output of the part is computed from"));
  CHECK(Contains(Edit("--extract ..o --set-metadata =x").err, "expected KEY=TEXT"));
}

}  // namespace
}  // namespace nn::test::nnconvert_native_edits_test

// Text from a file cannot control the terminal: no program prints escape sequences, line ends or
// invalid UTF-8 unescaped, whichever string of a model contains them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/sanitizer.h"

namespace nn::test::terminal_test {
namespace {

// A line end, a color, a bell, DEL, a C1 control, two changes of direction and a separator of
// lines; the word identifies it in the output.
const std::string kHostile =
    "a\nINJECTED\x1b[31m\a\x7f\xc2\x9b\r\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8";

// Control bytes in the output, or a line that imitates one of ours; "" if there are none.
std::string Leak(const std::string& text) {
  if (text.find("\nINJECTED") != std::string::npos) return "a line end";
  if (EscapeLines(text) != text) return "a control byte";
  return {};
}

// The strings of a dump, one location of each kind (pointers without numbers).
void CollectStrings(const Json& value, const std::string& pointer, const std::string& kind,
                    std::set<std::string>& seen, std::vector<std::string>& places) {
  if (value.is_string() && seen.insert(kind).second) places.push_back(pointer);
  if (value.is_object())
    for (const auto& [name, member] : value.items())
      CollectStrings(member, pointer + "/" + JsonPointerToken(name), kind + "/" + name, seen,
                     places);
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i)
      CollectStrings(value[i], fmt::format("{}/{}", pointer, i), kind, seen, places);
}

// Has every kind of name that a file can have; it cannot be imported.
Json OnnxDump() {
  return Json::parse(R"({"nn_dump": 1, "format": "onnx", "model": {
    "ir_version": 8, "opset_import": [{"domain": "", "version": 13}, {"domain": "mine", "version": 1}],
    "producer_name": "p", "producer_version": "v", "domain": "d", "doc_string": "doc",
    "metadata_props": [{"key": "k", "value": "v"}],
    "graph": {"name": "g", "doc_string": "doc",
      "node": [
        {"op_type": "Add", "name": "sum", "doc_string": "doc", "input": ["x", "w"], "output": ["y"]},
        {"op_type": "Strange", "domain": "mine", "name": "own", "input": ["y"], "output": ["z"],
         "attribute": [{"name": "texts", "type": "STRINGS", "strings": ["t"]}]}],
      "initializer": [
        {"name": "w", "data_type": 1, "dims": [300], "data_location": "EXTERNAL",
         "external_data": [{"key": "location", "value": "w.bin"}, {"key": "length", "value": "1200"}]}],
      "input": [{"name": "x", "doc_string": "doc", "type": {"denotation": "t", "tensor_type": {
        "elem_type": 1, "shape": {"dim": [{"dim_param": "batch"}, {"dim_value": 300, "denotation": "c"}]}}}}],
      "output": [{"name": "z", "type": {"tensor_type": {"elem_type": 1,
        "shape": {"dim": [{"dim_param": "out"}]}}}}],
      "value_info": [{"name": "p", "type": {"tensor_type": {"elem_type": 1}}}]}}})");
}

// Can be run, but contradicts its declarations once its symbols are bound.
Json OnnxDumpToRun() {
  return Json::parse(R"({"nn_dump": 1, "format": "onnx", "model": {
    "ir_version": 8, "opset_import": [{"domain": "", "version": 13}],
    "graph": {"name": "g",
      "node": [
        {"op_type": "MaxPool", "name": "pool", "input": ["x"], "output": ["p"],
         "attribute": [{"name": "kernel_shape", "type": "INTS", "ints": [2, 2]},
                       {"name": "auto_pad", "type": "STRING", "s": "SAME_UPPER"}]},
        {"op_type": "Resize", "name": "resize", "input": ["p", "", "scales"], "output": ["r"],
         "attribute": [{"name": "mode", "type": "STRING", "s": "nearest"},
                       {"name": "nearest_mode", "type": "STRING", "s": "floor"},
                       {"name": "coordinate_transformation_mode", "type": "STRING", "s": "asymmetric"}]},
        {"op_type": "Pad", "name": "pad", "input": ["r", "pads"], "output": ["q"],
         "attribute": [{"name": "mode", "type": "STRING", "s": "constant"}]},
        {"op_type": "Add", "name": "sum", "input": ["q", "q"], "output": ["s"]},
        {"op_type": "Reshape", "name": "flat", "input": ["s", "shape"], "output": ["z"]}],
      "initializer": [
        {"name": "scales", "data_type": 1, "dims": [4], "float_data": [1, 1, 1, 1]},
        {"name": "shape", "data_type": 7, "dims": [1], "int64_data": [17]},
        {"name": "pads", "data_type": 7, "dims": [8], "int64_data": [0, 0, 0, 0, 0, 0, 0, 0]}],
      "input": [{"name": "x", "type": {"tensor_type": {"elem_type": 1,
        "shape": {"dim": [{"dim_param": "batch"}, {"dim_value": 1}, {"dim_value": 4},
                          {"dim_param": "w"}]}}}}],
      "output": [{"name": "z", "type": {"tensor_type": {"elem_type": 1,
        "shape": {"dim": [{"dim_param": "out"}]}}}}],
      "value_info": [{"name": "p", "type": {"tensor_type": {"elem_type": 1,
        "shape": {"dim": [{"dim_param": "batch"}, {"dim_value": 1}, {"dim_param": "h"}, {"dim_param": "v"}]}}}}]}}})");
}

Json DumpOfGraph(const TempDir& dir, const std::string& extension, std::string_view graph) {
  WriteModel(dir / "m" + extension, graph);
  REQUIRE(RunProgram(fmt::format("nnconvert {0}/m{1} {0}/m.json", dir.path(), extension)).code ==
          0);
  return Json::parse(ReadText(dir / "m.json"));
}

// All commands. A sanitized program, which takes a third of a second to start, runs one in three at
// each location.
void CheckPrograms(const Json& dump, size_t nth, const std::string& place, const TempDir& dir) {
  const std::string path = dir / "hostile.json";
  Json hostile = dump;
  hostile[Json::json_pointer(place)] = kHostile;
  WriteText(path, hostile.dump());
  size_t number = nth;
  for (const std::string command : {"nninspect {}",
                                    "nninspect {} --nodes --tensors --tree --cost --stats",
                                    "nninspect {} --nodes --format csv",
                                    "nninspect {} --tensors --format csv",
                                    "nninspect {} --format json",
                                    "nninspect {} --format svg",
                                    "nninspect {} --format dot",
                                    "nninspect {} --node '#0' --hash",
                                    "nninspect {0} --diff {1}/good.json",
                                    "nnvalidate --profile strict {}",
                                    "nnvalidate --profile strict --format sarif {}",
                                    "nnvalidate --profile strict --format junit {}",
                                    "nnvalidate --profile strict --format github {}",
                                    "nnvalidate --format json {}",
                                    "nnrun -v {}",
                                    "nnrun --explain-plan {}",
                                    "nnrun --digest {}",
                                    "nnconvert -v {0} {1}/out.onnx --rewrite",
                                    "nnconvert {0} {1}/out.tflite",
                                    "nnconvert {0} {1}/out.mlmodel",
                                    "nnconvert {0} {1}/out.nnapi"}) {
    if (NN_ADDRESS_SANITIZER && number++ % 3 != 0) continue;
    const std::string line = fmt::format(fmt::runtime(command), path, dir.path());
    const ProgramResult r = RunProgram(line);
    const std::string leak = Leak(r.out).empty() ? Leak(r.err) : Leak(r.out);
    CHECK_MESSAGE(leak.empty(), place << ": " << command << " prints " << leak << "\n"
                                      << Escape(r.out + r.err).substr(0, 600));
  }
}

void CheckAllStrings(const Json& dump) {
  const TempDir dir;
  WriteText(dir / "good.json", dump.dump());
  std::set<std::string> seen;
  std::vector<std::string> places;
  CollectStrings(dump["model"], "/model", "", seen, places);
  REQUIRE(places.size() > 3);
  for (size_t i = 0; i < places.size(); ++i) CheckPrograms(dump, i, places[i], dir);
}

TEST_CASE("terminal: the strings of ONNX models") {
  CheckAllStrings(OnnxDump());
  CheckAllStrings(OnnxDumpToRun());
}

TEST_CASE("terminal: the strings of other formats' models") {
  constexpr std::string_view kGraph = R"(graph "g" {
    in %x: f32[1, 4, 4, 2]
    const %w "w": f32[3, 2, 2, 2] = seeded(1)
    const %b "b": f32[3] = seeded(2)
    %c "c" = conv(%x, %w, %b) {layout = nxc, filter_layout = oxi} "conv"
    %r "r" = relu(%c) "relu"
    out "y" = %r
  })";
  for (const char* extension : {".tflite", ".mlmodel", ".nnapi"}) {
    CAPTURE(extension);
    const TempDir dir;
    CheckAllStrings(DumpOfGraph(dir, extension, kGraph));
  }
}

TEST_CASE("terminal: pages, pictures, reports and traces in files") {
  const TempDir dir;
  Json dump = OnnxDumpToRun();
  Json& graph = dump["model"]["graph"];
  // A value, and the operator that writes it.
  graph["node"][0]["name"] = kHostile;
  const std::string value = graph["node"][0]["output"][0];
  const auto rename = [&](Json& list) {
    for (Json& name : list)
      if (name == value) name = kHostile;
  };
  for (Json& node : graph["node"]) {
    rename(node["input"]);
    rename(node["output"]);
  }
  WriteText(dir / "m.json", dump.dump());
  int written = 0;
  for (const std::string command :
       {"nninspect --format html {0}/m.json -o {0}/out",
        "nninspect --format svg {0}/m.json -o {0}/out",
        "nninspect --format svg --expand {0}/m.json -o {0}/out",
        "nninspect --format dot --expand {0}/m.json -o {0}/out",
        "nninspect --format cyclonedx {0}/m.json -o {0}/out",
        "nninspect --nodes --format csv {0}/m.json -o {0}/out",
        "nnvalidate {0}/m.json --report sarif={0}/out",
        "nnvalidate {0}/m.json --report junit={0}/out",
        "nnvalidate {0}/m.json --report github={0}/out",
        "nnconvert --simplify {0}/m.json {0}/m.onnx --report {0}/out.md",
        "nnconvert --simplify {0}/m.json {0}/m.onnx --report {0}/out.html",
        "nnrun {0}/m.json --digest --trace {0}/out"}) {
    CAPTURE(command);
    for (const char* name : {"out", "out.md", "out.html"}) std::filesystem::remove(dir / name);
    RunProgram(fmt::format(fmt::runtime(command), dir.path()));
    for (const char* name : {"out", "out.md", "out.html"}) {
      if (!Exists(dir / name)) continue;
      ++written;
      CHECK_MESSAGE(Leak(ReadText(dir / name)).empty(), Leak(ReadText(dir / name)));
    }
  }
  CHECK(written >= 9);
}

// What a program prints as messages to a terminal; `environment` precedes the command.
std::string OnTerminal(const std::string& environment, const std::string& command) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(grantpt(terminal) == 0);
  REQUIRE(unlockpt(terminal) == 0);
  const std::string name = ptsname(terminal);
  const int other = open(name.c_str(), O_RDWR | O_NOCTTY);
  REQUIRE(other >= 0);
  const std::string line = fmt::format("{} '{}'/{} 2>'{}'", environment, BinDir(), command, name);
  CHECK(std::system(line.c_str()) != -1);
  // The kernel hands text over in pieces, later than it was written: what follows marks the end.
  constexpr std::string_view kEnd = "<end of messages>";
  REQUIRE(write(other, kEnd.data(), kEnd.size()) == static_cast<ssize_t>(kEnd.size()));
  std::string text;
  while (!text.ends_with(kEnd)) {
    char piece[4096];
    const auto size = read(terminal, piece, sizeof(piece));
    REQUIRE(size > 0);
    text.append(piece, static_cast<size_t>(size));
  }
  close(other);
  close(terminal);
  text.resize(text.size() - kEnd.size());
  return text;
}

TEST_CASE("terminal: messages are colored on a terminal, unless NO_COLOR is set") {
  for (const char* program : {"nnvalidate", "nninspect", "nnrun", "nnconvert"}) {
    CAPTURE(program);
    const auto colored = [&](const char* environment, const std::string& option) {
      const std::string text = OnTerminal(environment, program + option);
      CHECK(Contains(text, "error"));
      return Contains(text, "\x1b[");
    };
    CHECK(colored("NO_COLOR= TERM=xterm", ""));
    CHECK(!colored("NO_COLOR=1 TERM=xterm", ""));
    CHECK(!colored("NO_COLOR= TERM=dumb", ""));
    CHECK(colored("NO_COLOR=1 TERM=xterm", " --color always"));
    CHECK(!colored("NO_COLOR= TERM=xterm", " --color never"));
  }
}

TEST_CASE("terminal: --color in pipes") {
  const TempDir dir;
  WriteText(dir / "m.onnx", "hello");
  for (const char* program : {"nnvalidate --jobs x", "nninspect", "nnrun", "nnconvert"}) {
    const std::string command = fmt::format("{} {} --color ", program, dir / "m.onnx");
    CAPTURE(command);
    CHECK(RunProgram(command + "always").err.find("\x1b[") != std::string::npos);
    CHECK(RunProgram(command + "never").err.find('\x1b') == std::string::npos);
    CHECK(RunProgram(command + "auto").err.find('\x1b') == std::string::npos);
    CHECK(RunProgram(command + "sometimes").code == 2);
  }
}

}  // namespace
}  // namespace nn::test::terminal_test

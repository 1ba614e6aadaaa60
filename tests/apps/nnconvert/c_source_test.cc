// Models as C source, and what microcontrollers need (formats/common/describe/micro.h).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"

namespace nn::test::nnconvert_c_source_test {
namespace {

constexpr std::string_view kModel = R"(
  ir_version: 8 opset_import { version: 13 }
  graph { name: "g"
    node { op_type: "Relu" input: "x" output: "a" }
    node { op_type: "Tanh" input: "a" output: "b" }
    node { op_type: "Add" input: "a" input: "b" output: "y" }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 5 } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 5 } } } } } })";

// The bytes of the array.
std::string ArrayOf(const std::string& source) {
  std::string bytes;
  size_t at = source.find("] = {");
  REQUIRE(at != std::string::npos);
  while ((at = source.find("0x", at)) != std::string::npos) {
    bytes += static_cast<char>(std::stoi(source.substr(at + 2, 2), nullptr, 16));
    at += 4;
  }
  return bytes;
}

bool Compiles(const std::string& flags, const std::string& path) {
  return std::system(fmt::format("c++ {} -fsyntax-only {}", flags, path).c_str()) == 0;
}

TEST_CASE("nnconvert: a model as C source has its bytes, and what the interpreter needs") {
  const TempDir dir;
  WriteText(dir / "m.textproto", std::string(kModel));
  REQUIRE(RunProgram("nnconvert " + dir / "m.textproto " + dir / "m.tflite").code == 0);
  const ProgramResult r = RunProgram("nnconvert " + dir / "m.tflite " + dir / "my-net.c" +
                                     " --c-section .model --c-align 64");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "C source of TensorFlow Lite"));
  CHECK(Contains(r.out, "and my-net.h"));
  const std::string source = ReadText(dir / "my-net.c"), header = ReadText(dir / "my-net.h");
  CHECK(ArrayOf(source) == ReadText(dir / "m.tflite"));
  CHECK(Contains(source, "const unsigned char my_net[MY_NET_SIZE]"));
  CHECK(Contains(source, "section(\".model\")"));
  CHECK(Contains(source, "_Alignas(64)"));
  CHECK(
      Contains(header, fmt::format("#define MY_NET_SIZE {}u", ReadText(dir / "m.tflite").size())));
  CHECK(Contains(header, "#define MY_NET_OPERATORS 3\n"));
  for (const char* call :
       {"(resolver).AddRelu();", "(resolver).AddTanh();", "(resolver).AddAdd();"})
    CHECK(Contains(header, call));
  // "a", "b" and "y" live together; "x" shares the place of one of them.
  CHECK(Contains(header, "#define MY_NET_TENSOR_ARENA_BYTES 96u"));
  CHECK(Compiles("-x c -std=c99 -Wall -Werror", dir / "my-net.c"));
  CHECK(Compiles("-x c -std=c11 -Wall -Werror", dir / "my-net.c"));
  CHECK(Compiles("-x c++ -std=c++17 -Wall -Werror", dir / "my-net.c"));
}

TEST_CASE("nnconvert: conversion and C source in one step, and options that do not fit") {
  const TempDir dir;
  WriteText(dir / "m.textproto", std::string(kModel));
  ProgramResult r = RunProgram("nnconvert --to tflite --c-name net_data " + dir / "m.textproto " +
                               dir / "out.cc");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.out, "verified"));
  CHECK(Contains(ReadText(dir / "out.h"), "extern const unsigned char net_data["));
  CHECK(RunProgram("nnconvert --c-name 1x " + dir / "m.textproto " + dir / "out.c").code == 2);
  CHECK(RunProgram("nnconvert --c-align 3 " + dir / "m.textproto " + dir / "out.c").code == 2);
  CHECK(RunProgram("nnconvert --external-data w " + dir / "m.textproto " + dir / "out.c").code ==
        2);
  struct Row {
    std::string arguments;
    std::string_view message;
  };
  for (const Row& row : {
           Row{"--c-name int " + dir / "m.textproto " + dir / "k.c", "int: is a reserved word"},
           Row{"--c-name co_await " + dir / "m.textproto " + dir / "k.cc", "is a reserved word"},
           Row{dir / "m.textproto " + dir / "int.c", "cannot be named int, a reserved word"},
           Row{dir / "m.textproto " + "'" + dir / "q\"x.c'", "a name of C source has no quotes"},
           Row{dir / "m.textproto " + "'" + dir / "q\nx.cc'", "a name of C source has no quotes"},
           Row{dir / "m.textproto " + "'" + dir / "q\\x.cpp'", "a name of C source has no quotes"},
       }) {
    CAPTURE(row.arguments);
    r = RunProgram("nnconvert " + row.arguments);
    CHECK(r.code == 2);
    CHECK_MESSAGE(Contains(r.err, row.message), r.err);
  }
  CHECK(RunProgram("nnconvert --c-name net " + dir / "m.textproto " + dir / "int.c").code == 0);
  r = RunProgram("nnconvert - " + dir / "out.c < " + dir / "m.textproto");
  CHECK(r.code == 2);
  CHECK(Contains(r.err, "--to is required"));
}

TEST_CASE("nninspect --cost: the arena of a microcontroller") {
  const TempDir dir;
  WriteText(dir / "m.textproto", std::string(kModel));
  REQUIRE(RunProgram("nnconvert " + dir / "m.textproto " + dir / "m.tflite").code == 0);
  const Json micro = Inspect("--cost " + dir / "m.tflite")["cost"]["micro"];
  CHECK(micro["arena_bytes"] == 96);
  CHECK(micro["live_bytes"] == 96);
  CHECK(micro["tensors"].size() == 4);
  CHECK(micro["operators"][1] ==
        Json{{"operator", "TANH"}, {"count", 1}, {"registration", "AddTanh"}});
  const ProgramResult text = RunProgram("nninspect --cost " + dir / "m.tflite");
  CHECK(Contains(text.out, "AddRelu, AddTanh, AddAdd"));
  CHECK_FALSE(Inspect("--cost " + dir / "m.textproto")["cost"].contains("micro"));
}

}  // namespace
}  // namespace nn::test::nnconvert_c_source_test

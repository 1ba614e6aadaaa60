// nnrun with states: --steps, --carry, --state.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "support/files.h"
#include "tensorio/npz.h"

namespace nn::test::nnrun_steps_test {
namespace {

// The shapes and first values of the outputs.
Json OutputsOf(const std::string& arguments) {
  const ProgramResult r = RunProgram("nnrun --format json " + arguments);
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const Json report = Json::parse(r.out);
  Json out = Json::object();
  for (const Json& o : report["outputs"])
    out[o["name"].get<std::string>()] = Json{o["shape"], o["first"]};
  return out;
}

void WriteState(const std::string& path, const std::string& name, const std::vector<float>& h) {
  const std::vector<NamedTensor> states = {{name, Tensor::Of({static_cast<int64_t>(h.size())}, h)}};
  REQUIRE(WriteNpz(path, states).has_value());
}

std::string ErrorOf(const std::string& arguments) {
  const ProgramResult r = RunProgram("nnrun " + arguments);
  CHECK(r.code == 2);
  return r.err;
}

// y = x + h, and y again as the next h.
constexpr const char* kSum =
    "graph { in %x: f32[2]  in %h: f32[2]  %y = add(%x, %h)  out \"y\" = %y  out \"next\" = %y }";

TEST_CASE("nnrun --steps: inputs with a value for each step, and repeated ones") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kSum);
  const std::string m = dir / "m.onnx --carry next=h ";
  CHECK(OutputsOf(m + "--steps 2 --input x=[1,2]") ==
        Json{{"y", {{2, 2}, {1.0, 2.0, 2.0, 4.0}}}, {"next", {{2, 2}, {1.0, 2.0, 2.0, 4.0}}}});
  CHECK(OutputsOf(m + "--steps 2 --input 'x=[[1,2],[3,4]]' --input h=[10,20]")["y"] ==
        Json{{2, 2}, {11.0, 22.0, 14.0, 26.0}});
  // One step has an axis, too; without --steps, there is none.
  CHECK(OutputsOf(m + "--steps 1 --input x=[1,2]")["y"] == Json{{1, 2}, {1.0, 2.0}});
  CHECK(OutputsOf(m + "--input x=[1,2]")["y"] == Json{{2}, {1.0, 2.0}});
  // Without --carry, the steps are independent.
  CHECK(OutputsOf(dir / "m.onnx --steps 2 --input x=[1,2] --input h=1")["y"] ==
        Json{{2, 2}, {2.0, 3.0, 2.0, 3.0}});
}

TEST_CASE("nnrun --carry: a value that grows") {
  const TempDir dir;
  WriteModel(dir / "m.onnx",
             "graph { in %x: f32[1]  in %past: f32[n]  %all = concat(%past, %x) {axis=0}"
             "  %sum = reduce_sum(%all) {axes=[0]}  out \"sum\" = %sum  out \"all\" = %all }");
  const ProgramResult r =
      RunProgram("nnrun --format json " + dir / "m.onnx --steps 3 --carry all=past " +
                 "--input 'x=[[1],[2],[3]]' --input past=[10]");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(Contains(r.err, "output \"all\" changes its shape from step to step"));
  const Json outputs = Json::parse(r.out)["outputs"];
  CHECK(outputs[0]["first"] == Json{11.0, 13.0, 16.0});
  CHECK(outputs[1]["first"] == Json{10.0, 1.0, 2.0, 3.0});
}

TEST_CASE("nnrun --state: continues where the last call ended") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kSum);
  const std::string m = dir / "m.onnx --carry next=h --input x=[1,2] --state " + dir / "state.npz ";
  CHECK(OutputsOf(m)["y"] == Json{{2}, {1.0, 2.0}});
  CHECK(OutputsOf(m + "--steps 2")["y"] == Json{{2, 2}, {2.0, 4.0, 3.0, 6.0}});
  CHECK(OutputsOf(m)["y"] == Json{{2}, {4.0, 8.0}});
  const auto file = ReadFile(dir / "state.npz");
  REQUIRE(file.has_value());
  const auto states = ReadNpz(*file);
  REQUIRE(states.has_value());
  REQUIRE(states->size() == 1);
  CHECK((*states)[0].name == "h");
  CHECK((*states)[0].tensor.ToDoubles() == std::vector<double>{4, 8});
  // A state that the model does not have, and one of another type.
  WriteState(dir / "state.npz", "g", {1, 2});
  CHECK(Contains(ErrorOf(m), "the model has no state \"g\"; its states are \"h\""));
  WriteState(dir / "state.npz", "h", {1, 2, 3});
  CHECK(Contains(ErrorOf(m), "does not fit"));
}

TEST_CASE("nnrun: the states of a TensorFlow Lite model") {
  const TempDir dir;
  WriteModel(dir / "m.tflite", R"(graph { in %x: f32[1, 1, 3]
      const %w: f32[1, 2, 3] = seeded(1)  const %r: f32[1, 2, 2] = seeded(2)
      %a = rnn(%x, %w, %r)  %y = squeeze(%a) {axes=[1]}  out "y" = %y })");
  const std::string m = dir / "m.tflite --input 'x=[[[1,2,3]]]' ";
  const Json once = OutputsOf(m), steps = OutputsOf(m + "--steps 2");
  REQUIRE(steps.size() == 1);  // the state is no output
  const Json first = once.begin().value()[1], both = steps.begin().value()[1];
  CHECK(both[0] == first[0]);
  CHECK(both[2] != first[0]);
  const std::string state = "--state " + dir / "state.safetensors ";
  CHECK(OutputsOf(m + state) == once);
  CHECK(OutputsOf(m + state).begin().value()[1][0] == both[2]);
  CHECK(OutputsOf(m) == once);
}

TEST_CASE("nnrun: options for states that do not fit") {
  const TempDir dir;
  WriteModel(dir / "m.onnx",
             "graph { in %x: f32[2]  %y = relu(%x)  %i = cast(%x) {to=i32}"
             "  out \"y\" = %y  out \"i\" = %i }");
  const std::string m = dir / "m.onnx ";
  CHECK(Contains(ErrorOf(m + "--state " + dir / "s.npz"), "the model has no states"));
  CHECK(Contains(ErrorOf(m + "--carry y=x --state s.txt"), "expected .npz or .safetensors"));
  CHECK(Contains(ErrorOf(m + "--carry i=x"), "the output is i32[2], but the input f32[2]"));
  CHECK(Contains(ErrorOf(m + "--carry y=z"), "\"z\""));
  CHECK(Contains(ErrorOf(m + "--carry y=x --carry y=x"), "already gets the value of an output"));
  CHECK(Contains(ErrorOf(m + "--steps 2 --bench"), "cannot be combined with --bench"));
  CHECK(!std::filesystem::exists(dir / "s.npz"));
}

}  // namespace
}  // namespace nn::test::nnrun_steps_test

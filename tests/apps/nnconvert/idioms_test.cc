// Idioms that nnconvert fuses (passes/idioms/idioms.h).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inspect.h"
#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"

namespace nn::test::nnconvert_idioms_test {
namespace {

ProgramResult Convert(const std::string& arguments) {
  return RunProgram("nnconvert " + arguments);
}

TEST_CASE("nnconvert: idioms are fused where the format needs it, or everywhere with --fuse") {
  const TempDir dir;
  WriteModel(dir / "gelu.onnx", R"(graph { in %x: f32[4, 8]
      const %half: f32[] = [0.5]  const %one: f32[] = [1]  const %root: f32[] = [1.4142135]
      %q = div(%x, %root) %e = erf(%q) %s = add(%e, %one) %p = mul(%x, %s) %y = mul(%p, %half)
      out "y" = %y })");
  const auto operators = [&](const std::string& file) {
    std::vector<std::string> names;
    const Json model = Inspect(dir / file);
    for (const Json& row : model["operators"]["histogram"]) names.push_back(row["operator"]);
    return names;
  };
  // TensorFlow Lite has no erf.
  ProgramResult r =
      Convert("--report " + dir / "r.json " + dir / "gelu.onnx " + dir / "gelu.tflite");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(operators("gelu.tflite") == std::vector<std::string>{"GELU"});
  CHECK(Contains(ReadText(dir / "r.json"), "fused idiom"));
  // ONNX has all operators of both forms.
  REQUIRE(Convert("--rewrite " + dir / "gelu.onnx " + dir / "same.onnx").code == 0);
  CHECK(operators("same.onnx").size() == 4);
  r = Convert("--fuse --opset 20 " + dir / "gelu.onnx " + dir / "fused.onnx");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(operators("fused.onnx") == std::vector<std::string>{"Gelu"});
  // Operator set 19 has no Gelu, nor has the lowest one, which is the default; TensorFlow Lite gets
  // its own without the option.
  for (const std::string& files : {"--opset 19 " + dir / "gelu.onnx " + dir / "spelled.onnx",
                                   "--rewrite " + dir / "gelu.onnx " + dir / "spelled.onnx",
                                   dir / "gelu.onnx " + dir / "t.tflite"}) {
    CAPTURE(files);
    r = Convert("--fuse " + files);
    CHECK(r.code == 2);
    CHECK(Contains(r.err, "--fuse has no effect: "));
  }
  CHECK_FALSE(Exists(dir / "spelled.onnx"));
  CHECK(Contains(Convert("--fuse " + dir / "gelu.onnx " + dir / "x.json").err, "--fuse"));
}

// Three steps of an LSTM as Keras writes them with unroll=True.
std::string UnrolledModel() {
  std::string text = R"(graph { in %x: f32[2, 3, 4] const %k: f32[4, 20] = seeded(1)
      const %r: f32[5, 20] = seeded(2, 0.5) const %b: f32[20] = seeded(3)
      const %h: f32[2, 5] = splat(0) const %c: f32[2, 5] = splat(0)
      %t = transpose(%x) {perm = [1, 0, 2]} %u0, %u1, %u2 = split(%t) {axis = 0} )";
  std::string h = "h", c = "c";
  for (const std::string t : {"0", "1", "2"}) {
    text += fmt::format(
        R"(%x{0} = squeeze(%u{0}) {{axes = [0]}} %p{0} = matmul(%x{0}, %k)
        %q{0} = matmul(%{1}, %r) %s{0} = add(%p{0}, %q{0}) %z{0} = add(%s{0}, %b)
        %zi{0}, %zf{0}, %zn{0}, %zo{0} = split(%z{0}) {{axis = 1}} %i{0} = sigmoid(%zi{0})
        %f{0} = sigmoid(%zf{0}) %fc{0} = mul(%f{0}, %{2}) %n{0} = tanh(%zn{0})
        %in{0} = mul(%i{0}, %n{0}) %c{0} = add(%fc{0}, %in{0}) %o{0} = sigmoid(%zo{0})
        %a{0} = tanh(%c{0}) %h{0} = mul(%o{0}, %a{0}) %e{0} = expand_dims(%h{0}) {{axes = [0]}} )",
        t, h, c);
    h = "h" + t;
    c = "c" + t;
  }
  return text + R"(%ys = concat(%e0, %e1, %e2) {axis = 0} %y = transpose(%ys) {perm = [1, 0, 2]}
      out "y" = %y out "last" = %h2 })";
}

TEST_CASE("nnconvert: unrolled layers become layers, and stay layers") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", UnrolledModel());
  const auto has = [&](const std::string& file, std::string_view op) {
    const Json model = Inspect(dir / file);
    return std::ranges::any_of(model["operators"]["histogram"],
                               [&](const Json& row) { return row["operator"] == op; });
  };
  struct Row {
    std::string file, op, step;
  };
  for (const Row& row : {Row{"out.tflite", "UNIDIRECTIONAL_SEQUENCE_LSTM", "LOGISTIC"},
                         Row{"out.mlmodel", "uniDirectionalLSTM", "activation.sigmoid"}}) {
    CAPTURE(row.file);
    const ProgramResult r =
        Convert("--report " + dir / "r.json " + dir / "in.onnx " + dir / row.file);
    REQUIRE_MESSAGE(r.code == 0, r.err);
    CHECK(Contains(r.out, "verified"));
    CHECK(Contains(ReadText(dir / "r.json"), "fused idiom"));
    CHECK(has(row.file, row.op));
    CHECK(!has(row.file, row.step));
    const ProgramResult back = Convert(dir / row.file + " " + dir / "back.onnx");
    REQUIRE_MESSAGE(back.code == 0, back.err);
    CHECK(Contains(back.out, "bit-identical"));
    CHECK(has("back.onnx", "LSTM"));
  }
  CHECK(has("in.onnx", "Sigmoid"));
  const ProgramResult r = Convert("--fuse " + dir / "in.onnx " + dir / "fused.onnx");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  CHECK(has("fused.onnx", "LSTM"));
  CHECK(!has("fused.onnx", "Sigmoid"));
}

}  // namespace
}  // namespace nn::test::nnconvert_idioms_test

// Verified conversion through the library's interface. tests/apps/nnconvert/program_test.cc tests
// the rest.
#include "convert/convert.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "passes/core/ports.h"
#include "support/files.h"
#include "validators/runner.h"

namespace nn::test::convert_test {
namespace {

// Weights of more than a kilobyte, which files store separately.
const char* const kWide = R"(graph "wide" {
  in %x: f32[batch, 16, 8, 8]
  const %w: f32[32, 16, 3, 3] = seeded(1, 0.3)
  %y = conv(%x, %w) {pads = [1, 1, 1, 1], strides = [2, 2]} "c"
  out "y" = %y
})";

const char* const kSumAndProduct = R"(graph {
  in %a: f32[4]
  in %b: f32[4]
  %sum = add(%a, %b)
  %product = mul(%a, %b)
  out "sum" = %sum
  out "product" = %product
})";

ConvertJob FromTo(const std::string& input, const std::string& output) {
  ConvertJob options;
  options.input = input;
  options.output = output;
  return options;
}

Conversion Done(const ConvertJob& options) {
  auto result = ConvertFile(*FormatOfPath(options.output), options);
  REQUIRE_MESSAGE(result.has_value(), result.error().message());
  return *std::move(result);
}

TEST_CASE("convert: the files are in place once both models gave the same") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kWide);
  ConvertJob options = FromTo(dir / "in.onnx", dir / "out.tflite");
  options.verification.seed = 7;
  options.verification.runs = 2;
  std::vector<std::pair<uint64_t, uint64_t>> shown;
  options.hooks.verify.progress = [&](uint64_t done, uint64_t total) {
    CHECK(!Exists(dir / "out.tflite"));
    shown.emplace_back(done, total);
    return Status();
  };
  const Conversion c = Done(options);
  CHECK(c.unsupported.empty());
  REQUIRE(c.verification.has_value());
  CHECK(c.verification->passed);
  CHECK(c.verification->seeds == std::vector<uint64_t>{7, 8});
  REQUIRE(c.verification->symbols.size() == 1);
  CHECK(c.verification->symbols[0].first == "batch");
  CHECK(c.verification->outputs.size() == 1);
  CHECK(shown == std::vector<std::pair<uint64_t, uint64_t>>{{0, 2}, {1, 2}, {2, 2}});
  REQUIRE(c.written.has_value());
  CHECK(c.written->bytes == ReadText(dir / "out.tflite").size());
  CHECK(c.written->side_files.empty());
  CHECK(Listing(dir.path()) == "in.onnx\nout.tflite\n");
}

TEST_CASE("convert: the caller ends a conversion, and nothing is written") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kWide);
  for (const bool in_runs : {true, false}) {
    CAPTURE(in_runs);
    ConvertJob options = FromTo(dir / "in.onnx", dir / "out.tflite");
    const auto stop = [](uint64_t, uint64_t) -> Status { return LimitError("enough"); };
    if (in_runs)
      options.hooks.verify.progress = stop;
    else
      options.hooks.write_progress = stop;
    const auto done = ConvertFile(*FormatOfPath(options.output), options);
    REQUIRE(!done.has_value());
    CHECK(done.error().code() == ErrorCode::kLimit);
    CHECK(done.error().message().ends_with("enough"));
    CHECK(Listing(dir.path()) == "in.onnx\n");
  }
}

TEST_CASE("convert: the shapes that a refusal proposes work") {
  const TempDir dir;
  // The state has its batch on the second axis.
  WriteModel(dir / "in.onnx", R"(graph {
    in %x: f32[t, 1, 3]
    in %state: f32[2, b, 2]
    const %w: f32[1, 6, 3] = seeded(1, 0.5)
    const %r: f32[1, 6, 2] = seeded(2, 0.5)
    %y = gru(%x, %w, %r)
    %z = relu(%state)
    out "y" = %y
    out "z" = %z })");
  ConvertJob options = FromTo(dir / "in.onnx", dir / "out.tflite");
  const Conversion refused = Done(options);
  REQUIRE(refused.unsupported.size() == 1);
  CHECK_MESSAGE(refused.remedy.ends_with("--input-shape x:32,1,3 --input-shape state:2,1,2"),
                refused.remedy);
  options.input_shapes = {{"x", {32, 1, 3}}, {"state", {2, 1, 2}}};
  options.hooks.prepare = [&](Graph& graph) { return BindInputs(graph, options.input_shapes); };
  const Conversion followed = Done(options);
  for (const UnsupportedNode& u : followed.unsupported) FAIL(u.reason);
  CHECK(followed.verification->passed);
}

TEST_CASE("convert: recurrent layers step by step") {
  const TempDir dir;
  const auto model = [&](std::string_view op, std::string_view steps) {
    const int rows = op == "lstm" ? 8 : 6;
    WriteModel(dir / "in.onnx", fmt::format(R"(graph {{
        in %x: f32[{}, 1, 3]
        const %w: f32[1, {}, 3] = seeded(1, 0.5)
        const %r: f32[1, {}, 2] = seeded(2, 0.5)
        %y = {}(%x, %w, %r)
        out "y" = %y }})",
                                            steps, rows, rows, op));
  };
  ConvertJob options = FromTo(dir / "in.onnx", dir / "out.tflite");
  const auto refusal = [&] {
    const Conversion c = Done(options);
    REQUIRE(c.unsupported.size() == 1);
    return c.unsupported[0].reason + "\n" + c.remedy;
  };
  const auto input = [&] {
    const Conversion c = Done(options);
    for (const UnsupportedNode& u : c.unsupported) FAIL(u.reason);
    CHECK(c.verification->passed);
    return c.converted.inputs[0].type;
  };
  model("gru", "t");
  const std::string open_steps = refusal();
  CHECK(open_steps.find("set it with --input-shape or --unroll") != std::string::npos);
  // Not --batch, although they are the first axis.
  CHECK(open_steps.ends_with("--input-shape x:32,1,3"));
  options.unroll = 5;
  CHECK(input().ToString() == "f32[5, 1, 3]");
  model("gru", "300");
  CHECK(refusal().find("; use --unroll 300") != std::string::npos);
  options.unroll = 300;
  CHECK(input().ToString() == "f32[300, 1, 3]");
  // The format has the layer.
  model("lstm", "t");
  CHECK(!input().const_dims());
}

TEST_CASE("convert: failed verifications and dry runs change nothing") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kSumAndProduct);
  WriteText(dir / "out.tflite", "old");
  ConvertJob options = FromTo(dir / "in.onnx", dir / "out.tflite");

  ConvertJob dry = options;
  dry.dry_run = true;
  CHECK(!Done(dry).written);
  CHECK(!Done(dry).verification);

  // The source's outputs are swapped after the model is written.
  ConvertJob drifting = options;
  drifting.hooks.verify.prepare = [](Graph& source) -> Status {
    source.set_output(0, source.outputs()[1].value);
    return {};
  };
  const Conversion refuted = Done(drifting);
  REQUIRE(refuted.verification.has_value());
  CHECK(!refuted.verification->passed);
  CHECK(!refuted.written);

  ConvertJob failing = options;
  failing.hooks.prepare = [](Graph&) -> Status { return ModelError("no"); };
  const auto failed = ConvertFile(*FindFormat("tflite"), failing);
  REQUIRE(!failed.has_value());
  CHECK(failed.error().message() == "no");

  const auto missing = ConvertFile(*FindFormat("tflite"), FromTo(dir / "none", dir / "out.tflite"));
  REQUIRE(!missing.has_value());
  CHECK(missing.error().code() == ErrorCode::kIo);

  Patch(dir / "in.onnx", "Add", "Foo");
  const Conversion unsupported = Done(options);
  REQUIRE(unsupported.unsupported.size() == 1);
  CHECK(unsupported.unsupported[0].source == "Foo");
  CHECK(!unsupported.written);
  CHECK(ReadText(dir / "out.tflite") == "old");
  CHECK(Listing(dir.path()) == "in.onnx\nout.tflite\n");
}

TEST_CASE("convert: the graph may be changed before") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kWide);
  ConvertJob options = FromTo(dir / "in.onnx", dir / "out.onnx");
  options.hooks.prepare = [](Graph& graph) {
    graph.RenameInput(0, "image");
    return BindBatch(graph, 4);
  };
  options.verify = false;
  const Conversion c = Done(options);
  CHECK(!c.verification);
  CHECK(c.written.has_value());
  const auto graph = ReadGraph(dir / "out.onnx");
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  CHECK(graph->inputs()[0].name == "image");
  CHECK(graph->inputs()[0].value->type().ToString() == "f32[4, 16, 8, 8]");
}

TEST_CASE("convert: an unrelated side file is kept, and the alternative name is reported") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kWide);
  WriteText(dir / "w.bin", "mine");
  ConvertJob options = FromTo(dir / "in.onnx", dir / "out.onnx");
  options.external_data.file = "./w.bin";
  std::string wanted, given;
  options.hooks.other_name = [&](std::string_view before, std::string_view name) {
    wanted = before;
    given = name;
  };
  const Conversion c = Done(options);
  CHECK(wanted == "w.bin");
  REQUIRE(c.written.has_value());
  REQUIRE(c.written->side_files.size() == 1);
  CHECK(c.written->side_files[0].first == given);
  CHECK(c.written->side_files[0].second == ReadText(dir / given).size());
  CHECK(ReadText(dir / "w.bin") == "mine");
}

TEST_CASE("convert: copies are not imported") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kSumAndProduct);
  Patch(dir / "in.onnx", "Add", "Foo");
  const auto copied =
      CopyModel(ReadOrFail(dir / "in.onnx"), FromTo(dir / "in.onnx", dir / "out.onnx"));
  REQUIRE_MESSAGE(copied.has_value(), copied.error().message());
  REQUIRE(copied->written.has_value());
  CHECK(ReadText(dir / "out.onnx") == ReadText(dir / "in.onnx"));
}

TEST_CASE("convert: threads may convert to one file at a time") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kWide);
  std::vector<std::string> errors(4);
  std::vector<std::thread> threads;
  for (std::string& error : errors)
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i) {
        ConvertJob options = FromTo(dir / "in.onnx", dir / "out.onnx");
        options.external_data.file = "w.bin";
        options.verification.threads = 1;
        const auto c = ConvertFile(*FindFormat("onnx"), options);
        error = !c ? c.error().message() : c->written ? "" : "not written";
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(Listing(dir.path()) == "in.onnx\nout.onnx\nw.bin\n");
  CHECK(ReadGraph(dir / "out.onnx").has_value());
}

TEST_CASE("convert: rewrites are counted by operator and name") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", R"(graph {
    in %x: f32[1, 3, 8, 8]
    const %w: f32[3, 3, 1, 1] = seeded(1, 0.3)
    %a = conv(%x, %w)
    %b = softplus(%a)
    %c = conv(%b, %w)
    %d = softplus(%c)
    out "y" = %d
  })");
  const auto count = [](const Conversion& c, std::string_view op, std::string_view rewrite) {
    for (const AppliedRewrite& r : c.rewrites)
      if (r.op == op && r.rewrite == rewrite) return r.count;
    return uint64_t{0};
  };
  const Conversion c = Done(FromTo(dir / "in.onnx", dir / "out.tflite"));
  CHECK(count(c, "softplus", "logarithm") == 2);
  CHECK(count(c, "conv", "channels last") == 2);
  CHECK(count(c, "conv", "filter layout") == 2);
  CHECK(count(c, "relu", "maximum") == 0);
  ConvertJob same = FromTo(dir / "in.onnx", dir / "same.onnx");
  CHECK(Done(same).rewrites.empty());
}

TEST_CASE("convert: the interfaces and transposes of both models") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", kWide);
  ConvertJob options = FromTo(dir / "in.onnx", dir / "out.tflite");
  options.hooks.prepare = [](Graph& graph) { return BindBatch(graph, 2); };
  for (const bool verify : {true, false}) {
    CAPTURE(verify);
    options.verify = verify;
    const Conversion c = Done(options);
    REQUIRE(c.source.inputs.size() == 1);
    CHECK(c.source.inputs[0].name == "x");
    CHECK(c.source.inputs[0].type.ToString() == "f32[batch, 16, 8, 8]");
    CHECK(c.source.outputs[0].type.ToString() == "f32[batch, 32, 4, 4]");
    REQUIRE(c.converted.inputs.size() == 1);
    CHECK(c.converted.inputs[0].type.ToString() == "f32[2, 16, 8, 8]");
    CHECK(c.converted.outputs[0].name == "y");
    // One before the convolution, one after it.
    REQUIRE(c.transposes.size() == 2);
    CHECK(c.transposes[0].from == "f32[2, 16, 8, 8]");
    CHECK(c.transposes[0].to == "f32[2, 8, 8, 16]");
    CHECK(c.transposes[0].axes == std::vector<int>{0, 2, 3, 1});
    CHECK(c.transposes[1].reason.find("for the layout nxc of conv") == 0);
  }
  // Core ML's convolutions are channels first.
  options.output = dir / "out.mlmodel";
  CHECK(Done(options).transposes.empty());
  // Element types of the written file, not of the graph.
  WriteModel(dir / "index.onnx", R"(graph {
    in %x: f32[2, 3]
    %y = arg_max(%x) {axis = 1}
    out "y" = %y
  })");
  const Conversion index = Done(FromTo(dir / "index.onnx", dir / "index.mlmodel"));
  CHECK(index.source.outputs[0].type.dtype == DType::kI64);
  CHECK(index.converted.outputs[0].type.dtype != DType::kI64);
}

// Operator sets before 23 have only layer_norm of these, those before 17 none.
TEST_CASE("convert: operators that the requested operator set lacks are decomposed") {
  const TempDir dir;
  WriteModel(dir / "in.onnx", R"(graph {
    in %x: f32[2, 3, 5, 8]
    const %c: f32[5, 4] = seeded(1)
    const %g: f32[8] = seeded(2)
    %r = rotary_embedding(%x, %c, %c)
    %l = layer_norm(%r, %g)
    %n = rms_norm(%l, %g)
    %y = attention(%n, %r, %x) {is_causal = true}
    out "y" = %y })");
  for (const int64_t opset : {0, 13, 17, 22, 23, 26}) {
    CAPTURE(opset);
    ConvertJob options = FromTo(dir / "in.onnx", dir / "out.onnx");
    options.opset = opset;
    const Conversion done = Done(options);
    CHECK(done.written.has_value());
    CHECK(done.verification->passed);
    const bool lowered = opset != 0 && opset < 23;
    CHECK(done.rewrites.empty() == !lowered);
    const auto summary =
        FindFormat("onnx")->describer.Summarize(*ReadOrFail(dir / "out.onnx").model);
    REQUIRE(summary.has_value());
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(summary->operators,
                                 [&](const OperatorSummary& op) { return op.op == name; });
    };
    CHECK(has("Attention") == !lowered);
    CHECK(has("RotaryEmbedding") == !lowered);
    CHECK(has("RMSNormalization") == !lowered);
    CHECK(has("LayerNormalization") == (opset != 13));
  }
}

// Before IR version 4, weights had to be inputs of the graph.
TEST_CASE("convert: the oldest operator set that is written has weights that are not inputs") {
  const TempDir dir;
  WriteModel(dir / "in.tflite", R"(graph {
    in %x: f32[2, 3] const %w: f32[3, 4] = seeded(1) %y = matmul(%x, %w) out "y" = %y })");
  ConvertJob options = FromTo(dir / "in.tflite", dir / "out.onnx");
  options.opset = 7;
  const Conversion done = Done(options);
  REQUIRE_MESSAGE(done.verification.has_value(), done.unsupported.size());
  CHECK(done.verification->passed);
}

TEST_CASE("convert: outputs get the shapes that the file does not state") {
  const TempDir dir;
  WriteText(dir / "m.textproto", R"(ir_version: 8
    opset_import { version: 17 }
    graph {
      name: "g"
      node { input: "x" output: "t" op_type: "Relu" }
      node { input: "t" output: "y" op_type: "Relu" }
      input { name: "x" type { tensor_type { elem_type: 1
        shape { dim { dim_value: 2 } dim { dim_param: "n" } } } } }
      output { name: "y" doc_string: "kept" type { tensor_type { elem_type: 1 } } }
    })");
  ConvertJob simplify = FromTo(dir / "m.textproto", dir / "o.onnx");
  simplify.simplify = true;
  ConvertJob older = FromTo(dir / "m.textproto", dir / "o.onnx");
  older.opset = 13;
  ConvertJob half = FromTo(dir / "m.textproto", dir / "o.onnx");
  half.half.emplace();
  for (const ConvertJob& options : {simplify, older, half}) {
    const Conversion done = Done(options);
    CHECK(done.written.has_value());
    const auto read = ReadModelFile(dir / "o.onnx");
    REQUIRE(read.has_value());
    CHECK(Validate(*read->model, *read->format, {}).empty());
    CHECK(done.converted.outputs[0].type.ToString() == "f32[2, n]");
  }
}

TEST_CASE("convert: the operator set that has operators of the type is named") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", "graph { in %x: f32[4] %y = hard_swish(%x) out \"y\" = %y }");
  ConvertJob options = FromTo(dir / "m.onnx", dir / "o.onnx");
  options.half.emplace();
  options.half->type = DType::kBF16;
  const auto refused = ConvertFile(*FormatOfPath("o.onnx"), options);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == ErrorCode::kUnsupported);
  CHECK_MESSAGE(refused.error().message().find("use --opset 22") != std::string::npos,
                refused.error().message());
  options.opset = 22;
  CHECK(Done(options).written.has_value());
}

}  // namespace
}  // namespace nn::test::convert_test

// States of ML Programs: pairs of ports that conversions make states, and caches that grow.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert/convert.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "ir/text/text.h"
#include "support/files.h"
#include "support/ports.h"
#include "support/run_graph.h"

namespace nn::test::carry_test {
namespace {

// t = x + s; s = t in the next run.
std::string Sum(const std::string& type) {
  return "graph { in %x: " + type + "  in %s: " + type +
         R"(  %t = add(%x, %s)  %y = mul(%t, %x)  out "t" = %t  out "y" = %y })";
}

// The sums over the elements of a cache so far, which grows by those of x. A mask has as many.
constexpr char kCache[] = R"(graph {
  in %x: f16[1, t, 2]
  in %mask: f16[1, s, 1]
  in %past: f16[1, p, 2]
  %all = concat(%past, %x) {axis = 1}
  %seen = mul(%all, %mask)
  %y = reduce_sum(%seen) {axes = [1]}
  out "y" = %y
  out "present" = %all
})";

// The same without a mask; the concatenation is not the last operator.
constexpr char kBare[] = R"(graph {
  in %x: f16[1, t, 2]
  in %past: f16[1, p, 2]
  %all = concat(%past, %x) {axis = 1}
  %same = neg(%all)
  %present = neg(%same)
  %y = reduce_sum(%all) {axes = [1]}
  out "y" = %y
  out "present" = %present
})";

struct Done {
  Conversion conversion;
  std::optional<ImportedModel> written;  // with states as ports
};

Result<Done> Convert(const std::string& text, ConvertJob job, const std::string& name) {
  const TempDir dir;
  job.output = dir / name;
  Done out;
  NN_ASSIGN(out.conversion, ConvertGraph({.graph = Parse(text), .unsupported = {}}, {},
                                         *FormatOfPath(job.output), job));
  if (!out.conversion.written) return out;
  NN_ASSIGN(const ReadModel read, ReadModelFile(job.output));
  NN_ASSIGN(out.written, ImportModel(read, job.output, {.states = StatePorts::kAll}));
  return out;
}

Result<Done> ToProgram(const std::string& text, ConvertJob job) {
  return Convert(text, std::move(job), "m.mlpackage");
}

std::string WhyNot(const std::string& text, ConvertJob job,
                   const std::string& name = "m.mlpackage") {
  const auto done = Convert(text, std::move(job), name);
  return done ? std::string() : done.error().message();
}

ConvertJob Carrying(std::vector<std::string> carry) {
  ConvertJob job;
  job.carry = std::move(carry);
  return job;
}

TEST_CASE("carry: a pair of ports becomes a state") {
  const auto done = ToProgram(Sum("f16[2]"), Carrying({"t=s"}));
  REQUIRE_MESSAGE(done.has_value(), done.error().message());
  REQUIRE(done->written.has_value());
  CHECK(PortsOf(done->written->graph) == "x s_in -> y s_out");
  REQUIRE(done->written->states.size() == 1);
  CHECK(done->written->states[0].name == "s");
  REQUIRE(done->conversion.verification.has_value());
  CHECK(done->conversion.verification->passed);
  CHECK(done->conversion.verification->runs == 3);
}

TEST_CASE("carry: a state is float16") {
  CHECK(WhyNot(Sum("f32[2]"), Carrying({"t=s"})) ==
        "state \"s\": it is f32, but states of ML Programs are f16; use --fp16");
  ConvertJob half = Carrying({"t=s"});
  half.half.emplace();
  const auto done = ToProgram(Sum("f32[2]"), half);
  REQUIRE_MESSAGE(done.has_value(), done.error().message());
  REQUIRE(done->written.has_value());
  const Graph& graph = done->written->graph;
  CHECK(graph.inputs()[0].value->dtype() == DType::kF32);
  CHECK(graph.inputs()[1].value->dtype() == DType::kF16);
}

TEST_CASE("carry: refusals") {
  CHECK(WhyNot(Sum("f16[n]"), Carrying({"t=s"})) ==
        "state \"s\": it is f16[n], but the size of a state is fixed; use --cache-length or "
        "--input-shape");
  ConvertJob old = Carrying({"t=s"});
  old.deployment_target = "iOS17";
  CHECK(WhyNot(Sum("f16[2]"), old) ==
        "state \"s\": ML Programs have states from iOS18 on; use --deployment-target iOS18");
  for (const char* name : {"m.onnx", "m.tflite", "m.mlmodel", "m.nnapi"})
    CHECK(WhyNot(Sum("f32[2]"), Carrying({"t=s"}), name).starts_with("--carry is for ML Programs"));
  CHECK(WhyNot(Sum("f16[2]"), Carrying({"t=s", "y=s"})) ==
        "--carry y=s: the input or the output is one of another state");
  CHECK(WhyNot(Sum("f16[2]"), Carrying({"z=s"})).starts_with("--carry: \"z=s\""));
  ConvertJob fixed = Carrying({"t=s"});
  fixed.edits.cache_length = 4;
  CHECK(WhyNot(Sum("f16[2]"), fixed) ==
        "--cache-length has no effect: the sizes of all states are fixed");
}

TEST_CASE("carry: the sizes of inputs say how many elements a growing state has") {
  ConvertJob job = Carrying({"present=past"});
  job.edits.cache_length = 6;
  const auto done = ToProgram(kCache, job);
  REQUIRE_MESSAGE(done.has_value(), done.error().message());
  REQUIRE(done->written.has_value());
  CHECK(PortsOf(done->written->graph) == "x mask past_in -> y past_out");
  CHECK(
      done->conversion.edits ==
      std::vector<std::string>{
          "state \"past\" has 6 elements along axis 1",
          "the number of elements before a run is the size of axis 1 of \"mask\" less that of axis "
          "1 of \"x\""});
  REQUIRE(done->conversion.edit_verification.has_value());
  CHECK(done->conversion.edit_verification->runs == 3);
  REQUIRE(done->conversion.verification.has_value());
  CHECK(done->conversion.verification->passed);
  CHECK(done->conversion.verification->symbols ==
        std::vector<std::pair<std::string, std::vector<int64_t>>>{{"s", {3, 4, 5}},
                                                                  {"t", {3, 1, 1}}});
}

TEST_CASE("carry: a new input says it otherwise") {
  ConvertJob job = Carrying({"present=past"});
  job.edits.cache_length = 6;
  const auto done = ToProgram(kBare, job);
  REQUIRE_MESSAGE(done.has_value(), done.error().message());
  REQUIRE(done->written.has_value());
  CHECK(PortsOf(done->written->graph) == "x position past_in -> y past_out");
  REQUIRE(done->conversion.verification.has_value());
  CHECK(done->conversion.verification->passed);
}

}  // namespace
}  // namespace nn::test::carry_test

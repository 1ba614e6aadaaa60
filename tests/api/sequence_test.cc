#include <nnsuite/model.h>
#include <nnsuite/sequence.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support.h"

namespace nnsuite::test::sequence_test {
namespace {

// y = x + h; y and the next h are the same.
constexpr std::string_view kSum = R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Add" input: "x" input: "h" output: "y" }
  node { op_type: "Identity" input: "y" output: "next" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  input { name: "h" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "next" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
})";

Tensor Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  return Take(Tensor::Of<float>(std::move(shape), values));
}

std::vector<float> ValuesIn(const Tensor& tensor) {
  const std::span<const float> values = Take(tensor.As<float>());
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("api: a sequence passes states on from step to step") {
  const Model model = ModelOf(kSum);
  const InputOptions parts = {.tensors = {{"x", Floats({3, 2}, {1, 2, 3, 4, 5, 6})}}};
  const SequenceOptions carried = {.steps = 3, .carry = {"next=h"}};
  const SequenceRun run = Take(RunSequence(model, parts, carried));
  REQUIRE(run.outputs.size() == 2);
  CHECK(run.outputs[0].name == "y");
  CHECK(run.outputs[0].tensor.shape() == std::vector<int64_t>{3, 2});
  CHECK(ValuesIn(run.outputs[0].tensor) == std::vector<float>{1, 2, 4, 6, 9, 12});
  REQUIRE(run.states.size() == 1);
  CHECK(run.states[0].name == "h");
  CHECK(ValuesIn(run.states[0].tensor) == std::vector<float>{9, 12});
  CHECK(run.notes.empty());

  // A literal that all steps have, and a state that is given.
  const SequenceRun repeated = Take(RunSequence(
      model, {.inputs = {"x=1"}, .tensors = {{"h", Floats({2}, {10, 20})}}}, {carried}));
  CHECK(ValuesIn(repeated.outputs[0].tensor) == std::vector<float>{11, 21, 12, 22, 13, 23});
  // One step without options has no axis of steps.
  const SequenceRun once = Take(RunSequence(model, {.inputs = {"x=1", "h=2"}}));
  CHECK(once.outputs[0].tensor.shape() == std::vector<int64_t>{2});
  CHECK(once.states.empty());
}

TEST_CASE("api: a sequence continues with the states of a file") {
  const Model model = ModelOf(kSum);
  const TestFolder folder;
  const SequenceOptions options = {.carry = {"next=h"}, .state = folder / "s.npz"};
  for (const float expected : {1.0F, 2.0F, 3.0F})
    CHECK(ValuesIn(Take(RunSequence(model, {.inputs = {"x=1"}}, options)).outputs[0].tensor) ==
          std::vector<float>{expected, expected});
}

TEST_CASE("api: a sequence refuses what does not fit the model, and writes no states then") {
  const Model model = ModelOf(kSum);
  const TestFolder folder;
  const InputOptions inputs = {.inputs = {"x=1"}};
  const SequenceOptions wrong[] = {{.steps = 0},
                                   {.carry = {"next=g"}},
                                   {.carry = {"next=h", "y=h"}},
                                   {.state = folder / "s.npz"},
                                   {.carry = {"next=h"}, .state = folder / "s.txt"}};
  for (const SequenceOptions& options : wrong)
    CHECK(RunSequence(model, inputs, options).error().code() == ErrorCode::kUsage);
  CHECK(RunSequence(model, {.tensors = {{"z", Floats({2}, {1, 2})}}}).error().code() ==
        ErrorCode::kUsage);
  CHECK(RunSequence(model, {.inputs = {"x=1"}, .tensors = {{"x", Floats({2}, {1, 2})}}})
            .error()
            .code() == ErrorCode::kUsage);
  const auto end = [](std::string_view activity, uint64_t done, uint64_t total) {
    CHECK(activity == "steps");
    CHECK(total == 5);
    return done < 2;
  };
  const SequenceOptions options = {.steps = 5, .carry = {"next=h"}, .state = folder / "s.npz"};
  CHECK(RunSequence(model, inputs, options, {}, {}, end).error().code() == ErrorCode::kLimit);
  CHECK_FALSE(std::filesystem::exists(folder / "s.npz"));
}

TEST_CASE("api: a sequence names outputs whose shapes change") {
  const Model model = ModelOf(R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Concat" input: "past" input: "x" output: "all"
         attribute { name: "axis" type: INT i: 0 } }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
  input { name: "past" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } } } } }
  output { name: "all" type { tensor_type { elem_type: 1 shape { dim { dim_param: "m" } } } } }
})");
  const SequenceRun run =
      Take(RunSequence(model, {.inputs = {"x=1"}, .tensors = {{"past", Floats({1}, {7})}}},
                       {.steps = 2, .carry = {"all=past"}}));
  CHECK(ValuesIn(run.outputs[0].tensor) == std::vector<float>{7, 1, 1});
  REQUIRE(run.notes.size() == 1);
  CHECK(run.notes[0].find("output \"all\" changes its shape") == 0);
}

}  // namespace nnsuite::test::sequence_test

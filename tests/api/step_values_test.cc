#include <nnsuite/model.h>
#include <nnsuite/search_dtype.h>
#include <nnsuite/step_values.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "support.h"

namespace nnsuite::test::step_values_test {
namespace {

// A sum that float16 rounds, and a product that it does not.
Model SumAndProduct() {
  constexpr std::string_view kText = R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { name: "sum" op_type: "Add" input: "x" input: "x" output: "s" }
  node { name: "product" op_type: "Mul" input: "s" input: "s" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
})";
  return ModelOf(kText);
}

InputOptions FloatsFor(const std::vector<float>& x) {
  return {.tensors = {{"x", Take(Tensor::Of<float>({2}, x))}}};
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("api: every value of a run is written") {
  const Model model = SumAndProduct();
  const TestFolder folder;
  std::vector<uint64_t> told;
  const auto tell = [&](std::string_view activity, uint64_t done, uint64_t total) {
    CHECK(activity == "values");
    CHECK(total == 3);
    told.push_back(done);
    return true;
  };
  const std::string path = folder / "steps";
  REQUIRE(SaveStepValues(model, path, FloatsFor({1, 2}), {}, {}, tell).has_value());
  CHECK(told == std::vector<uint64_t>{0, 1, 2, 3});
  for (const char* name : {"0000_x.npy", "0001_s.npy", "0002_y.npy"})
    CHECK(std::filesystem::exists(path + "/" + name));
  const std::string index = TextOf(path + "/index.json");
  CHECK(Has(index, "\"kind\": \"intermediate\""));
  CHECK(Has(index, "\"node\": \"sum\""));

  const auto end = [](std::string_view, uint64_t done, uint64_t) { return done < 1; };
  CHECK(SaveStepValues(model, path, FloatsFor({1, 2}), {}, {}, end).error().code() ==
        ErrorCode::kLimit);
  CHECK(SaveStepValues(model, path, {.inputs = {"z=1"}}).error().code() == ErrorCode::kUsage);
  std::ofstream(folder / "file") << "x";
  CHECK(SaveStepValues(model, folder / "file", FloatsFor({1, 2})).error().code() == ErrorCode::kIo);
}

TEST_CASE("api: operators that must stay float32 are found") {
  const Model model = SumAndProduct();
  // The square of 400 is beyond the range of float16, but not of bfloat16.
  const DtypeSearch half = Take(SearchDtype(model, FloatsFor({200, 1}), {.rtol = 1e-2}));
  REQUIRE(half.stay.size() == 1);
  CHECK(half.stay[0].op == "Mul 1");
  CHECK(half.stay[0].value == "y");
  CHECK(half.operators == 2);
  CHECK(half.runs > 1);
  CHECK(half.text.starts_with("1 of 2 operators must stay f32 if the others are f16"));
  CHECK(Has(half.report, "\"search_dtype\""));
  REQUIRE(half.outputs.size() == 1);
  CHECK(half.outputs[0].comparison->agrees);

  const DtypeSearch brain =
      Take(SearchDtype(model, FloatsFor({200, 1}), {.dtype = NarrowFloat::kBf16, .rtol = 1e-2}));
  CHECK(brain.stay.empty());

  CHECK(SearchDtype(model, FloatsFor({1, 2}), {}).error().code() == ErrorCode::kUsage);
  CHECK(SearchDtype(model, FloatsFor({1, 2}), {.rtol = -1}).error().code() == ErrorCode::kUsage);
}

}  // namespace nnsuite::test::step_values_test

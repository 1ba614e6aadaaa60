#include <nnsuite/model.h>
#include <nnsuite/test_data.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "support.h"

namespace nnsuite::test::test_data_test {
namespace {

// y = -x.
Model Negation() {
  constexpr std::string_view kText = R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Neg" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } } } } }
})";
  return ModelOf(kText);
}

// A TensorProto with two floats.
void WriteTwo(const std::string& path, const std::array<float, 2>& values) {
  std::string bytes("\x08\x02\x10\x01\x4a\x08", 6);
  bytes.append(reinterpret_cast<const char*>(values.data()), sizeof values);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("api: a model runs on test data of ONNX") {
  const Model model = Negation();
  const TestFolder folder;
  WriteTwo(folder / "test_data_set_0/input_0.pb", {1, 2});
  WriteTwo(folder / "test_data_set_0/output_0.pb", {-1, -2});
  const TestDataReport passed = Take(RunTestData(model, folder / ""));
  CHECK(passed.passed);
  REQUIRE(passed.sets.size() == 1);
  CHECK(passed.sets[0].passed);
  REQUIRE(passed.sets[0].outputs.size() == 1);
  CHECK(passed.sets[0].outputs[0].name == "y");
  CHECK(passed.sets[0].outputs[0].comparison->identical);
  CHECK(passed.text.find("test_data_set_0: passed") != std::string::npos);

  // The second set differs; sets are in the order of their numbers.
  WriteTwo(folder / "test_data_set_10/input_0.pb", {1, 2});
  WriteTwo(folder / "test_data_set_10/output_0.pb", {-1, -2.1F});
  std::vector<uint64_t> told;
  const auto tell = [&](std::string_view activity, uint64_t done, uint64_t total) {
    CHECK(activity == "test sets");
    CHECK(total == 2);
    told.push_back(done);
    return true;
  };
  const TestDataReport failed = Take(RunTestData(model, folder / "", {}, {}, {}, tell));
  CHECK_FALSE(failed.passed);
  REQUIRE(failed.sets.size() == 2);
  CHECK(failed.sets[0].passed);
  CHECK_FALSE(failed.sets[1].passed);
  CHECK(failed.sets[1].outputs[0].comparison->outside == 1);
  CHECK(failed.report.find("\"test_data\"") != std::string::npos);
  CHECK(told == std::vector<uint64_t>{0, 1, 2});
  CHECK(Take(RunTestData(model, folder / "", {.atol = 0.2})).passed);
  CHECK(Take(RunTestData(model, folder / "test_data_set_0")).passed);

  const auto end = [](std::string_view, uint64_t done, uint64_t) { return done < 1; };
  CHECK(RunTestData(model, folder / "", {}, {}, {}, end).error().code() == ErrorCode::kLimit);
  CHECK(RunTestData(model, folder / "", {.rtol = -1}).error().code() == ErrorCode::kUsage);
  CHECK(RunTestData(model, folder / "nosuch").error().code() == ErrorCode::kIo);
}

}  // namespace nnsuite::test::test_data_test

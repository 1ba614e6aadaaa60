#include <nnsuite/folder.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support.h"

namespace nnsuite::test::folder_test {
namespace {

// A folder of two models, and a file that is none.
struct Models {
  Models() {
    std::filesystem::create_directories(folder / "in/more");
    std::filesystem::copy(Golden("cnn.onnx"), folder / "in/cnn.onnx");
    std::filesystem::copy(Golden("squeeze.nnapi"), folder / "in/more/squeeze.nnapi");
    std::ofstream(folder / "in/notes.txt") << "no model";
    options.format = "tflite";
  }

  Result<FolderConversion> Convert(const FolderOptions& how = {}) const {
    return ConvertFolder(folder / "in", folder / "out", options, how);
  }
  std::vector<std::string> Results(const FolderOptions& how = {}) const {
    std::vector<std::string> out;
    for (const FolderModel& m : Take(Convert(how)).models) out.push_back(m.result);
    return out;
  }
  std::string State() const {
    std::ifstream file(folder / "out/.nnconvert.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TestFolder folder;
  ConvertOptions options;
};

using Texts = std::vector<std::string>;

TEST_CASE("folder: all models are converted, and continued with equal options") {
  Models m;
  const FolderConversion done = Take(m.Convert({.jobs = 2}));
  CHECK(done.exit_code == 0);
  CHECK(done.skipped_files == 1);
  REQUIRE(done.models.size() == 2);
  CHECK(done.models[0].input == m.folder / "in/cnn.onnx");
  CHECK(done.models[1].output == m.folder / "out/more/squeeze.tflite");
  for (const FolderModel& model : done.models) {
    CHECK(model.result == "converted");
    CHECK(std::filesystem::exists(model.output));
    REQUIRE(model.conversion.verification);
    CHECK(model.conversion.verification->passed);
  }
  CHECK(m.Results() == Texts{"unchanged", "unchanged"});
  CHECK(m.Results({.force = true}) == Texts{"converted", "converted"});
  m.options.verification.runs = 1;
  CHECK(m.Results() == Texts{"converted", "converted"});
}

TEST_CASE("folder: the state is that of the program") {
  Models m;
  m.options.verification.seed = 7;
  m.options.verification.atol = 0.5;
  CHECK(m.Results() == Texts{"converted", "converted"});
  const std::string command = BinDir() + "/nnconvert --to tflite --atol 0.5 --seed 7 " +
                              (m.folder / "in ") + (m.folder / "out > ") + (m.folder / "log");
  const std::string state = m.State();
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(m.State() == state);
  CHECK(m.Results() == Texts{"unchanged", "unchanged"});
}

TEST_CASE("folder: edits apply to each model, and a model that fails does not stop the others") {
  Models m;
  m.options.dry_run = true;
  FolderOptions how;
  how.edits.add_outputs = {"features"};
  const FolderConversion done = Take(m.Convert(how));
  CHECK(done.models[0].result == "convertible");
  CHECK(done.models[1].result == "error");
  REQUIRE(done.models[1].error);
  CHECK(done.models[1].error->code() == ErrorCode::kUsage);
  CHECK(done.exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(m.folder / "out"));
}

TEST_CASE("folder: the caller may end the conversion, and continue it") {
  Models m;
  m.options.progress = [](std::string_view activity, uint64_t done, uint64_t total) {
    CHECK(activity == "models");
    CHECK(total == 2);
    return done == 0;
  };
  const auto ended = m.Convert();
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code() == ErrorCode::kLimit);
  CHECK(std::filesystem::exists(m.folder / "out/cnn.tflite"));
  m.options.progress = nullptr;
  CHECK(m.Results() == Texts{"unchanged", "converted"});
}

TEST_CASE("folder: options of one model, and a lack of options, are refused") {
  Models m;
  m.options.fixed_inputs["image"] = Tensor();
  CHECK(m.Convert().error().code() == ErrorCode::kUsage);
  m.options.fixed_inputs.clear();
  m.options.renamed_inputs = {"a=b"};
  CHECK(m.Convert().error().message().find("rename-input is for one model") != std::string::npos);
  m.options.renamed_inputs.clear();
  m.options.format.clear();
  CHECK(m.Convert().error().code() == ErrorCode::kUsage);
  m.options.format = "tflite";
  CHECK(ConvertFolder(m.folder / "in", "", m.options).error().code() == ErrorCode::kUsage);
  CHECK(ConvertFolder(m.folder / "none", m.folder / "out", m.options).error().code() ==
        ErrorCode::kIo);
}

}  // namespace
}  // namespace nnsuite::test::folder_test

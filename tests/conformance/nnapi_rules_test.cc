// nnvalidate's rules on the test vectors of nnapi_test.cc: valid models have no error under any
// profile, and invalid ones have one if the fault is in the model or its request.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/json/json.h"
#include "formats/format.h"
#include "support/skip.h"
#include "validators/runner.h"

namespace nn::test::nnapi_rules_test {
namespace {

// The findings that are errors, one per line.
std::string Errors(const std::string& line, Profile profile) {
  const Format* format = FindFormat("nnapi");
  const auto model =
      format->reader.Read(Blob::Copy(std::as_bytes(std::span(line))), "line.nnapi.json", {});
  if (!model) return UnreadableFile(model.error(), format).rule + " " + model.error().message();
  std::string errors;
  for (const Finding& f : Validate(**model, *format, {profile}))
    if (f.severity == Severity::kError)
      errors += f.rule + " at " + f.location.element + ": " + f.message + "\n";
  return errors;
}

template <typename Visit>
void EachLine(const std::string& file, const Visit& visit) {
  const char* folder = std::getenv("NN_NNAPI_VECTORS");
  if (folder == nullptr) {
    Skip("NN_NNAPI_VECTORS names no folder");
    return;
  }
  std::ifstream in(std::string(folder) + "/" + file);
  size_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const Json json = Json::parse(line);
    CAPTURE(json.at("name").get<std::string>());
    visit(line, json);
  }
  CHECK_MESSAGE(lines > 0, file, " is missing or empty");
}

TEST_CASE("nnapi vectors: rules find no error in valid models") {
  for (const char* file : {"cases.jsonl", "extra.jsonl", "control.jsonl"})
    EachLine(file, [](const std::string& line, const Json&) {
      for (const Profile profile : {Profile::kVendor, Profile::kSpec, Profile::kStrict})
        CHECK(Errors(line, profile) == "");
    });
}

TEST_CASE("nnapi vectors: rules find an error in invalid models") {
  int judged = 0;
  int running = 0;  // faults that only a run detects
  EachLine("negative.jsonl", [&](const std::string& line, const Json& json) {
    ++(json.at("stage") == "execution" ? running : judged);
    CHECK((Errors(line, Profile::kSpec) != "") == (json.at("stage") != "execution"));
  });
  MESSAGE("negative.jsonl: ", judged, " judged, ", running, " left to the run");
}

}  // namespace
}  // namespace nn::test::nnapi_rules_test

// The files of tests/cases: scripts/make-cases writes them and lists the rules that each one
// breaks.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/json/json.h"
#include "formats/format.h"
#include "support/files.h"
#include "support/paths.h"
#include "validators/runner.h"

namespace nn::test::cases_test {
namespace {

const std::string kCases = SourcePath("tests/cases/");

// The rules that a file breaks.
std::set<std::string> BrokenRules(const std::string& path) {
  std::set<std::string> rules;
  const auto read = ReadModelFile(path);
  if (!read) return {UnreadableFile(read.error(), FormatOfPath(path)).rule};
  for (const Finding& f : Validate(*read->model, *read->format, {})) {
    CHECK(!f.message.empty());
    CHECK(!f.location.element.empty());
    rules.insert(f.rule);
  }
  return rules;
}

TEST_CASE("cases: every file breaks exactly the rules that the manifest names") {
  const Json manifest = Json::parse(ReadText(kCases + "manifest.json"));
  CHECK(manifest.size() >= 75);
  size_t clean = 0;
  for (const Json& entry : manifest) {
    const std::string file = entry["file"];
    CAPTURE(file);
    std::set<std::string> expected;
    for (const Json& rule : entry["rules"]) expected.insert(rule.get<std::string>());
    clean += expected.empty() ? 1 : 0;
    CHECK(Json(BrokenRules(kCases + file)).dump() == Json(expected).dump());
  }
  CHECK(clean >= 10);
}

TEST_CASE("cases: files truncated at every length are findings or models") {
  for (const char* file : {"onnx/good.onnx", "tflite/good.tflite", "nnapi/good.nnapi.json"}) {
    const std::string whole = ReadText(kCases + file);
    const TempDir dir;
    const std::string path = dir / std::string(file).substr(std::string(file).find('/') + 1);
    for (size_t size = 1; size < whole.size(); size += 7) {
      WriteText(path, whole.substr(0, size));
      const auto read = ReadModelFile(path);
      if (read) Validate(*read->model, *read->format, {Profile::kStrict});
    }
  }
}

}  // namespace
}  // namespace nn::test::cases_test

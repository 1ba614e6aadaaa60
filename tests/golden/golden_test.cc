// The stored outputs of golden/; determinism_test.cc checks that the models compute them.
#include <doctest/doctest.h>

#include "base/file/file.h"
#include "base/json/json.h"
#include "support/files.h"
#include "support/paths.h"
#include "tensorio/digest.h"
#include "tensorio/npz.h"

namespace nn::test::golden_test {
namespace {

const std::string kFolder = SourcePath("golden/");

Json Manifest() {
  return Json::parse(ReadText(kFolder + "manifest.json"));
}

TEST_CASE("golden: the stored outputs are those of the manifest") {
  const Json manifest = Manifest();
  REQUIRE(!manifest["models"].empty());
  for (const Json& model : manifest["models"])
    for (const Json& run : model["runs"]) {
      const std::string file = run["file"];
      CAPTURE(file);
      const auto arrays = ReadNpz(*ReadFile(kFolder + file));
      REQUIRE_MESSAGE(arrays.has_value(), arrays.error().message());
      REQUIRE(arrays->size() == run["outputs"].size());
      for (size_t i = 0; i < arrays->size(); ++i)
        CHECK(run["outputs"][i]["digest"] == Digest(std::span(&(*arrays)[i], 1)));
    }
}

}  // namespace
}  // namespace nn::test::golden_test

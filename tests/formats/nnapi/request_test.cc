// Requests beside a model in the .nnapi.json form.
#include <doctest/doctest.h>

#include <string>

#include "base/json/json.h"
#include "formats/nnapi/file/json_fields.h"
#include "formats/nnapi/file/native.h"

namespace nn::nnapi::nnapi_request_test {
namespace {

std::string ModelText(const std::string& request) {
  return R"({"operands": [], "operations": [], "inputIndexes": [], "outputIndexes": [],
             "request": )" +
         request + "}";
}

Result<std::unique_ptr<Model>> ReadText(const std::string& text) {
  return ReadJson(Blob::CopyOf(std::span<const char>(text)), {});
}

TEST_CASE("nnapi requests: read, and written again") {
  const auto model = ReadText(ModelText(R"({
      "inputs": [{"location": {"poolIndex": 1, "offset": 4, "length": 8}, "dimensions": [2, 1]},
                 {"hasNoValue": true}],
      "outputs": [{}], "poolSizes": [16, 5000000000]})"));
  REQUIRE(model.has_value());
  REQUIRE((*model)->request.has_value());
  const Request& request = *(*model)->request;
  REQUIRE(request.inputs.size() == 2);
  CHECK(request.inputs[0].location == DataLocation{1, 4, 8});
  CHECK(request.inputs[0].dimensions == std::vector<uint32_t>{2, 1});
  CHECK(!request.inputs[0].has_no_value);
  CHECK(request.inputs[1].has_no_value);
  CHECK(request.outputs.size() == 1);
  CHECK(request.pool_sizes == std::vector<uint64_t>{16, 5000000000});

  const auto text = WriteJson(**model);
  REQUIRE(text.has_value());
  const auto again = ReadJson(*text, {});
  REQUIRE(again.has_value());
  REQUIRE((*again)->request.has_value());
  CHECK(RequestJson(*(*again)->request) == RequestJson(request));
}

TEST_CASE("nnapi requests: invalid requests are refused") {
  for (const char* request :
       {"[]", R"({"inputs": []})", R"({"inputs": 1, "outputs": []})",
        R"({"inputs": [7], "outputs": []})", R"({"inputs": [{"hasNoValue": 1}], "outputs": []})",
        R"({"inputs": [{"location": []}], "outputs": []})",
        R"({"inputs": [{"location": {"offset": -1}}], "outputs": []})",
        R"({"inputs": [{"dimensions": [4294967296]}], "outputs": []})",
        R"({"inputs": [], "outputs": [], "poolSizes": [-1]})"}) {
    CAPTURE(request);
    const auto model = ReadText(ModelText(request));
    REQUIRE(!model.has_value());
    CHECK(model.error().code() == ErrorCode::kParse);
  }
  const auto none = ReadText(ModelText("null"));
  REQUIRE(none.has_value());
  CHECK(!(*none)->request.has_value());
}

}  // namespace
}  // namespace nn::nnapi::nnapi_request_test

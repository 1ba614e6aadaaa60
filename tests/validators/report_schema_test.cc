// Reports of real files, checked against the schema of the JSON form and the requirements of SARIF
// 2.1.0 (OASIS) on the objects that we write.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/json/json.h"
#include "formats/format.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "validators/report.h"
#include "validators/runner.h"

namespace nn::test::report_schema_test {
namespace {

const ValidateOptions kStrict = {.profile = Profile::kStrict, .fingerprints = true};

// Models with and without findings, a file that is not a model, a missing file, and locations of
// every kind.
Report RealReport() {
  Report report;
  report.rules = Rules(kStrict);
  report.tool_version = "1.2.3";
  const std::string cases = SourcePath("tests/cases/");
  for (const char* name : {"onnx/good.onnx", "onnx/metadata_twice.onnx", "tflite/cycle.tflite",
                           "nnapi/input_range.nnapi.json", "nnapi/truncated.nnapi.json"}) {
    FileReport file;
    file.path = cases + name;
    const auto read = ReadModelFile(file.path);
    const Format* format = FormatOfPath(file.path);
    REQUIRE(format != nullptr);
    file.format = format->label;
    if (read)
      file.findings = Validate(*read->model, *read->format, kStrict);
    else
      file.findings = {UnreadableFile(read.error(), format)};
    report.files.push_back(std::move(file));
  }
  report.files.front().known = 2;
  report.files.front().rest = {{"FILE-001", Severity::kNote, 7}};
  report.baseline = "known.json";
  report.stale = {{"gone.onnx", "FILE-001", "cut off", 1}};
  FileReport missing;
  missing.path = "a folder/m ü.onnx";
  missing.failure = "no such file";
  report.files.push_back(std::move(missing));
  Finding placed = {"FILE-001", Severity::kError, "a \"name\"\nin two lines", {}, "Mend it."};
  placed.location.offset = 12;
  report.files[1].findings.push_back(placed);
  return report;
}

void CheckSchema(const Json& schema, const Json& json) {
  for (const std::string& error : SchemaErrors(schema, json)) FAIL_CHECK(error);
}

TEST_CASE("report schema: the JSON form") {
  const Json schema = Json::parse(ReadText(SourcePath("schemas/nnvalidate-report.schema.json")));
  const Json json = Json::parse(JsonReport(RealReport()));
  CheckSchema(schema, json);
  CHECK(json["files"].size() == 6);
  CHECK(json["summary"]["errors"] > 3);
  CheckSchema(schema, Json::parse(JsonReport({})));

  const auto breaks = [&](const char* place, const Json& value) {
    CAPTURE(place);
    Json broken = json;
    broken[Json::json_pointer(place)] = value;
    CHECK(!SchemaErrors(schema, broken).empty());
  };
  breaks("/version", 2);
  breaks("/files/1/findings/0/severity", "fatal");
  breaks("/files/1/findings/0/location/index", -1);
  breaks("/files/0/known", 0);
  breaks("/summary/errors", "many");
  breaks("/more", true);
}

// Sections 3.13 and following: required members, the types of those that we write, and no others.
constexpr const char* kSarif = R"({
  "type": "object", "required": ["version", "runs"], "additionalProperties": false,
  "properties": {
    "$schema": {"type": "string"}, "version": {"const": "2.1.0"},
    "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}}},
  "$defs": {
    "run": {"type": "object", "required": ["tool"], "additionalProperties": false, "properties": {
      "tool": {"type": "object", "required": ["driver"], "additionalProperties": false,
               "properties": {"driver": {"$ref": "#/$defs/component"}}},
      "invocations": {"type": "array", "items": {"$ref": "#/$defs/invocation"}},
      "artifacts": {"type": "array", "items": {
        "type": "object", "additionalProperties": false,
        "properties": {"location": {"$ref": "#/$defs/artifactLocation"}}}},
      "results": {"type": "array", "items": {"$ref": "#/$defs/result"}}}},
    "component": {
      "type": "object", "required": ["name"], "additionalProperties": false, "properties": {
      "name": {"type": "string"}, "version": {"type": "string"},
      "informationUri": {"type": "string"},
      "rules": {"type": "array", "items": {"$ref": "#/$defs/descriptor"}}}},
    "descriptor": {
      "type": "object", "required": ["id"], "additionalProperties": false, "properties": {
      "id": {"type": "string"},
      "shortDescription": {"$ref": "#/$defs/text"}, "fullDescription": {"$ref": "#/$defs/text"},
      "helpUri": {"type": "string"}, "help": {"$ref": "#/$defs/text"},
      "defaultConfiguration": {"type": "object", "additionalProperties": false,
                               "properties": {"level": {"$ref": "#/$defs/level"}}},
      "properties": {"type": "object"}}},
    "text": {"type": "object", "required": ["text"], "additionalProperties": false,
             "properties": {"text": {"type": "string"}}},
    "level": {"enum": ["none", "note", "warning", "error"]},
    "invocation": {
      "type": "object", "required": ["executionSuccessful"], "additionalProperties": false,
      "properties": {
      "executionSuccessful": {"type": "boolean"},
      "toolExecutionNotifications": {"type": "array", "items": {
        "type": "object", "required": ["message"], "additionalProperties": false, "properties": {
        "level": {"$ref": "#/$defs/level"}, "message": {"$ref": "#/$defs/text"},
        "associatedRule": {"type": "object", "required": ["id"], "additionalProperties": false,
                           "properties": {"id": {"type": "string"}}},
        "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}}}}}}},
    "result": {"type": "object", "required": ["message"], "additionalProperties": false,
      "properties": {
      "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0},
      "level": {"$ref": "#/$defs/level"}, "message": {"$ref": "#/$defs/text"},
      "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
      "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}}}},
    "location": {"type": "object", "additionalProperties": false, "properties": {
      "physicalLocation": {
        "type": "object", "required": ["artifactLocation"], "additionalProperties": false,
        "properties": {
        "artifactLocation": {"$ref": "#/$defs/artifactLocation"},
        "region": {"type": "object", "additionalProperties": false,
                   "properties": {"byteOffset": {"type": "integer", "minimum": 0},
                                  "startLine": {"type": "integer", "minimum": 1}}}}},
      "logicalLocations": {"type": "array", "items": {
        "type": "object", "additionalProperties": false, "properties": {
        "fullyQualifiedName": {"type": "string"}, "properties": {"type": "object"}}}}}},
    "artifactLocation": {"type": "object", "additionalProperties": false, "properties": {
      "uri": {"type": "string"}, "index": {"type": "integer", "minimum": 0}}}}})";

// RFC 3986: no space, no other byte than those of URI references, escapes of two digits.
void CheckUri(const std::string& uri) {
  CAPTURE(uri);
  CHECK(!uri.empty());
  const std::string kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%";
  CHECK(uri.find_first_not_of(kAllowed) == std::string::npos);
  for (size_t at = uri.find('%'); at != std::string::npos; at = uri.find('%', at + 1))
    CHECK(uri.substr(at + 1, 2).find_first_not_of("0123456789ABCDEF") == std::string::npos);
}

// 3.4.5: an index names the artifact of the same URI.
void CheckLocations(const Json& run, const Json& locations) {
  for (const Json& location : locations) {
    const Json& artifact = location["physicalLocation"]["artifactLocation"];
    const auto index = artifact["index"].get<size_t>();
    REQUIRE(index < run["artifacts"].size());
    CHECK(run["artifacts"][index]["location"]["uri"] == artifact["uri"]);
  }
}

TEST_CASE("report schema: the SARIF form") {
  const Json schema = Json::parse(kSarif);
  const Report report = RealReport();
  const Json json = Json::parse(SarifReport(report));
  CheckSchema(schema, json);
  CheckSchema(schema, Json::parse(SarifReport({})));
  REQUIRE(json["runs"].size() == 1);
  const Json& run = json["runs"][0];
  const Json& rules = run["tool"]["driver"]["rules"];
  std::set<std::string> fired;
  for (const FileReport& file : report.files)
    for (const Finding& f : file.findings) fired.insert(f.rule);
  std::set<std::string> ids;  // 3.49.3: each once
  for (const Json& rule : rules) {
    CHECK(ids.insert(rule["id"].get<std::string>()).second);
    if (rule.contains("helpUri")) CheckUri(rule["helpUri"].get<std::string>());
  }
  CHECK(ids == fired);
  for (const Json& artifact : run["artifacts"])
    CheckUri(artifact["location"]["uri"].get<std::string>());
  CHECK(run["artifacts"].size() == report.files.size());
  size_t findings = 0;
  for (const FileReport& file : report.files) findings += file.findings.size() + file.rest.size();
  CHECK(run["results"].size() == findings);
  for (const Json& result : run["results"]) {
    // 3.27.5, 3.27.6: the rule of that index has that id.
    CHECK(rules.at(result["ruleIndex"].get<size_t>())["id"] == result["ruleId"]);
    CheckLocations(run, result["locations"]);
    if (result["ruleId"] != "FILE-001") CHECK(result["partialFingerprints"].size() == 1);
  }
  const Json& invocation = run["invocations"].at(0);
  CHECK(invocation["executionSuccessful"] == false);
  for (const Json& notification : invocation["toolExecutionNotifications"])
    CheckLocations(run, notification.value("locations", Json::array()));
}

}  // namespace
}  // namespace nn::test::report_schema_test

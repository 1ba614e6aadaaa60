// How a model was made (nnconvert --attest, nnvalidate --attestation), and what it consists of
// (nninspect --format cyclonedx).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <span>
#include <string>

#include "apps/program.h"
#include "base/file/file.h"
#include "base/json/base64.h"
#include "base/json/json.h"
#include "base/sha256.h"
#include "base/text/named_hash.h"
#include "support/files.h"
#include "support/json_schema.h"
#include "support/paths.h"

namespace nn::test::provenance_test {
namespace {

std::string DigestOf(const std::string& path) {
  Sha256 hash;
  hash.Bytes(ReadText(path));
  return hash.Finish().substr(7);
}

// A conversion of "m.onnx" to "m.tflite" in the folder, attested in "m.json".
Json Attest(const TempDir& dir, const std::string& options = {},
            const std::string& model = ConvModel()) {
  WriteModel(dir / "m.onnx", model);
  const ProgramResult r = RunProgram(fmt::format("nnconvert {} {} --attest {} {}", dir / "m.onnx",
                                                 dir / "m.tflite", dir / "m.json", options));
  REQUIRE_MESSAGE(r.code == 0, r.err);
  return Json::parse(ReadText(dir / "m.json"));
}

// A model on which --float32 has an effect.
constexpr const char* kHalf = R"(graph { in %x "x": f16[2, 8] const %w: f16[8, 4] = seeded(1)
  %m = matmul(%x, %w) %y = tanh(%m) out "y" = %y })";

ProgramResult Check(const TempDir& dir, const std::string& model = "m.tflite") {
  return RunProgram(fmt::format("nnvalidate {} --attestation {}", dir / model, dir / "m.json"));
}

TEST_CASE("nnconvert --attest: digests, options and verification") {
  const TempDir dir;
  const Json statement = Attest(dir, "--seed 7 --float32", kHalf);
  const Json schema =
      Json::parse(ReadText(SourcePath("schemas/nnconvert-attestation.schema.json")));
  for (const std::string& error : SchemaErrors(schema, statement)) FAIL_CHECK(error);
  CHECK(
      statement["subject"] ==
      Json::array({{{"name", "m.tflite"}, {"digest", {{"sha256", DigestOf(dir / "m.tflite")}}}}}));
  const Json& build = statement["predicate"]["buildDefinition"];
  CHECK(build["resolvedDependencies"][0]["digest"]["sha256"] == DigestOf(dir / "m.onnx"));
  CHECK(build["externalParameters"]["options"] ==
        Json{{"--float32", true}, {"--seed", Json::array({"7"})}});
  const Json& details = statement["predicate"]["runDetails"];
  CHECK(details["nnsuite_result"] == "converted");
  CHECK(details["nnsuite_verification"]["passed"] == true);
  CHECK(details["nnsuite_hashes"]["output"]["weights"].get<std::string>().starts_with("sha256:"));
  // The same conversion gives the same bytes.
  const std::string first = ReadText(dir / "m.json");
  Attest(dir, "--seed 7 --float32", kHalf);
  CHECK(ReadText(dir / "m.json") == first);
  Attest(dir, "--seed 7 --float32 --threads 1", kHalf);
  CHECK(ReadText(dir / "m.json") == first);
}

TEST_CASE("nnconvert --attest: the source is that before the conversion") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  const std::string before = DigestOf(dir / "m.onnx");
  REQUIRE(RunProgram(fmt::format("nnconvert {0} {0} --rename-input x=image --attest {1}",
                                 dir / "m.onnx", dir / "m.json"))
              .code == 0);
  const Json statement = Json::parse(ReadText(dir / "m.json"));
  CHECK(statement["predicate"]["buildDefinition"]["resolvedDependencies"][0]["digest"]["sha256"] ==
        before);
  CHECK(statement["subject"][0]["digest"]["sha256"] == DigestOf(dir / "m.onnx"));
  CHECK(Check(dir, "m.onnx").code == 0);
}

TEST_CASE("nnconvert --attest: usage") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  for (const char* arguments :
       {"{0}/m.tflite --dry-run --attest {0}/a.json", "- --to tflite --attest {0}/a.json",
        "{0}/m.tflite --attest {0}/m.tflite", "{0}/m.tflite --attest {0}/m.onnx"}) {
    const std::string command = "nnconvert {0}/m.onnx " + std::string(arguments);
    CAPTURE(command);
    CHECK(RunProgram(fmt::format(fmt::runtime(command), dir.path())).code == 2);
  }
}

TEST_CASE("nnvalidate --attestation: the model, another one, and the same stored anew") {
  const TempDir dir;
  Attest(dir);
  const ProgramResult good = Check(dir);
  CHECK_MESSAGE(good.code == 0, good.out, good.err);
  // Another name in the file: the bytes differ, structure and weights do not.
  REQUIRE(RunProgram(fmt::format("nnconvert {} {} --rename-input x=image", dir / "m.tflite",
                                 dir / "renamed.tflite"))
              .code == 0);
  const ProgramResult renamed = Check(dir, "renamed.tflite");
  CHECK(renamed.code == 1);
  CHECK(Contains(renamed.out, "ATTEST-SUBJECT"));
  CHECK(!Contains(renamed.out, "ATTEST-HASH"));
  WriteModel(dir / "other.onnx", TwoOutputsModel());
  const ProgramResult other = Check(dir, "other.onnx");
  CHECK(other.code == 1);
  CHECK(Contains(other.out, "ATTEST-HASH"));
  CHECK(Contains(RunProgram("nnvalidate --explain ATTEST-HASH").out, "nninspect --hash"));
}

TEST_CASE("nnvalidate --attestation: a conversion without verification is a warning") {
  const TempDir dir;
  Attest(dir, "--no-verify");
  const ProgramResult r = Check(dir);
  CHECK(r.code == 0);
  CHECK(Contains(r.out, "ATTEST-RESULT"));
}

TEST_CASE("nnvalidate --attestation: signed envelopes, and other files") {
  const TempDir dir;
  const Json statement = Attest(dir);
  const std::string text = statement.dump();
  const std::string payload = Base64(std::as_bytes(std::span(text)));
  const Json envelope = {{"payloadType", "application/vnd.in-toto+json"},
                         {"payload", payload},
                         {"signatures", Json::array({{{"sig", "AA=="}}})}};
  for (const Json& file : {envelope, Json{{"dsseEnvelope", envelope}}}) {
    WriteText(dir / "m.json", file.dump());
    const ProgramResult r = Check(dir);
    CHECK_MESSAGE(r.code == 0, r.out, r.err);
    CHECK(Contains(r.err, "signatures of the envelope are not checked"));
  }
  for (const std::string& file :
       {std::string("{"), std::string("[]"), std::string(R"({"_type": "x", "subject": []})"),
        std::string(R"({"payloadType": "text/plain", "payload": ""})"),
        std::string(R"({"payloadType": "application/vnd.in-toto+json", "payload": "%"})"),
        std::string(R"({"_type": "https://in-toto.io/Statement/v1", "subject": [3]})"),
        std::string(R"({"_type": "https://in-toto.io/Statement/v1", "subject": {}})"),
        std::string(R"({"_type": "https://in-toto.io/Statement/v1", "subject": []})")}) {
    CAPTURE(file);
    WriteText(dir / "m.json", file);
    const ProgramResult r = Check(dir);
    CHECK(r.code == 2);
    // The words of the JSON library are not for users.
    for (const char* part : {"cannot use", "json.exception", "type must be", "syntax error"})
      CHECK_FALSE_MESSAGE(Contains(r.err, part), r.err);
  }
}

TEST_CASE("nnvalidate --attestation: all parts of the statement count") {
  const TempDir dir;
  const Json statement = Attest(dir);
  const auto check = [&](const Json& changed) {
    WriteText(dir / "m.json", changed.dump());
    return Check(dir);
  };
  Json changed = statement;
  changed.erase("predicateType");
  CHECK(check(changed).code == 2);
  changed["predicateType"] = "https://example.com/other";
  ProgramResult r = check(changed);
  CHECK(r.code == 1);
  CHECK_MESSAGE(Contains(r.out, "ATTEST-PREDICATE"), r.out);
  // Statements of others are about more than models.
  changed["predicate"] = Json::object();
  r = check(changed);
  CHECK(r.code == 0);
  CHECK_MESSAGE(Contains(r.out, "ATTEST-OTHER-PREDICATE"), r.out);
  for (const char* member : {"buildDefinition", "runDetails"}) {
    changed = statement;
    changed["predicate"].erase(member);
    r = check(changed);
    CHECK(r.code == 1);
    CHECK_MESSAGE(Contains(r.out, "ATTEST-PREDICATE"), r.out);
  }
  changed = statement;
  changed.erase("predicate");
  r = check(changed);
  CHECK(r.code == 1);
  CHECK_MESSAGE(Contains(r.out, "lacks its \"predicate\""), r.out);

  const Blob file = *ReadFile(dir / "m.tflite");
  Json& digest = (changed = statement)["subject"][0]["digest"];
  digest["sha512"] = std::string(128, '0');
  r = check(changed);
  CHECK(r.code == 1);
  CHECK_MESSAGE(Contains(r.out, "not all are its own"), r.out);
  for (const char* hash : {"sha512", "sha384", "sha3_256"}) {
    digest = Json{{hash, *HashByName(hash, file)}, {"unknown", "00"}};
    CHECK(check(changed).code == 0);
  }
  // Others can be made to have the same digest.
  digest = Json{{"sha1", *HashByName("sha1", file)}};
  CHECK(check(changed).code == 1);
}

TEST_CASE("nninspect --format cyclonedx: the bill of materials of a model") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", ConvModel());
  REQUIRE(RunProgram(fmt::format("nnconvert {0} {0} --set-metadata license=Apache-2.0 "
                                 "--set-metadata 'Author=A. Turing' --set-metadata note=n",
                                 dir / "m.onnx"))
              .code == 0);
  const ProgramResult r = RunProgram("nninspect --format cyclonedx " + dir / "m.onnx");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const Json bill = Json::parse(r.out);
  CHECK(bill["bomFormat"] == "CycloneDX");
  CHECK(bill["specVersion"] == "1.6");
  const auto serial = bill["serialNumber"].get<std::string>();
  CHECK(serial.size() == 45);
  CHECK(serial.starts_with("urn:uuid:"));
  const Json& model = bill["metadata"]["component"];
  CHECK(model["type"] == "machine-learning-model");
  CHECK(model["licenses"][0]["license"]["id"] == "Apache-2.0");
  CHECK(model["authors"][0]["name"] == "A. Turing");
  CHECK(model["hashes"][0]["content"] == DigestOf(dir / "m.onnx"));
  const Json& parameters = model["modelCard"]["modelParameters"];
  CHECK(parameters["inputs"][0]["format"] == "x: FLOAT[1, 3, 8, 8]");
  const auto property = [&](const std::string& name) -> std::string {
    for (const Json& p : model["modelCard"]["properties"])
      if (p["name"] == "nnsuite:" + name) return p["value"];
    return {};
  };
  CHECK(property("format") == "ONNX");
  CHECK(property("operator:Conv") == "1");
  CHECK(property("hash:structure").starts_with("sha256:"));
  CHECK(property("metadata:note") == "n");
  CHECK(bill["components"][0]["name"] == "m.onnx");
  CHECK(bill["dependencies"][0]["dependsOn"][0] == bill["components"][0]["bom-ref"]);
  CHECK(RunProgram("nninspect --format cyclonedx --nodes " + dir / "m.onnx").code == 2);
}

}  // namespace
}  // namespace nn::test::provenance_test

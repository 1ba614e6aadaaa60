#include "inspect/bom.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file/model_files.h"
#include "base/sha256.h"
#include "inspect/diff/digests.h"
#include "inspect/loaded.h"
#include "inspect/report/overview.h"
#include "nnsuite/version.h"

namespace nn::inspect {
namespace {

constexpr const char* kModelRef = "model";

// Names of metadata, in lower case, by what they say. Exporters do not agree on them.
constexpr std::array<std::string_view, 3> kLicenseKeys = {"license", "licence", "model_license"};
constexpr std::array<std::string_view, 4> kAuthorKeys = {"author", "authors", "model_author",
                                                         "model_authors"};
constexpr std::array<std::string_view, 3> kDescriptionKeys = {"description", "shortdescription",
                                                              "doc_string"};
constexpr std::array<std::string_view, 3> kVersionKeys = {"version", "versionstring",
                                                          "model_version"};

// Frequent licenses by their SPDX identifiers; CycloneDX has others by name.
constexpr std::array<std::string_view, 16> kSpdx = {
    "AGPL-3.0-or-later", "Apache-2.0",   "BSD-2-Clause", "BSD-3-Clause",
    "CC-BY-4.0",         "CC-BY-NC-4.0", "CC-BY-SA-4.0", "CC0-1.0",
    "GPL-2.0-only",      "GPL-3.0-only", "ISC",          "GPL-3.0-or-later",
    "LGPL-2.1-or-later", "MIT",          "MPL-2.0",      "Unlicense"};

std::string LowerCase(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The first entry of the metadata with one of the names; empty if there is none.
std::string FromMetadata(const ModelSummary& summary, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys)
    for (const auto& [name, value] : summary.metadata)
      if (LowerCase(name) == key && !value.empty()) return value;
  return {};
}

Json HashesOf(const FileDigest& file) {
  return Json::array({{{"alg", "SHA-256"}, {"content", file.digits()}}});
}

Json Property(std::string_view name, std::string value) {
  return {{"name", fmt::format("nnsuite:{}", name)}, {"value", std::move(value)}};
}

// A UUID of version 8, which is made from the digests (RFC 9562, section 5.8).
std::string SerialNumber(const std::vector<FileDigest>& files) {
  Sha256 hash;
  for (const FileDigest& f : files) {
    hash.Text(f.name);
    hash.Text(f.digest);
  }
  const std::string finished = hash.Finish();
  std::string digits = finished.substr(finished.find(':') + 1, 32);
  digits[12] = '8';
  digits[16] = "89ab"[static_cast<size_t>(digits[16]) % 4];
  return fmt::format("urn:uuid:{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4),
                     digits.substr(12, 4), digits.substr(16, 4), digits.substr(20));
}

Json FormatsOf(const std::vector<TensorSummary>& tensors) {
  Json out = Json::array();
  for (const TensorSummary& t : tensors) {
    std::string shape = t.shape ? fmt::format("[{}]", fmt::join(*t.shape, ", ")) : "";
    out.push_back({{"format", fmt::format("{}: {}{}", t.name, t.type, shape)}});
  }
  return out;
}

Json PropertiesOf(const LoadedModel& model) {
  const ModelSummary& s = model.summary;
  const Overview overview = OverviewOf(model);
  Json out = Json::array();
  const auto add = [&](std::string_view name, std::string value) {
    if (!value.empty()) out.push_back(Property(name, std::move(value)));
  };
  add("format", s.format);
  add("format-version", s.version);
  add("producer", s.producer);
  add("parameters", std::to_string(s.parameter_count));
  add("parameter-bytes", std::to_string(s.parameter_bytes));
  add("operators", std::to_string(s.operators.size()));
  for (const auto& [op, count] : overview.histogram) add("operator:" + op, std::to_string(count));
  if (overview.multiply_adds) add("multiply-adds", std::to_string(*overview.multiply_adds));
  if (const auto digests = DigestsOf(model)) {
    add("hash:structure", digests->structure);
    add("hash:weights", digests->weights);
  }
  for (const auto& [key, value] : s.metadata) add("metadata:" + key, value);
  return out;
}

Json ComponentOf(const LoadedModel& model, const std::vector<FileDigest>& files) {
  const ModelSummary& s = model.summary;
  const std::string file = std::filesystem::path(model.path).lexically_normal().filename().string();
  Json component = {{"type", "machine-learning-model"}, {"bom-ref", kModelRef}};
  const std::string author = FromMetadata(s, kAuthorKeys);
  if (!author.empty()) component["authors"] = Json::array({{{"name", author}}});
  component["name"] = s.name.empty() ? file : s.name;
  const std::string version = FromMetadata(s, kVersionKeys);
  if (!version.empty()) component["version"] = version;
  const std::string description = FromMetadata(s, kDescriptionKeys);
  if (!description.empty()) component["description"] = description;
  if (files.size() == 1) component["hashes"] = HashesOf(files[0]);
  const std::string license = FromMetadata(s, kLicenseKeys);
  if (!license.empty()) {
    const bool is_spdx = std::ranges::find(kSpdx, license) != kSpdx.end();
    component["licenses"] = Json::array({{{"license", {{is_spdx ? "id" : "name", license}}}}});
  }
  component["modelCard"] = {
      {"modelParameters", {{"inputs", FormatsOf(s.inputs)}, {"outputs", FormatsOf(s.outputs)}}},
      {"properties", PropertiesOf(model)}};
  return component;
}

}  // namespace

Result<Json> BillOfMaterials(const LoadedModel& model) {
  std::vector<FileDigest> files;
  if (!model.path.empty()) {
    NN_ASSIGN(files, DigestModel(model.path, model.read.model->files.Names()));
  }
  if (files.empty())
    return UsageError("--format cyclonedx states digests of files; {} is none", model.path);
  Json components = Json::array();
  Json refs = Json::array();
  for (const FileDigest& f : files) {
    refs.push_back("file:" + f.name);
    components.push_back(
        {{"type", "file"},
         {"bom-ref", refs.back()},
         {"name", f.name},
         {"hashes", HashesOf(f)},
         {"properties", Json::array({Property("bytes", std::to_string(f.bytes))})}});
  }
  const Json tool = {
      {"type", "application"}, {"name", "nninspect"}, {"version", nnsuite::Version()}};
  return Json{{"$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json"},
              {"bomFormat", "CycloneDX"},
              {"specVersion", "1.6"},
              {"serialNumber", SerialNumber(files)},
              {"version", 1},
              {"metadata",
               {{"tools", {{"components", Json::array({tool})}}},
                {"component", ComponentOf(model, files)}}},
              {"components", std::move(components)},
              {"dependencies", Json::array({{{"ref", kModelRef}, {"dependsOn", refs}}})}};
}

}  // namespace nn::inspect

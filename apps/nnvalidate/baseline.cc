#include "apps/nnvalidate/baseline.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/json_parse.h"
#include "base/text.h"

namespace nn::app {
namespace {

constexpr uint32_t kVersion = 1;
constexpr const char* kVersionKey = "nnvalidate_baseline";

std::string NormalPath(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().generic_string();
}

}  // namespace

Baseline Baseline::Of(const Report& report) {
  Baseline out;
  for (const FileReport& file : report.files)
    for (const Finding& f : file.findings)
      ++out.known_[{NormalPath(file.path), f.rule, FingerprintOf(f)}];
  return out;
}

Result<Baseline> Baseline::Read(const std::string& path) {
  NN_ASSIGN(const Blob file, ReadFile(path));
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  Baseline out;
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at(kVersionKey).get<uint32_t>() != kVersion)
      return UsageError("{}: unsupported version of a baseline; this program supports version {}",
                        path, kVersion);
    for (const nlohmann::json& f : json.at("findings"))
      out.known_[{f.at("file").get<std::string>(), f.at("rule").get<std::string>(),
                  f.at("fingerprint").get<std::string>()}] = f.at("count").get<uint64_t>();
  } catch (const nlohmann::json::exception& e) {
    return UsageError("{}: not an nnvalidate baseline: {}", path, JsonErrorText(e.what()));
  }
  return out;
}

Status Baseline::Write(const std::string& path) const {
  Json findings = Json::array();
  for (const auto& [key, count] : known_) {
    const auto& [file, rule, fingerprint] = key;
    findings.push_back(
        {{"file", file}, {"rule", rule}, {"fingerprint", fingerprint}, {"count", count}});
  }
  return WriteFile(path, JsonText({{kVersionKey, kVersion}, {"findings", std::move(findings)}}));
}

void Baseline::Hide(FileReport& file) const {
  if (known_.empty()) return;
  std::map<std::string, uint64_t> used;
  const std::string path = NormalPath(file.path);
  file.known += std::erase_if(file.findings, [&](const Finding& f) {
    const std::string fingerprint = FingerprintOf(f);
    const auto it = known_.find({path, f.rule, fingerprint});
    return it != known_.end() && ++used[fingerprint] <= it->second;
  });
}

uint64_t Baseline::size() const {
  uint64_t n = 0;
  for (const auto& [key, count] : known_) n += count;
  return n;
}

}  // namespace nn::app

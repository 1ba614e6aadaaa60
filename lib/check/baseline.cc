#include "check/baseline.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/json/json_parse.h"
#include "base/text/text.h"

namespace nn {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kVersion = 2;
constexpr const char* kVersionKey = "nnvalidate_baseline";

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return (error ? fs::path(path) : absolute).lexically_normal().generic_string();
}

}  // namespace

Baseline::Baseline(std::string path)
    : path_(std::move(path)), folder_(fs::path(AbsolutePath(path_)).parent_path().string()) {}

std::string Baseline::Relative(const std::string& file) const {
  return file == "-" ? file
                     : fs::path(AbsolutePath(file)).lexically_relative(folder_).generic_string();
}

Baseline Baseline::Of(const Report& report, const std::string& path) {
  Baseline out(path);
  for (const FileReport& file : report.files) {
    const std::string name = out.Relative(file.path);
    for (const Finding& f : file.findings) {
      Entry& entry = out.known_[{name, f.rule, f.fingerprint}];
      if (entry.count++ == 0) entry.message = f.message;
    }
  }
  return out;
}

Result<Baseline> Baseline::Read(const std::string& path) {
  NN_ASSIGN(const Blob file, ReadFile(path));
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  Baseline out(path);
  try {
    const auto json = nlohmann::json::parse(text);
    if (const auto version = json.at(kVersionKey).get<uint32_t>(); version != kVersion)
      return UsageError(
          "{}: the baseline has version {}; this program reads version {}: write it again with "
          "--write-baseline",
          path, version, kVersion);
    for (const nlohmann::json& f : json.at("findings"))
      out.known_[{f.at("file").get<std::string>(), f.at("rule").get<std::string>(),
                  f.at("fingerprint").get<std::string>()}] = {f.at("count").get<uint64_t>(), 0,
                                                              f.value("message", std::string())};
  } catch (const nlohmann::json::exception& e) {
    return UsageError("{}: not an nnvalidate baseline: {}", path, JsonErrorText(e));
  }
  return out;
}

Status Baseline::Write() const {
  Json findings = Json::array();
  for (const auto& [key, entry] : known_) {
    const auto& [file, rule, fingerprint] = key;
    findings.push_back({{"file", file},
                        {"rule", rule},
                        {"fingerprint", fingerprint},
                        {"count", entry.count},
                        {"message", entry.message}});
  }
  return WriteFile(path_, JsonText({{kVersionKey, kVersion}, {"findings", std::move(findings)}}));
}

void Baseline::Hide(FileReport& file) {
  if (known_.empty()) return;
  const std::string name = Relative(file.path);
  file.known += std::erase_if(file.findings, [&](const Finding& f) {
    const auto it = known_.find({name, f.rule, f.fingerprint});
    if (it == known_.end() || it->second.used == it->second.count) return false;
    ++it->second.used;
    return true;
  });
}

std::vector<StaleEntry> Baseline::Stale(const Report& report) const {
  std::set<std::string> checked;
  for (const FileReport& file : report.files)
    if (file.failure.empty()) checked.insert(Relative(file.path));
  std::set<std::string_view> rules;
  for (const RuleInfo& rule : report.rules) rules.insert(rule.id);
  std::vector<StaleEntry> out;
  for (const auto& [key, entry] : known_) {
    const auto& [file, rule, fingerprint] = key;
    if (entry.used == entry.count) continue;
    std::error_code error;
    const bool is_stale = checked.contains(file)
                              ? rules.contains(rule)
                              : file != "-" && !fs::exists(fs::path(folder_) / file, error);
    if (is_stale) out.push_back({file, rule, entry.message, entry.count - entry.used});
  }
  return out;
}

uint64_t Baseline::size() const {
  uint64_t n = 0;
  for (const auto& [key, entry] : known_) n += entry.count;
  return n;
}

}  // namespace nn

#include "apps/nnvalidate/config.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigName = ".nnvalidate.json";
constexpr uint64_t kMaxConfigBytes = uint64_t{1} << 20;

// The nearest configuration in a folder or above it; "" if none exists.
std::string Nearest(fs::path folder) {
  for (std::error_code error;; folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / kConfigName, error)) return (folder / kConfigName).string();
    if (folder == folder.parent_path()) return {};
  }
}

Result<std::set<std::string, std::less<>>> IdsOf(const nlohmann::json& value,
                                                 const std::string& key) {
  std::set<std::string, std::less<>> ids;
  if (!value.is_array()) return UsageError("\"{}\" must be a list of rule ids", key);
  for (const nlohmann::json& id : value) {
    if (!id.is_string()) return UsageError("\"{}\" must be a list of rule ids", key);
    ids.insert(id.get<std::string>());
  }
  NN_RETURN_IF_ERROR(CheckRuleIds(ids));
  return ids;
}

Status SetMember(const std::string& key, const nlohmann::json& value, FileOptions& out) {
  if (key == "profile") {
    const auto profile = value.is_string() ? ParseProfile(value.get<std::string>()) : std::nullopt;
    if (!profile) return UsageError("\"profile\" must be spec, vendor or strict");
    out.rules.profile = *profile;
  } else if (key == "enable" || key == "disable") {
    NN_ASSIGN((key == "enable" ? out.rules.enable : out.rules.disable), IdsOf(value, key));
  } else if (key == "fail_on") {
    out.fail_on = value.is_string() ? ParseFailOn(value.get<std::string>()) : std::nullopt;
    if (!out.fail_on) return UsageError("\"fail_on\" must be error or warning");
  } else if (key != "$schema") {
    return UsageError("unknown option {}; the options are profile, enable, disable and fail_on",
                      Quote(key));
  }
  return {};
}

}  // namespace

std::optional<Profile> ParseProfile(std::string_view name) {
  if (name == "spec") return Profile::kSpec;
  if (name == "vendor") return Profile::kVendor;
  if (name == "strict") return Profile::kStrict;
  return std::nullopt;
}

std::optional<Severity> ParseFailOn(std::string_view name) {
  if (name == "error") return Severity::kError;
  if (name == "warning") return Severity::kWarning;
  return std::nullopt;
}

Status CheckRuleIds(const std::set<std::string, std::less<>>& ids) {
  for (const std::string& id : ids)
    if (!FindRule(id))
      return UsageError("unknown rule {}; nnvalidate --list-rules --profile strict lists all rules",
                        Quote(id));
  return {};
}

Configs::Configs(std::optional<Profile> profile, std::set<std::string, std::less<>> enable,
                 std::set<std::string, std::less<>> disable, std::string file, bool none)
    : profile_(profile),
      enable_(std::move(enable)),
      disable_(std::move(disable)),
      file_(std::move(file)),
      none_(none) {}

// The command line overrides the configuration for the rules that it names.
ValidateOptions Configs::WithCommandLine(ValidateOptions options) const {
  options.profile = profile_.value_or(options.profile);
  for (const std::string& id : enable_) options.disable.erase(id);
  for (const std::string& id : disable_) options.enable.erase(id);
  options.enable.insert(enable_.begin(), enable_.end());
  options.disable.insert(disable_.begin(), disable_.end());
  return options;
}

Result<FileOptions> Configs::Read(const std::string& path) const {
  NN_ASSIGN(const Blob file, ReadFile(path, kMaxConfigBytes));
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return UsageError("{}: not a JSON object", path);
  FileOptions options;
  for (const auto& [key, value] : json.items())
    if (auto s = SetMember(key, value, options); !s) return tl::unexpected(s.error().In(path));
  return options;
}

const std::string& Configs::NearestTo(const std::string& model) {
  std::error_code error;
  fs::path folder = fs::absolute(model == "-" ? "." : model, error);
  if (model != "-") folder = folder.lexically_normal().parent_path();
  const auto [it, added] = nearest_.try_emplace(folder.string());
  if (added && !error) it->second = Nearest(std::move(folder));
  return it->second;
}

Result<FileOptions> Configs::For(const std::string& model) {
  const std::string path = none_ ? "" : file_.empty() ? NearestTo(model) : file_;
  const auto known = by_path_.find(path);
  if (known != by_path_.end()) return known->second;
  FileOptions options;
  if (!path.empty()) {
    NN_ASSIGN(options, Read(path));
  }
  options.rules = WithCommandLine(std::move(options.rules));
  return by_path_[path] = std::move(options);
}

std::vector<RuleInfo> Configs::Rules() const {
  if (by_path_.empty()) return nn::Rules(WithCommandLine({}));
  std::set<std::string_view> ids;
  for (const auto& [path, options] : by_path_)
    for (const RuleInfo& rule : nn::Rules(options.rules)) ids.insert(rule.id);
  std::vector<RuleInfo> rules = nn::Rules({Profile::kStrict});
  std::erase_if(rules, [&](const RuleInfo& rule) { return !ids.contains(rule.id); });
  return rules;
}

}  // namespace nn::app

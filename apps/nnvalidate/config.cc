#include "apps/nnvalidate/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/text/text.h"
#include "check/check_options.h"
#include "formats/model_list.h"
#include "validators/validate_options.h"

namespace nn::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigName = ".nnvalidate.json";
// Limit of validation: bytes of a file .nnvalidate.json.
constexpr uint64_t kMaxConfigBytes = uint64_t{1} << 20;

// The nearest configuration in a folder or above it; "" if none exists.
std::string Nearest(fs::path folder) {
  for (std::error_code error;; folder = folder.parent_path()) {
    if (fs::is_regular_file(folder / kConfigName, error)) return (folder / kConfigName).string();
    if (folder == folder.parent_path()) return {};
  }
}

fs::path AbsoluteFolder(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return (error ? path : absolute).lexically_normal();
}

Result<std::vector<std::string>> TextsOf(const std::string& key, const nlohmann::json& value,
                                         std::string_view what) {
  const bool fits = value.is_array() && std::all_of(value.begin(), value.end(),
                                                    [](const auto& v) { return v.is_string(); });
  if (!fits) return UsageError("\"{}\" must be a list of {}", key, what);
  return value.get<std::vector<std::string>>();
}

Status SetTargets(const nlohmann::json& value, FileOptions& out) {
  NN_ASSIGN(const auto texts, TextsOf("for", value, "formats"));
  for (const std::string& text : texts) {
    NN_ASSIGN(TargetVersion target, ParseTarget(text));
    out.targets.push_back(std::move(target));
  }
  return {};
}

// "max_params" for --assert-max-params. kUsage for unknown names and values of another type.
Status SetAssertion(const std::string& name, const nlohmann::json& value, Assertions& a) {
  const auto number = [&](std::optional<uint64_t>& out) -> Status {
    if (!value.is_number_unsigned())
      return UsageError("{} must be a number that is not negative", Quote(name));
    out = value.get<uint64_t>();
    return {};
  };
  const auto texts = [&](std::vector<std::string>& out) -> Status {
    const bool fits = value.is_array() && std::all_of(value.begin(), value.end(),
                                                      [](const auto& v) { return v.is_string(); });
    if (!fits) return UsageError("{} must be a list of texts", Quote(name));
    out = value.get<std::vector<std::string>>();
    return {};
  };
  if (name == "ops") return texts(a.ops);
  if (name == "max_params") return number(a.max_params);
  if (name == "max_bytes") return number(a.max_bytes);
  if (name == "macs_below") return number(a.macs_below);
  if (name == "dtype") return texts(a.dtypes);
  if (name == "input") return texts(a.inputs);
  if (name != "static_shapes")
    return UsageError(
        "unknown assertion {}; the assertions are ops, max_params, max_bytes, macs_below, "
        "static_shapes, dtype and input",
        Quote(name));
  if (!value.is_boolean()) return UsageError("{} must be true or false", Quote(name));
  a.static_shapes = value.get<bool>();
  return {};
}

Status SetAssertions(const nlohmann::json& value, FileOptions& out) {
  if (!value.is_object()) return UsageError("\"assert\" must be an object");
  for (const auto& [name, wanted] : value.items())
    NN_RETURN_IF_ERROR(SetAssertion(name, wanted, out.assertions));
  return CheckUsage(out.assertions);
}

Status SetMember(const std::string& key, const nlohmann::json& value, FileOptions& out) {
  if (key == "profile") {
    const auto profile = value.is_string() ? ParseProfile(value.get<std::string>()) : std::nullopt;
    if (!profile)
      return UsageError("\"profile\" must be one of {}", fmt::join(ProfileNames(), ", "));
    out.rules.profile = *profile;
  } else if (key == "enable" || key == "disable") {
    NN_ASSIGN(const auto patterns, TextsOf(key, value, "rule ids"));
    NN_ASSIGN((key == "enable" ? out.rules.enable : out.rules.disable), ExpandRuleIds(patterns));
  } else if (key == "fail_on") {
    const OptionField& field = *FindOption(CheckOptionTable(), "fail-on");
    if (!value.is_string() || !std::ranges::count(field.choices, value.get<std::string>()))
      return UsageError("\"fail_on\" must be one of {}", fmt::join(field.choices, ", "));
    nnsuite::CheckOptions checks;
    NN_RETURN_IF_ERROR(field.set(&checks, value.get<std::string>()));
    out.fail_on = checks.fail_on;
  } else if (key == "deployment_target") {
    const OptionField& field = *FindOption(ValidateOptionTable(), "deployment-target");
    if (!value.is_string() || !std::ranges::count(field.choices, value.get<std::string>()))
      return UsageError("\"deployment_target\" must be one of {}", fmt::join(field.choices, ", "));
    out.rules.deployment_target = value.get<std::string>();
  } else if (key == "max_per_rule") {
    if (!value.is_number_unsigned()) return UsageError("\"max_per_rule\" must be a number");
    out.max_per_rule = value.get<size_t>();
  } else if (key == "exclude") {
    NN_ASSIGN(out.exclude, TextsOf(key, value, "patterns"));
  } else if (key == "for") {
    return SetTargets(value, out);
  } else if (key == "assert") {
    return SetAssertions(value, out);
  } else if (key != "$schema") {
    return UsageError(
        "unknown option {}; the options are profile, enable, disable, fail_on, max_per_rule, "
        "exclude, for, deployment_target and assert",
        Quote(key));
  }
  return {};
}

// Replaces what `other` sets.
void Override(const Assertions& other, Assertions& own) {
  const auto replace = [](auto& member, const auto& value, bool is_set) {
    if (is_set) member = value;
  };
  replace(own.ops, other.ops, !other.ops.empty());
  replace(own.max_params, other.max_params, other.max_params.has_value());
  replace(own.max_bytes, other.max_bytes, other.max_bytes.has_value());
  replace(own.macs_below, other.macs_below, other.macs_below.has_value());
  replace(own.static_shapes, other.static_shapes, other.static_shapes);
  replace(own.dtypes, other.dtypes, !other.dtypes.empty());
  replace(own.inputs, other.inputs, !other.inputs.empty());
}

bool Matches(const std::vector<std::string>& patterns, const fs::path& model,
             const fs::path& folder) {
  const std::string relative = model.lexically_relative(folder).generic_string();
  const bool is_outside = relative.starts_with("..");  // only names without a folder match there
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    if (is_outside && pattern.find('/') != std::string::npos) return false;
    return MatchesPath(pattern, is_outside ? model.generic_string() : relative);
  });
}

}  // namespace

Configs::Configs(CommandLineOptions command_line) : own_(std::move(command_line)) {}

// The command line overrides the configuration for the rules that it names.
FileOptions Configs::WithCommandLine(FileOptions options) const {
  ValidateOptions& rules = options.rules;
  const ValidateOptions& own = own_.rules;
  if (own_.has_profile) rules.profile = own.profile;
  if (!own.deployment_target.empty()) rules.deployment_target = own.deployment_target;
  for (const std::string& id : own.enable) rules.disable.erase(id);
  for (const std::string& id : own.disable) rules.enable.erase(id);
  rules.enable.insert(own.enable.begin(), own.enable.end());
  rules.disable.insert(own.disable.begin(), own.disable.end());
  if (own_.fail_on) options.fail_on = own_.fail_on;
  if (own_.max_per_rule) options.max_per_rule = own_.max_per_rule;
  if (!own_.targets.empty()) options.targets = own_.targets;
  Override(own_.assertions, options.assertions);
  return options;
}

Result<FileOptions> Configs::Read(const std::string& path) const {
  NN_ASSIGN(const Blob file, ReadFile(path, kMaxConfigBytes));
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return UsageError("{}: not a JSON object", path);
  FileOptions options;
  options.folder = AbsoluteFolder(path).parent_path().string();
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
  const std::string path = own_.no_config        ? ""
                           : own_.config.empty() ? NearestTo(model)
                                                 : own_.config;
  const auto known = by_path_.find(path);
  if (known != by_path_.end()) return known->second;
  FileOptions options;
  if (!path.empty()) {
    NN_ASSIGN(options, Read(path));
  }
  return by_path_[path] = WithCommandLine(std::move(options));
}

bool Configs::IsExcluded(const std::string& model, const FileOptions& options) const {
  const fs::path path = AbsoluteFolder(model);
  return Matches(options.exclude, path, options.folder) ||
         Matches(own_.exclude, path, AbsoluteFolder(".") / "");
}

std::vector<RuleInfo> Configs::Rules() const {
  if (by_path_.empty()) return nn::Rules(WithCommandLine({}).rules);
  std::set<std::string_view> ids;
  for (const auto& [path, options] : by_path_) {
    for (const RuleInfo& rule : nn::Rules(options.rules)) ids.insert(rule.id);
    for (const TargetVersion& target : options.targets) ids.insert(target.rule.id);
    for (const RuleInfo& rule : AssertionRules(options.assertions)) ids.insert(rule.id);
  }
  std::vector<RuleInfo> rules = AllRules();
  for (const RuleInfo& rule : TargetRules()) rules.push_back(rule);
  for (const RuleInfo& rule : AllAssertionRules()) rules.push_back(rule);
  std::erase_if(rules, [&](const RuleInfo& rule) { return !ids.contains(rule.id); });
  return rules;
}

}  // namespace nn::app

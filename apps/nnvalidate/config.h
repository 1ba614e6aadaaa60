// .nnvalidate.json: how a project checks its models.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "validators/runner.h"

namespace nn::app {

// kUsage if an id is not that of a rule.
Status CheckRuleIds(const std::set<std::string, std::less<>>& ids);

// How a model is checked.
struct FileOptions {
  ValidateOptions rules;
  std::optional<Severity> fail_on;  // if the configuration sets it
};

// The options for each model: those of the nearest .nnvalidate.json, which is searched from the
// model's folder upward, overridden by those of the command line.
class Configs {
 public:
  // `profile`: nullopt unless given on the command line. `file`: the configuration for all models,
  // or "" for the nearest. `none`: use no configuration.
  Configs(std::optional<Profile> profile, std::set<std::string, std::less<>> enable,
          std::set<std::string, std::less<>> disable, std::string file, bool none);

  // kUsage for a configuration that does not fit schemas/nnvalidate-config.schema.json.
  Result<FileOptions> For(const std::string& model);

  // All rules that some model is checked with, in their order. Before the first For(), the rules
  // that the command line selects.
  std::vector<RuleInfo> Rules() const;

 private:
  const std::string& NearestTo(const std::string& model);
  Result<FileOptions> Read(const std::string& path) const;
  ValidateOptions WithCommandLine(ValidateOptions options) const;

  std::optional<Profile> profile_;
  std::set<std::string, std::less<>> enable_;
  std::set<std::string, std::less<>> disable_;
  std::string file_;
  bool none_;
  std::map<std::string, FileOptions> by_path_;  // by path of the configuration; "" for none
  std::map<std::string, std::string> nearest_;  // configuration of each folder; "" for none
};

// "spec", "vendor", "strict".
std::optional<Profile> ParseProfile(std::string_view name);

// "error", "warning".
std::optional<Severity> ParseFailOn(std::string_view name);

}  // namespace nn::app

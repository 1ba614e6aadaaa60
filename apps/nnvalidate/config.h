// .nnvalidate.json: what a project asks of its models.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "validators/runner.h"

namespace nn::app {

// Rules by id; kUsage, with ids that look alike, for one that there is not.
Status CheckRuleIds(const std::set<std::string, std::less<>>& ids);

// How a model is checked.
struct FileOptions {
  ValidateOptions rules;
  std::optional<Severity> fail_on;  // if the configuration says
};

// The options for each model: what the command line says, on top of what the nearest
// .nnvalidate.json says, looked for in the model's folder and those around it.
class Configs {
 public:
  // `profile`: nullopt unless given on the command line. `file`: to be used for all models; "": the
  // nearest. With `none` there is no configuration.
  Configs(std::optional<Profile> profile, std::set<std::string, std::less<>> enable,
          std::set<std::string, std::less<>> disable, std::string file, bool none);

  // kUsage for a configuration that does not fit schemas/nnvalidate-config.schema.json.
  Result<FileOptions> For(const std::string& model);

  // All rules that some model is checked with, in their order: those of the command line alone
  // before any model was asked for.
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
  std::map<std::string, FileOptions> by_path_;  // of configurations; "": none
  std::map<std::string, std::string> nearest_;  // configuration of each folder; "": none
};

// "spec", "vendor", "strict".
std::optional<Profile> ParseProfile(std::string_view name);

// "error", "warning".
std::optional<Severity> ParseFailOn(std::string_view name);

}  // namespace nn::app

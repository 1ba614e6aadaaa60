// .nnvalidate.json: how a project checks its models.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "validators/assertions.h"
#include "validators/runner.h"
#include "validators/targets.h"

namespace nn::app {

// How a model is checked.
struct FileOptions {
  ValidateOptions rules;
  std::optional<Severity> fail_on;  // if the configuration or the command line sets it
  std::optional<size_t> max_per_rule;
  Assertions assertions;
  std::vector<TargetVersion> targets;
  std::vector<std::string> exclude;  // patterns (MatchesPath) relative to `folder`
  std::string folder;                // absolute
};

// The options of the command line. Lists that are not empty replace those of the configuration,
// except for `enable`, `disable` and `exclude`, which are added.
struct CommandLineOptions {
  ValidateOptions rules;
  bool has_profile = false;
  std::optional<Severity> fail_on;
  std::optional<size_t> max_per_rule;
  Assertions assertions;
  std::vector<TargetVersion> targets;
  std::vector<std::string> exclude;  // relative to the current folder
  std::string config;                // for all models; "": the nearest
  bool no_config = false;
};

// The options for each model: those of the nearest .nnvalidate.json, which is searched from the
// model's folder upward, overridden by those of the command line.
class Configs {
 public:
  explicit Configs(CommandLineOptions command_line);

  // kUsage for a configuration that does not fit schemas/nnvalidate-config.schema.json.
  Result<FileOptions> For(const std::string& model);

  // Whether the options exclude the model.
  bool IsExcluded(const std::string& model, const FileOptions& options) const;

  // All rules, assertions and targets that some model is checked with, in their order. Before the
  // first For(), the rules that the command line selects.
  std::vector<RuleInfo> Rules() const;

 private:
  const std::string& NearestTo(const std::string& model);
  Result<FileOptions> Read(const std::string& path) const;
  FileOptions WithCommandLine(FileOptions options) const;

  CommandLineOptions own_;
  std::map<std::string, FileOptions> by_path_;  // by path of the configuration; "" for none
  std::map<std::string, std::string> nearest_;  // configuration of each folder; "" for none
};

}  // namespace nn::app

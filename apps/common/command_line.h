// What all programs have in common: arguments, messages, exit codes.
//
// Exit codes: 0 done and clean; 1 the model fails the check; 2 usage, file or parse error; 3
// something in the model is not supported; 4 a resource limit was hit (ExitCode() in
// base/status.h).
//
// Data go to standard output, messages to standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/common/program.h"
#include "base/status.h"
#include "formats/format.h"

namespace nn::app {

class CommandLine {
 public:
  CommandLine(std::string name, const std::string& description);

  CLI::App& options() { return app_; }

  // --quiet: nothing but errors is to be said.
  bool quiet() const { return quiet_; }

  // What is asked of readers: --max-file-bytes, --max-depth, --max-items.
  const ReadLimits& limits() const { return limits_; }

  // An option that takes one value each time it is given.
  template <typename T>
  CLI::Option* AddRepeated(const std::string& name, T& values, const std::string& description) {
    return app_.add_option(name, values, description)->allow_extra_args(false);
  }

  // Parses the arguments and runs the program. The exit code is what `run` returns, or that of its
  // error, which is printed. --help and --version are done here.
  int Run(int argc, char** argv, const std::function<Result<int>()>& run);

 private:
  Result<int> Parse(int argc, char** argv);
  void AddLimits();
  Status LimitMemory() const;
  void StartLog() const;

  CLI::App app_;
  std::string name_;
  int verbosity_ = 0;
  bool quiet_ = false;
  ReadLimits limits_;
  std::optional<uint64_t> max_memory_;
};

// Adds --input-shape and --batch.
struct ShapeOptions;
void AddShapeOptions(CommandLine& command, ShapeOptions& options);

// Adds --weights, for dumps.
CLI::Option* AddWeightsOption(CommandLine& command, DumpOptions& options);

}  // namespace nn::app

// Shared by all programs: arguments, messages, exit codes.
//
// Exit codes: 0 done and clean; 1 the model fails the check; 2 usage, file or parse error; 3 the
// model uses unsupported features; 4 a resource limit was hit (ExitCode() in base/status.h).
//
// Data goes to standard output, messages to standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <string>

#include "apps/common/process.h"
#include "apps/common/program.h"
#include "base/json/json.h"
#include "base/options.h"
#include "base/status.h"
#include "exec/run_limits.h"
#include "formats/format.h"

namespace nn::app {

class CommandLine {
 public:
  CommandLine(const char* name, const char* description);

  CLI::App& options() { return app_; }

  // --quiet: print errors only.
  bool quiet() const { return quiet_; }

  // --color: whether text for a file descriptor has colors. By default, those of terminals have,
  // unless NO_COLOR is set (no-color.org) or TERM is "dumb".
  bool UsesColor(int descriptor) const;
  bool AlwaysUsesColor() const { return color_ == "always"; }

  // The options that the command line has, without positional arguments, and without limits and
  // the options of all programs, which change no result: true for a flag, else the list of its
  // values.
  Json GivenOptions() const;

  // Adds the options of the table that programs have (AddDescribedOptions()). TakeOptions() sets
  // the members of `options`, the struct that the table describes.
  void AddDescribed(OptionTable table, void* options);

  // Sets what the described options, and the limits, say. kUsage as SetOptions(); the options of
  // the other tables are set nevertheless. Called by each program when it runs.
  Status TakeOptions();

  // The limits for readers, after TakeOptions(): --max-file-bytes, --max-depth, --max-items and the
  // other size limits.
  const ReadLimits& limits() const { return limits_; }

  // Adds --max-work, without a limit by default if it is nullopt, and --max-steps, for programs
  // that run models.
  void AddRunLimits(std::optional<double> max_work);
  // --max-memory, --max-work and --max-steps.
  RunLimits run_limits() const;

  // An option that prints a text in place of running, as --help does.
  void AddPrinted(const std::string& name, std::function<std::string()> text,
                  const std::string& description);

  // Parses the arguments and runs the program. The exit code is what `run` returns, or that of its
  // error, which is printed. --help and --version are handled here.
  int Run(int argc, char** argv, const std::function<Result<int>()>& run);

 private:
  Result<int> Parse(int argc, char** argv);
  void AddGenerated();
  void AddLimits();
  Status LimitMemory() const;
  void StartLog() const;

  // Options that a table describes, and the values that the command line gives them.
  struct Described {
    OptionTable table;
    void* options;
    OptionValues values = {};
  };

  void AddDescribed(CLI::App& app, OptionTable table, void* options);

  Process process_;                 // first of all
  std::list<Described> described_;  // at fixed addresses, which `app_` has
  CLI::App app_;
  std::string name_;
  int verbosity_ = 0;
  bool quiet_ = false;
  std::string color_ = "auto";
  std::string generated_;  // by --completion or an option of AddPrinted()
  ReadLimits limits_;
  CLI::Option_group* limit_group_ = nullptr;
  std::set<const CLI::Option*> common_;  // of all programs, without limits
  std::optional<uint64_t> max_memory_;
  std::optional<double> max_work_;
  uint64_t max_steps_ = RunLimits().max_steps;
};

// Checks that a value is a number, which NaN is not. The ranges of CLI11 accept NaN, so each option
// that takes real numbers has one of these checks.
CLI::Validator RealNumber();
// The same, without infinities.
CLI::Validator FiniteNumber();

// Writes text, or a format other than JSON, to a file or "-". All programs print through this
// function: it escapes control characters other than line ends.
Status PrintText(const std::string& path, std::string_view text);

// Returns `code`. If it is an error, first prints `report`, the first members of a JSON report,
// with the message as "error".
Result<int> StateError(Result<int> code, Json report);

}  // namespace nn::app

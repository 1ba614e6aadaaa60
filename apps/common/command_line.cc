#include "apps/common/command_line.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "apps/common/completion.h"
#include "apps/common/described_options.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "formats/format_options.h"

namespace nn::app {
namespace {

// Without positional arguments that are in no group: those are for other programs.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = Formatter::make_usage(app, std::move(name));
    const size_t end = usage.find_last_not_of(" \n");
    return usage.substr(0, end + 1) + "\n";
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    return option->get_group().empty() ? "" : Formatter::make_option_usage(option);
  }
};

}  // namespace

std::string_view Version() {
  return NN_VERSION;
}

CommandLine::CommandLine(const char* name, const char* description)
    : process_(name), app_(description, name), name_(name) {
  app_.set_version_flag(
      "--version",
      fmt::format("{} {}{}", name_, Version(),
                  Description().empty() ? std::string() : fmt::format(" ({})", Description())));
  app_.add_flag("-v,--verbose", verbosity_, "Print progress details");
  app_.add_flag("-q,--quiet", quiet_, "Print errors only");
  app_.add_option("--color", color_,
                  "Color messages and text; auto: on terminals, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  AddGenerated();
  for (const CLI::Option* option : app_.get_options()) common_.insert(option);
  app_.footer(
      "The file name \"-\" means standard input or output.\nExit codes: 0 success; 1 the model "
      "fails the check; 2 usage, file or parse error;\n3 the model uses unsupported features; 4 a "
      "resource limit was exceeded.");
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(32);
  app_.formatter(std::move(formatter));
  AddLimits();
}

void CommandLine::AddGenerated() {
  // As with --help, parsing ends before required arguments are missed.
  const auto shells = CompletionShells();
  app_.add_option_function<std::string>(
          "--completion",
          [this](const std::string& shell) {
            generated_ = CompletionScript(app_, shell);
            throw CLI::Success();
          },
          "Print a script that completes the options of this program in the shell")
      ->check(CLI::IsMember(std::vector<std::string>(shells.begin(), shells.end())));
  AddPrinted(
      "--man-page", [this] { return ManPage(app_, Version(), NN_HOMEPAGE); },
      "Print the manual page of this program");
  // For scripts/update-options.
  app_.add_flag_callback("--option-tables",
                         [this] {
                           std::set<std::string> common;
                           for (const CLI::Option* option : common_)
                             if (!option->get_lnames().empty())
                               common.insert("--" + option->get_lnames().back());
                           generated_ = OptionTables(app_, common);
                           throw CLI::Success();
                         })
      ->group("");
}

void CommandLine::AddPrinted(const std::string& name, std::function<std::string()> text,
                             const std::string& description) {
  app_.add_flag_callback(
      name,
      [this, text = std::move(text)] {
        generated_ = text();
        throw CLI::Success();
      },
      description);
}

bool CommandLine::UsesColor(int descriptor) const {
  if (color_ != "auto") return AlwaysUsesColor();
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  return isatty(descriptor) == 1 && value("NO_COLOR").empty() && value("TERM") != "dumb";
}

Json CommandLine::GivenOptions() const {
  Json given = Json::object();
  const std::function<void(const CLI::App&)> add = [&](const CLI::App& app) {
    const auto is_given = [&](const CLI::Option* o) {
      return o->nonpositional() && o->count() > 0 && !common_.contains(o);
    };
    for (const CLI::Option* option : app.get_options(is_given))
      given[option->get_name()] =
          option->get_expected_max() == 0 ? Json(true) : Json(option->results());
    for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; }))
      if (group != limit_group_) add(*group);
  };
  add(app_);
  return given;
}

void CommandLine::AddLimits() {
  limit_group_ =
      app_.add_option_group("Limits", "Exceeding a limit ends the program with exit code 4");
  AddDescribed(*limit_group_, ReadLimitTable(), &limits_);
  limit_group_
      ->add_option(
          "--max-memory", max_memory_,
          "Allocated memory, without mapped files. By default, only running a model is limited, to "
          "four fifths of the free memory")
      ->type_name("N")
      ->transform(CLI::AsSizeValue(false));
}

void CommandLine::AddDescribed(CLI::App& app, OptionTable table, void* options) {
  AddDescribedOptions(app, table, described_.emplace_back(Described{table, options}).values);
}

void CommandLine::AddDescribed(OptionTable table, void* options) {
  AddDescribed(app_, table, options);
}

Status CommandLine::TakeOptions() {
  Status first_error;
  for (const Described& d : described_)
    if (Status set = SetOptions(d.table, d.values, kOnCommandLine, d.options); !set && first_error)
      first_error = std::move(set);
  return first_error;
}

namespace {

CLI::Validator NumberCheck(bool infinite) {
  return CLI::Validator(
      [infinite](const std::string& text) -> std::string {
        double value = 0;
        if (!CLI::detail::lexical_cast(text, value)) return {};  // the option's own error
        if (std::isnan(value) || (!infinite && std::isinf(value)))
          return fmt::format("{} is not a {}", text, infinite ? "number" : "finite number");
        return {};
      },
      "");
}

}  // namespace

CLI::Validator RealNumber() {
  return NumberCheck(true);
}

CLI::Validator FiniteNumber() {
  return NumberCheck(false);
}

Status PrintText(const std::string& path, std::string_view text) {
  return WriteFile(path, EscapeLines(text));
}

Result<int> StateError(Result<int> code, Json report) {
  if (code) return code;
  report["error"] = code.error().message();
  NN_RETURN_IF_ERROR(PrintText("-", JsonText(report)));
  return code;
}

void CommandLine::AddRunLimits(std::optional<double> max_work) {
  max_work_ = max_work;
  CLI::Option* option = limit_group_
                            ->add_option("--max-work", max_work_,
                                         "Element operations, such as multiply-adds, in one run of "
                                         "a model; those without a SIMD kernel count 64 times")
                            ->check(RealNumber())
                            ->check(CLI::PositiveNumber)
                            ->type_name("N");
  option->default_str(max_work ? fmt::format("{:g}", *max_work) : "no limit");
  limit_group_
      ->add_option(
          "--max-steps", max_steps_,
          "Iterations of a loop whose end a run decides about, with the iterations of loops in it")
      ->type_name("N")
      ->capture_default_str();
}

RunLimits CommandLine::run_limits() const {
  RunLimits limits;
  // Values beyond 64 bits mean no limit.
  if (max_work_ && *max_work_ < 0x1p63) limits.max_work = static_cast<uint64_t>(*max_work_);
  limits.max_memory = max_memory_.value_or(0);
  limits.max_steps = max_steps_;
  return limits;
}

Status CommandLine::LimitMemory() const {
  if (!max_memory_) return {};
#ifdef __EMSCRIPTEN__
  return UnsupportedError(
      "--max-memory: WebAssembly has one limit of memory, 4 GB; use the native program");
#else
  const rlimit limit{*max_memory_, *max_memory_};
  if (setrlimit(RLIMIT_DATA, &limit) != 0)
    return IoError("--max-memory: {}", std::generic_category().message(errno));
  return {};
#endif
}

namespace {

// The message with control characters escaped. Lines after the first are indented so that they
// cannot be taken for messages.
class EscapedMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    std::string_view rest(message.payload.data(), message.payload.size());
    while (true) {
      const size_t end = rest.find('\n');
      const std::string line = EscapeControls(rest.substr(0, end));
      out.append(line.data(), line.data() + line.size());
      if (end == std::string_view::npos) return;
      rest.remove_prefix(end + 1);
      const std::string_view margin = rest.starts_with("  ") ? "\n" : "\n  ";
      out.append(margin.data(), margin.data() + margin.size());
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<EscapedMessage>();
  }
};

}  // namespace

void CommandLine::StartLog() const {
  auto logger = spdlog::stderr_color_mt(
      name_, UsesColor(STDERR_FILENO) ? spdlog::color_mode::always : spdlog::color_mode::never);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<EscapedMessage>('*').set_pattern("%n: %^%l%$: %*");
  logger->set_formatter(std::move(formatter));
  logger->set_level(quiet_           ? spdlog::level::err
                    : verbosity_ > 0 ? spdlog::level::debug
                                     : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

// The exit code if the program ends here without running.
Result<int> CommandLine::Parse(int argc, char** argv) {
  constexpr int kGoOn = -1;
  try {
    app_.parse(argc, argv);
    return kGoOn;
  } catch (const CLI::CallForHelp&) {
    NN_RETURN_IF_ERROR(WriteFile("-", app_.help()));
  } catch (const CLI::CallForVersion&) {
    NN_RETURN_IF_ERROR(WriteFile("-", app_.version() + "\n"));
  } catch (const CLI::Success&) {
    NN_RETURN_IF_ERROR(WriteFile("-", generated_));
  } catch (const CLI::ParseError& e) {
    return UsageError("{}; see \"{} --help\" for the options", e.what(), name_);
  }
  return kExitDone;
}

int CommandLine::Run(int argc, char** argv, const std::function<Result<int>()>& run) {
  Result<int> result = kExitDone;
  try {
#if defined(__GLIBC__) && !NN_HAS_MIMALLOC
    // Graphs free millions of small blocks at once. Without fast bins, glibc merges blocks as they
    // are freed, not repeatedly in bulk, which saves a fifth of the time on a million nodes.
    mallopt(M_MXFAST, 0);
#endif
    result = Parse(argc, argv);
    StartLog();
    if (result && *result < 0) {
      PoisonMemoryFromEnvironment();
      const Status limited = LimitMemory();
      result = limited ? run() : tl::unexpected(limited.error());
    }
  } catch (const std::bad_alloc&) {
    ReportOutOfMemory(max_memory_.value_or(0));
    return ExitCode(ErrorCode::kLimit);
  } catch (const std::exception& e) {
    result = InternalError("{}", e.what());
  }
  if (result) return *result;
  const Error& error = result.error();
  spdlog::error("{}{}", error.code() == ErrorCode::kInternal ? "internal error: " : "",
                error.message());
  return ExitCode(error.code());
}

}  // namespace nn::app

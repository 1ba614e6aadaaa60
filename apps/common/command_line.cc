#include "apps/common/command_line.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>

#include "apps/common/model.h"
#include "base/file.h"
#include "base/text.h"
#include "ops/ops.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {

std::string_view Version() {
  return NN_VERSION;
}

CommandLine::CommandLine(std::string name, const std::string& description)
    : app_(description, name), name_(std::move(name)) {
  app_.set_version_flag("--version", fmt::format("{} {}", name_, Version()));
  app_.add_flag("-v,--verbose", verbosity_, "Say what is being done");
  app_.add_flag("-q,--quiet", quiet_, "Print errors only");
  app_.footer(
      "\"-\" as a file name is standard input or output.\n"
      "Exit codes: 0 done; 1 the model fails the check; 2 usage, file or parse error;\n"
      "3 something in the model is not supported; 4 a resource limit was hit.");
  app_.get_formatter()->column_width(32);
  AddLimits();
}

void CommandLine::AddLimits() {
  CLI::Option_group* group = app_.add_option_group("Limits", "Beyond one of these: exit code 4");
  const auto add = [&](const char* name, auto& value, const char* description) {
    return group->add_option(name, value, description)->type_name("N");
  };
  add("--max-file-bytes", limits_.max_file_bytes, "Size of a file that is read")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("64GB");
  add("--max-depth", limits_.max_depth, "Messages, tables or sub-graphs in each other")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  add("--max-items", limits_.max_items, "Entries of a list: nodes, tensors, operands")
      ->capture_default_str();
  add("--max-memory", max_memory_, "Memory that is allocated, mapped files aside; none by default")
      ->transform(CLI::AsSizeValue(false));
}

Status CommandLine::LimitMemory() const {
  if (!max_memory_) return {};
  const rlimit limit{*max_memory_, *max_memory_};
  if (setrlimit(RLIMIT_DATA, &limit) != 0)
    return IoError("--max-memory: {}", std::generic_category().message(errno));
  return {};
}

namespace {

// A mapped file that somebody shortens ends the program when the missing part is read.
void EndOnShortenedFile(int) {
  constexpr std::string_view kMessage = "error: a file became shorter while it was read\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(ExitCode(ErrorCode::kIo));
}

}  // namespace

void CommandLine::StartLog() const {
  auto logger = spdlog::stderr_color_mt(name_);
  logger->set_pattern("%n: %^%l%$: %v");
  logger->set_level(quiet_           ? spdlog::level::err
                    : verbosity_ > 0 ? spdlog::level::debug
                                     : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

// The program's exit code if it ends here, without having run.
Result<int> CommandLine::Parse(int argc, char** argv) {
  constexpr int kGoOn = -1;
  try {
    app_.parse(argc, argv);
    return kGoOn;
  } catch (const CLI::CallForHelp&) {
    NN_RETURN_IF_ERROR(WriteFile("-", app_.help()));
  } catch (const CLI::CallForVersion&) {
    NN_RETURN_IF_ERROR(WriteFile("-", app_.version() + "\n"));
  } catch (const CLI::ParseError& e) {
    return UsageError("{}; \"{} --help\" lists the options", e.what(), name_);
  }
  return kExitDone;
}

int CommandLine::Run(int argc, char** argv, const std::function<Result<int>()>& run) {
  Result<int> result = kExitDone;
  try {
    std::signal(SIGBUS, EndOnShortenedFile);
    result = Parse(argc, argv);
    StartLog();
    if (result && *result < 0) {
      InstallOps();
      const Status limited = LimitMemory();
      result = limited ? run() : tl::unexpected(limited.error());
    }
  } catch (const std::bad_alloc&) {
    result = max_memory_ ? LimitError("out of memory: the limit (max-memory) is {}",
                                      HumanBytes(*max_memory_))
                         : LimitError("out of memory");
  } catch (const std::exception& e) {
    result = InternalError("{}", e.what());
  }
  if (result) return *result;
  const Error& error = result.error();
  spdlog::error("{}{}", error.code() == ErrorCode::kInternal ? "internal error: " : "",
                error.message());
  return ExitCode(error.code());
}

void AddShapeOptions(CommandLine& command, ShapeOptions& options) {
  command
      .AddRepeated("--input-shape", options.input_shapes,
                   "Shape of an input, as NAME:1,3,224,224; repeatable")
      ->type_name("NAME:SHAPE");
  command.options()
      .add_option("--batch", options.batch,
                  "Size of the first dimension of the inputs, where it is symbolic")
      ->type_name("N");
}

CLI::Option* AddWeightsOption(CommandLine& command, DumpOptions& options) {
  static const std::map<std::string, DumpWeights> names = {{"base64", DumpWeights::kBase64},
                                                           {"inline", DumpWeights::kInline},
                                                           {"stats", DumpWeights::kStats},
                                                           {"digest", DumpWeights::kDigest},
                                                           {"none", DumpWeights::kNone}};
  const auto set = [&options](const std::string& text) {
    const auto it = names.find(text);
    options.weights = it != names.end() ? it->second : DumpWeights::kFile;
    options.file = it != names.end() ? "" : text;
  };
  const auto check = [](const std::string& text) {
    return names.contains(text) || IsTensorArchivePath(text)
               ? ""
               : "base64, inline, stats, digest, none, or a file .npz or .safetensors is expected";
  };
  return command.options()
      .add_option_function<std::string>(
          "--weights", set,
          "How a dump shows tensors of 1 KiB and more: base64 (the default), inline (as numbers), "
          "FILE.npz or FILE.safetensors (in that file beside it), stats, digest or none; the last "
          "three cannot be restored")
      ->check(check, "weights")
      ->option_text("HOW");
}

}  // namespace nn::app

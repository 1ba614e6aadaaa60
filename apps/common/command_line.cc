#include "apps/common/command_line.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <malloc.h>
#include <sys/resource.h>

#include <cerrno>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <system_error>

#include "apps/common/model.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "ops/ops.h"
#include "tensorio/tensor_archive.h"

namespace nn::app {

std::string_view Version() {
  return NN_VERSION;
}

CommandLine::CommandLine(const char* name, const char* description)
    : process_(name), app_(description, name), name_(name) {
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
  // Walks over nested models are recursive; this many levels fit any usual stack (8 MiB) with ease.
  constexpr int kDeepest = 500;
  limit_group_ = app_.add_option_group("Limits", "Beyond one of these: exit code 4");
  const auto add = [&](const char* name, auto& value, const char* description) {
    return limit_group_->add_option(name, value, description)->type_name("N");
  };
  add("--max-file-bytes", limits_.max_file_bytes,
      "Size of the model's file and of all files beside it that are read, together")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("64GB");
  add("--max-piped-bytes", limits_.max_piped_bytes, "Size of what is read from a pipe")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("2GB");
  add("--max-unpacked-bytes", limits_.max_unpacked_bytes, "What the entries of an .npz unpack to")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("4GB");
  add("--max-depth", limits_.max_depth, "Messages, tables or sub-graphs in each other")
      ->check(CLI::Range(1, kDeepest))
      ->capture_default_str();
  add("--max-items", limits_.max_items, "Entries of a list: nodes, tensors, operands")
      ->capture_default_str();
  add("--max-memory", max_memory_,
      "Memory that is allocated, mapped files aside. By default only what a run of a model takes "
      "is "
      "limited, to four fifths of what the system has free")
      ->transform(CLI::AsSizeValue(false));
}

Status PrintText(const std::string& path, std::string_view text) {
  return WriteFile(path, EscapeLines(text));
}

void CommandLine::AddMaxWork(std::optional<double> by_default) {
  max_work_ = by_default;
  CLI::Option* option =
      limit_group_
          ->add_option(
              "--max-work", max_work_,
              "Multiply-adds and other operations on elements in one run of a model; those "
              "without a SIMD kernel count 64 times")
          ->check(CLI::PositiveNumber)
          ->type_name("N");
  option->default_str(by_default ? fmt::format("{:g}", *by_default) : "no limit");
}

RunLimits CommandLine::run_limits() const {
  RunLimits limits;
  // Numbers beyond those of 64 bits limit nothing.
  if (max_work_ && *max_work_ < 0x1p63) limits.max_work = static_cast<uint64_t>(*max_work_);
  limits.max_memory = max_memory_.value_or(0);
  return limits;
}

Status CommandLine::LimitMemory() const {
  if (!max_memory_) return {};
  const rlimit limit{*max_memory_, *max_memory_};
  if (setrlimit(RLIMIT_DATA, &limit) != 0)
    return IoError("--max-memory: {}", std::generic_category().message(errno));
  return {};
}

namespace {

// The message without control characters. Lines after its first one are indented, so that none of
// them can pass for a message.
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
  auto logger = spdlog::stderr_color_mt(name_);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<EscapedMessage>('*').set_pattern("%n: %^%l%$: %*");
  logger->set_formatter(std::move(formatter));
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
#ifdef __GLIBC__
    // Graphs free millions of small blocks at once. Without these lists they are joined as they are
    // freed, not all together again and again: a fifth of the time on a million nodes.
    mallopt(M_MXFAST, 0);
#endif
    result = Parse(argc, argv);
    StartLog();
    if (result && *result < 0) {
      InstallOps();
      PoisonMemoryAsAsked();
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

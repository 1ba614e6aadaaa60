#include "apps/common/process.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction
#include <unistd.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>

#include "base/file/mapping.h"
#include "base/file/staging.h"
#include "base/status.h"

namespace nn::app {
namespace {

const char* program_name = "";

// Writes the parts of a line to standard error (async-signal-safe).
void Say(std::initializer_list<const char*> parts) noexcept {
  for (const char* part : parts)
    [[maybe_unused]] const auto n = write(STDERR_FILENO, part, std::strlen(part));
}

void EndBySignal(int signal) {
  RemoveStaging();
  raise(signal);  // its action is the default by now
}

void EndOnShortenedFile(int signal, siginfo_t* info, void*) {
  std::array<char, 4200> name;
  // Signals sent by another process have no address.
  if (info->si_code > 0 && MappedFileAt(info->si_addr, name)) {
    Say({program_name, ": error: ", name.data(),
         ": the file was truncated while it was read, or cannot be read\n"});
    RemoveStaging();
    _exit(ExitCode(ErrorCode::kIo));
  }
  EndBySignal(signal);
}

// Whether an allocation of this thread has failed. Some library functions then terminate, and the
// exception is no longer available.
thread_local bool has_run_out = false;

[[noreturn]] void RunOut() {
  has_run_out = true;
  throw std::bad_alloc();
}

[[noreturn]] void EndOutOfMemory() noexcept {
  ReportOutOfMemory(0);
  RemoveStaging();
  _exit(ExitCode(ErrorCode::kLimit));
}

[[noreturn]] void EndOnException() noexcept {
  if (const std::exception_ptr exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::bad_alloc&) {
      EndOutOfMemory();
    } catch (const std::exception& e) {
      Say({program_name, ": error: internal error: ", e.what(), "\n"});
    } catch (...) {
    }
  } else if (has_run_out) {
    EndOutOfMemory();
  }
  RemoveStaging();
  std::abort();
}

// Files opened later never get the standard descriptors.
void OpenStandardFiles() {
  for (const auto& [fd, mode] :
       {std::pair(STDIN_FILENO, O_WRONLY), {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDWR}})
    if (fcntl(fd, F_GETFD) == -1) [[maybe_unused]]
      const int opened = open("/dev/null", mode);
}

void HandleSignals() {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER;
  action.sa_handler = EndBySignal;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU}) {
    struct sigaction before {};
    // nohup and background jobs ignore some.
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
  }
  action.sa_flags |= SA_SIGINFO;
  action.sa_sigaction = EndOnShortenedFile;
  sigaction(SIGBUS, &action, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
}

}  // namespace

Process::Process(const char* program) {
  program_name = program;
  OpenStandardFiles();
  HandleSignals();
  std::set_terminate(EndOnException);
  std::set_new_handler(RunOut);
#ifdef __GLIBC__
  // The C library loads its stack unwinder on first use and aborts if there is no memory left for
  // it.
  std::array<void*, 1> frame;
  backtrace(frame.data(), static_cast<int>(frame.size()));
#endif
}

void ReportOutOfMemory(uint64_t limit) noexcept {
  if (limit == 0) return Say({program_name, ": error: out of memory\n"});
  std::array<char, 32> number;
  std::snprintf(number.data(), number.size(), "%llu", static_cast<unsigned long long>(limit));
  Say({program_name, ": error: out of memory: the limit (max-memory) is ", number.data(),
       " bytes\n"});
}

}  // namespace nn::app

#include "fuzz/forked.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "support/sanitizer.h"

// Writes the coverage data, if the build measures coverage.
extern "C" int __llvm_profile_write_file() __attribute__((weak));

namespace nn::test {
namespace {

// Memory shared by parent and child.
struct Slot {
  uint32_t state;  // 0: not started, 1: started, 2: done
  uint32_t bits;
  uint32_t length;
  char text[WorkResult::kMaxText];
};

class SharedSlots {
 public:
  explicit SharedSlots(size_t count) : bytes_(std::max<size_t>(count, 1) * sizeof(Slot)) {
    void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::runtime_error("no shared memory");
    slots_ = static_cast<Slot*>(p);
  }
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;
  ~SharedSlots() { munmap(slots_, bytes_); }
  volatile Slot& operator[](size_t i) { return slots_[i]; }

 private:
  size_t bytes_;
  Slot* slots_;
};

void Store(volatile Slot& slot, const WorkResult& result) {
  slot.bits = result.bits;
  const size_t length = std::min(result.text.size(), WorkResult::kMaxText);
  std::memcpy(const_cast<char*>(slot.text), result.text.data(), length);
  slot.length = static_cast<uint32_t>(length);
  slot.state = 2;
}

[[noreturn]] void RunChild(size_t first, size_t count,
                           const std::function<WorkResult(size_t)>& work,
                           const ForkedOptions& options, SharedSlots& slots) {
  // Resets the handlers of the test runner.
  for (const int signal : {SIGPROF, SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS, SIGTERM})
    if (!NN_ADDRESS_SANITIZER || signal == SIGABRT || signal == SIGPROF)
      std::signal(signal, SIG_DFL);
  if (!NN_ADDRESS_SANITIZER) {
    const rlimit limit{options.memory, options.memory};
    setrlimit(RLIMIT_DATA, &limit);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (size_t i = first; i < count; ++i) {
    const itimerval timer{{0, 0}, {static_cast<time_t>(options.seconds), 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
    slots[i].state = 1;
    try {
      Store(slots[i], work(i));
    } catch (const std::exception& e) {
      // Must not reach the test runner, which would go on in this process.
      Store(slots[i], {false, 0, fmt::format("exception: {}", e.what())});
    }
  }
  if (__llvm_profile_write_file != nullptr) __llvm_profile_write_file();
  _exit(0);
}

std::string HowItEnded(int status, const ForkedOptions& options) {
  if (!WIFSIGNALED(status)) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  if (signal == SIGPROF) return fmt::format("not done after {} s", options.seconds);
  return fmt::format("ended by signal {} ({})", signal, strsignal(signal));
}

}  // namespace

std::vector<WorkResult> RunForked(size_t count, const std::function<WorkResult(size_t)>& work,
                                  const ForkedOptions& options) {
  SharedSlots slots(count);
  std::vector<WorkResult> results(count);
  size_t next = 0;
  while (next < count) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process can be made");
    if (child == 0) RunChild(next, count, work, options, slots);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
    }
    const size_t before = next;
    for (; next < count && slots[next].state == 2; ++next) {
      results[next].bits = slots[next].bits;
      results[next].text.assign(const_cast<const char*>(slots[next].text), slots[next].length);
    }
    if (next == count) break;
    if (slots[next].state == 0 && next == before)
      throw std::runtime_error("a child process ends before it begins");
    if (slots[next].state == 0) continue;
    results[next].died = true;
    results[next].text = HowItEnded(status, options);
    ++next;
  }
  return results;
}

}  // namespace nn::test

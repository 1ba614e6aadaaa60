// A library for LD_PRELOAD that makes the Nth call of a program fail. Calls count from the
// beginning of main().
//
//   NN_FAULT_CALLS   "files": calls that change files; "memory": allocations
//   NN_FAULT_AT      the number of the call that fails; 0 (default): none
//   NN_FAULT         how it fails: EIO, ENOSPC or EINTR; SHORT: half of what was asked is written;
//                    KILL, INT, TERM, HUP: the program gets that signal before the call
//   NN_FAULT_COUNT   a file that receives the number of calls when the program has ended
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<bool> counting = false;
std::atomic<long> calls = 0;
bool counts_memory = false;
long fails_at = 0;
const char* fault = "";
const char* count_file = nullptr;

void Configure() {
  const auto get = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  counts_memory = std::strcmp(get("NN_FAULT_CALLS"), "memory") == 0;
  fails_at = std::atol(get("NN_FAULT_AT"));
  fault = get("NN_FAULT");
  count_file = std::getenv("NN_FAULT_COUNT");
}

// Whether this is the call that fails.
bool IsTheCall(bool is_memory) {
  return counting && counts_memory == is_memory && ++calls == fails_at;
}

// The injected behavior of a file operation; false: the call proceeds. Fails with errno.
bool FailsFile(size_t* size = nullptr) {
  if (!IsTheCall(false)) return false;
  struct Signal {
    const char* name;
    int number;
  };
  for (const Signal& s :
       {Signal{"KILL", SIGKILL}, {"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}})
    if (std::strcmp(fault, s.name) == 0) {
      syscall(SYS_kill, getpid(), s.number);
      return false;
    }
  if (std::strcmp(fault, "SHORT") == 0) {
    if (size != nullptr && *size > 1) *size /= 2;
    return false;
  }
  errno = std::strcmp(fault, "ENOSPC") == 0  ? ENOSPC
          : std::strcmp(fault, "EINTR") == 0 ? EINTR
                                             : EIO;
  return true;
}

// Only calls that wait return EINTR.
bool FailsQuickCall() {
  return std::strcmp(fault, "EINTR") == 0 ? false : FailsFile();
}

bool FailsOpen(int flags) {
  return (flags & (O_DIRECTORY | O_PATH)) != 0 ? FailsQuickCall() : FailsFile();
}

bool FailsMemory() {
  if (!IsTheCall(true)) return false;
  errno = ENOMEM;
  return true;
}

int (*real_main)(int, char**, char**) = nullptr;

int CountedMain(int argc, char** argv, char** environment) {
  Configure();
  counting = true;
  const int code = real_main(argc, argv, environment);
  counting = false;
  if (count_file == nullptr) return code;
  char text[32];
  const int n = std::snprintf(text, sizeof(text), "%ld\n", calls.load());
  const int fd = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  syscall(SYS_write, fd, text, n);
  syscall(SYS_close, fd);
  return code;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(),
                      void (*fini)(), void (*end)(), void* stack) {
  real_main = main;
  using Start =
      int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(CountedMain, argc, argv, init, fini, end, stack);
}

// The program's own allocator, whichever it is, stands behind these.
#define NN_ALLOCATION(NAME, PARAMETERS, ARGUMENTS)                                          \
  void* NAME PARAMETERS {                                                                   \
    static const auto next = reinterpret_cast<void*(*)PARAMETERS>(dlsym(RTLD_NEXT, #NAME)); \
    return FailsMemory() ? nullptr : next ARGUMENTS;                                        \
  }
NN_ALLOCATION(malloc, (size_t size), (size))
NN_ALLOCATION(calloc, (size_t count, size_t size), (count, size))
NN_ALLOCATION(realloc, (void* p, size_t size), (p, size))
NN_ALLOCATION(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
NN_ALLOCATION(memalign, (size_t alignment, size_t size), (alignment, size))
#undef NN_ALLOCATION
int posix_memalign(void** p, size_t alignment, size_t size) {
  using Function = int (*)(void**, size_t, size_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "posix_memalign"));
  return FailsMemory() ? ENOMEM : next(p, alignment, size);
}

#define NN_OPEN(NAME)                                                          \
  int NAME(const char* path, int flags, ...) {                                 \
    va_list rest;                                                              \
    va_start(rest, flags);                                                     \
    const mode_t mode = va_arg(rest, mode_t);                                  \
    va_end(rest);                                                              \
    if (FailsOpen(flags)) return -1;                                           \
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode)); \
  }
NN_OPEN(open)
NN_OPEN(open64)
#undef NN_OPEN
#define NN_OPENAT(NAME)                                                      \
  int NAME(int folder, const char* path, int flags, ...) {                   \
    va_list rest;                                                            \
    va_start(rest, flags);                                                   \
    const mode_t mode = va_arg(rest, mode_t);                                \
    va_end(rest);                                                            \
    if (FailsOpen(flags)) return -1;                                         \
    return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode)); \
  }
NN_OPENAT(openat)
NN_OPENAT(openat64)
#undef NN_OPENAT

ssize_t write(int fd, const void* bytes, size_t size) {
  if (FailsFile(&size)) return -1;
  return syscall(SYS_write, fd, bytes, size);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  if (FailsFile(&size)) return -1;
  return syscall(SYS_pwrite64, fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off_t at) {
  return pwrite(fd, bytes, size, at);
}
ssize_t copy_file_range(int from, off_t* from_at, int to, off_t* to_at, size_t size,
                        unsigned flags) {
  if (FailsFile(&size)) return -1;
  return syscall(SYS_copy_file_range, from, from_at, to, to_at, size, flags);
}
int close(int fd) {
  const bool fails = FailsFile();
  const int error = errno;
  const int result = static_cast<int>(syscall(SYS_close, fd));
  if (fails) errno = error;
  return fails ? -1 : result;
}
int fsync(int fd) {
  return FailsFile() ? -1 : static_cast<int>(syscall(SYS_fsync, fd));
}
int ftruncate(int fd, off_t size) {
  return FailsFile() ? -1 : static_cast<int>(syscall(SYS_ftruncate, fd, size));
}
int rename(const char* from, const char* to) {
  return FailsQuickCall() ? -1
                          : static_cast<int>(syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}
int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) noexcept {
  return FailsQuickCall()
             ? -1
             : static_cast<int>(syscall(SYS_renameat2, from_at, from, to_at, to, flags));
}
int linkat(int from_at, const char* from, int to_at, const char* to, int flags) noexcept {
  return FailsQuickCall() ? -1
                          : static_cast<int>(syscall(SYS_linkat, from_at, from, to_at, to, flags));
}
int unlink(const char* path) noexcept {
  return FailsQuickCall() ? -1 : static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return FailsQuickCall() ? -1 : static_cast<int>(syscall(SYS_unlinkat, folder, path, flags));
}
int mkdir(const char* path, mode_t mode) noexcept {
  return FailsQuickCall() ? -1 : static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return FailsQuickCall() ? -1 : static_cast<int>(syscall(SYS_mkdirat, folder, path, mode));
}
int fchmod(int fd, mode_t mode) noexcept {
  return FailsQuickCall() ? -1 : static_cast<int>(syscall(SYS_fchmod, fd, mode));
}

}  // extern "C"

// Preloaded by scripts/memcheck in place of libhwy's function of this name, which libhwy calls when
// it is loaded and whose RDTSCP valgrind does not execute on every processor. Nothing here uses
// libhwy's timers.
#include <cstdint>

namespace hwy::platform {

uint64_t TimerResolution();
uint64_t TimerResolution() {
  return 1;
}

}  // namespace hwy::platform

// Preloaded by scripts/memcheck in place of libhwy's function of this name. libhwy calls the
// function when it is loaded, and valgrind does not support its RDTSCP instruction on every
// processor. The suite does not use libhwy's timers.
#include <cstdint>

namespace hwy::platform {

uint64_t TimerResolution();
uint64_t TimerResolution() {
  return 1;
}

}  // namespace hwy::platform

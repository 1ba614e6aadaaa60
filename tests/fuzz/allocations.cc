#include "fuzz/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "support/sanitizer.h"

namespace nn::test {
namespace {

std::atomic<size_t> largest = 0;

#if !NN_ADDRESS_SANITIZER
void* Allocate(size_t size, size_t alignment) {
  if (size > largest.load(std::memory_order_relaxed)) largest = size;
  void* p = alignment == 0
                ? std::malloc(size)
                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
#endif

}  // namespace

void ForgetAllocations() {
  largest = 0;
}

size_t LargestAllocation() {
  return largest;
}

}  // namespace nn::test

#if !NN_ADDRESS_SANITIZER
void* operator new(size_t size) {
  return nn::test::Allocate(size, 0);
}
void* operator new(size_t size, std::align_val_t alignment) {
  return nn::test::Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t, std::align_val_t) noexcept {
  std::free(p);
}
#endif

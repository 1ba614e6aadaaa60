// The largest piece of memory that was asked for at once.
#pragma once

#include <cstddef>

namespace nn::test {

// Starts anew. Always 0 under a sanitizer, which has operators new of its own.
void ForgetAllocations();
size_t LargestAllocation();

}  // namespace nn::test

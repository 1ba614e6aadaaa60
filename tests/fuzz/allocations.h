// The largest single allocation.
#pragma once

#include <cstddef>

namespace nn::test {

// Resets the maximum, which is always 0 under a sanitizer, because that replaces operator new.
void ForgetAllocations();
size_t LargestAllocation();

}  // namespace nn::test

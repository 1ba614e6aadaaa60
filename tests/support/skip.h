// Skips tests that cannot run here; otherwise, a test case without assertions fails.
#pragma once

#include <string_view>

namespace nn::test {

// Called in a test case in place of its assertions; prints `why`. CTest counts a file in which
// every test case was skipped as skipped.
void Skip(std::string_view why);

}  // namespace nn::test

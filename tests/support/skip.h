// Tests that cannot run here say so: a test case that asserts nothing fails otherwise.
#pragma once

#include <string_view>

namespace nn::test {

// Called in a test case in the place of its assertions; `why` is printed. CTest counts a file in
// which every test case was skipped as skipped.
void Skip(std::string_view why);

}  // namespace nn::test

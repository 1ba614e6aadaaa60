// Tests that cannot run here say so: a test case that asserts nothing fails otherwise.
#pragma once

#include <string_view>

namespace nn::test {

// Called in a test case in the place of its assertions; `why` is printed. A program in which every
// test case that ran was skipped ends with exit code 77, which CTest counts as skipped.
void Skip(std::string_view why);

}  // namespace nn::test

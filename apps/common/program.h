// Facts about the programs: exit codes and version.
#pragma once

#include <string_view>

namespace nn::app {

// Exit codes other than those of errors (ExitCode() in base/status.h).
inline constexpr int kExitDone = 0;
inline constexpr int kExitCheckFailed = 1;

// The suite's version, "0.1.0".
std::string_view Version();
// The commit that the programs were built from, "v0.1.0-12-gabcdef"; empty if it is not known.
std::string_view Description();

}  // namespace nn::app

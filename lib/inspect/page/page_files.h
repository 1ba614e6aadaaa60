// The files of lib/inspect/html/, which the build generates this from (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace nn::inspect {

extern const std::string_view kPageStyle;
extern const std::string_view kPageBody;
extern const std::string_view kPageScript;

}  // namespace nn::inspect

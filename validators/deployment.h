// The systems that a Core ML model may be for: ValidateOptions::deployment_target.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace nn {

// By the specification version that they read, those of iOS first.
inline constexpr std::array<std::string_view, 14> kDeploymentTargets = {
    "iOS13",      "iOS14",   "iOS15",   "iOS16",   "iOS17",   "iOS18",   "iOS26",
    "macOS10.15", "macOS11", "macOS12", "macOS13", "macOS14", "macOS15", "macOS26",
};

// The specification version of Core ML models that a system reads; 0 if it is unknown.
constexpr int SpecificationVersionFor(std::string_view target) {
  constexpr int kFirstVersion = 4;
  constexpr size_t kVersions = kDeploymentTargets.size() / 2;
  for (size_t i = 0; i < kDeploymentTargets.size(); ++i)
    if (kDeploymentTargets[i] == target) return kFirstVersion + static_cast<int>(i % kVersions);
  return 0;
}

}  // namespace nn

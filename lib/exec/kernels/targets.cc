#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/targets.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#if HWY_ONCE
#include <algorithm>

#include "base/text.h"
#include "exec/program.h"

namespace nn {

std::vector<std::string> SimdTargets() {
  hwy::SetSupportedTargetsForTest(0);
  std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  std::sort(targets.begin(), targets.end());  // better targets have lower bits
  std::vector<std::string> names;
  for (const int64_t t : targets) names.emplace_back(hwy::TargetName(t));
  return names;
}

Status UseSimdTarget(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);
  if (!name.empty()) {
    int64_t chosen = 0;
    for (const int64_t t : hwy::SupportedAndGeneratedTargets())
      if (hwy::TargetName(t) == name) chosen = t;
    if (chosen == 0) {
      std::string known;
      for (const std::string& n : SimdTargets()) known += (known.empty() ? "" : ", ") + n;
      return UsageError("this processor has no SIMD target named {}; it has {}", Quote(name), known);
    }
    // The target and all lesser ones: a kernel without code for the target uses the next.
    hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(chosen - 1));
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return {};
}

}  // namespace nn
#endif  // HWY_ONCE

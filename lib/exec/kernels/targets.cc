#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/targets.cc"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#if HWY_ONCE
#include "base/text.h"
#include "exec/program.h"

namespace nn {

namespace {

// What the processor has. Asked once: the instruction that tells is slow in a virtual machine.
int64_t DetectedTargets() {
  static const int64_t detected = [] {
    hwy::SetSupportedTargetsForTest(0);
    return hwy::SupportedTargets();
  }();
  return detected;
}

// The targets that there is code for, best first.
std::vector<int64_t> UsableTargets() {
  std::vector<int64_t> targets;
  for (int64_t bits = DetectedTargets() & HWY_TARGETS; bits != 0; bits &= bits - 1)
    targets.push_back(bits & -bits);  // better targets have lower bits
  return targets;
}

}  // namespace

std::vector<std::string> SimdTargets() {
  std::vector<std::string> names;
  for (const int64_t t : UsableTargets()) names.emplace_back(hwy::TargetName(t));
  return names;
}

Status UseSimdTarget(std::string_view name) {
  int64_t supported = DetectedTargets();
  if (!name.empty()) {
    int64_t chosen = 0;
    for (const int64_t t : UsableTargets())
      if (hwy::TargetName(t) == name) chosen = t;
    if (chosen == 0) {
      std::string known;
      for (const std::string& n : SimdTargets()) known += (known.empty() ? "" : ", ") + n;
      return UsageError("this processor has no SIMD target named {}; it has {}", Quote(name),
                        known);
    }
    // The target and all lesser ones: a kernel without code for the target uses the next.
    supported &= ~(chosen - 1);
  }
  hwy::SetSupportedTargetsForTest(supported);
  hwy::GetChosenTarget().Update(supported);
  return {};
}

}  // namespace nn
#endif  // HWY_ONCE

#include "exec/kernels/product_form.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "exec/kernels/targets.cc"
#include "hwy/foreach_target.h"

#include "exec/kernels/int8/int8-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace nn {
namespace HWY_NAMESPACE {
namespace {

// The best available form.
ProductForm BestForm() {
#if NN_QUADS
  return {Quads::kTaps, Quads::kSignedRows};
#else
  return {Pairs::kTaps, Pairs::kSignedRows};
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/text/text.h"
#include "exec/program.h"

namespace nn {

HWY_EXPORT(BestForm);

namespace {

// The dot product of bytes of AArch64, which Highway has no SIMD target for: a target of our own,
// next to NEON.
constexpr std::string_view kArmDot = "NEON_DOT";

bool HasArmDot() {
#if defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long kDotProduct = 1UL << 20;  // HWCAP_ASIMDDP
  return (getauxval(AT_HWCAP) & kDotProduct) != 0;
#elif defined(__aarch64__) && defined(__APPLE__)
  int has = 0;
  size_t size = sizeof(has);
  return sysctlbyname("hw.optional.arm.FEAT_DotProd", &has, &size, nullptr, 0) == 0 && has != 0;
#else
  return false;
#endif
}

// Whether it is enabled, if the processor has it.
bool takes_arm_dot = true;

// That kernels are restricted to. "": none.
std::string chosen_target;

// The SIMD targets of the processor. Queried once: the instruction is slow in a virtual machine.
int64_t DetectedTargets() {
  static const int64_t detected = [] {
    hwy::SetSupportedTargetsForTest(0);
    return hwy::SupportedTargets();
  }();
  return detected;
}

// The compiled SIMD targets, best first.
std::vector<int64_t> UsableTargets() {
  std::vector<int64_t> targets;
  for (int64_t bits = DetectedTargets() & HWY_TARGETS; bits != 0; bits &= bits - 1)
    targets.push_back(bits & -bits);  // better targets have lower bits
  return targets;
}

}  // namespace

std::vector<std::string> SimdTargets() {
  std::vector<std::string> names;
  if (HasArmDot()) names.emplace_back(kArmDot);
  for (const int64_t t : UsableTargets()) names.emplace_back(hwy::TargetName(t));
  return names;
}

Status UseSimdTarget(std::string_view name) {
  int64_t supported = DetectedTargets();
  takes_arm_dot = name.empty() || name == kArmDot;
  if (!name.empty() && !(name == kArmDot && HasArmDot())) {
    int64_t chosen = 0;
    for (const int64_t t : UsableTargets())
      if (hwy::TargetName(t) == name) chosen = t;
    if (chosen == 0) {
      std::string known;
      for (const std::string& n : SimdTargets()) known += (known.empty() ? "" : ", ") + n;
      return UsageError("this processor has no SIMD target named {}; it has {}", Quote(name),
                        known);
    }
    // Enables the target and all lesser ones: a kernel without code for the target uses the next.
    supported &= ~(chosen - 1);
  }
  hwy::SetSupportedTargetsForTest(supported);
  hwy::GetChosenTarget().Update(supported);
  chosen_target = name;
  return {};
}

std::string SimdTargetInUse() {
  return chosen_target.empty() ? SimdTargets().front() : chosen_target;
}

ProductForm ChosenProductForm() {
#if HWY_ARCH_ARM_A64
  if (!HasArmDot() || !takes_arm_dot) return {};
#endif
  return HWY_DYNAMIC_DISPATCH(BestForm)();
}

}  // namespace nn
#endif  // HWY_ONCE

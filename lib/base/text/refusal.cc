#include "base/text/refusal.h"

#include <fmt/core.h>

#include <algorithm>

namespace nn {
namespace {

constexpr std::string_view kSeparator = "; ";

std::string_view ClausesOf(std::string_view reason) {
  const size_t remedy = RemedyOf(reason).size();
  return remedy == 0 ? reason : reason.substr(0, reason.size() - remedy - kSeparator.size());
}

}  // namespace

std::string_view RemedyOf(std::string_view reason) {
  const size_t at = reason.rfind(kSeparator);
  if (at == std::string_view::npos) return {};
  const std::string_view last = reason.substr(at + kSeparator.size());
  const std::string_view verb = last.substr(0, last.find(' '));
  const bool is_remedy = std::ranges::find(kRemedyVerbs, verb) != std::end(kRemedyVerbs);
  return is_remedy ? last : std::string_view();
}

std::string BothReasons(std::string_view first, std::string_view second) {
  const std::string_view remedy = RemedyOf(first);
  if (remedy.empty()) return fmt::format("{}{}{}", first, kSeparator, second);
  return fmt::format("{}{}{}{}{}", ClausesOf(first), kSeparator, ClausesOf(second), kSeparator,
                     remedy);
}

}  // namespace nn

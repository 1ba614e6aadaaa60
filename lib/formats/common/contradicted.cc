#include "formats/common/contradicted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nn {
namespace {

constexpr size_t kMaxListed = 3;

}  // namespace

void ContradictedTypes::Add(const std::string& value, const Type& declared, const Type& actual) {
  if (!values_.insert(value).second || first_.size() == kMaxListed) return;
  first_.push_back(fmt::format("{} is declared as {}, but is {}", value, declared.ToString(),
                               actual.ToString()));
}

void ContradictedTypes::AddNote(std::vector<std::string>& notes) const {
  if (values_.empty()) return;
  const size_t more = values_.size() - first_.size();
  notes.push_back(
      fmt::format("the operators contradict the declared shape{} of {} value{}, and decide: {}{}",
                  values_.size() == 1 ? "" : "s", values_.size(), values_.size() == 1 ? "" : "s",
                  fmt::join(first_, "; "), more == 0 ? "" : fmt::format("; and {} more", more)));
}

}  // namespace nn

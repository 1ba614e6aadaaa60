#include "apps/nnconvert/native_edits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/text/text.h"

namespace nn::app {
namespace {

std::string QuotedList(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  std::vector<std::string> quoted;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) quoted.push_back(Quote(names[i]));
  if (names.size() > kShown) quoted.push_back(fmt::format("{} more", names.size() - kShown));
  return fmt::format("{}", fmt::join(quoted, ", "));
}

}  // namespace

std::vector<std::string> NativeEditTexts(const edit::EditReport& r) {
  std::vector<std::string> out;
  if (r.patched) out.emplace_back("patched: what the patch changes is not verified");
  const std::vector<std::string> dropped = DroppedTexts(r.holdings);
  if (!r.summary) {
    out.insert(out.end(), dropped.begin(), dropped.end());
    return out;
  }
  const edit::EditSummary& s = *r.summary;
  if (s.operators_after != s.operators_before)
    out.push_back(fmt::format("{} of {} operators kept", s.operators_after, s.operators_before));
  if (s.sorted)
    out.emplace_back("the operators are sorted: some came before those whose results they need");
  const auto add = [&](std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty())
      out.push_back(fmt::format("{}{}: {}", what, names.size() == 1 ? "" : "s", QuotedList(names)));
  };
  add("new input", s.new_inputs);
  add("dropped input", s.dropped_inputs);
  add("new output", s.new_outputs);
  add("dropped output", s.dropped_outputs);
  std::vector<std::string> renamed;
  for (const auto& [from, to] : s.renamed) renamed.push_back(fmt::format("{} -> {}", from, to));
  add("renamed value", renamed);
  out.insert(out.end(), dropped.begin(), dropped.end());
  if (!r.unverified.empty()) out.push_back("the edit is not verified: " + r.unverified);
  return out;
}

}  // namespace nn::app

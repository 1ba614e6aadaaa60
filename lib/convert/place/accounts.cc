#include "convert/place/accounts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text/text.h"

namespace nn {
namespace {

constexpr size_t kShownNames = 6;

using Identity = std::pair<std::string_view, std::string_view>;
using Contents = std::tuple<std::string_view, std::string_view, std::string_view>;

// Removes one of the entries; false if there is none.
template <typename T>
bool Take(std::multiset<T>& entries, const T& entry) {
  const auto it = entries.find(entry);
  if (it == entries.end()) return false;
  entries.erase(it);
  return true;
}

Json ListJson(const std::vector<Holding>& holdings) {
  Json out = Json::array();
  for (const Holding& h : holdings) {
    out.push_back({{"kind", h.kind}, {"name", h.name}});
    if (!h.becomes.empty()) out.back()["becomes"] = h.becomes;
  }
  return out;
}

}  // namespace

Accounts AccountFor(std::vector<Holding> source, const std::vector<Holding>& written,
                    bool same_format) {
  std::multiset<Contents> same;
  for (const Holding& h : written) same.emplace(h.kind, h.name, h.digest);
  Accounts out;
  std::vector<Holding> others;
  for (Holding& h : source) {
    if (Take(same, Contents(h.kind, h.name, h.digest)))
      out.kept.push_back(std::move(h));
    else
      others.push_back(std::move(h));
  }
  std::multiset<Identity> left;
  if (same_format)
    for (const auto& [kind, name, digest] : same) left.emplace(kind, name);
  for (Holding& h : others) {
    const bool is_adapted = Take(left, Identity(h.kind, h.name)) || !h.becomes.empty();
    (is_adapted ? out.adapted : out.dropped).push_back(std::move(h));
  }
  return out;
}

std::vector<std::string> DroppedTexts(const Accounts& accounts) {
  std::map<std::string_view, std::vector<std::string>> names;  // by kind, each once
  std::map<std::string_view, std::string_view> losses;
  std::set<Identity> seen;
  for (const Holding& h : accounts.dropped) {
    auto& list = names[h.kind];
    losses.emplace(h.kind, h.loss);
    if (!h.name.empty() && seen.emplace(h.kind, h.name).second) list.push_back(h.name);
  }
  std::vector<std::string> out;
  for (auto& [kind, list] : names) {
    const size_t more = list.size() > kShownNames ? list.size() - kShownNames : 0;
    list.resize(list.size() - more);
    for (std::string& name : list) name = Quote(name);
    std::string text = fmt::format("dropped: {}", EscapeControls(kind));
    if (!list.empty()) text += fmt::format(" {}", fmt::join(list, ", "));
    if (more > 0) text += fmt::format(" and {} more", more);
    if (const auto loss = losses[kind]; !loss.empty()) text += fmt::format(" ({})", loss);
    out.push_back(std::move(text));
  }
  return out;
}

Json AccountsJson(const Accounts& accounts) {
  std::map<std::string, size_t> kept;
  for (const Holding& h : accounts.kept) ++kept[h.kind];
  return {{"kept", Json(kept)},
          {"adapted", ListJson(accounts.adapted)},
          {"dropped", ListJson(accounts.dropped)}};
}

}  // namespace nn

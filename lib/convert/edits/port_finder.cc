#include "convert/edits/port_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "base/text/text.h"
#include "passes/core/ports.h"

namespace nn {
namespace {

// What TensorFlow adds to the name of a tensor: the output of its operator, the function of a
// signature, the scope of an imported graph.
constexpr std::string_view kFirstOutput = ":0";
constexpr std::string_view kScopes[] = {"serving_default_", "import/"};

std::string Sanitized(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       static_cast<unsigned char>(c) >= 0x80;
    if (!plain) c = '_';
  }
  return out;
}

// What the name may become.
std::set<std::string> FormsOf(std::string_view name) {
  std::set<std::string> forms;
  const auto add = [&forms](std::string_view form) {
    if (form.empty()) return;
    forms.emplace(form);
    forms.insert(Sanitized(form));
  };
  const auto add_both = [&](std::string_view form) {
    add(form);
    if (form.ends_with(kFirstOutput)) add(form.substr(0, form.size() - kFirstOutput.size()));
  };
  add_both(name);
  for (const std::string_view scope : kScopes)
    if (name.starts_with(scope)) add_both(name.substr(scope.size()));
  return forms;
}

// K of "PREFIX_K".
std::optional<size_t> PositionIn(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.substr(prefix.size()).starts_with('_'))
    return std::nullopt;
  const std::string_view digits = name.substr(prefix.size() + 1);
  size_t k = 0;
  const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), k);
  const bool canonical = r.ec == std::errc() && fmt::format_int(k).str() == digits;
  return canonical ? std::optional(k) : std::nullopt;
}

}  // namespace

PortFinder::PortFinder(const std::vector<std::string>& names, std::vector<std::string> prefixes)
    : names_(names), prefixes_(std::move(prefixes)) {
  for (size_t i = 0; i < names.size(); ++i) exact_.emplace(names[i], i);
  for (size_t i = 0; i < names.size(); ++i) {
    exact_.emplace(Escape(names[i]), i);
    for (const std::string& form : FormsOf(names[i])) similar_[form].push_back(i);
  }
}

PortFinder::PortFinder(const std::vector<Port>& ports, std::vector<std::string> prefixes)
    : PortFinder(NamesOf(ports), std::move(prefixes)) {
  for (size_t i = 0; i < ports.size(); ++i)
    for (const std::string& form : FormsOf(ports[i].value->name())) similar_[form].push_back(i);
}

Result<std::optional<size_t>> PortFinder::Find(std::string_view name) const {
  if (const auto it = exact_.find(std::string(name)); it != exact_.end()) return it->second;
  std::set<size_t> found;
  for (const std::string& prefix : prefixes_)
    if (const auto k = PositionIn(name, prefix); k && *k < names_.size()) found.insert(*k);
  for (const std::string& form : FormsOf(name))
    if (const auto it = similar_.find(form); it != similar_.end())
      found.insert(it->second.begin(), it->second.end());
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return *found.begin();
  std::vector<std::string> candidates;
  candidates.reserve(found.size());
  for (const size_t i : found) candidates.push_back(names_[i]);
  return UsageError("{} could be any of {}", Quote(name), NameList(candidates));
}

Result<Assignment> PortFinder::Split(const std::string& text) const {
  auto exact = SplitAssignment(text, names_);
  if (exact) return exact;
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    NN_ASSIGN(const auto port, Find(std::string_view(text).substr(0, at)));
    if (port) return Assignment{*port, text.substr(at + 1)};
  }
  return exact;
}

std::string PortFinder::NoMatch() const {
  std::string positions;
  for (const std::string& prefix : prefixes_)
    positions += fmt::format("{}{}_K", positions.empty() ? "" : " or ", prefix);
  return fmt::format("matches no name of {}, nor {} by position", NameList(names_), positions);
}

Result<Assignment> SplitAssignment(const std::string& text, const std::vector<std::string>& names) {
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1))
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == std::string_view(text).substr(0, at))
        return Assignment{i, text.substr(at + 1)};
  if (text.find('=') == std::string::npos)
    return UsageError("{}: expected NAME=VALUE", Quote(text));
  return UsageError("{}: unknown name; expected one of {}", Quote(text), NameList(names));
}

}  // namespace nn

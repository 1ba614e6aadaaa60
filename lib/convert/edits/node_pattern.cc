#include "convert/edits/node_pattern.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

namespace nn {
namespace {

bool MatchesOne(const std::vector<std::string>& patterns, const Node& node) {
  const auto matches = [&](const std::string& name) {
    return !name.empty() && std::ranges::any_of(patterns, [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    });
  };
  return matches(std::string(node.name())) || matches(std::string(node.source_op())) ||
         std::ranges::any_of(node.outputs(),
                             [&](const Value* v) { return matches(std::string(v->name())); });
}

}  // namespace

std::function<bool(const Node&)> NodesMatching(std::vector<std::string> patterns) {
  if (patterns.empty()) return nullptr;
  return [patterns = std::move(patterns)](const Node& node) { return MatchesOne(patterns, node); };
}

}  // namespace nn

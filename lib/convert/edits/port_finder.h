// Finds inputs and outputs by the names that users and files give them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace nn {

// Splits "NAME=VALUE", where NAME is the name of a port (and may contain "="). kUsage if no port
// matches. `names` are those of the ports, in order.
struct Assignment {
  size_t port;
  std::string value;
};
Result<Assignment> SplitAssignment(const std::string& text, const std::vector<std::string>& names);

// The port of a name is
//   the port with this name, as it is or escaped as in .npz files; otherwise, the only one of
//   PREFIX_K                  port K
//   a name that is equal      without ":0" at the end and "serving_default_" or "import/" at the
//                             beginning, and with "_" for each ASCII character that is not a letter
//                             or a digit; each of these on either side, or not
class PortFinder {
 public:
  // `prefixes` are those of the positions, such as "in".
  PortFinder(const std::vector<std::string>& names, std::vector<std::string> prefixes);
  // Also finds a port by the name of its value, such as that of an NNAPI operand: NNAPI has no
  // names of inputs and outputs.
  PortFinder(const std::vector<Port>& ports, std::vector<std::string> prefixes);

  const std::vector<std::string>& names() const { return names_; }

  // nullopt if there is no port; kUsage if there are several.
  Result<std::optional<size_t>> Find(std::string_view name) const;
  // The port of "NAME=VALUE", where NAME may contain "=". kUsage if there is not exactly one.
  Result<Assignment> Split(const std::string& text) const;

  // "matches no name of "x", "y", nor in_K by position".
  std::string NoMatch() const;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> prefixes_;
  std::unordered_map<std::string, size_t> exact_;
  std::unordered_map<std::string, std::vector<size_t>> similar_;  // by what names become
};

}  // namespace nn

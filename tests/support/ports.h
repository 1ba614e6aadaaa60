// The interface of a graph as text.
#pragma once

#include <string>

#include "ir/graph.h"

namespace nn::test {

// The names of the inputs and outputs: "x state_in -> y state_out".
inline std::string PortsOf(const Graph& graph) {
  std::string out;
  for (const Port& p : graph.inputs()) out += p.name + " ";
  out += "->";
  for (const Port& p : graph.outputs()) out += " " + p.name;
  return out;
}

}  // namespace nn::test

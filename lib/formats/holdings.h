// The inventory of a model file: what it holds beside the graph that it computes.
// Design: docs/design/040-inventory.md.
#pragma once

#include <string>
#include <vector>

#include "formats/format.h"

namespace nn {

// A metadata entry, a signature, the documentation of an operator, ...
struct Holding {
  std::string kind;       // "metadata": the same words in all formats
  std::string name;       // within the kind: the key of an entry, after its owner; may be empty
  std::string digest;     // of the contents
  std::string becomes;    // what a graph has in its place; "": nothing
  std::string loss = {};  // for a report that it is dropped: what that means and what keeps it
  bool operator==(const Holding&) const = default;
};

// All that the model's file holds beside its graph. Each format has a table of the fields that are
// the graph; every other field is a holding, also one that is not in the schema.
std::vector<Holding> HoldingsOf(const ReadModel& model);

}  // namespace nn

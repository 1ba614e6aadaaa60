// The options for reading models and dumping them, and for the shapes of inputs: what the programs,
// C and Python call the members of the public structs, and what they do.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include <string_view>

#include "base/options.h"
#include "formats/given_inputs.h"
#include "nnsuite/options.h"
#include "nnsuite/shapes.h"

namespace nn {

// Each table describes the struct of its name.
OptionTable ReadLimitTable();
OptionTable DumpOptionTable();
OptionTable InputShapesTable();

// What options of several structs say about the batch and the lengths of inputs, and about the
// function that runs.
OptionFacts BatchFacts(std::string_view group, unsigned effects);
OptionFacts LengthFacts(std::string_view group, unsigned effects);
OptionFacts FunctionFacts(std::string_view group, unsigned effects);

// What the import takes.
InputSettings SettingsOf(const nnsuite::InputShapes& shapes);

}  // namespace nn

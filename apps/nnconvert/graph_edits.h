// The options that edit the imported graph (convert/edits/graph_edits.h).
#pragma once

#include "apps/common/command_line.h"
#include "apps/nnconvert/options.h"

namespace nn::app {

// The group of the options of all edits.
inline constexpr const char* kEditGroup = "Edits";

void AddGraphEditOptions(CommandLine& command, ConvertArguments& o);

// Moves shapes with symbols from `o.shapes` to `o.graph_edits`.
void SeparateSymbolShapes(ConvertArguments& o);

}  // namespace nn::app

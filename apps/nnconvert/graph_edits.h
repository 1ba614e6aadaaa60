// The options that edit the imported graph, in the order in which they apply: --merge,
// --input-shape with symbols, --set-batch, --preprocess, --layout.
#pragma once

#include <string_view>
#include <vector>

#include "apps/common/command_line.h"
#include "apps/nnconvert/options.h"
#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "passes/edits.h"

namespace nn::app {

// The group of the options of all edits.
inline constexpr const char* kEditGroup = "Edits";

void AddGraphEditOptions(CommandLine& command, ConvertArguments& o);

// Moves shapes with symbols from `o.shapes` to `o.symbol_shapes`.
void SeparateSymbolShapes(ConvertArguments& o);

// kUsage for options that lack another one.
Status CheckGraphEditOptions(const ConvertArguments& o);

// The first option that edits the graph; "" if none does.
std::string_view GraphEditOption(const ConvertArguments& o);

// Applies the options to a model of the format.
Result<std::vector<GraphEdit>> ApplyGraphEdits(const ConvertArguments& o, const Format& format,
                                               Graph& graph);

}  // namespace nn::app

// Broadcasts, for which ML Programs have no operation.
#pragma once

#include <string>

#include "base/status.h"
#include "formats/coreml/program/export/export.h"
#include "ir/graph.h"

namespace nn::coreml::program {

// Writes x, broadcast to the type of the result of the node, as the value `name`. `shape`: the
// shape of the result as a value, or null.
//
// A scalar that is constant fills the shape. Of other values, axes repeat, or if it is not known
// how often, the operand is combined with a neutral element of the shape.
Status WriteBroadcast(ExportContext& ctx, const Node& node, const Value* x, const Value* shape,
                      std::string name);

}  // namespace nn::coreml::program

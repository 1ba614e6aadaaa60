// Integers of other types than Core ML has, as i32.
#pragma once

#include "base/status.h"
#include "ir/graph.h"
#include "rewrite/legalize.h"

namespace nn::coreml {

// Turns values of up to 16 bits, u32 and u64 into i32, inputs, outputs and constants included,
// where all operators that use them have the same results: they move, choose or compare integers,
// or convert them to a type that holds them. Sums, differences and products of u8 and u16 are
// reduced to their bits; inputs of such models, too. Other values stay as they are. Counts each
// operator as a rewrite.
Status WidenIntegers(Graph& graph, RewriteCounts* counts);

}  // namespace nn::coreml

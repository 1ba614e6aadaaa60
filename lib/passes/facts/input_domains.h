// The contents that a graph accepts as inputs, and inputs drawn from them.
//
// The requirements of the operators (ops/support/domain.h) are propagated from the operators back
// to the inputs of the graph: through operators that move, select, clamp or convert elements, and
// through arithmetic with constants. A token index that is clipped, cast and added to an offset is
// therefore drawn from the rows of the table that it selects from. Requirements that depend on a
// computation of the graph (a length that must match another input) are not found.
//
// Design: docs/design/033-seeded-inputs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/type.h"
#include "ops/support/domain.h"

namespace nn {

// By position of the inputs. Dimensions should be bound (BindInputs()): indices into an axis of
// unknown size are unrestricted. Never fails; of contradictory requirements, one is kept.
std::vector<Domain> InputDomains(const Graph& graph);

// Contents for input number `i` of a graph, from `domain`:
//   unrestricted   SeededTensor(type, shape, seed, i) (ir/seeded.h)
//   contents       these, if they are as many as the tensor has elements
//   integers, bool   r.Bits(k) >> 11 modulo the number of integers in the domain. Open ends are
//                  those of SeededTensor: [0, 9], or the range of types of up to 16 bits. In
//                  quantized tensors: the integers that represent numbers in the domain.
//   floats         r.Unit(k), stretched from [-1, 1) to the part of the domain in it; if they have
//                  less than a hundredth of it in common, to the 2 units of the domain next to it
//   not 0          integers 0 become an end of the domain, floats move away from 0 by 1/64
// with r = SeededStream(seed, i). kUsage if the shape is unknown.
Result<Tensor> SeededInput(std::string_view name, const Type& type, size_t i, uint64_t seed,
                           const Domain& domain = {});

// A smaller domain for a second attempt, if a model rejects inputs for reasons unknown: level 1 has
// two neighboring integers or positive floats below 1, level 2 one integer. Level 0 is the domain.
inline constexpr int kMaxNarrowing = 2;
Domain Narrowed(const Domain& domain, const Type& type, int level);

}  // namespace nn

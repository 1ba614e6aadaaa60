// States that a conversion leaves to the model. In the graph, they are inputs and outputs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "convert/edits/interface.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/types/type.h"
#include "rewrite/legalize.h"

namespace nn {

struct KeptState {
  ModelState state;
  Type type = {};  // of its input, and of the initial value
};

// Takes those of `states` whose input and output the graph has, and moves these after the other
// inputs and outputs, in the order of the result. The others have become ports of the application.
// An output of a size that only a run knows gets that of the input, which the run then requires.
Result<std::vector<KeptState>> TakeKeptStates(Graph& graph, std::vector<ModelState>& states);

// Adds a state for each text "OUT=IN" (convert/edits/carry.h), or takes it from `others` if it is
// one already. kUsage for an input or output of several states.
Status AddCarriedStates(const Graph& graph, const std::vector<std::string>& carry,
                        std::vector<ModelState>& others, std::vector<ModelState>& kept);

// Without the ports of states, which are the last ones.
Interface WithoutStates(Interface interface, size_t states);

// A frame for the graph that is to be written (formats/state_frame.h), and its states.
// kUnsupported, with the way out, for a state whose input and output no longer have the same type
// and axes.
Result<std::shared_ptr<const NativeModel>> FrameWithStates(std::shared_ptr<const NativeModel> frame,
                                                           const std::vector<KeptState>& states,
                                                           const Graph& fitted,
                                                           const InterfaceAxes& axes,
                                                           std::vector<ModelState>& written);

// States that become ports of the application, with the types of their inputs.
std::vector<KeptState> PassedStates(const Graph& graph, std::vector<ModelState> states);

// What the application passes for the state before the first run: a number for all elements, or all
// of them, as an input of type `written` whose axes and integers differ from the state's by `map`
// and `offset`. kUnsupported if that type holds no such numbers.
Result<Tensor> PassedInitial(const KeptState& passed, const Type& written, const AxisMap& map,
                             int64_t offset);

// kInternal unless the written model begins with the same values.
Status CheckInitialValues(const std::vector<ModelState>& wanted,
                          const std::vector<ModelState>& written);

}  // namespace nn

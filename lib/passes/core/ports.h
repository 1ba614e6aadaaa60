// The ports of a graph, its inputs and outputs: names, shapes and contents for a run. A function
// that takes a Graph& must be the only one that uses the graph; the others may run concurrently.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn {

// The names of the ports, in order.
std::vector<std::string> NamesOf(const std::vector<Port>& ports);

// Replaces empty names by PREFIX_0, PREFIX_1, ... by position.
void NameUnnamed(std::vector<std::string>& names, std::string_view prefix);

// Names unnamed inputs in_0, in_1, ... and unnamed outputs out_0, out_1, ... by position.
void NamePorts(Graph& graph);

// The quoted names: "x", "y"; none, without quotes, if there are none.
std::string NameList(const std::vector<std::string>& names);
std::string NameList(const std::vector<Port>& ports);

// The symbols in the shapes of the inputs.
std::set<std::string> InputSymbols(const Graph& graph);

// The symbols that are the whole first dimension of an input, each once, in the order of the
// inputs. By convention, these are the batch.
std::vector<std::string> BatchSymbols(const Graph& graph);

// BindInputShapes(), for shapes that the user chose: shapes that the model contradicts only in its
// interior are kUsage too.
Status BindInputs(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes);

// Sets the batch symbols. kUsage if there are none, unless the first dimension of every input is
// `batch` already; for a negative batch, and for one that does not
// fit the model.
Status BindBatch(Graph& graph, int64_t batch);

// BindInputs() for the shapes, if there are any, then BindBatch() for the batch, if it is given.
Status BindShapes(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes,
                  std::optional<int64_t> batch);

// Sets the batch symbols, if there are any, to 1.
Status BindOpenBatch(Graph& graph);

// Clamps input `i` to scalars of its type, before everything that uses it.
Status ClipInput(Graph& graph, size_t i, Tensor min, Tensor max);

// kUsage, naming the options of the programs that help, if the shape of the input is unknown.
Status RequireShape(std::string_view name, const Type& type);

}  // namespace nn

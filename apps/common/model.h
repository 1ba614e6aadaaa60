// Models in the programs: reading, importing, shapes from the command line.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "passes/legalize.h"

namespace nn::app {

// --input-shape and --batch.
struct ShapeOptions {
  std::vector<std::string> input_shapes;  // "NAME:1,3,224,224"
  std::optional<int64_t> batch;

  bool empty() const { return input_shapes.empty() && !batch; }
};

// The size of a file, or of all files in a folder; nullopt if it cannot be determined.
std::optional<uint64_t> BytesOnDisk(const std::string& path);

// Logs that a side file got a name other than the requested one.
void SayOtherName(std::string_view wanted, std::string_view name);

// WriteDump(), with a log message if the tensor file got another name than requested.
Status WriteDumpOf(const ReadModel& read, const std::string& path, const DumpOptions& options);

// Names unnamed inputs in_0, in_1, ... and unnamed outputs out_0, out_1, ... by position.
void NamePorts(Graph& graph);

// Sets the requested shapes of the graph's inputs. kUsage for names, ranks or sizes that do not
// fit, and for a batch if no input has a symbolic first dimension.
Status BindShapes(Graph& graph, const ShapeOptions& options);
// The same for shapes by input name.
Status BindInputs(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes);

// Sets symbolic first dimensions of inputs to a batch of 1.
Status BindOpenBatch(Graph& graph);

// The symbols in the shapes of the inputs.
std::set<std::string> InputSymbols(const Graph& graph);

// kUsage, naming the options that help, if the shape of an input is unknown.
Status RequireShape(std::string_view name, const Type& type);

// Contents for input number `i` of a graph: SeededTensor(type, shape, seed, i). kUsage if its shape
// is unknown.
Result<Tensor> SeededInput(std::string_view name, const Type& type, size_t i, uint64_t seed);

// Legalizes the graph for the target and appends the illegal nodes to `obstacles`, which holds
// those of the import; nodes that were not imported are not added again.
Status FitTo(const Target& target, Graph& graph, InterfaceAxes& axes,
             std::vector<Obstacle>& obstacles);

// Multiply-adds of a run, with subgraphs counted once; nullopt if unknown.
std::optional<uint64_t> MultiplyAddsOf(const Node& node);

// Splits "NAME=VALUE", where NAME is the name of a port (and may contain "="). kUsage if no port
// matches.
struct Assignment {
  size_t port;
  std::string value;
};
Result<Assignment> SplitAssignment(const std::string& text, const std::vector<Port>& ports);

// The quoted names of the ports: "x", "y".
std::string NameList(const std::vector<Port>& ports);

}  // namespace nn::app

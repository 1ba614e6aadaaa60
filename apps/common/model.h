// Models as the programs use them: read, imported, with shapes from the command line.
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
#include "passes/legalise.h"

namespace nn::app {

// --input-shape and --batch.
struct ShapeOptions {
  std::vector<std::string> input_shapes;  // "NAME:1,3,224,224"
  std::optional<int64_t> batch;

  bool empty() const { return input_shapes.empty() && !batch; }
};

// The size of a file, or of all files in a folder; nullopt if it cannot be told.
std::optional<uint64_t> BytesOnDisk(const std::string& path);

// Says that a file beside the one that is written has another name than was asked for.
void SayOtherName(std::string_view wanted, std::string_view name);

// WriteDump(), which says so if the tensors' file has another name than wanted.
Status WriteDumpOf(const ReadModel& read, const std::string& path, const DumpOptions& options);

// Every input that has a name keeps it; the others become in_0, in_1, ..., and so do outputs as
// out_K, by position.
void NamePorts(Graph& graph);

// Gives the graph's inputs the shapes asked for. kUsage for names, ranks or sizes that do not fit,
// and for a batch where no input has a symbolic first dimension.
Status BindShapes(Graph& graph, const ShapeOptions& options);
// The same for shapes by input name.
Status BindInputs(Graph& graph, const std::map<std::string, std::vector<int64_t>>& shapes);

// Takes a symbolic first dimension of an input that nobody has given as a batch of 1.
Status BindOpenBatch(Graph& graph);

// The symbols in the shapes of the inputs.
std::set<std::string> InputSymbols(const Graph& graph);

// kUsage, with the options that help, if the shape of an input is not known.
Status RequireShape(std::string_view name, const Type& type);

// Contents for input number `i` of a graph: SeededTensor(type, shape, seed, i). kUsage if its shape
// is not known.
Result<Tensor> SeededInput(std::string_view name, const Type& type, size_t i, uint64_t seed);

// Makes the graph fit the target and adds what stays illegal to `obstacles`, which has the
// import's: those of the nodes that it could not import are known there.
Status FitTo(const Target& target, Graph& graph, InterfaceAxes& axes,
             std::vector<Obstacle>& obstacles);

// Multiply-adds of a run, those of sub-graphs counted once; nullopt if they are not known.
std::optional<uint64_t> MultiplyAddsOf(const Node& node);

// Splits "NAME=VALUE" where NAME is one of the ports' names (names may hold "="). kUsage if none
// fits.
struct Assignment {
  size_t port;
  std::string value;
};
Result<Assignment> SplitAssignment(const std::string& text, const std::vector<Port>& ports);

// "x", "y": the ports' names, quoted.
std::string NameList(const std::vector<Port>& ports);

}  // namespace nn::app

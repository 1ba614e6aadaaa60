// Runs graphs for tests: once by the reference evaluation, then on every SIMD target and thread
// count, which must give the same bits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exec/program.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace nn::test {

// A row of an operator's table: a graph in the text form, and its expected outputs for seeded
// inputs or for the given ones.
struct OpCase {
  std::string name;
  std::string graph;
  // Contents of the graph's inputs, flat, in order; empty: seeded (seed 1, stream = input number).
  std::vector<std::vector<double>> inputs = {};
  // Expected contents of the outputs, flat; empty: only the backends are compared with each other.
  std::vector<std::vector<double>> outputs = {};
  // Largest difference from `outputs`, relative to max(1, |expected|).
  double tolerance = 0;
};

// Parses the graph (a failed REQUIRE if it is wrong).
Graph Parse(std::string_view text);

// The inputs of a case.
std::vector<Tensor> InputsOf(const Graph& graph, const std::vector<std::vector<double>>& values);

// Runs the graph everywhere, checks that all bits agree, and returns the outputs.
std::vector<Tensor> RunEverywhere(const Graph& graph, const std::vector<Tensor>& inputs);

// The largest difference between the first results of two graphs, run everywhere on the same seeded
// inputs.
double LargestDifference(const Graph& a, const Graph& b);

// The difference between the reference evaluation and the SIMD targets, in bits or in the kind of
// error; or an internal error. "" if they agree, or if the reference evaluation exceeds the limits.
std::string BitDifference(const Graph& graph, const std::vector<Tensor>& inputs,
                          const RunLimits& limits = {});
// Checks that they agree.
void CheckSameBits(const Graph& graph, const std::vector<Tensor>& inputs);

// Checks that every node has a kernel: no step of the plan is the reference evaluation.
void CheckHasKernels(const Graph& graph);

// Why a run decides about the branches and loops of the graph, each as a line "operator: reason".
std::string WhyOpen(const Graph& graph);

// Runs the graph everywhere on seeded inputs, on kernels only; returns the number of steps.
size_t RunOnKernels(const std::string& text);

// The same with these values, repeated as often as necessary, for the second input, which holds
// indices.
void RunOnKernelsWithIndices(const std::string& text, const std::vector<double>& indices);

// Checks that a run fails by the reference evaluation, and with a plan with the same error; returns
// the program of the latter.
Program CheckSameError(const Graph& graph, const std::vector<Tensor>& inputs);

// RunEverywhere, and the comparison with the expected outputs.
void CheckCase(const OpCase& c);

// A graph of one operator, in the text form, on an input %x.
std::string OneOp(std::string_view type, std::string_view op);

// Attributes in braces; "" if there are none.
std::string Braced(std::string_view attrs);

// The error message of parsing, which includes inference; "" if it succeeds.
std::string ErrorOf(std::string_view graph);
// Whether it is an error that contains `part`; if not, the output of the test shows the actual
// result.
bool Fails(std::string_view graph, std::string_view part);

}  // namespace nn::test

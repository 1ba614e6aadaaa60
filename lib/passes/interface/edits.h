// Edits of a model's interface: sizes of inputs and states, layouts, preprocessing, and chained
// models. Each keeps the graph valid, and states how the edited model computes its outputs from the
// model before the edit, so that a run can verify it.
//
// Design: docs/design/030-interface-edits.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/dim.h"
#include "ops/nn/resize/resize.h"
#include "ops/support/window.h"

namespace nn {

// The outputs of a model for its inputs, both by position.
using ModelFunction = std::function<Result<std::vector<Tensor>>(std::vector<Tensor>)>;

// What one of several runs in succession, which pass states along, is given.
struct RunStep {
  std::map<std::string, int64_t> sizes;  // of symbols
  std::map<size_t, Tensor> contents;     // of inputs, by position
};

struct GraphEdit {
  std::vector<std::string> notes;  // for a report, one for each change
  // The function of the edited model, from that of the model before the edit. Null: the same.
  std::function<ModelFunction(ModelFunction)> wrap = nullptr;
  // Whether the outputs have the same bits.
  bool is_exact = true;
  // Sizes of new symbols for which the edited model computes what the one before does, each for
  // some of the runs. Empty: there are no new symbols.
  std::vector<std::map<std::string, int64_t>> sizes = {};
  // Whether all runs have another batch than the model before, which computes it in parts.
  bool is_other_batch = false;
  // Further sizes, for which it does so if a symbol is a batch of independent samples; empty: none.
  std::map<std::string, int64_t> guessed_sizes = {};
  // Runs that the edited model accepts, if not any do.
  std::vector<RunStep> steps = {};
};

// Gives inputs other shapes, by name, which may have symbols. Equal symbols are equal sizes. A
// symbol in place of a number opens the size: types are inferred again, and what holds the number
// (shapes in attributes, bounds of slices, operands with one element or equal parts for each
// sample) follows it. A symbol or a number in place of a symbol replaces it everywhere.
//
// A first axis of size 1 of all inputs is a batch. kUsage for shapes that do not fit; kUnsupported,
// with the name of the node, if a node fixes the size or joins the samples of a batch.
Result<GraphEdit> SetInputShapes(Graph& graph, const std::map<std::string, Dims>& shapes);

// Sets the batch, the first axis of the inputs: of those where it is a symbol, else of all inputs
// with axes, which must have the same size there. Other errors are those of SetInputShapes().
Result<GraphEdit> SetBatch(Graph& graph, const Dim& batch);

// The layout that the operators which use or compute the value have, if they agree; followed
// through operators that keep the order of axes or permute it.
std::optional<Layout> LayoutOf(const Value& value);

// Gives an input or output another layout by a transpose. `from` is the present one; nullopt: that
// of LayoutOf(). kUsage if it is unknown or `to`, or the port has fewer than 3 axes.
Result<GraphEdit> ChangeLayout(Graph& graph, bool is_input, size_t port, std::optional<Layout> from,
                               Layout to);

// What is computed before an input: (pixel * scale - mean[c]) / std[c] + bias[c].
struct Preprocessing {
  bool bytes = false;                   // the input becomes u8
  std::optional<double> scale;          // nullopt: 1/255 for bytes, else 1
  std::vector<double> mean, std, bias;  // one number, or one for each channel
  bool reverse_colors = false;          // of 3 channels
  // The input gets this height and width, and is resized to its present ones.
  std::optional<std::pair<int64_t, int64_t>> size;
  ResizeMode mode = ResizeMode::kLinear;  // or kNearest
  std::optional<Layout> layout;           // of the input; nullopt: by its operators, else its sizes

  bool has_numbers() const { return scale || !mean.empty() || !std.empty() || !bias.empty(); }
};

// Puts the preprocessing before an input. Bytes that are resized linearly are rounded to whole
// numbers. Quantized inputs get the integer that is nearest to the number. Without numbers, integer
// inputs get the pixel itself, i8 minus 128. kUsage for what the input cannot take.
Result<GraphEdit> PreprocessInput(Graph& graph, size_t input, const Preprocessing& preprocessing);

// An output, and an input that it feeds, by position: in another model, or in the next run.
struct Connection {
  size_t output = 0, input = 0;
};

// Fixes the sizes of states: inputs that get the value of an output in the run before.
//
// An output that is the input, of open size P along an axis, followed by the new elements of a run
// becomes a buffer of `length` elements, into which a run writes the new ones after the first P. P
// is the size of an axis of another input less the number of new elements, if the types of the
// graph require that size; otherwise, the new input "position", i32[1], states P. Other states have
// `length` elements in place of the open size. No notes: the sizes of all states are fixed.
//
// Design: docs/design/076-states-of-ml-programs.md.
Result<GraphEdit> FixStateSizes(Graph& graph, const std::vector<Connection>& states,
                                int64_t length);

// Appends a model. Outputs that are connected and inputs that they feed are no longer ports; other
// ports of `other` follow those of the graph, with `prefix` before names that the graph has. If the
// layouts of an output and the input are known to differ, a transpose is inserted. `run_other` is
// the function of `other`. kUsage for types that differ.
Result<GraphEdit> MergeGraph(Graph& graph, const Graph& other,
                             const std::vector<Connection>& connections, const std::string& prefix,
                             ModelFunction run_other);

}  // namespace nn

// Descriptions of the outputs of a run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/nnrun/options.h"
#include "base/json/json.h"
#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "tensorio/named_tensor.h"

namespace nn::app {

// An element of a tensor; complex numbers are text.
Json ValueJson(const Tensor& t, int64_t i);

// The results under the outputs' names.
std::vector<NamedTensor> NameOutputs(const Graph& graph, std::vector<Tensor> outputs);

// The outputs of a classifier that are not tensors of the graph: under its name, the label of the
// class with the highest score (the first of several), and as NAME.labels, for the output NAME with
// the scores, the labels of all classes. Empty, with a warning, if there is not one score for each
// class.
std::vector<NamedTensor> ClassOutputs(const Classes& classes, std::span<const NamedTensor> outputs);

// A table of the outputs: types, shapes, statistics, first values.
void DescribeOutputs(std::span<const NamedTensor> outputs, RunReport& report);
// The five highest scores of each output that has one for each line of the file of labels, or one
// more, which is then that of the background and comes first. Quantized scores are real numbers.
// kUsage if there is no such output.
Status DescribeScores(const Graph& graph, const std::string& labels,
                      std::span<const NamedTensor> outputs, RunReport& report);
// Digest() of all outputs; the JSON report also has the digest of each output.
void DigestOutputs(std::span<const NamedTensor> outputs, RunReport& report);

}  // namespace nn::app

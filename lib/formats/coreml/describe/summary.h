// The parts of Summarize(), one per file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/coreml/file/fields.h"
#include "formats/coreml/file/native.h"

namespace nn::coreml {

using Facts = std::vector<std::pair<std::string, std::string>>;

// The output and the limit on list elements.
struct Summary : ModelSummary {
  size_t shown_elements = 16;
};

// summary_fields.cc
// The fields that are set but `skip`, those of inner messages with their path after `prefix`. Long
// lists are cut. Weights are counted in `totals`.
void AddFields(const Fields& message, const std::string& prefix,
               const std::vector<std::string_view>& skip, Summary& totals, Facts& facts);
std::string DoubleText(double value);

// The name of stage i of a pipeline: its own, or "model3".
std::string StageName(const std::vector<std::string>& names, size_t i);

// The scope inside `name`, which is in `scope`; truncated on the left to 256 bytes.
std::string InnerScope(const std::string& scope, const std::string& name);

// summary_features.cc
TensorSummary DescribeFeature(const Fields& feature);
// Inputs, outputs and states, those of the default function where there are functions, and the
// other fields of the description.
void AddDescription(const Fields& description, Summary& out);

// summary_network.cc
// Layers become operators, those of branches and loops with a scope.
void AddNetwork(const Fields& network, const std::string& scope, Summary& out);

// summary_program.cc
// Operations become operators, those of functions besides `main` and of blocks with a scope. Blobs
// that several operations use count once.
void AddProgram(const Model& model, const Fields& program, const std::string& main,
                const std::string& scope, Summary& out, Facts& facts);

// summary_kinds.cc Parameters of models other than networks, programs and pipelines.
void AddKind(const Fields& model, std::string_view kind, Summary& totals, Facts& facts);

}  // namespace nn::coreml

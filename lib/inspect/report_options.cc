#include "inspect/report_options.h"

#include <vector>

#include "nnsuite/inspect.h"

namespace nn::inspect {

using nnsuite::ReportParts;

OptionTable ReportPartTable() {
  static const std::vector<OptionField> fields = {
      Option<&ReportParts::nodes>("nodes", {.help = "List every operator"}),
      Option<&ReportParts::op>("op", {.help = "List the operators of one type", .value = "TYPE"}),
      Option<&ReportParts::node>(
          "node",
          {.help = "Describe one operator: attributes, inputs, outputs, statistics of its weights",
           .value = "NAME|#INDEX"}),
      Option<&ReportParts::tensors>("tensors", {.help = "List every constant tensor"}),
      Option<&ReportParts::stats>(
          "stats", {.help = "With --tensors: read them and print statistics of their values",
                    .needs = {"tensors"}}),
      Option<&ReportParts::histogram>(
          "histogram", {.help = "With --tensors and --node: read the constants and draw how their "
                                "values are distributed"}),
      Option<&ReportParts::values>(
          "values", {.help = "List every input, constant and result with its inferred type and "
                             "shape"}),
      Option<&ReportParts::tree>("tree",
                                 {.help = "Count operators and parameters by scope and subgraph"}),
      Option<&ReportParts::cost>(
          "cost", {.help = "Multiply-adds, parameters and bytes per operator; peak memory of "
                           "activations (in file order, nothing in place); TensorFlow Lite: arena "
                           "and operators of a microcontroller"}),
      Option<&ReportParts::hash>(
          "hash", {.help = "Digests of structure and weights; they ignore names, the order of "
                           "operators, and parts that no output depends on"}),
  };
  return fields;
}

}  // namespace nn::inspect

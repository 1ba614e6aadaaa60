#include "check/check_options.h"

#include <vector>

#include "nnsuite/validate.h"

namespace nn {

using nnsuite::CheckOptions;

OptionTable CheckOptionTable() {
  static const std::vector<OptionField> fields = {
      Option<&CheckOptions::fail_on>(
          "fail-on", {.help = "Lowest severity of a finding with which the check fails: note, "
                              "warning or error (the default)",
                      .choices = {"note", "warning", "error"}}),
      Option<&CheckOptions::max_per_rule>(
          "max-per-rule",
          {.help = "Report at most N findings of each rule in a file, and count the rest",
           .value = "N",
           .least = 1}),
      Option<&CheckOptions::targets>(
          "for", {.help = "Report what prevents conversion to onnx[:OPSET], tflite, "
                          "coreml[:VERSION] or nnapi-1.0; repeatable",
                  .value = "FORMAT"}),
      Option<&CheckOptions::baseline>(
          "baseline", {.help = "Hide the findings that this file lists", .value = "FILE"}),
      Option<&CheckOptions::attestation>(
          "attestation",
          {.help = "Also check that MODEL is what this in-toto statement attests, such as one of "
                   "\"nnconvert --attest\"; signatures of an envelope are not checked",
           .value = "FILE"}),
  };
  return fields;
}

}  // namespace nn

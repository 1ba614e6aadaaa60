// What the drafts of SONNX, the safety-related profile of ONNX, require of a model: reqs.md,
// general_restrictions.md and graph.md. Requirements on the profile itself (its documentation,
// formal specification and reference implementation) are left out.
#include "validators/onnx/doc/clauses.h"

namespace nn::onnx {
namespace {

constexpr Clause kSonnxClauses[] = {
    {"SONNX reqs.md: REQ OP 000", "Operators are in the operator set of the profile.",
     "ONNX-SAFETY-001"},
    {"SONNX reqs.md: REQ-OP-010", "Operators are deterministic.", "ONNX-SAFETY-002"},
    {"SONNX reqs.md: REQ-OP-020", "Operators are those used during inference.", "ONNX-SAFETY-003"},
    {"SONNX reqs.md: need-ai-009", "Resource usage is deterministic and predictable.",
     "ONNX-SAFETY-007"},
    {"SONNX reqs.md: REQ-OP-030", "Operators have the inputs, outputs and attributes of ONNX.",
     "ONNX-NODE-006 ONNX-NODE-009 ONNX-NODE-010"},
    {"SONNX reqs.md: REQ-OP-030", "Inputs and attributes are in the domain of the operator.", "",
     "The drafts do not yet state the domains; the rules ONNX-OP-* check those of ONNX."},
    {"SONNX reqs.md: REQ-OP-070", "Default values are not used.", "ONNX-SAFETY-004"},
    {"SONNX reqs.md: REQ-GR-000", "Datatypes are indicated explicitly, without type inference.",
     "ONNX-SAFETY-005"},
    {"SONNX reqs.md: REQ-GR-000", "Shapes are explicit, without shape inference.",
     "ONNX-SAFETY-005 ONNX-SAFETY-006"},
    {"SONNX reqs.md: REQ-FO-000", "The model is a correct ONNX model.", "",
     "All rules of the spec profile check it."},
    {"SONNX reqs.md: REQ-FO-010", "The model needs no additional information.",
     "ONNX-NODE-004 ONNX-EXT-006"},
    {"SONNX reqs.md: REQ-FO-020", "The version of each operator is indicated precisely.",
     "ONNX-MODEL-003 ONNX-MODEL-005 ONNX-NODE-003"},
    {"SONNX reqs.md: REQ-FO-030", "Parameters are stored without loss of accuracy.", "",
     "A file does not show the parameters that it was made from."},
    {"SONNX reqs.md: REQ-FO-040", "The format can describe the meaning of inputs and outputs.", "",
     "doc_string can; the profile does not require it. ONNX-LINT-002 advises it."},
    {"SONNX reqs.md: REQ-FO-050", "The format can describe the deployment on a target.", "",
     "The draft does not state how."},
    {"SONNX general_restrictions.md: GR1", "Sparse tensors are not supported.", "ONNX-SAFETY-010"},
    {"SONNX general_restrictions.md: GR2", "Numerical types are indicated explicitly.",
     "ONNX-SAFETY-005"},
    {"SONNX general_restrictions.md: GR3", "Data types are not converted implicitly.",
     "ONNX-TYPE-001 ONNX-TYPE-002"},
    {"SONNX graph.md: C1", "A tensor is the output of exactly one operation, or an input.",
     "ONNX-GRAPH-007"},
    {"SONNX graph.md: C2", "Each input is the input of an operation.", "ONNX-SAFETY-009"},
    {"SONNX graph.md: C3", "The outputs have values at the end of the execution.",
     "ONNX-GRAPH-009 ONNX-GRAPH-010 ONNX-GRAPH-011"},
    {"SONNX graph.md: R1",
     "Each output of an operation is the input of another one or an output of the graph.",
     "ONNX-SAFETY-008"},
    {"SONNX graph.md: R2", "A graph contains only deterministic operators.", "ONNX-SAFETY-002"},
};

}  // namespace

std::span<const Clause> SonnxClauses() {
  return kSonnxClauses;
}

}  // namespace nn::onnx

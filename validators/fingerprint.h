// Identities of findings that survive another export of the model.
// Design: docs/design/058-fingerprints.md.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "formats/format.h"
#include "validators/finding.h"

namespace nn {

// Sets Finding::fingerprint: 16 hexadecimal digits of a hash of the rule, of the place without the
// numbers of operators and tensors, and of the names there. The text of the message, apart from
// the names that it quotes, does not matter. A name with a counter of the exporter ("Conv_12",
// "onnx::MatMul_731") is not stable; the operator is then identified by its type, its attributes
// and the identities of its operands, and a constant by its type, shape and first bytes.
//
// Findings with equal fingerprints, such as those of identical operators, cannot be told apart.
//
// `operator_lists`: the paths of the lists of the main graph's operators, "graph.node".
void AddFingerprints(const NativeModel& model, const Format& format,
                     std::span<const std::string_view> operator_lists,
                     std::vector<Finding>& findings);

// The fingerprint of a finding about a file that is not a model: that of its rule.
void AddFingerprint(Finding& finding);

}  // namespace nn

// The JSON forms of conversions and verifications, the members of
// schemas/nnconvert-report.schema.json.
#pragma once

#include <optional>
#include <string_view>

#include "base/json/json.h"
#include "base/status.h"
#include "convert/convert.h"
#include "convert/verify/verify.h"

namespace nn {

// The operator of the graph as reports name it, at the beginning of UnsupportedNode::node.
std::string_view OperatorOf(const UnsupportedNode& node);

// The first members of every report: its version and the tool.
Json ConversionHead();

Json VerificationJson(const Verification& verification);

// Adds what a conversion did, and the error that ended it.
void AddConversionJson(const Conversion& conversion, const std::optional<Error>& error, Json& json);

}  // namespace nn

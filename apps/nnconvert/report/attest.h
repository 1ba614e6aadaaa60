// A statement of how a model was made: nnconvert --attest.
#pragma once

#include <optional>

#include "apps/nnconvert/options.h"
#include "base/status.h"
#include "folder/convert_report.h"
#include "tensorio/graph_digest.h"

namespace nn::app {

// kUsage if the option does not fit the others.
Status CheckAttest(const ConvertArguments& arguments);

// The digests of the source that the statement has besides those of its files; nullopt without
// --attest. Called before the conversion, which may replace the source.
std::optional<GraphDigests> HashSource(const ConvertArguments& arguments);

// Writes the statement (check/statement.h) if the output was written.
Status WriteAttestation(const ConvertArguments& arguments,
                        const std::optional<GraphDigests>& source, const ConvertReport& report);

}  // namespace nn::app

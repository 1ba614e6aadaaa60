// A statement of how a model was made: nnconvert --attest.
#pragma once

#include "apps/nnconvert/options.h"
#include "apps/nnconvert/report/report.h"
#include "base/status.h"

namespace nn::app {

// kUsage if the option does not fit the others.
Status CheckAttest(const ConvertArguments& arguments);

// Before the conversion, which may replace its source: the digests of the source that the statement
// has besides those of its files.
void HashSource(const ConvertArguments& arguments, ConvertReport& report);

// Writes the statement (apps/common/model/provenance.h) if the output was written. Equal
// conversions give equal bytes: it has no time.
Status WriteAttestation(const ConvertArguments& arguments, const ConvertReport& report);

}  // namespace nn::app

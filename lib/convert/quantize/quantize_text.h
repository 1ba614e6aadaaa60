// Settings of a quantization from the names of nnconvert's options.
#pragma once

#include "base/status.h"
#include "convert/quantize/quantize_source.h"
#include "formats/format.h"
#include "nnsuite/convert.h"

namespace nn {

// The settings without samples and QuantizeOptions::keeps. kUsage for unknown names and options
// that exclude each other.
Result<QuantizeSettings> QuantizeSettingsOf(const nnsuite::QuantizeOptions& options,
                                            const Format& target);

}  // namespace nn

// nnconvert --quantize and the options that go with it.
#pragma once

#include <functional>

#include "apps/common/command_line.h"
#include "apps/nnconvert/options.h"
#include "base/status.h"
#include "convert/quantize/quantize_source.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::app {

void AddQuantizeOptions(CommandLine& command, ConvertArguments& o);

// kUsage for an option that --quantize does not accept, or that requires it.
Status CheckQuantizeUsage(const ConvertArguments& o);

// The settings for a model of format `source`. `o` and the formats must outlive them. Requires
// CheckQuantizeUsage() to succeed, and --quantize.
QuantizeSettings QuantizeSettingsOf(const ConvertArguments& o, const Format& source,
                                    const Format& target, std::function<bool(const Node&)> keeps);

}  // namespace nn::app

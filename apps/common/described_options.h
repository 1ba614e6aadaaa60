// Command-line options from the table that describes a struct (base/options.h).
#pragma once

#include <CLI/CLI.hpp>

#include "base/options.h"

namespace nn::app {

// Adds the options of the table that programs have. `values` gets those that the command line has,
// which SetOptions() then checks and sets; it must live as long as `app`.
void AddDescribedOptions(CLI::App& app, OptionTable table, OptionValues& values);

}  // namespace nn::app

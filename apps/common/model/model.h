// Files of models in the programs, with messages.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "formats/format.h"

namespace nn::app {

// Logs that a side file got a name other than the requested one.
void SayOtherName(std::string_view wanted, std::string_view name);

// WriteDump(), with a log message if the tensor file got another name than requested.
Status WriteDumpOf(const ReadModel& read, const std::string& path, const DumpOptions& options);

}  // namespace nn::app

// The report of a conversion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "convert/convert.h"

namespace nn::app {

struct ConvertReport {
  std::string input, input_format;
  std::string output, output_format;
  bool dry_run = false;
  bool copy = false;     // copied without import
  bool renamed = false;  // with other names for inputs or outputs
  bool written = false;
  std::optional<uint64_t> bytes;  // of the written files; nullopt for a dump on standard output
  Conversion conversion;          // empty for a dump
  std::optional<Error> error;     // that ended a dry run for one of several targets
};

std::string ConvertText(const ConvertReport& report);
Json ConvertJson(const ConvertReport& report);
// Dry runs of one model for several targets, of which there is at least one.
std::string TargetsText(const std::vector<ConvertReport>& targets);
Json TargetsJson(const std::vector<ConvertReport>& targets);

}  // namespace nn::app

// The report of a conversion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "convert/convert.h"

namespace nn::app {

struct ConvertReport {
  std::string input, input_format;
  std::string output, output_format;
  bool dry_run = false;
  bool copy = false;  // copied without import
  bool written = false;
  std::optional<uint64_t> bytes;  // of the written files; nullopt for a dump on standard output
  Conversion conversion;          // empty for a dump
};

std::string ConvertText(const ConvertReport& report);
Json ConvertJson(const ConvertReport& report);

}  // namespace nn::app

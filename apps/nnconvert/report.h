// The report of a conversion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/nnconvert/options.h"

namespace nn::app {

// An input or output whose axes are permuted in the written model: axis k there is axis axes[k] of
// the source.
struct MovedPort {
  std::string kind;  // "input" or "output"
  std::string name;
  std::string from;  // types
  std::string to;
  std::vector<int> axes;
};

struct ConvertReport {
  std::string input, input_format;
  std::string output, output_format;
  std::vector<Obstacle> obstacles;
  std::string rest_unchecked;  // why some operators were not checked; empty if all were
  std::vector<MovedPort> moved_ports;
  int batch_norms_folded = 0;           // into convolutions
  int64_t batch_norms_written_out = 0;  // as product and sum
  bool dry_run = false;
  bool copy = false;  // copied without import
  bool written = false;
  // Size of the written files; nullopt for a copy on standard output.
  std::optional<uint64_t> bytes;
  std::vector<std::pair<std::string, uint64_t>> side_files;
  std::optional<Verification> verification;  // nullopt: not verified
};

std::string ConvertText(const ConvertReport& report);
Json ConvertJson(const ConvertReport& report);

}  // namespace nn::app

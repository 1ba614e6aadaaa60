// Known findings that reports hide: nnvalidate --baseline, --write-baseline.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "base/status.h"
#include "validators/report.h"

namespace nn::app {

class Baseline {
 public:
  // Reads schemas/nnvalidate-baseline.schema.json. kUsage for other contents.
  static Result<Baseline> Read(const std::string& path);
  static Baseline Of(const Report& report);

  // Writes the whole file or nothing. Equal findings give equal bytes.
  Status Write(const std::string& path) const;
  // Removes the findings that the baseline contains, and adds their number to FileReport::known. Of
  // each fingerprint, at most as many as the baseline counts.
  void Hide(FileReport& file) const;
  uint64_t size() const;

 private:
  // File, rule and fingerprint, with the number of occurrences.
  std::map<std::tuple<std::string, std::string, std::string>, uint64_t> known_;
};

}  // namespace nn::app

// Findings that are known and let be: nnvalidate --baseline, --write-baseline.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "base/status.h"
#include "validators/report.h"

namespace nn::app {

class Baseline {
 public:
  // schemas/nnvalidate-baseline.schema.json. kUsage for other contents.
  static Result<Baseline> Read(const std::string& path);
  static Baseline Of(const Report& report);

  // Complete or not there. The same findings give the same bytes.
  Status Write(const std::string& path) const;
  // Moves the findings that it knows to FileReport::known. As many of one fingerprint are known as
  // there were when it was written.
  void Hide(FileReport& file) const;
  uint64_t size() const;

 private:
  // File, rule, fingerprint; how often it occurs.
  std::map<std::tuple<std::string, std::string, std::string>, uint64_t> known_;
};

}  // namespace nn::app

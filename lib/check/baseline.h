// Known findings that reports hide (nnsuite::CheckOptions::baseline).
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/status.h"
#include "validators/report.h"

namespace nn {

class Baseline {
 public:
  // Reads schemas/nnvalidate-baseline.schema.json. kUsage for other contents, and for baselines of
  // older versions.
  static Result<Baseline> Read(const std::string& path);
  // The findings of a report, which have fingerprints, for a file at `path`.
  static Baseline Of(const Report& report, const std::string& path);

  // Writes the whole file or nothing. Equal findings give equal bytes.
  Status Write() const;
  // Removes the findings that the baseline contains, and adds their number to FileReport::known. Of
  // each fingerprint, at most as many as the baseline counts.
  void Hide(FileReport& file);
  // After Hide() for all files: the entries without a finding, of the files that were checked and
  // of files that do not exist. Entries of rules that were not applied are not stale.
  std::vector<StaleEntry> Stale(const Report& report) const;
  uint64_t size() const;
  const std::string& path() const { return path_; }

 private:
  struct Entry {
    uint64_t count = 0;
    uint64_t used = 0;    // findings that Hide() removed
    std::string message;  // of one of the findings, for readers of the file
  };

  explicit Baseline(std::string path);
  // The path that the file has in the baseline: relative to the folder of the baseline.
  std::string Relative(const std::string& file) const;

  std::string path_;
  std::string folder_;
  // By file, rule and fingerprint.
  std::map<std::tuple<std::string, std::string, std::string>, Entry> known_;
};

}  // namespace nn

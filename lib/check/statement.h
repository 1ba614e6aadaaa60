// Writes the statement of how a model was made (check/provenance.h): nnconvert --attest, and
// nnsuite::ConvertAndAttest().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/model_files.h"
#include "base/json/json.h"
#include "base/status.h"
#include "nnsuite/inspect.h"
#include "nnsuite/options.h"

namespace nn {

// What is stated about a conversion, whose output is in place.
struct ConversionFacts {
  std::string source = {};  // path of the model
  // Of the source before the conversion, which may have replaced it.
  std::vector<FileDigest> source_files = {};
  std::optional<nnsuite::ModelDigests> source_hashes = {};  // nullopt: it cannot be imported
  std::string output = {};                                  // path
  std::string_view output_format = {};                      // Format::label
  std::vector<std::string> beside = {};                     // names of its other files
  Json options = {};                // those that decide about the output, as nnconvert states them
  Json report = {};                 // ReportJson()
  nnsuite::ReadLimits limits = {};  // of the output, which is read again
  std::string_view version = {};
};

// Equal conversions give equal bytes: the statement has no time. kIo if a file cannot be read or
// written.
Status WriteStatement(const std::string& path, const ConversionFacts& facts);

}  // namespace nn

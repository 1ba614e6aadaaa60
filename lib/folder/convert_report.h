// Reports of conversions of files and of folders: what happened, and its JSON form
// (schemas/nnconvert-report.schema.json).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file/model_files.h"
#include "base/json/json.h"
#include "base/status.h"
#include "convert/convert.h"
#include "convert/verify/outcome.h"
#include "edit/apply.h"

namespace nn {

// One conversion.
struct ConvertReport {
  std::string input, input_format;
  std::string output, output_format;
  // Empty if they were not asked for, and for standard input and output.
  std::vector<FileDigest> input_files, output_files;
  bool dry_run = false;
  bool copy = false;     // copied without import
  std::string c_header;  // the file beside a C source; "": the output is the model itself
  bool renamed = false;  // copied with other names for inputs or outputs
  std::optional<edit::EditReport> native_edit;
  bool typed = false;      // copied with the inferred types of all values
  bool unchanged = false;  // skipped: the output of an earlier run is up to date
  bool written = false;
  std::optional<uint64_t> bytes;  // of the written files; nullopt for a dump on standard output
  Conversion conversion;          // empty for a dump
  std::optional<Error> error;     // that ended the conversion
};

// The conversions of the models in a folder.
struct FolderReport {
  std::string input;
  std::string output;  // "" for a dry run without an output folder
  std::string output_format;
  bool dry_run = false;
  std::vector<ConvertReport> models;
  uint64_t skipped = 0;  // files that are not models
};

// The verification of the edits or of the conversion that did not pass; null if there is none.
const Verification* FailedVerification(const ConvertReport& report);
Outcome OutcomeOf(const ConvertReport& report);

// The exit code of the program for the report. Of several conversions, the worst one (WorstCode()).
int ReportCode(const ConvertReport& report);
int ReportCode(const FolderReport& report);

// The worst of two exit codes, in the order 2, 4, 1, 3, 0.
int WorstCode(int a, int b);

Json FilesJson(const std::vector<FileDigest>& files);
Json InputJson(const ConvertReport& report);
// Adds what is not about the input.
void AddReportJson(const ConvertReport& report, Json& json);
Json ReportJson(const ConvertReport& report);
Json ReportJson(const FolderReport& report);

}  // namespace nn

// Reports of conversions: the outcome, and its forms as text, JSON and documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/model/document.h"
#include "apps/nnconvert/native_edits.h"
#include "base/json/json.h"
#include "base/status.h"
#include "convert/convert.h"
#include "convert/place/model_files.h"
#include "convert/verify/outcome.h"
#include "tensorio/graph_digest.h"

namespace nn::app {

// One conversion.
struct ConvertReport {
  std::string input, input_format;
  std::string output, output_format;
  // Empty if they were not asked for, and for standard input and output.
  std::vector<FileDigest> input_files, output_files;
  std::optional<GraphDigests> input_hash;  // for an attestation
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

// Dry runs of one model for several targets, of which there is at least one.
struct TargetsReport {
  std::vector<ConvertReport> targets;
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

Outcome OutcomeOf(const ConvertReport& report);
// In a few words: "verified", "2 operators cannot be converted: erf, lstm".
std::string OutcomeText(const ConvertReport& report);

// The exit code for the report. Of several conversions, the worst in the order 2, 4, 1, 3, 0.
int ReportCode(const ConvertReport& report);
int ReportCode(const TargetsReport& report);
int ReportCode(const FolderReport& report);

std::string ReportText(const ConvertReport& report);
std::string ReportText(const TargetsReport& report);
std::string ReportText(const FolderReport& report);

Json ReportJson(const ConvertReport& report);
Json ReportJson(const TargetsReport& report);
Json ReportJson(const FolderReport& report);

Document ReportDocument(const ConvertReport& report);
Document ReportDocument(const TargetsReport& report);
Document ReportDocument(const FolderReport& report);

// ---- Shared by the forms ------------------------------------------------------------------------

// "erf x6, lstm": the unsupported nodes by operator.
std::string OperatorCounts(const std::vector<UnsupportedNode>& unsupported);
// "2 operators cannot be converted".
std::string UnsupportedCount(const std::vector<UnsupportedNode>& unsupported);
// The unsupported nodes, those with the same operator and reason together.
Table UnsupportedTable(const std::vector<UnsupportedNode>& unsupported, bool titled);
// "verified by 3 runs (seeds 0, 1, 2)".
std::string VerificationSummary(const Verification& verification);
// The same for the edits of a model.
std::string EditSummary(const Verification& verification);
// The drift of each output.
Table DriftTable(const Verification& verification);
// How far the float model is from the quantized one.
std::string QuantizedDriftSummary(const QuantizedDrift& drift);
Table QuantizedDriftTable(const QuantizedDrift& drift);
// The changes of a dequantized model: a sentence for each input and output, and for its kernels.
std::vector<std::string> DequantizedTexts(const Conversion& conversion);
// A sentence for each input and output that only has another element type.
std::vector<std::string> RetypedTexts(const Conversion& conversion);
// "input "x" is transposed: f32[1, 3, 8, 8] -> f32[1, 8, 8, 3] (axes 0, 2, 3, 1)".
std::string MovedPortText(const MovedPort& port);
std::string ShiftedPortText(const ShiftedPort& port);
// Sentences about batch normalizations, operators that were not checked, and what would help.
std::vector<std::string> Remarks(const Conversion& conversion);
// What the written model does not have of the source's file, beside the graph.
std::vector<std::string> HoldingTexts(const Conversion& conversion);
// What --quantize did, in sentences, and the SNR of each quantized value; `most`: of the values
// with the lowest ones.
std::vector<std::string> QuantizeTexts(const ConvertReport& report);
Table QuantizedValuesTable(const QuantizeOutcome& outcome, size_t most);
// "34.2", or "inf" where nothing differs.
std::string DecibelText(double snr);
// A row for each model: path below the folder, result, size.
Table ModelsTable(const FolderReport& report);
// "5 models: 2 converted, 3 unsupported; 1 other file skipped".
std::string ModelsSummary(const FolderReport& report);
// A row for each target and its outcome.
Table TargetsTable(const TargetsReport& report);
Json FilesJson(const std::vector<FileDigest>& files);
// The path of the model below the folder.
std::string NameInFolder(const FolderReport& folder, const ConvertReport& model);

}  // namespace nn::app

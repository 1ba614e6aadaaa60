// Reports of conversions (folder/convert_report.h) as text, JSON and documents.
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
#include "folder/convert_report.h"

namespace nn::app {

// Dry runs of one model for several targets, of which there is at least one.
struct TargetsReport {
  std::vector<ConvertReport> targets;
};

// In a few words: "verified", "2 operators cannot be converted: erf, lstm".
std::string OutcomeText(const ConvertReport& report);

int ReportCode(const TargetsReport& report);

std::string ReportText(const ConvertReport& report);
std::string ReportText(const TargetsReport& report);
std::string ReportText(const FolderReport& report);

Json ReportJson(const TargetsReport& report);

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
std::string PortChangeText(const PortChange& port);
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
// The path of the model below the folder.
std::string NameInFolder(const FolderReport& folder, const ConvertReport& model);

}  // namespace nn::app

// Pages that show models in a browser: one HTML file each, without references to others.
// Design: docs/design/054-inspection-pages.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "inspect/diff/diff.h"
#include "inspect/loaded.h"

namespace nn::inspect {

// What other programs found out about a model, for the page. Operators are indices into
// ModelSummary::operators.
struct PageNotes {
  struct Finding {
    std::optional<size_t> op;  // nullopt: of the model
    std::string severity;      // "error", "warning", "note"
    std::string rule;
    std::string message;
    std::string hint;
  };
  std::vector<Finding> findings;
  std::vector<std::pair<size_t, double>> times;  // milliseconds
  // Noise over signal of the operator's results, in amplitude: 0.01 is an SNR of 40 dB.
  std::vector<std::pair<size_t, double>> errors;
  double other_time = 0;  // of steps that belong to no operator of the file
};

// Limit of all formats: operators of a model that is shown as a page.
inline constexpr size_t kMaxPageOperators = 100'000;

// The graph with nested groups (inspect/picture/groups.h) that the reader of the page opens and
// closes, a search, and all details of each operator. Reads all weights, for their statistics.
// kLimit for a model of too many operators; the errors of DrawModel.
Result<std::string> ModelPage(const LoadedModel& model, const PageNotes& notes = {});

// Two models side by side, with the operators marked that differ. The errors of ModelPage.
Result<std::string> DiffPage(const LoadedModel& a, const LoadedModel& b, const ModelDiff& diff);

}  // namespace nn::inspect

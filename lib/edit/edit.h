// Edits of a model in its own format, without import: parts are cut out, outputs added and removed,
// values renamed, metadata set. Unknown operators are carried.
//
//   EditOptions options;
//   options.extract = "..features.18/relu";
//   NN_ASSIGN(const EditedModel edited, EditModel(read, options));
//   NN_ASSIGN(Verification same, VerifyEdit(read, edited, {}));
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "convert/verify/verify.h"
#include "edit/plan.h"
#include "formats/common/edit/native_edit.h"
#include "formats/format.h"

namespace nn::edit {

struct EditSummary {
  size_t operators_before = 0, operators_after = 0;  // of main graphs
  // Inputs and outputs by their names in the source.
  std::vector<std::string> new_inputs, dropped_inputs, new_outputs, dropped_outputs;
  std::vector<std::pair<std::string, std::string>> renamed;  // old and new names
  bool sorted = false;  // main graphs only: the operators were not in the order of their results
};

struct EditedModel {
  ReadModel model;  // shares weights with the source, which may be freed
  EditSummary summary;
  // The inputs and outputs of the edited model by their names in the source, with the types of the
  // new ones, in the order of ModelDescriber::PortNamesOf.
  std::vector<std::pair<std::string, ValueType>> inputs, outputs;
};

// The edited model, checked by the rules of its format. `path` is that of the source. Errors are
// those of PlanEdit, ModelEditor::Apply and CheckEffects; kUnsupported if the edited model breaks a
// rule that the source does not break.
Result<EditedModel> EditModel(const ReadModel& source, const std::string& path,
                              const EditOptions& options);

// Runs the source, and the edited model on what the source computes at the edited model's inputs.
// Verification::passed: all outputs have the bits that the source computes there. Errors are those
// of importing and running both.
Result<Verification> VerifyEdit(const ReadModel& source, const EditedModel& edited,
                                const VerifyOptions& options);

}  // namespace nn::edit

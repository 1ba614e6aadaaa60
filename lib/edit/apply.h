// Edits a model, verifies the edit, and reports both.
#pragma once

#include <optional>
#include <string>

#include "base/json/json.h"
#include "base/status.h"
#include "convert/place/accounts.h"
#include "convert/verify/verify.h"
#include "edit/edit.h"
#include "formats/format.h"

namespace nn::edit {

struct ApplyOptions {
  EditOptions edits = {};
  ReadLimits limits = {};  // of the patched model
  bool verify = true;      // unless the edits change only texts
  VerifyOptions verification = {};
};

struct EditReport {
  bool patched = false;
  std::optional<EditSummary> summary;  // nullopt if there was only a patch
  std::optional<Verification> verification;
  std::string unverified;  // why there is none
  Accounts holdings;       // of the source
};

// Replaces the model, which was read from `path`, by the edited one. A verification that fails is a
// result; one that is impossible is EditReport::unverified. Errors are those of PatchModel and
// EditModel.
Result<EditReport> ApplyEdits(const ApplyOptions& options, const std::string& path,
                              ReadModel& read);

// `native_edits` in schemas/nnconvert-report.schema.json.
Json EditJson(const EditReport& report);

}  // namespace nn::edit

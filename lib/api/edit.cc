#include "nnsuite/edit.h"

#include <utility>

#include "api/access.h"
#include "api/convert.h"
#include "edit/apply.h"

namespace nnsuite {

Result<EditedModel> EditModel(const Model& model, const EditOptions& options,
                              const std::optional<VerifyOptions>& verification,
                              const ProgressCallback& progress) {
  const auto& source = Access::Of(model);
  nn::ReadModel read = source.read;
  nn::edit::ApplyOptions apply;
  apply.edits = options;
  apply.verify = verification.has_value();
  if (verification) static_cast<VerifyOptions&>(apply.verification) = *verification;
  // A verification that ends for another reason leaves an edit that is not verified.
  Status ended;
  if (progress)
    apply.verification.progress = [&](uint64_t done, uint64_t total) {
      ended = nn::api::Reporting(progress, "runs", "edit")(done, total);
      return ended;
    };
  NN_ASSIGN(nn::edit::EditReport report, nn::edit::ApplyEdits(apply, source.path, read));
  NN_RETURN_IF_ERROR(ended);
  EditedModel out = {Access::Wrap(std::move(read), source.path, true)};
  out.report = nn::JsonText(nn::edit::EditJson(report));
  if (report.verification) out.verification = nn::api::WrapVerification(*report.verification);
  out.unverified = std::move(report.unverified);
  if (!report.summary) return out;
  nn::edit::EditSummary& s = *report.summary;
  out.operators_before = s.operators_before;
  out.operators_after = s.operators_after;
  out.new_inputs = std::move(s.new_inputs);
  out.dropped_inputs = std::move(s.dropped_inputs);
  out.new_outputs = std::move(s.new_outputs);
  out.dropped_outputs = std::move(s.dropped_outputs);
  out.renamed = std::move(s.renamed);
  return out;
}

}  // namespace nnsuite

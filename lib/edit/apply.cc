#include "edit/apply.h"

#include <utility>

#include "convert/verify/conversion_json.h"

namespace nn::edit {

Result<EditReport> ApplyEdits(const ApplyOptions& o, const std::string& path, ReadModel& read) {
  EditReport report;
  const std::vector<Holding> holdings = HoldingsOf(read);
  NN_RETURN_IF_ERROR(ParseStrip(o.edits.strip).map([](const NativeEdit::Strip&) {}));
  if (o.patch) {
    auto patched = PatchModel(read, *o.patch, path, o.limits);
    if (!patched)
      return tl::unexpected(o.patch_path.empty() ? patched.error()
                                                 : patched.error().In(o.patch_path));
    read = *std::move(patched);
    report.patched = true;
    if (!HasEdits(o.edits)) report.holdings = AccountFor(holdings, HoldingsOf(read), true);
  }
  if (!HasEdits(o.edits)) return report;
  auto edited = EditModel(read, path, o.edits);
  if (!edited) return tl::unexpected(path.empty() ? edited.error() : edited.error().In(path));
  report.summary = edited->summary;
  if (o.verify && MayChangeValues(o.edits)) {
    auto verified = VerifyEdit(read, *edited, o.verification);
    const bool is_flaw = !verified && (verified.error().code() == ErrorCode::kInternal ||
                                       verified.error().code() == ErrorCode::kIo);
    if (is_flaw) return tl::unexpected(verified.error());
    if (verified)
      report.verification = *std::move(verified);
    else
      report.unverified = verified.error().message();
  }
  read = std::move(edited->model);
  report.holdings = AccountFor(holdings, HoldingsOf(read), true);
  return report;
}

Json EditJson(const EditReport& r) {
  Json json = {{"patched", r.patched}};
  if (r.summary) {
    const EditSummary& s = *r.summary;
    json["operators"] = {{"before", s.operators_before}, {"after", s.operators_after}};
    json["sorted"] = s.sorted;
    json["new_inputs"] = s.new_inputs;
    json["dropped_inputs"] = s.dropped_inputs;
    json["new_outputs"] = s.new_outputs;
    json["dropped_outputs"] = s.dropped_outputs;
    Json& renamed = json["renamed"] = Json::array();
    for (const auto& [from, to] : s.renamed) renamed.push_back({{"from", from}, {"to", to}});
  }
  if (!r.holdings.empty()) json["holdings"] = AccountsJson(r.holdings);
  if (!r.unverified.empty()) json["unverified"] = r.unverified;
  json["verification"] = r.verification ? VerificationJson(*r.verification) : Json(nullptr);
  return json;
}

}  // namespace nn::edit

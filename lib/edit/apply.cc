#include "edit/apply.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/file/blob.h"
#include "base/file/file.h"
#include "convert/verify/conversion_json.h"

namespace nn::edit {
namespace {

// Limit of options: bytes of the patch of --compose-json, which is read whole.
constexpr uint64_t kMaxPatchBytes = uint64_t{256} << 20;

}  // namespace

Result<EditReport> ApplyEdits(const ApplyOptions& o, const std::string& path, ReadModel& read) {
  EditReport report;
  const std::vector<Holding> holdings = HoldingsOf(read);
  NN_RETURN_IF_ERROR(ParseStrip(o.edits.strip).map([](const NativeEdit::Strip&) {}));
  if (!o.edits.patch.empty()) {
    NN_ASSIGN(const Blob patch, ReadFile(o.edits.patch, kMaxPatchBytes));
    const std::string_view text(reinterpret_cast<const char*>(patch.data()), patch.size());
    auto patched = PatchModel(read, text, path, o.limits);
    if (!patched) return tl::unexpected(patched.error().In(o.edits.patch));
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

#include "apps/nnvalidate/attestation.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "apps/common/provenance.h"
#include "base/text.h"
#include "convert/model_files.h"
#include "validators/rule.h"

namespace nn::app {
namespace {

constexpr RuleInfo kSubject = {
    .id = "ATTEST-SUBJECT",
    .statement = "The files of the model are the subjects of the statement, by their digests.",
    .clause = "in-toto Attestation Framework, Statement v1, subject",
    .hint = "Use the model that was attested, or convert it again with --attest."};
constexpr RuleInfo kHash = {
    .id = "ATTEST-HASH",
    .statement =
        "The structure and the weights of the model are those of the statement, however they are "
        "stored.",
    .clause = "nninspect --hash",
    .hint = "Use the model that was attested, or convert it again with --attest."};
constexpr RuleInfo kResult = {
    .id = "ATTEST-RESULT",
    .severity = Severity::kWarning,
    .statement = "The statement is about a conversion that runs of both models verified.",
    .clause = "nnconvert --attest",
    .hint = "Convert the model without --no-verify, or with inputs that it can run on."};

// A digest as SHA-256 digits, with the name of what it is of.
using Named = std::pair<std::string, std::string>;

class AttestationChecker {
 public:
  AttestationChecker(const ReadModel& model, const std::string& path, const ReadLimits& limits,
                     const Attestation& attestation)
      : model_(model), path_(path), limits_(limits), attestation_(attestation) {
    const Json& statement = attestation_.statement;
    const Json* const predicate = Member(&statement, "predicate");
    const Json* const build = Member(Member(predicate, "buildDefinition"), "buildType");
    is_conversion_ = build != nullptr && *build == provenance::kBuildType;
    details_ = is_conversion_ ? Member(predicate, "runDetails") : nullptr;
  }

  Result<std::vector<Finding>> Run() {
    NN_RETURN_IF_ERROR(CheckSubjects());
    if (details_ != nullptr) {
      CheckHash();
      CheckResult();
    }
    return std::move(out_);
  }

 private:
  static const Json* Member(const Json* json, const char* name) {
    if (json == nullptr || !json->is_object() || !json->contains(name)) return nullptr;
    return &(*json)[name];
  }

  void Add(const RuleInfo& rule, std::string message) {
    out_.push_back({std::string(rule.id), rule.severity, std::move(message), {}, {}});
  }

  // The files of the model.
  Result<std::vector<Named>> Files() const {
    NN_ASSIGN(const std::vector<FileDigest> files, DigestModel(path_, model_.model->files.Names()));
    std::vector<Named> out;
    for (const FileDigest& f : files) out.emplace_back(f.name, f.digits());
    return out;
  }

  // Subjects without a name or without a digest of that kind have empty ones.
  std::vector<Named> Subjects() const {
    const auto text = [](const Json* json) {
      return json != nullptr && json->is_string() ? json->get<std::string>() : std::string();
    };
    std::vector<Named> out;
    for (const Json& s : attestation_.statement["subject"])
      out.emplace_back(text(Member(&s, "name")), text(Member(Member(&s, "digest"), "sha256")));
    return out;
  }

  Status CheckSubjects() {
    NN_ASSIGN(const std::vector<Named> files, Files());
    const std::vector<Named> subjects = Subjects();
    if (files.empty()) Add(kSubject, "the model is not in a file whose digest could be compared");
    const auto has = [](const std::vector<Named>& list, const std::string& digest) {
      return std::ranges::find(list, digest, &Named::second) != list.end();
    };
    for (const auto& [name, digest] : files)
      if (!has(subjects, digest))
        Add(kSubject, fmt::format("file {} has the SHA-256 digest {}, which no subject of {} has",
                                  Quote(name), digest, attestation_.path));
    // A statement of others may be about more than this model.
    if (!is_conversion_) return {};
    for (const auto& [name, digest] : subjects)
      if (!has(files, digest))
        Add(kSubject, fmt::format("no file of the model has the digest of subject {}, {}",
                                  Quote(name), digest.empty() ? "which is not SHA-256" : digest));
    return {};
  }

  void CheckHash() {
    const Json* const output = Member(Member(details_, provenance::kHashes), "output");
    const auto attested = output == nullptr ? std::nullopt : provenance::HashFrom(*output);
    if (!attested) return;
    const auto actual = provenance::HashOf(path_, limits_);
    if (!actual) return Add(kHash, "the model cannot be imported, so its digests are unknown");
    const auto compare = [&](const char* what, const std::string& a, const std::string& b) {
      if (a != b)
        Add(kHash, fmt::format("the digest of the {} is {}, but {} states {}", what, b,
                               attestation_.path, a));
    };
    compare("structure", attested->structure, actual->structure);
    compare("weights", attested->weights, actual->weights);
  }

  void CheckResult() {
    const auto passed = [](const Json* verification) {
      const Json* const flag = Member(verification, "passed");
      return flag != nullptr && *flag == true;
    };
    if (passed(Member(details_, provenance::kVerification)) ||
        passed(Member(Member(details_, provenance::kNativeEdits), "verification")))
      return;
    // A copy computes the same without a run.
    if (const Json* const result = Member(details_, provenance::kResult);
        result != nullptr && *result == "copied")
      return;
    Add(kResult, fmt::format("{} states no verification that passed", attestation_.path));
  }

  const ReadModel& model_;
  const std::string& path_;
  const ReadLimits& limits_;
  const Attestation& attestation_;
  bool is_conversion_ = false;
  const Json* details_ = nullptr;  // "runDetails" of a conversion
  std::vector<Finding> out_;
};

}  // namespace

Result<Attestation> ReadAttestation(const std::string& path) {
  bool is_signed = false;
  NN_ASSIGN(Json statement, provenance::ReadStatement(path, is_signed));
  if (is_signed)
    spdlog::warn(
        "{}: the signatures of the envelope are not checked here; use the tool that made "
        "them, such as cosign",
        path);
  return Attestation{path, std::move(statement)};
}

Result<std::vector<Finding>> CheckAttestation(const ReadModel& model, const std::string& path,
                                              const ReadLimits& limits,
                                              const Attestation& attestation) {
  return AttestationChecker(model, path, limits, attestation).Run();
}

std::vector<RuleInfo> AttestationRules() {
  return {kSubject, kHash, kResult};
}

}  // namespace nn::app

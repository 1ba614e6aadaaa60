#include "check/attestation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "base/file/model_files.h"
#include "base/text/named_hash.h"
#include "base/text/text.h"
#include "base/text/unicode.h"
#include "check/provenance.h"
#include "validators/rule.h"

namespace nn {
namespace {

constexpr RuleInfo kSubject = {
    .id = "ATTEST-SUBJECT",
    .statement = "The files of the model are the subjects of the statement, by their digests.",
    .clause = "in-toto Attestation Framework, Statement v1, subject",
    .hint = "Use the model that was attested, or convert it again with --attest."};
constexpr RuleInfo kPredicate = {
    .id = "ATTEST-PREDICATE",
    .statement = "The statement is SLSA provenance, with how the model was built.",
    .clause = "in-toto Attestation Framework, Statement v1, predicateType; SLSA Provenance v1",
    .hint = "Use the statement that nnconvert --attest wrote, unchanged."};
constexpr RuleInfo kOtherPredicate = {
    .id = "ATTEST-OTHER-PREDICATE",
    .severity = Severity::kWarning,
    .statement = "What the statement says of the model is of a kind that can be checked.",
    .clause = "in-toto Attestation Framework, Statement v1, predicateType",
    .hint =
        "Check statements of other kinds with the tools that made them; here only the digests "
        "of the files are compared."};
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

// A file of the model, or what a statement says of one.
struct Subject {
  std::string name;
  std::map<std::string, std::string> digests;  // by the names of hashes
};

enum class Agreement : uint8_t { kOther, kContradicting, kSame };

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
    CheckPredicate();
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

  // The files of the model, by name, and where they are.
  Result<std::vector<std::pair<std::string, std::string>>> Files() const {
    namespace fs = std::filesystem;
    NN_ASSIGN(const std::vector<FileDigest> files, DigestModel(path_, model_.model->files.Names()));
    std::error_code error;
    const fs::path folder =
        fs::is_directory(path_, error) ? fs::path(path_) : fs::path(path_).parent_path();
    std::vector<std::pair<std::string, std::string>> out;
    for (const FileDigest& f : files) out.emplace_back(f.name, (folder / f.name).string());
    return out;
  }

  std::vector<Subject> Subjects() const {
    std::vector<Subject> out;
    for (const Json& s : attestation_.statement["subject"]) {
      Subject& subject = out.emplace_back();
      if (const Json* const name = Member(&s, "name"); name != nullptr && name->is_string())
        subject.name = name->get<std::string>();
      for (const auto& [hash, digest] : s["digest"].items())
        if (digest.is_string())
          subject.digests[hash] = LowerCase(digest.get<std::string>()).value_or("");
    }
    return out;
  }

  // Compares all digests of kinds that are known here. One that is not secure can only contradict.
  static Agreement Compare(const Subject& subject, const Blob& file) {
    bool same = false, other = false;
    for (const auto& [hash, digest] : subject.digests) {
      const auto actual = HashByName(hash, file);
      if (!actual) continue;
      if (*actual != digest) other = true;
      if (*actual == digest && IsSecureHash(hash)) same = true;
    }
    return !same ? Agreement::kOther : other ? Agreement::kContradicting : Agreement::kSame;
  }

  Status CheckSubjects() {
    NN_ASSIGN(const auto files, Files());
    const std::vector<Subject> subjects = Subjects();
    std::vector<Agreement> best(subjects.size(), Agreement::kOther);
    if (files.empty()) Add(kSubject, "the model is not in a file whose digest could be compared");
    for (const auto& [name, path] : files) {
      NN_ASSIGN(const Blob file, ReadFile(path, std::numeric_limits<uint64_t>::max()));
      Agreement found = Agreement::kOther;
      for (size_t i = 0; i < subjects.size(); ++i) {
        const Agreement agreement = Compare(subjects[i], file);
        best[i] = std::max(best[i], agreement);
        found = std::max(found, agreement);
      }
      if (found == Agreement::kOther)
        Add(kSubject, fmt::format("file {} has the SHA-256 digest {}, which no subject of {} has",
                                  Quote(name), *HashByName("sha256", file), attestation_.path));
      if (found == Agreement::kContradicting)
        Add(kSubject, fmt::format("{} states several digests of file {}, and not all are its own",
                                  attestation_.path, Quote(name)));
    }
    // A statement of others may be about more than this model.
    if (!is_conversion_) return {};
    for (size_t i = 0; i < subjects.size(); ++i)
      if (best[i] == Agreement::kOther)
        Add(kSubject, fmt::format("no file of the model has the digests of subject {}",
                                  Quote(subjects[i].name)));
    return {};
  }

  void CheckPredicate() {
    const Json& statement = attestation_.statement;
    const auto type = statement["predicateType"].get<std::string>();
    const Json* const predicate = Member(&statement, "predicate");
    const Json* const build = Member(predicate, "buildDefinition");
    if (type != provenance::kPredicateType && is_conversion_) {
      Add(kPredicate, fmt::format("{} is about a conversion, but its \"predicateType\" is {}",
                                  attestation_.path, Quote(type)));
    } else if (type != provenance::kPredicateType) {
      Add(kOtherPredicate,
          fmt::format("the \"predicateType\" of {} is {}", attestation_.path, Quote(type)));
    } else if (Member(build, "buildType") == nullptr ||
               Member(predicate, "runDetails") == nullptr) {
      Add(kPredicate,
          fmt::format("{} lacks {}", attestation_.path,
                      predicate == nullptr
                          ? "its \"predicate\""
                          : "\"buildDefinition\", its \"buildType\" or \"runDetails\""));
    }
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
  Attestation out{.path = path, .statement = {}};
  NN_ASSIGN(out.statement, provenance::ReadStatement(path, out.is_signed));
  return out;
}

Result<std::vector<Finding>> CheckAttestation(const ReadModel& model, const std::string& path,
                                              const ReadLimits& limits,
                                              const Attestation& attestation) {
  return AttestationChecker(model, path, limits, attestation).Run();
}

std::vector<RuleInfo> AttestationRules() {
  return {kSubject, kPredicate, kOtherPredicate, kHash, kResult};
}

}  // namespace nn

// Checks models against the published documents of their formats.
//
//   for (const nnsuite::Finding& f : nnsuite::Validate(model))
//     std::cout << f.location.element << ": " << f.message << " [" << f.rule << "]\n";
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "nnsuite/error.h"
#include "nnsuite/options.h"

namespace nnsuite {

class Model;

enum class Severity : uint8_t { kNote, kWarning, kError };

// "note", "warning", "error".
std::string_view SeverityName(Severity severity);

// Where in a file. Unknown parts stay empty.
struct Location {
  std::string file;
  std::string element;             // path to the field: "graph.node[3].attribute[\"pads\"]"
  int64_t index = -1;              // of the operator, layer or tensor that `element` is part of
  std::optional<uint64_t> offset;  // of the first byte in the file
};

struct Finding {
  std::string rule;  // the id of the broken rule, "ONNX-OP-004"
  Severity severity = Severity::kError;
  std::string message;  // what is wrong with this file; names are quoted
  Location location;
  std::string hint;  // how to fix it; may be empty
  // Equal for the same defect in another export of the model, in which operators have other numbers
  // and generated names; empty unless ValidateOptions::fingerprints.
  std::string fingerprint = {};
};

// The description of a rule. Ids are stable.
struct RuleInfo {
  std::string_view id;
  Severity severity = Severity::kError;
  std::string_view statement;  // one sentence, true of a file that follows the rule
  std::string_view clause;     // where the rule is published
  bool vendor = false;         // the format owner's own loader or checker enforces it
  std::string_view hint = {};  // how to fix a file that breaks the rule
  bool lint = false;           // advice beyond the published documents; only in the strict profile
  bool safety = false;         // of the safety-related profile of ONNX; only in the safety profile
};

enum class Profile : uint8_t {
  kSpec,    // all that the published documents require
  kVendor,  // only what the format owner's loader or checker rejects
  kStrict,  // kSpec and lint
  kSafety,  // kSpec and the draft requirements of SONNX, the safety-related profile of ONNX
};

// Selects the rules of the profile and of `enable`, except those of `disable`.
struct ValidateOptions {
  Profile profile = Profile::kSpec;
  std::set<std::string, std::less<>> enable = {};  // rule ids
  std::set<std::string, std::less<>> disable = {};
  bool fingerprints = false;  // set Finding::fingerprint, which takes a summary of the model
  // "iOS17", "macOS14": the oldest system that must read a Core ML model; "" for any. The findings
  // are of the rule COREML-TARGET-001.
  std::string deployment_target = {};
};

// The findings of the selected rules, rule by rule (at most 1,000 of each, then their number), in
// file order. Location::file is empty. May be called concurrently, also for one model.
std::vector<Finding> Validate(const Model& model, const ValidateOptions& options = {});

// The requirements of a project on its models beyond the rules of the formats.
struct Assertions {
  std::vector<std::string> ops = {};  // the allowed operators, by the format's names; none: all
  std::optional<uint64_t> max_params = std::nullopt;  // elements of constants
  std::optional<uint64_t> max_bytes = std::nullopt;   // of the files, external data included
  std::optional<uint64_t> macs_below = std::nullopt;  // multiply-adds of a run
  bool static_shapes = false;                         // inputs and outputs have static shapes
  // The allowed types of inputs, outputs and constants: "f32"; none: all.
  std::vector<std::string> dtypes = {};
  std::vector<std::string> inputs = {};  // "NAME:f32[1, 3, 224, 224]"
};

// One finding for each violation; the rules are "ASSERT-OPS" and so on, as those of nnvalidate.
// kUsage for unknown types.
Result<std::vector<Finding>> CheckAssertions(const Model& model, const Assertions& assertions);

// Why a conversion would fail: one finding for each unsupported operator. `target` is "onnx",
// "onnx:OPSET", "tflite", "coreml", "coreml:VERSION" or "nnapi-1.0"; the rules are "FOR-ONNX" and
// so on. kUsage for other targets.
Result<std::vector<Finding>> CheckTarget(const Model& model, const std::string& target);

// The findings about a model as nnvalidate --format json prints them
// (schemas/nnvalidate-report.schema.json). With `max_per_rule`, so many of each rule, and the
// number of the others.
std::string FindingsReport(const Model& model, std::vector<Finding> findings,
                           std::optional<size_t> max_per_rule = std::nullopt);

// All that nnvalidate checks of a model, and how it judges the findings.
struct CheckOptions {
  ValidateOptions rules = {};
  Assertions assertions = {};
  std::vector<std::string> targets = {};  // CheckTarget()
  // A file with an in-toto statement, such as one of "nnconvert --attest", about what the model
  // must be; the rules are "ATTEST-SUBJECT" and so on. The signatures of an envelope are not
  // checked.
  std::string attestation = {};
  std::string baseline = {};            // a file of findings that are known (WriteBaseline())
  Severity fail_on = Severity::kError;  // the least severity with which the check fails
  std::optional<uint64_t> max_per_rule = std::nullopt;  // findings in the report; more are counted
  ReadLimits limits = {};  // of the model, which is read again for its digests
};

// An entry of a baseline without a finding.
struct StaleEntry {
  std::string file;  // as the baseline names it
  std::string rule;
  std::string message;
  uint64_t count = 0;  // of the missing findings
};

struct CheckedModel {
  std::vector<Finding> findings = {};  // without the known ones
  uint64_t known = 0;                  // number of findings that the baseline lists
  std::vector<StaleEntry> stale = {};  // of the baseline, for this model and missing files
  bool failed = false;                 // a finding has the severity fail_on or a higher one
  // As nnvalidate --format json prints it (schemas/nnvalidate-report.schema.json).
  std::string report = {};
};

// kUsage for options out of range and for files that are no statement or no baseline, kIo for files
// that cannot be read.
Result<CheckedModel> CheckModel(const Model& model, const CheckOptions& options = {});

// Writes a file for CheckOptions::baseline, as a whole or not at all, that lists all findings of
// CheckModel() without a baseline, and returns their number. It names the model by its path
// relative to the file; kUsage for a model that has none.
Result<uint64_t> WriteBaseline(const Model& model, const std::string& path,
                               const CheckOptions& options = {});

// All selected rules, of every format, in the order in which they run. The texts of a RuleInfo live
// as long as the program.
std::vector<RuleInfo> Rules(const ValidateOptions& options = {});

// The rule with an id, in any profile; nullopt if it does not exist.
std::optional<RuleInfo> FindRule(std::string_view id);

}  // namespace nnsuite

// Edits of models in their own format, without import: parts are cut out, outputs added and
// removed, values renamed, metadata set. Operators that this library does not support are carried.
//
//   nnsuite::EditOptions options;
//   options.extract = "..features.18/relu";
//   nnsuite::Result<nnsuite::EditedModel> edited = nnsuite::EditModel(model, options);
//   if (!edited) ...
//   nnsuite::Status written = edited->model.Write("part.onnx");
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nnsuite/convert.h"
#include "nnsuite/error.h"
#include "nnsuite/model.h"

namespace nnsuite {

// The parts of an edit, which apply in this order. A pattern is the name of a value, or a pattern
// for such names (fnmatch: *, ?, [...]); if no value matches, the name or the type of operators,
// which selects their inputs (at the start of a part) or their outputs (at its end).
struct EditOptions {
  // "FROM..TO": lists of patterns, separated by commas. The model becomes the part that computes TO
  // from FROM; without one of them, from the inputs or to the outputs.
  std::string extract = {};
  std::vector<std::string> cut_before = {};  // values that become inputs
  std::vector<std::string> cut_after = {};  // become outputs, in place of those that depend on them
  std::vector<std::string> remove_outputs = {};  // patterns for names of outputs
  std::vector<std::string> add_outputs = {};
  // "PATTERN=NEW" for values; each "*" of NEW is the text that the "*" of the pattern matches.
  std::vector<std::string> renames = {};
  std::vector<std::string> metadata = {};  // "KEY=TEXT"; without a text, the entry is removed
  // Informational contents to remove: "docs", "names" (of operators, and of values that are not
  // inputs or outputs) and "metadata", separated by commas, or "all".
  std::string strip = {};
  // A file with an RFC 6902 patch of the dump form of the model, which is applied first. What it
  // changes is not verified.
  std::string patch = {};
};

struct EditedModel {
  Model model;                                       // shares weights with the source
  size_t operators_before = 0, operators_after = 0;  // of main graphs
  // Inputs and outputs by their names in the source.
  std::vector<std::string> new_inputs = {}, dropped_inputs = {}, new_outputs = {};
  std::vector<std::string> dropped_outputs = {};
  std::vector<std::pair<std::string, std::string>> renamed = {};  // old and new names
  // Of the edited model, run on what the source computes at its inputs: all outputs must have the
  // same bits. nullopt if only texts for readers change, and if `unverified` says why.
  std::optional<Verification> verification = std::nullopt;
  std::string unverified = {};
  // All of this as JSON: `native_edits` in schemas/nnconvert-report.schema.json.
  std::string report = {};
};

// The edited model, which its format's rules accept if they accept the source. nullopt for
// `verification`: both models are not run. `progress` is told of "runs". Errors: kUsage for
// patterns that match nothing, parts that compute nothing, names that are taken, and an option that
// alone would change nothing; kUnsupported, with the reason, for what the format has no place for.
Result<EditedModel> EditModel(const Model& model, const EditOptions& options,
                              const std::optional<VerifyOptions>& verification = VerifyOptions(),
                              const ProgressCallback& progress = nullptr);

}  // namespace nnsuite

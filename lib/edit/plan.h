// Decides what an edit keeps: turns patterns for names into operators and values of a model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/common/native_edit.h"

namespace nn::edit {

// The parts of an edit, which apply in this order. A pattern is the name of a value, or a pattern
// for such names (fnmatch: *, ?, [...]); if no value matches, the name or the type of operators,
// which stands for what they read (where a part starts) or what they write (where it ends).
struct EditOptions {
  // "FROM..TO": lists of patterns, separated by commas. The model becomes the part that computes TO
  // from FROM; without one of them, from the inputs or to the outputs.
  std::string extract = {};
  std::vector<std::string> cut_before = {};  // values that become inputs
  std::vector<std::string> cut_after = {};  // become outputs, in place of those that depend on them
  std::vector<std::string> remove_outputs = {};  // patterns for names of outputs
  std::vector<std::string> add_outputs = {};
  // "PATTERN=NEW" for values; each "*" of NEW stands for what that of the pattern matches.
  std::vector<std::string> renames = {};
  std::vector<std::string> metadata = {};  // "KEY=TEXT"; without a text, the entry is removed
  NativeEdit::Strip strip = {};

  bool changes_structure() const;
  bool any() const;
};

// The type of a value that becomes an input or output; unknown if it does not follow.
using TypeOf = std::function<Result<ValueType>(const std::string& name)>;

// kUsage for patterns that match nothing, parts that compute nothing, and names that are taken;
// kUnsupported if an operator that stays writes a value that becomes an input.
Result<NativeEdit> PlanEdit(const NativeFlow& flow, const EditOptions& options,
                            const TypeOf& type_of);

// The model that computes these values, as its outputs, from its inputs, and nothing else.
NativeEdit PlanComputation(const NativeFlow& flow, const std::vector<NativeEdit::Port>& values);

// Whether `name` is the pattern itself, or matches it.
bool Matches(const std::string& pattern, const std::string& name);

}  // namespace nn::edit

// Decides what an edit keeps: turns patterns for names into operators and values of a model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/common/edit/native_edit.h"
#include "nnsuite/edit.h"

namespace nn::edit {

using nnsuite::EditOptions;

bool ChangesStructure(const EditOptions& options);
// Whether there is an edit.
bool HasEdits(const EditOptions& options);
// Whether a run could show the edit: whether more than texts for readers change.
bool MayChangeValues(const EditOptions& options);

// The parts of EditOptions::strip. kUsage for others.
Result<NativeEdit::Strip> ParseStrip(const std::string& text);

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

// The description of nnsuite::FolderOptions: what nnconvert, C and Python call its members, and
// what they do.
//
// Design: docs/design/069-described-options.md.
#pragma once

#include <string_view>

#include "base/options.h"

namespace nn {

// The group of nnconvert's help.
inline constexpr std::string_view kFolderGroup = "Folders";

// FolderOptions::edits have a table of their own (edit/edit_options.h).
OptionTable FolderOptionTable();

}  // namespace nn

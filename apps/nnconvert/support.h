// Which operators are read, written and executed.
#pragma once

#include <string>

#include "formats/format.h"
#include "ir/op_def.h"

namespace nn::app {

// SUPPORT.md, generated from the tables of import, export and execution.
std::string SupportMarkdown();

// What the table says of an operator in a format: "yes", "rewritten", or "" for none. A row of
// tests/cross proves each.
std::string SupportClaim(const Format& format, const OpDef& op);

}  // namespace nn::app

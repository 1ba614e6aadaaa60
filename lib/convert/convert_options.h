// The description of nnsuite::ConvertOptions and of the structs in it: what nnconvert, C and Python
// call each option, and what it does.
//
// To add an option, add a member to nnsuite::ConvertOptions and a row to the table of the .cc file.
#pragma once

#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "formats/format.h"
#include "nnsuite/convert.h"
#include "nnsuite/options.h"

namespace nn {

// The groups of nnconvert's help.
inline constexpr std::string_view kShapeGroup = "Inputs and outputs";
inline constexpr std::string_view kEditGroup = "Edits";
inline constexpr std::string_view kOperatorGroup = "Operators";
inline constexpr std::string_view kNumberGroup = "Numbers";
inline constexpr std::string_view kQuantizeGroup = "Quantization";
inline constexpr std::string_view kFileGroup = "Written files";
inline constexpr std::string_view kVerifyGroup = "Verification";

// Each table describes the struct of its name.
OptionTable ConvertOptionTable();
OptionTable VerifyOptionTable();
OptionTable ExternalDataTable();

// kUsage for options of another format.
Status CheckFormatOptions(const nnsuite::ConvertOptions& options, const Format& target);
// kUsage for options that exclude each other, lack another one or do not fit the target.
Status CheckConvertOptions(const nnsuite::ConvertOptions& options, const Format& target);

// The first option that has one of the effects, in the order of the table; null if there is none.
const OptionField* FirstOptionWith(unsigned effects, const nnsuite::ConvertOptions& options);

}  // namespace nn

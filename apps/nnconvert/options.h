// nnconvert's arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/nnconvert/report/c_source.h"
#include "base/json/json.h"
#include "base/options.h"
#include "convert/inputs/port_arrays.h"
#include "formats/format.h"
#include "nnsuite/convert.h"
#include "nnsuite/folder.h"

namespace nn::app {

// The default of --max-work for a verification run: some tens of seconds on one core.
inline constexpr double kVerificationWork = 1e12;

// The options of a conversion, and those that only the program has. `limits` and the limits of
// `verification` are from CommandLine.
struct ConvertArguments : nnsuite::ConvertOptions {
  std::string input = {};
  std::string output = {};
  std::string form = "text";                    // of the printed report
  std::vector<std::string> fixed_texts = {};    // "NAME=VALUE", or an archive; see `fixed_inputs`
  std::vector<std::string> calibrate = {};      // files and folders, or "seeded:N"
  std::vector<std::string> verify_inputs = {};  // the same without "seeded:N"
  ArrayOptions arrays = {};                     // of both
  DumpOptions dump = {};
  CSourceOptions c_source = {};
  bool quiet = false;  // no report of success, unless in JSON
  bool support = false;
  std::string report = {};             // a file; "": none
  std::string attest = {};             // a file; "": none
  nnsuite::FolderOptions folder = {};  // with the edits, also of one model
  // Not options: set by other parts of the program.
  bool digests = false;  // of all files
  Json given = {};       // CommandLine::GivenOptions()
  bool messages = true;  // progress of the runs, names of side files
};

// Describes ConvertArguments: ConvertOptionTable(), and the options of the program.
OptionTable ArgumentTable();

// The options that differ from their defaults and have one of the effects, in the order of the
// table, as "--name".
std::vector<std::string> OptionsWith(unsigned effects, const ConvertArguments& arguments);

// The given options that decide what is written, or how it is verified: all but those with the
// effect kNoResult. For attestations and the state of a folder.
Json DecidingOptions(const ConvertArguments& arguments);

}  // namespace nn::app

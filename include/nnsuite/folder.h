// Converts all models of a folder.
//
//   nnsuite::ConvertOptions options;
//   options.format = "tflite";
//   nnsuite::Result<nnsuite::FolderConversion> done =
//       nnsuite::ConvertFolder("models", "converted", options, {.jobs = 4});
//   if (!done) ...
//   for (const nnsuite::FolderModel& m : done->models) std::cout << m.input << ": " << m.result;
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nnsuite/convert.h"
#include "nnsuite/edit.h"
#include "nnsuite/error.h"

namespace nnsuite {

struct FolderOptions {
  // Models at the same time, which share memory and processors; 0: one per processor.
  uint64_t jobs = 1;
  bool force = false;      // also converts models that have not changed since the last conversion
  EditOptions edits = {};  // of each model, before its conversion
};

// What became of one model.
struct FolderModel {
  std::string input, output;  // paths
  // "converted", "unverified", "copied", "edited", "convertible" (a dry run), "unchanged",
  // "unsupported", "refuted" (the outputs differ) or "error".
  std::string result;
  std::optional<Error> error = std::nullopt;  // that ended its conversion
  Conversion conversion = {};                 // empty for an error, and if nothing was done
};

struct FolderConversion {
  std::vector<FolderModel> models;  // by name
  uint64_t skipped_files = 0;       // that are not models
  // What nnconvert --format json prints for a folder (schemas/nnconvert-report.schema.json).
  std::string report;
  int exit_code = 0;  // of nnconvert: the worst of the models' in the order 2, 4, 1, 3, 0
};

// Converts each model below the folder `input`, or each that the pattern `input` matches
// ("models/**/*.onnx"), to a file below the folder `output` with the same relative path and the
// extension of ConvertOptions::format, which is required. A model that fails does not stop the
// others. `output` may be empty in a dry run.
//
// The file .nnconvert.json in the output folder has the digests of sources and outputs: models that
// have not changed since they were converted with the same options are skipped. nnconvert and this
// function continue each other's work.
//
// ConvertOptions::progress is told of "models", and called again with the same numbers while a
// model is converted, by one thread at a time. If it ends the conversion (kLimit), models that are
// done stay, and are not converted again.
//
// Errors: kUsage for options that refer to one model, such as contents of inputs, if there are no
// models, and if two would become one file; kIo if the output folder cannot be written.
Result<FolderConversion> ConvertFolder(const std::string& input, const std::string& output,
                                       const ConvertOptions& options,
                                       const FolderOptions& folder = {});

}  // namespace nnsuite

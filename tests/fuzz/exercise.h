// The operations of the programs on arbitrary bytes, shared by the mutation tests and the fuzz
// targets.
// Design: docs/design/042-untrusted-models.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/tensor.h"

namespace nn::test {

// Operations in addition to reading, validating, summarizing and importing.
struct ExerciseOptions {
  bool copy = false;     // dumped and restored, saved, renamed, edited and read again
  bool convert = false;  // written as every kind of model, and read again
  bool verify = false;   // with convert: source and result are run and compared
  bool run = false;      // RunModelEverywhere()
  std::span<const Tensor> inputs = {};  // of the run, if they fit
};

// Whether the bytes were read as a model, imported without unsupported nodes, and so on. `broken`
// is empty, or names the violated guarantee:
//   - no error is kInternal, and there is no exception;
//   - a model that was dumped is restored from its dump, and dumped again the same;
//   - a model that was saved is read again, and dumped the same;
//   - a model with other names for its inputs and outputs is read again, and has them;
//   - a model that an edit leaves as it is has the same names;
//   - an imported graph passes the verifier;
//   - a written file can be read and imported, and passes the rules of its format;
//   - the guarantees of RunModelEverywhere().
struct Exercised {
  bool read = false;
  bool imported = false;
  int written = 0;  // kinds of models
  bool ran = false;
  bool skipped = false;  // its run
  std::string broken;
};

// `path` is the assumed path of the bytes; no file of that name is read.
Exercised Exercise(std::string_view bytes, const std::string& path, const ExerciseOptions& options);
// The same for a model in a folder.
Exercised ExerciseFolder(const std::string& path, const ExerciseOptions& options);

}  // namespace nn::test

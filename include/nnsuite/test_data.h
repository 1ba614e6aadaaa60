// Runs of a model on test data of ONNX, as those of nnrun --test-data.
//
//   auto report = nnsuite::RunTestData(model, "resnet50");
//   if (!report) ...
//   if (!report->passed) std::cerr << report->text;
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nnsuite/error.h"
#include "nnsuite/outputs.h"
#include "nnsuite/program.h"
#include "nnsuite/progress.h"
#include "nnsuite/shapes.h"

namespace nnsuite {

class Model;

struct TestDataOptions {
  // The largest accepted difference of an element is atol plus rtol times the magnitude of its
  // expected value.
  std::optional<double> atol = std::nullopt;  // nullopt: 1e-7
  std::optional<double> rtol = std::nullopt;  // nullopt: 1e-3
};

struct TestSetResult {
  std::string folder;
  std::vector<OutputCheck> outputs;  // also of the elements of sequences
  bool passed = false;               // an output is expected, and all agree
};

struct TestDataReport {
  std::vector<TestSetResult> sets;
  bool passed = false;  // all sets
  std::string text;     // what nnrun prints
  // {"test_data": [...]}: the member of what nnrun --test-data --format json prints.
  std::string report;
};

// `folder` has input_K.pb and output_K.pb, or folders test_data_set_* that have them. `progress` is
// told of "test sets". Errors: kIo if there is no test data; those of reading the files, of
// Model::Import and of Program.
Result<TestDataReport> RunTestData(const Model& model, const std::string& folder,
                                   const TestDataOptions& options = {},
                                   const InputShapes& shapes = {},
                                   const ProgramOptions& program = {},
                                   const ProgressCallback& progress = nullptr);

}  // namespace nnsuite

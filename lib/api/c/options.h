// The options of the C interface: values by the names of the programs' options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/c/support.h"
#include "base/options.h"
#include "nnsuite/bench.h"
#include "nnsuite/convert.h"
#include "nnsuite/edit.h"
#include "nnsuite/folder.h"
#include "nnsuite/inputs.h"
#include "nnsuite/inspect.h"
#include "nnsuite/options.h"
#include "nnsuite/outputs.h"
#include "nnsuite/program.h"
#include "nnsuite/search_dtype.h"
#include "nnsuite/sequence.h"
#include "nnsuite/shapes.h"
#include "nnsuite/test_data.h"
#include "nnsuite/validate.h"

// Values whose kinds are checked; numbers are int64_t or double.
struct nnsuite_options {
  nn::OptionValues values;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, nnsuite::Tensor> fixed_inputs;
  std::map<std::string, nnsuite::Tensor> inputs;
  std::vector<std::vector<nnsuite::Tensor>> samples;
  std::vector<std::vector<nnsuite::Tensor>> verify_inputs;
  nnsuite::ProgressCallback progress;
};

namespace nn::api {

// What each function that takes options is told.
struct OpenCall {
  nnsuite::ReadLimits limits = {};
  std::string function = {};
};
struct InspectCall {
  nnsuite::ReportParts parts = {};
  nnsuite::InputShapes shapes = {};
};
struct DrawCall {
  bool expand = false;
  nnsuite::PageReports reports = {};
};
struct ValidateCall {
  nnsuite::CheckOptions checks = {};
  std::string write_baseline = {};  // a file; "": none
};
struct ConvertCall {
  nnsuite::ConvertOptions convert = {};
  std::string attest = {};  // a file; "": none
};
struct EditCall {
  nnsuite::EditOptions edits = {};
  bool unverified = false;
  nnsuite::VerifyOptions verification = {};
  nnsuite::ProgressCallback progress = nullptr;
};
struct FolderCall {
  nnsuite::ConvertOptions convert = {};
  nnsuite::FolderOptions folder = {};
};
struct CompileCall {
  nnsuite::ProgramOptions options = {};
  nnsuite::InputShapes shapes = {};
};
struct CompileForInputsCall {
  CompileCall compile = {};
  nnsuite::InputOptions inputs = {};
};
struct SequenceCall {
  CompileForInputsCall run = {};
  nnsuite::SequenceOptions sequence = {};
  nnsuite::ProgressCallback progress = nullptr;
};
struct DtypeSearchCall {
  CompileForInputsCall run = {};
  nnsuite::DtypeSearchOptions search = {};
};
struct StepValuesCall {
  CompileForInputsCall run = {};
  nnsuite::ProgressCallback progress = nullptr;
};
struct TestDataCall {
  CompileCall compile = {};
  nnsuite::TestDataOptions options = {};
  nnsuite::ProgressCallback progress = nullptr;
};
struct BenchCall {
  nnsuite::BenchOptions options = {};
  nnsuite::ProgressCallback progress = nullptr;
};

// A function that takes options. The table describes what the function of its name in nn::api::call
// returns.
struct OptionUser {
  std::string_view name;
  OptionTable table;
  // What it also takes, which the tables do not describe.
  bool shapes = false;
  bool tensors = false;
  bool progress = false;
  bool inputs = false;
};

std::vector<OptionUser> OptionUsers();

// The options of a call. kUsage, with the name of the function, for options that it does not have,
// and for values out of range; null options are none.
namespace call {
Result<OpenCall> Open(const nnsuite_options* options);
Result<InspectCall> Inspect(const nnsuite_options* options);
Result<DrawCall> Draw(const nnsuite_options* options);
Result<ValidateCall> Validate(const nnsuite_options* options);
Result<nnsuite::DumpOptions> Dump(const nnsuite_options* options);
Result<nnsuite::DumpOptions> DumpFile(const nnsuite_options* options);
Result<nnsuite::ExternalData> Write(const nnsuite_options* options);
Result<ConvertCall> Convert(const nnsuite_options* options);
Result<FolderCall> ConvertFolder(const nnsuite_options* options);
Result<EditCall> Edit(const nnsuite_options* options);
// `function` is "diff_with" or "draw_diff".
Result<nnsuite::InputShapes> Diff(const nnsuite_options* options, std::string_view function);
Result<CompileCall> Compile(const nnsuite_options* options);
Result<CompileForInputsCall> CompileForInputs(const nnsuite_options* options);
Result<nnsuite::ExpectOptions> CompareOutputs(const nnsuite_options* options);
Result<SequenceCall> RunSequence(const nnsuite_options* options);
Result<DtypeSearchCall> SearchDtype(const nnsuite_options* options);
Result<StepValuesCall> SaveStepValues(const nnsuite_options* options);
Result<TestDataCall> RunTestData(const nnsuite_options* options);
Result<BenchCall> Bench(const nnsuite_options* options);
Result<nnsuite::ProgressCallback> Run(const nnsuite_options* options);
}  // namespace call

}  // namespace nn::api

#include "api/c/options.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "against/dtype_report.h"
#include "base/text/text.h"
#include "check/check_options.h"
#include "convert/convert_options.h"
#include "convert/inputs/input_options.h"
#include "convert/outputs/expect_options.h"
#include "convert/runs/sequence.h"
#include "convert/runs/test_data.h"
#include "edit/edit_options.h"
#include "exec/bench.h"
#include "exec/program_options.h"
#include "folder/folder_options.h"
#include "formats/format_options.h"
#include "inspect/page/page_notes.h"
#include "inspect/report_options.h"
#include "validators/assertions.h"
#include "validators/validate_options.h"

namespace nn::api {
namespace {

using CallFields = std::vector<OptionField>;

CallFields Joined(CallFields fields, const CallFields& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

OptionTable OpenTable() {
  static const CallFields fields =
      Joined({Option<&OpenCall::function>("function", FunctionFacts("", 0))},
             OptionsWithin<&OpenCall::limits>(ReadLimitTable()));
  return fields;
}

OptionTable InspectTable() {
  static const CallFields fields =
      Joined(OptionsWithin<&InspectCall::parts>(inspect::ReportPartTable()),
             OptionsWithin<&InspectCall::shapes>(InputShapesTable()));
  return fields;
}

OptionTable DrawTable() {
  static const CallFields fields = Joined(
      {Option<&DrawCall::expand>("expand", {.help = "Draw every repetition of repeated blocks"})},
      OptionsWithin<&DrawCall::reports>(inspect::PageReportTable()));
  return fields;
}

OptionTable ValidateTable() {
  using nnsuite::CheckOptions;
  static const CallFields fields = [] {
    CallFields out = OptionsWithin<&ValidateCall::checks>(CheckOptionTable());
    out = Joined(std::move(out),
                 {Option<&ValidateCall::write_baseline>(
                     "write-baseline", {.help = "First write all findings to this file, which is "
                                                "then the baseline",
                                        .value = "FILE",
                                        .excludes = {"baseline"}})});
    out = Joined(std::move(out),
                 OptionsWithin<&ValidateCall::checks, &CheckOptions::rules>(ValidateOptionTable()));
    return Joined(std::move(out), OptionsWithin<&ValidateCall::checks, &CheckOptions::assertions>(
                                      AssertionTable()));
  }();
  return fields;
}

OptionTable ConvertTable() {
  static const CallFields fields = Joined(
      OptionsWithin<&ConvertCall::convert>(ConvertOptionTable()),
      {Option<&ConvertCall::attest>(
          "attest",
          {.help = "Also write how the file was made, as an in-toto statement", .value = "FILE"})});
  return fields;
}

// Whose weights may be in a file beside it; setting the option checks the name.
OptionTable DumpFileTable() {
  static const CallFields fields = [] {
    const OptionTable own = DumpOptionTable();
    CallFields out(own.begin(), own.end());
    for (OptionField& field : out) field.choices.clear();
    return out;
  }();
  return fields;
}

OptionTable EditTable() {
  static const CallFields fields =
      Joined(Joined(OptionsWithin<&EditCall::edits>(edit::EditOptionTable()),
                    {Option<&EditCall::unverified>(
                        "no-verify", {.help = "Do not run both models to compare their outputs"})}),
             OptionsWithin<&EditCall::verification>(VerifyOptionTable()));
  return fields;
}

OptionTable FolderTable() {
  static const CallFields fields = [] {
    CallFields out = OptionsWithin<&FolderCall::convert>(ConvertOptionTable());
    for (const CallFields& more :
         {OptionsWithin<&FolderCall::folder>(FolderOptionTable()),
          OptionsWithin<&FolderCall::folder, &nnsuite::FolderOptions::edits>(
              edit::EditOptionTable()),
          OptionsWithin<&FolderCall::convert, &nnsuite::ConvertOptions::limits>(ReadLimitTable())})
      out = Joined(std::move(out), more);
    for (OptionField& field : out)
      if (field.Has(kOneModel)) field.surfaces = 0;
    return out;
  }();
  return fields;
}

OptionTable CompileTable() {
  static const CallFields fields =
      Joined(OptionsWithin<&CompileCall::options>(ProgramOptionTable()),
             OptionsWithin<&CompileCall::shapes>(InputShapesTable()));
  return fields;
}

OptionTable CompileForInputsTable() {
  using nnsuite::InputOptions;
  static const CallFields fields = [] {
    CallFields out = OptionsWithin<&CompileForInputsCall::inputs>(InputOptionTable());
    out = Joined(std::move(out), OptionsWithin<&CompileForInputsCall::compile>(CompileTable()));
    return Joined(
        std::move(out),
        OptionsWithin<&CompileForInputsCall::inputs, &InputOptions::limits>(ReadLimitTable()));
  }();
  return fields;
}

OptionTable SequenceTable() {
  static const CallFields fields =
      Joined(OptionsWithin<&SequenceCall::run>(CompileForInputsTable()),
             OptionsWithin<&SequenceCall::sequence>(SequenceOptionTable()));
  return fields;
}

OptionTable DtypeSearchCallTable() {
  static const CallFields fields =
      Joined(OptionsWithin<&DtypeSearchCall::run>(CompileForInputsTable()),
             OptionsWithin<&DtypeSearchCall::search>(against::DtypeSearchTable()));
  return fields;
}

OptionTable StepValuesTable() {
  static const CallFields fields = OptionsWithin<&StepValuesCall::run>(CompileForInputsTable());
  return fields;
}

OptionTable TestDataTable() {
  static const CallFields fields =
      Joined(OptionsWithin<&TestDataCall::compile>(CompileTable()),
             OptionsWithin<&TestDataCall::options>(TestDataOptionTable()));
  return fields;
}

OptionTable CompareOutputsTable() {
  static const CallFields fields = [] {
    const OptionTable own = ExpectOptionTable();
    return Joined({own.begin(), own.end()},
                  OptionsWithin<&nnsuite::ExpectOptions::limits>(ReadLimitTable()));
  }();
  return fields;
}

OptionTable BenchTable() {
  static const CallFields fields = OptionsWithin<&BenchCall::options>(BenchOptionTable());
  return fields;
}

const OptionField* FindForAny(std::string_view name) {
  for (const OptionUser& user : OptionUsers()) {
    const OptionField* const field = nn::FindOption(user.table, name);
    if (field != nullptr && field->IsOn(kInBindings)) return field;
  }
  return nullptr;
}

Result<const OptionField*> NamedOption(const nnsuite_options* options, const char* name) {
  NN_RETURN_IF_ERROR(RequireArgument(options, "options"));
  NN_RETURN_IF_ERROR(RequireArgument(name, "name"));
  const OptionField* const field = FindForAny(name);
  if (field == nullptr) return UsageError("no option is named {}", Quote(name));
  return field;
}

Status KindError(const OptionField& field) {
  return UsageError("the option {} is {}", Quote(field.name), OptionKindText(field.kind));
}

template <typename T>
void AddToList(nnsuite_options* options, const char* name, T value) {
  OptionValue& list = options->values.try_emplace(name, std::vector<T>()).first->second;
  std::get<std::vector<T>>(list).push_back(std::move(value));
}

Status SetNumber(nnsuite_options* options, const char* name, int64_t value) {
  NN_ASSIGN(const OptionField* const field, NamedOption(options, name));
  switch (field->kind) {
    case OptionKind::kFlag:
      if (value != 0 && value != 1) return KindError(*field);
      options->values.insert_or_assign(name, value == 1);
      return {};
    case OptionKind::kReal:
      options->values.insert_or_assign(name, static_cast<double>(value));
      return {};
    case OptionKind::kInteger:
    case OptionKind::kCount:
      options->values.insert_or_assign(name, value);
      return {};
    case OptionKind::kReals:
      AddToList(options, name, static_cast<double>(value));
      return {};
    case OptionKind::kText:
    case OptionKind::kTexts:
      break;
  }
  return KindError(*field);
}

Status SetReal(nnsuite_options* options, const char* name, double value) {
  NN_ASSIGN(const OptionField* const field, NamedOption(options, name));
  if (field->kind == OptionKind::kReals) {
    AddToList(options, name, value);
    return {};
  }
  if (field->kind != OptionKind::kReal) return KindError(*field);
  options->values.insert_or_assign(name, value);
  return {};
}

Status SetText(nnsuite_options* options, const char* name, const char* value) {
  NN_ASSIGN(const OptionField* const field, NamedOption(options, name));
  NN_RETURN_IF_ERROR(RequireArgument(value, "value"));
  if (field->kind == OptionKind::kText) {
    options->values.insert_or_assign(name, std::string(value));
    return {};
  }
  if (field->kind != OptionKind::kTexts) return KindError(*field);
  AddToList(options, name, std::string(value));
  return {};
}

Result<std::vector<nnsuite::Tensor>> SetOfInputs(const nnsuite_options* options,
                                                 const nnsuite_tensor* const* inputs,
                                                 size_t count) {
  NN_RETURN_IF_ERROR(RequireArgument(options, "options"));
  if (count > 0) NN_RETURN_IF_ERROR(RequireArgument(inputs, "inputs"));
  std::vector<nnsuite::Tensor> set;
  for (size_t i = 0; i < count; ++i) {
    NN_RETURN_IF_ERROR(RequireArgument(inputs[i], "inputs"));
    set.push_back(inputs[i]->tensor);
  }
  return set;
}

Status CheckUser(const nnsuite_options& options, const OptionUser& user) {
  for (const auto& [name, value] : options.values) {
    const OptionField* const field = nn::FindOption(user.table, name);
    if (field == nullptr || !field->IsOn(kInBindings))
      return UsageError("{} has no option {}", user.name, Quote(name));
  }
  if (!options.shapes.empty() && !user.shapes)
    return UsageError("{} has no option \"input-shape\"", user.name);
  if (!options.samples.empty() && !user.tensors)
    return UsageError("{} takes no samples", user.name);
  if (!options.verify_inputs.empty() && !user.tensors)
    return UsageError("{} takes no inputs for a verification", user.name);
  if (!options.fixed_inputs.empty() && !user.tensors)
    return UsageError("{} takes no contents of inputs", user.name);
  if (!options.inputs.empty() && !user.inputs) return UsageError("{} takes no inputs", user.name);
  if (options.progress && !user.progress) return UsageError("{} reports no progress", user.name);
  return {};
}

template <typename T>
Result<T> CallOf(const nnsuite_options* options, std::string_view name) {
  T out;
  if (options == nullptr) return out;
  for (const OptionUser& user : OptionUsers()) {
    if (user.name != name) continue;
    NN_RETURN_IF_ERROR(CheckUser(*options, user));
    NN_RETURN_IF_ERROR(SetOptions(user.table, options->values, kInBindings, &out));
  }
  return out;
}

// Shapes that are no texts.
// Sets the contents of an input in one of the maps.
int SetTensor(nnsuite_options* options,
              std::map<std::string, nnsuite::Tensor> nnsuite_options::*tensors, const char* input,
              const nnsuite_tensor* contents, nnsuite_error** error) {
  return Guard(error, [&]() -> Result<int> {
    NN_RETURN_IF_ERROR(RequireArgument(options, "options"));
    NN_RETURN_IF_ERROR(RequireArgument(input, "input"));
    NN_RETURN_IF_ERROR(RequireArgument(contents, "contents"));
    (options->*tensors).insert_or_assign(input, contents->tensor);
    return NNSUITE_OK;
  });
}

void AddShapes(const nnsuite_options* options, nnsuite::InputShapes& shapes) {
  if (options == nullptr) return;
  for (const auto& [name, shape] : options->shapes) shapes.shapes.insert_or_assign(name, shape);
}

nnsuite::ProgressCallback ProgressOf(const nnsuite_options* options) {
  return options == nullptr ? nullptr : options->progress;
}

// What of the inputs is no text.
void AddInputs(const nnsuite_options* options, CompileForInputsCall& call) {
  AddShapes(options, call.compile.shapes);
  call.inputs.images.max_work = call.compile.options.limits.max_work;
  if (options == nullptr) return;
  for (const auto& [name, tensor] : options->inputs) call.inputs.tensors.push_back({name, tensor});
}

}  // namespace

std::vector<OptionUser> OptionUsers() {
  return {
      {"open", OpenTable()},
      {"inspect", InspectTable(), true},
      {"diff_with", InputShapesTable(), true},
      {"draw_diff", InputShapesTable(), true},
      {"draw", DrawTable()},
      {"validate", ValidateTable()},
      {"dump", DumpOptionTable()},
      {"dump_file", DumpFileTable()},
      {"write", ExternalDataTable()},
      {"convert", ConvertTable(), true, true, true},
      {"convert_folder", FolderTable(), true, false, true},
      {"edit", EditTable(), false, false, true},
      {"compile", CompileTable(), true},
      {"compile_for_inputs", CompileForInputsTable(), true, false, false, true},
      {"run_sequence", SequenceTable(), true, false, true, true},
      {"save_step_values", StepValuesTable(), true, false, true, true},
      {"search_dtype", DtypeSearchCallTable(), true, false, false, true},
      {"run_test_data", TestDataTable(), true, false, true},
      {"run_with", {}, false, false, true},
      {"compare_outputs", CompareOutputsTable()},
      {"bench", BenchTable(), false, false, true},
  };
}

namespace call {

Result<OpenCall> Open(const nnsuite_options* options) {
  return CallOf<OpenCall>(options, "open");
}

Result<InspectCall> Inspect(const nnsuite_options* options) {
  NN_ASSIGN(InspectCall out, CallOf<InspectCall>(options, "inspect"));
  AddShapes(options, out.shapes);
  return out;
}

Result<DrawCall> Draw(const nnsuite_options* options) {
  return CallOf<DrawCall>(options, "draw");
}

Result<ValidateCall> Validate(const nnsuite_options* options) {
  return CallOf<ValidateCall>(options, "validate");
}

Result<nnsuite::DumpOptions> Dump(const nnsuite_options* options) {
  return CallOf<nnsuite::DumpOptions>(options, "dump");
}

Result<nnsuite::DumpOptions> DumpFile(const nnsuite_options* options) {
  return CallOf<nnsuite::DumpOptions>(options, "dump_file");
}

Result<nnsuite::ExternalData> Write(const nnsuite_options* options) {
  return CallOf<nnsuite::ExternalData>(options, "write");
}

Result<ConvertCall> Convert(const nnsuite_options* options) {
  NN_ASSIGN(ConvertCall call, CallOf<ConvertCall>(options, "convert"));
  if (options == nullptr) return call;
  nnsuite::ConvertOptions& out = call.convert;
  for (const auto& [name, shape] : options->shapes) out.input_shapes.insert_or_assign(name, shape);
  out.fixed_inputs = options->fixed_inputs;
  out.verification.inputs = options->verify_inputs;
  out.progress = ProgressOf(options);
  if (options->samples.empty()) return call;
  if (!out.quantize) return UsageError("samples require the option \"quantize\"");
  out.quantize->samples = options->samples;
  return call;
}

Result<FolderCall> ConvertFolder(const nnsuite_options* options) {
  NN_ASSIGN(FolderCall out, CallOf<FolderCall>(options, "convert_folder"));
  if (options == nullptr) return out;
  for (const auto& [name, shape] : options->shapes)
    out.convert.input_shapes.insert_or_assign(name, shape);
  out.convert.progress = ProgressOf(options);
  return out;
}

Result<EditCall> Edit(const nnsuite_options* options) {
  NN_ASSIGN(EditCall out, CallOf<EditCall>(options, "edit"));
  out.progress = ProgressOf(options);
  return out;
}

Result<nnsuite::InputShapes> Diff(const nnsuite_options* options, std::string_view function) {
  NN_ASSIGN(auto out, CallOf<nnsuite::InputShapes>(options, function));
  AddShapes(options, out);
  return out;
}

Result<CompileCall> Compile(const nnsuite_options* options) {
  NN_ASSIGN(CompileCall out, CallOf<CompileCall>(options, "compile"));
  AddShapes(options, out.shapes);
  return out;
}

Result<CompileForInputsCall> CompileForInputs(const nnsuite_options* options) {
  NN_ASSIGN(auto out, CallOf<CompileForInputsCall>(options, "compile_for_inputs"));
  AddInputs(options, out);
  return out;
}

Result<SequenceCall> RunSequence(const nnsuite_options* options) {
  NN_ASSIGN(SequenceCall out, CallOf<SequenceCall>(options, "run_sequence"));
  AddInputs(options, out.run);
  out.progress = ProgressOf(options);
  return out;
}

Result<DtypeSearchCall> SearchDtype(const nnsuite_options* options) {
  NN_ASSIGN(DtypeSearchCall out, CallOf<DtypeSearchCall>(options, "search_dtype"));
  AddInputs(options, out.run);
  return out;
}

Result<StepValuesCall> SaveStepValues(const nnsuite_options* options) {
  NN_ASSIGN(StepValuesCall out, CallOf<StepValuesCall>(options, "save_step_values"));
  AddInputs(options, out.run);
  out.progress = ProgressOf(options);
  return out;
}

Result<TestDataCall> RunTestData(const nnsuite_options* options) {
  NN_ASSIGN(TestDataCall out, CallOf<TestDataCall>(options, "run_test_data"));
  AddShapes(options, out.compile.shapes);
  out.progress = ProgressOf(options);
  return out;
}

Result<nnsuite::ExpectOptions> CompareOutputs(const nnsuite_options* options) {
  return CallOf<nnsuite::ExpectOptions>(options, "compare_outputs");
}

Result<BenchCall> Bench(const nnsuite_options* options) {
  NN_ASSIGN(BenchCall out, CallOf<BenchCall>(options, "bench"));
  out.progress = ProgressOf(options);
  return out;
}

Result<nnsuite::ProgressCallback> Run(const nnsuite_options* options) {
  struct None {};
  NN_RETURN_IF_ERROR(CallOf<None>(options, "run_with").map([](const None&) {}));
  return ProgressOf(options);
}

}  // namespace call

}  // namespace nn::api

extern "C" {

int nnsuite_options_create(nnsuite_options** options, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(options, "options"));
    *options = nullptr;
    *options = new nnsuite_options;
    return NNSUITE_OK;
  });
}

void nnsuite_options_free(nnsuite_options* options) {
  delete options;
}

int nnsuite_options_set_integer(nnsuite_options* options, const char* name, int64_t value,
                                nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::SetNumber(options, name, value));
    return NNSUITE_OK;
  });
}

int nnsuite_options_set_real(nnsuite_options* options, const char* name, double value,
                             nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::SetReal(options, name, value));
    return NNSUITE_OK;
  });
}

int nnsuite_options_set_text(nnsuite_options* options, const char* name, const char* value,
                             nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::SetText(options, name, value));
    return NNSUITE_OK;
  });
}

int nnsuite_options_set_shape(nnsuite_options* options, const char* input, const int64_t* shape,
                              size_t rank, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(options, "options"));
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(input, "input"));
    NN_ASSIGN(std::vector<int64_t> dims, nn::api::ShapeOf(shape, rank));
    options->shapes.insert_or_assign(input, std::move(dims));
    return NNSUITE_OK;
  });
}

int nnsuite_options_add_sample(nnsuite_options* options, const nnsuite_tensor* const* inputs,
                               size_t count, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_ASSIGN(auto sample, nn::api::SetOfInputs(options, inputs, count));
    options->samples.push_back(std::move(sample));
    return NNSUITE_OK;
  });
}

int nnsuite_options_add_verify_inputs(nnsuite_options* options, const nnsuite_tensor* const* inputs,
                                      size_t count, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_ASSIGN(auto set, nn::api::SetOfInputs(options, inputs, count));
    options->verify_inputs.push_back(std::move(set));
    return NNSUITE_OK;
  });
}

int nnsuite_options_set_fixed_input(nnsuite_options* options, const char* input,
                                    const nnsuite_tensor* contents, nnsuite_error** error) {
  return nn::api::SetTensor(options, &nnsuite_options::fixed_inputs, input, contents, error);
}

int nnsuite_options_set_input(nnsuite_options* options, const char* input,
                              const nnsuite_tensor* contents, nnsuite_error** error) {
  return nn::api::SetTensor(options, &nnsuite_options::inputs, input, contents, error);
}

int nnsuite_options_set_progress(nnsuite_options* options, nnsuite_progress progress, void* context,
                                 nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(options, "options"));
    options->progress = nullptr;
    if (progress == nullptr) return NNSUITE_OK;
    options->progress = [progress, context](std::string_view activity, uint64_t done,
                                            uint64_t total) {
      return progress(context, std::string(activity).c_str(), done, total) == 0;
    };
    return NNSUITE_OK;
  });
}

}  // extern "C"

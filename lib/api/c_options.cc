#include "api/c_options.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/text.h"
#include "convert/convert_options.h"

namespace nn::api {
namespace {

using nnsuite::EditOptions;
using nnsuite::InputShapes;
using nnsuite::ProgramOptions;
using nnsuite::ReadLimits;
using nnsuite::ReportParts;
using nnsuite::ValidateOptions;
using CallFields = std::vector<OptionField>;

constexpr int64_t kMaxDepth = 500;
constexpr int64_t kMaxThreads = 1024;

CallFields Joined(CallFields fields, const CallFields& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

OptionTable OpenTable() {
  static const CallFields fields = {
      Option<&ReadLimits::max_file_bytes>("max-file-bytes", {.least = 0}),
      Option<&ReadLimits::max_piped_bytes>("max-piped-bytes", {.least = 0}),
      Option<&ReadLimits::max_unpacked_bytes>("max-unpacked-bytes", {.least = 0}),
      Option<&ReadLimits::max_depth>("max-depth", {.least = 1, .most = kMaxDepth}),
      Option<&ReadLimits::max_items>("max-items", {.least = 0}),
  };
  return fields;
}

OptionTable InspectTable() {
  static const CallFields fields = {
      Option<&InspectCall::parts, &ReportParts::nodes>("nodes", {}),
      Option<&InspectCall::parts, &ReportParts::op>("op", {}),
      Option<&InspectCall::parts, &ReportParts::node>("node", {}),
      Option<&InspectCall::parts, &ReportParts::tensors>("tensors", {}),
      Option<&InspectCall::parts, &ReportParts::stats>("stats", {}),
      Option<&InspectCall::parts, &ReportParts::histogram>("histogram", {}),
      Option<&InspectCall::parts, &ReportParts::values>("values", {}),
      Option<&InspectCall::parts, &ReportParts::tree>("tree", {}),
      Option<&InspectCall::parts, &ReportParts::cost>("cost", {}),
      Option<&InspectCall::parts, &ReportParts::hash>("hash", {}),
      Option<&InspectCall::shapes, &InputShapes::batch>("batch", {}),
  };
  return fields;
}

OptionTable DrawTable() {
  static const CallFields fields = {Option<&DrawCall::expand>("expand", {})};
  return fields;
}

OptionTable ValidateTable() {
  static const CallFields fields = {
      Option<&ValidateCall::options, &ValidateOptions::profile>(
          "profile", {.choices = {"spec", "vendor", "strict", "safety"}}),
      Option<&ValidateCall::fail_on>("fail-on", {.choices = {"note", "warning", "error"}}),
      Option<&ValidateCall::options, &ValidateOptions::enable>("enable", {}),
      Option<&ValidateCall::options, &ValidateOptions::disable>("disable", {}),
      Option<&ValidateCall::options, &ValidateOptions::fingerprints>("fingerprints", {}),
  };
  return fields;
}

OptionTable DumpTable() {
  static const CallFields fields = {Option<&nnsuite::DumpOptions::weights>(
      "weights", {.choices = {"base64", "inline", "stats", "digest", "none"}})};
  return fields;
}

OptionTable EditTable() {
  static const CallFields fields = Joined(
      {
          Option<&EditCall::edits, &EditOptions::extract>("extract", {}),
          Option<&EditCall::edits, &EditOptions::cut_before>("cut-before", {}),
          Option<&EditCall::edits, &EditOptions::cut_after>("cut-after", {}),
          Option<&EditCall::edits, &EditOptions::remove_outputs>("remove-output", {}),
          Option<&EditCall::edits, &EditOptions::add_outputs>("add-output", {}),
          Option<&EditCall::edits, &EditOptions::renames>("rename", {}),
          Option<&EditCall::edits, &EditOptions::metadata>("set-metadata", {}),
          Option<&EditCall::edits, &EditOptions::strip>("strip", {}),
          Option<&EditCall::unverified>("no-verify", {}),
      },
      OptionsWithin<&EditCall::verification>(VerifyOptionTable()));
  return fields;
}

OptionField NoFuseOption() {
  return ComputedOption<CompileCall, bool>(
      "no-fuse", {}, [](const CompileCall& c) { return std::optional(!c.options.fuse); },
      [](CompileCall& c, const bool& off) {
        c.options.fuse = !off;
        return Status();
      });
}

OptionTable CompileTable() {
  static const CallFields fields =
      Joined({Option<&CompileCall::options, &ProgramOptions::backend>(
                  "backend", {.choices = {"simd", "reference"}}),
              Option<&CompileCall::options, &ProgramOptions::threads>(
                  "threads", {.least = 0, .most = kMaxThreads}),
              NoFuseOption(), Option<&CompileCall::shapes, &InputShapes::batch>("batch", {})},
             OptionsWithin<&CompileCall::options, &ProgramOptions::limits>(RunLimitTable()));
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
    case OptionKind::kText:
    case OptionKind::kTexts:
      break;
  }
  return KindError(*field);
}

Status SetReal(nnsuite_options* options, const char* name, double value) {
  NN_ASSIGN(const OptionField* const field, NamedOption(options, name));
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
  OptionValue& list = options->values.try_emplace(name, std::vector<std::string>()).first->second;
  std::get<std::vector<std::string>>(list).emplace_back(value);
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

}  // namespace

std::vector<OptionUser> OptionUsers() {
  return {
      {"open", OpenTable()},
      {"inspect", InspectTable(), true},
      {"draw", DrawTable()},
      {"validate", ValidateTable()},
      {"dump", DumpTable()},
      {"write", ExternalDataTable()},
      {"convert", ConvertOptionTable(), true, true},
      {"edit", EditTable()},
      {"compile", CompileTable(), true},
  };
}

namespace call {

Result<nnsuite::ReadLimits> Open(const nnsuite_options* options) {
  return CallOf<ReadLimits>(options, "open");
}

Result<InspectCall> Inspect(const nnsuite_options* options) {
  NN_ASSIGN(InspectCall out, CallOf<InspectCall>(options, "inspect"));
  if (options != nullptr) out.shapes.shapes = options->shapes;
  return out;
}

Result<DrawCall> Draw(const nnsuite_options* options) {
  return CallOf<DrawCall>(options, "draw");
}

Result<ValidateCall> Validate(const nnsuite_options* options) {
  NN_ASSIGN(ValidateCall out, CallOf<ValidateCall>(options, "validate"));
  for (const auto* ids : {&out.options.enable, &out.options.disable})
    for (const std::string& id : *ids)
      if (!nnsuite::FindRule(id)) return UsageError("no rule has the id {}", Quote(id));
  return out;
}

Result<nnsuite::DumpOptions> Dump(const nnsuite_options* options) {
  return CallOf<nnsuite::DumpOptions>(options, "dump");
}

Result<nnsuite::ExternalData> Write(const nnsuite_options* options) {
  return CallOf<nnsuite::ExternalData>(options, "write");
}

Result<nnsuite::ConvertOptions> Convert(const nnsuite_options* options) {
  NN_ASSIGN(auto out, CallOf<nnsuite::ConvertOptions>(options, "convert"));
  if (options == nullptr) return out;
  for (const auto& [name, shape] : options->shapes) out.input_shapes.insert_or_assign(name, shape);
  out.fixed_inputs = options->fixed_inputs;
  out.verification.inputs = options->verify_inputs;
  if (options->samples.empty()) return out;
  if (!out.quantize) return UsageError("samples require the option \"quantize\"");
  out.quantize->samples = options->samples;
  return out;
}

Result<EditCall> Edit(const nnsuite_options* options) {
  return CallOf<EditCall>(options, "edit");
}

Result<CompileCall> Compile(const nnsuite_options* options) {
  NN_ASSIGN(CompileCall out, CallOf<CompileCall>(options, "compile"));
  out.options.threads = std::max<size_t>(out.options.threads, 1);
  if (options != nullptr) out.shapes.shapes = options->shapes;
  return out;
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
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(options, "options"));
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(input, "input"));
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(contents, "contents"));
    options->fixed_inputs.insert_or_assign(input, contents->tensor);
    return NNSUITE_OK;
  });
}

}  // extern "C"

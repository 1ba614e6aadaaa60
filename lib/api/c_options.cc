#include "api/c_options.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/text/text.h"

namespace nn::api {
namespace {

enum class OptionKind : uint8_t { kFlag, kInteger, kReal, kText, kTexts };

struct OptionInfo {
  std::string_view name;
  OptionKind kind;
  unsigned users;
};

constexpr unsigned kVerified = kConvert | kEdit;
constexpr unsigned kRunning = kVerified | kCompile;
constexpr unsigned kShaped = kInspect | kConvert | kCompile;

constexpr OptionInfo kOptions[] = {
    {"max-file-bytes", OptionKind::kInteger, kOpen},
    {"max-piped-bytes", OptionKind::kInteger, kOpen},
    {"max-unpacked-bytes", OptionKind::kInteger, kOpen},
    {"max-depth", OptionKind::kInteger, kOpen},
    {"max-items", OptionKind::kInteger, kOpen},
    {"nodes", OptionKind::kFlag, kInspect},
    {"op", OptionKind::kText, kInspect},
    {"node", OptionKind::kText, kInspect},
    {"tensors", OptionKind::kFlag, kInspect},
    {"stats", OptionKind::kFlag, kInspect},
    {"histogram", OptionKind::kFlag, kInspect},
    {"values", OptionKind::kFlag, kInspect},
    {"tree", OptionKind::kFlag, kInspect},
    {"cost", OptionKind::kFlag, kInspect},
    {"hash", OptionKind::kFlag, kInspect},
    {"batch", OptionKind::kInteger, kShaped},
    {"expand", OptionKind::kFlag, kDraw},
    {"profile", OptionKind::kText, kValidate},
    {"fail-on", OptionKind::kText, kValidate},
    {"enable", OptionKind::kTexts, kValidate},
    {"disable", OptionKind::kTexts, kValidate},
    {"fingerprints", OptionKind::kFlag, kValidate},
    {"weights", OptionKind::kText, kDump},
    {"external-data", OptionKind::kText, kWrite | kConvert},
    {"external-threshold", OptionKind::kInteger, kWrite | kConvert},
    {"embed-data", OptionKind::kFlag, kWrite | kConvert},
    {"to", OptionKind::kText, kConvert},
    {"merge", OptionKind::kText, kConvert},
    {"connect", OptionKind::kTexts, kConvert},
    {"input-shape", OptionKind::kTexts, kConvert},
    {"set-batch", OptionKind::kText, kConvert},
    {"preprocess", OptionKind::kTexts, kConvert},
    {"layout", OptionKind::kTexts, kConvert},
    {"opset", OptionKind::kInteger, kConvert},
    {"fold-batch-norm", OptionKind::kFlag, kConvert},
    {"fuse", OptionKind::kFlag, kConvert},
    {"simplify", OptionKind::kFlag, kConvert},
    {"allow-rounding", OptionKind::kFlag, kConvert},
    {"fp16", OptionKind::kFlag, kConvert},
    {"bf16", OptionKind::kFlag, kConvert},
    {"weights-only", OptionKind::kFlag, kConvert},
    {"half-interface", OptionKind::kFlag, kConvert},
    {"keep-float32", OptionKind::kTexts, kConvert},
    {"quantize", OptionKind::kText, kConvert},
    {"calibrate-method", OptionKind::kText, kConvert},
    {"calibrate-seeded", OptionKind::kInteger, kConvert},
    {"symmetric", OptionKind::kFlag, kConvert},
    {"per-tensor", OptionKind::kFlag, kConvert},
    {"bias-correction", OptionKind::kFlag, kConvert},
    {"equalize", OptionKind::kFlag, kConvert},
    {"integer-interface", OptionKind::kFlag, kConvert},
    {"dequantize", OptionKind::kFlag, kConvert},
    {"float32", OptionKind::kFlag, kConvert},
    {"unroll", OptionKind::kInteger, kConvert},
    {"states", OptionKind::kFlag, kConvert},
    {"dry-run", OptionKind::kFlag, kConvert},
    {"no-verify", OptionKind::kFlag, kVerified},
    {"seed", OptionKind::kInteger, kVerified},
    {"verify-runs", OptionKind::kInteger, kVerified},
    {"atol", OptionKind::kReal, kConvert},
    {"rtol", OptionKind::kReal, kConvert},
    {"threads", OptionKind::kInteger, kRunning},
    {"max-memory", OptionKind::kInteger, kRunning},
    {"max-work", OptionKind::kInteger, kRunning},
    {"max-steps", OptionKind::kInteger, kRunning},
    {"extract", OptionKind::kText, kEdit},
    {"cut-before", OptionKind::kTexts, kEdit},
    {"cut-after", OptionKind::kTexts, kEdit},
    {"remove-output", OptionKind::kTexts, kEdit},
    {"add-output", OptionKind::kTexts, kEdit},
    {"rename", OptionKind::kTexts, kEdit},
    {"set-metadata", OptionKind::kTexts, kEdit},
    {"strip", OptionKind::kText, kEdit},
    {"backend", OptionKind::kText, kCompile},
    {"no-fuse", OptionKind::kFlag, kCompile},
};

constexpr std::string_view UserName(OptionUser user) {
  switch (user) {
    case kOpen:
      return "open";
    case kInspect:
      return "inspect";
    case kDraw:
      return "draw";
    case kValidate:
      return "validate";
    case kDump:
      return "dump";
    case kWrite:
      return "write";
    case kConvert:
      return "convert";
    case kEdit:
      return "edit";
    case kCompile:
      return "compile";
  }
  return "";
}

constexpr std::string_view kKindNames[] = {"a flag, 0 or 1", "an integer", "a number", "a text",
                                           "a text"};

const OptionInfo* FindOption(std::string_view name) {
  const auto* const it = std::ranges::find(kOptions, name, &OptionInfo::name);
  return it == std::end(kOptions) ? nullptr : it;
}

Result<const OptionInfo*> NamedOption(const nnsuite_options* options, const char* name) {
  NN_RETURN_IF_ERROR(RequireArgument(options, "options"));
  NN_RETURN_IF_ERROR(RequireArgument(name, "name"));
  const OptionInfo* const info = FindOption(name);
  if (info == nullptr) return UsageError("no option is named {}", Quote(name));
  return info;
}

Status KindError(const OptionInfo& info) {
  return UsageError("the option {} is {}", Quote(info.name),
                    kKindNames[static_cast<size_t>(info.kind)]);
}

Status SetNumber(nnsuite_options* options, const char* name, int64_t value) {
  NN_ASSIGN(const OptionInfo* const info, NamedOption(options, name));
  if (info->kind == OptionKind::kReal) {
    options->values.insert_or_assign(name, static_cast<double>(value));
    return {};
  }
  const bool is_flag = info->kind == OptionKind::kFlag;
  if ((!is_flag && info->kind != OptionKind::kInteger) || (is_flag && value != 0 && value != 1))
    return KindError(*info);
  options->values.insert_or_assign(name, value);
  return {};
}

Status SetReal(nnsuite_options* options, const char* name, double value) {
  NN_ASSIGN(const OptionInfo* const info, NamedOption(options, name));
  if (info->kind != OptionKind::kReal) return KindError(*info);
  options->values.insert_or_assign(name, value);
  return {};
}

Status SetText(nnsuite_options* options, const char* name, const char* value) {
  NN_ASSIGN(const OptionInfo* const info, NamedOption(options, name));
  NN_RETURN_IF_ERROR(RequireArgument(value, "value"));
  if (info->kind == OptionKind::kText) {
    options->values.insert_or_assign(name, std::string(value));
    return {};
  }
  if (info->kind != OptionKind::kTexts) return KindError(*info);
  OptionValue& list = options->values.try_emplace(name, std::vector<std::string>()).first->second;
  std::get<std::vector<std::string>>(list).emplace_back(value);
  return {};
}

const nnsuite_options& NoOptions() {
  static const nnsuite_options none;
  return none;
}

}  // namespace

Result<CallOptions> CallOptions::For(const nnsuite_options* options, OptionUser user) {
  if (options == nullptr) return CallOptions(&NoOptions());
  for (const auto& [name, value] : options->values)
    if ((FindOption(name)->users & user) == 0)
      return UsageError("{} has no option {}", UserName(user), Quote(name));
  if (!options->shapes.empty() && (kShaped & user) == 0)
    return UsageError("{} has no option \"input-shape\"", UserName(user));
  if (!options->samples.empty() && user != kConvert)
    return UsageError("{} takes no samples", UserName(user));
  return CallOptions(options);
}

const nnsuite_options& CallOptions::all() const {
  return *options_;
}

bool CallOptions::Flag(std::string_view name) const {
  return Integer(name).value_or(0) != 0;
}

std::optional<int64_t> CallOptions::Integer(std::string_view name) const {
  const auto it = options_->values.find(name);
  if (it == options_->values.end()) return std::nullopt;
  return std::get<int64_t>(it->second);
}

std::optional<double> CallOptions::Real(std::string_view name) const {
  const auto it = options_->values.find(name);
  if (it == options_->values.end()) return std::nullopt;
  return std::get<double>(it->second);
}

std::string CallOptions::Text(std::string_view name) const {
  const auto it = options_->values.find(name);
  return it == options_->values.end() ? std::string() : std::get<std::string>(it->second);
}

std::vector<std::string> CallOptions::Texts(std::string_view name) const {
  const auto it = options_->values.find(name);
  if (it == options_->values.end()) return {};
  return std::get<std::vector<std::string>>(it->second);
}

template <typename T>
Status CallOptions::SetTo(std::string_view name, T& out, int64_t least) const {
  const std::optional<int64_t> value = Integer(name);
  if (!value) return {};
  if (*value < least ||
      static_cast<uint64_t>(*value) > static_cast<uint64_t>(std::numeric_limits<T>::max()))
    return UsageError("the option {} must be at least {}; it is {}", Quote(name), least, *value);
  out = static_cast<T>(*value);
  return {};
}

Result<nnsuite::ReadLimits> CallOptions::Limits() const {
  nnsuite::ReadLimits limits;
  NN_RETURN_IF_ERROR(SetTo("max-file-bytes", limits.max_file_bytes));
  NN_RETURN_IF_ERROR(SetTo("max-piped-bytes", limits.max_piped_bytes));
  NN_RETURN_IF_ERROR(SetTo("max-unpacked-bytes", limits.max_unpacked_bytes));
  constexpr int kMostDepth = 500;
  NN_RETURN_IF_ERROR(SetTo("max-depth", limits.max_depth, 1));
  if (limits.max_depth > kMostDepth)
    return UsageError("the option \"max-depth\" is at most {}", kMostDepth);
  NN_RETURN_IF_ERROR(SetTo("max-items", limits.max_items));
  return limits;
}

Result<nnsuite::RunLimits> CallOptions::LimitsOfRun() const {
  nnsuite::RunLimits limits;
  NN_RETURN_IF_ERROR(SetTo("max-memory", limits.max_memory));
  NN_RETURN_IF_ERROR(SetTo("max-work", limits.max_work));
  NN_RETURN_IF_ERROR(SetTo("max-steps", limits.max_steps));
  return limits;
}

Result<size_t> CallOptions::Threads(size_t fallback) const {
  size_t threads = fallback;
  NN_RETURN_IF_ERROR(SetTo("threads", threads));
  constexpr size_t kMostThreads = 1024;
  if (threads > kMostThreads)
    return UsageError("the option \"threads\" is at most {}", kMostThreads);
  return threads;
}

nnsuite::InputShapes CallOptions::Shapes() const {
  return {options_->shapes, Integer("batch")};
}

Result<nnsuite::ExternalData> CallOptions::DataFiles() const {
  nnsuite::ExternalData data;
  data.file = Text("external-data");
  NN_RETURN_IF_ERROR(SetTo("external-threshold", data.threshold));
  data.embed = Flag("embed-data");
  return data;
}

Result<nnsuite::VerifyOptions> CallOptions::Verification() const {
  nnsuite::VerifyOptions v;
  NN_RETURN_IF_ERROR(SetTo("seed", v.seed));
  NN_RETURN_IF_ERROR(SetTo("verify-runs", v.runs, 1));
  v.atol = Real("atol").value_or(v.atol);
  v.rtol = Real("rtol").value_or(v.rtol);
  if (!(v.atol >= 0) || !(v.rtol >= 0))
    return UsageError("the options \"atol\" and \"rtol\" must be at least 0");
  NN_ASSIGN(v.limits, LimitsOfRun());
  NN_ASSIGN(v.threads, Threads(0));
  return v;
}

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
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(options, "options"));
    if (count > 0) NN_RETURN_IF_ERROR(nn::api::RequireArgument(inputs, "inputs"));
    std::vector<nnsuite::Tensor> sample;
    for (size_t i = 0; i < count; ++i) {
      NN_RETURN_IF_ERROR(nn::api::RequireArgument(inputs[i], "inputs"));
      sample.push_back(inputs[i]->tensor);
    }
    options->samples.push_back(std::move(sample));
    return NNSUITE_OK;
  });
}

}  // extern "C"

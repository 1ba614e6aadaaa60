#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_options.h"
#include "base/text/text.h"
#include "nnsuite/convert.h"
#include "nnsuite/edit.h"
#include "nnsuite/inspect.h"
#include "nnsuite/validate.h"

namespace nn::api {
namespace {

// The value of a text option with a fixed set of values, by their order.
template <size_t N>
Result<size_t> ChoiceOf(const CallOptions& options, std::string_view name,
                        const std::array<std::string_view, N>& choices, size_t fallback) {
  const std::string text = options.Text(name);
  if (text.empty()) return fallback;
  std::string known;
  for (size_t i = 0; i < N; ++i) {
    if (text == choices[i]) return i;
    known += fmt::format("{}{}", i == 0 ? "" : ", ", choices[i]);
  }
  return UsageError("the option {} is {}; expected one of {}", Quote(name), Quote(text), known);
}

Result<nnsuite_model*> Opened(Result<nnsuite::Model> model) {
  if (!model) return tl::unexpected(std::move(model).error());
  return new nnsuite_model{*std::move(model)};
}

Result<nnsuite::Model> FromMemory(const void* bytes, size_t size, nnsuite_release release,
                                  void* context, const char* path,
                                  const nnsuite::ReadLimits& limits) {
  const std::span contents(static_cast<const std::byte*>(bytes), size);
  const std::string name = path == nullptr ? "" : path;
  if (release == nullptr) return nnsuite::Model::FromBytes(contents, name, limits);
  Borrowed borrowed(release, context);
  auto model = nnsuite::Model::FromView(contents, borrowed.owner(), name, limits);
  if (model) borrowed.Keep();
  return model;
}

nnsuite::ReportParts PartsOf(const CallOptions& o) {
  nnsuite::ReportParts parts;
  parts.nodes = o.Flag("nodes");
  parts.op = o.Text("op");
  parts.node = o.Text("node");
  parts.tensors = o.Flag("tensors");
  parts.stats = o.Flag("stats");
  parts.histogram = o.Flag("histogram");
  parts.values = o.Flag("values");
  parts.tree = o.Flag("tree");
  parts.cost = o.Flag("cost");
  parts.hash = o.Flag("hash");
  return parts;
}

Result<int> ValidateInto(const nnsuite::Model& model, const CallOptions& o, char** json) {
  constexpr std::array<std::string_view, 4> kProfiles = {"spec", "vendor", "strict", "safety"};
  constexpr std::array<std::string_view, 3> kSeverities = {"note", "warning", "error"};
  nnsuite::ValidateOptions options;
  NN_ASSIGN(const size_t profile, ChoiceOf(o, "profile", kProfiles, 0));
  NN_ASSIGN(const size_t fail_on, ChoiceOf(o, "fail-on", kSeverities, 2));
  options.profile = static_cast<nnsuite::Profile>(profile);
  options.fingerprints = o.Flag("fingerprints");
  for (const auto& [name, ids] :
       {std::pair("enable", &options.enable), std::pair("disable", &options.disable)})
    for (std::string& id : o.Texts(name)) {
      if (!nnsuite::FindRule(id)) return UsageError("no rule has the id {}", Quote(id));
      ids->insert(std::move(id));
    }
  std::vector<nnsuite::Finding> findings = nnsuite::Validate(model, options);
  bool failed = false;
  for (const nnsuite::Finding& f : findings)
    failed = failed || f.severity >= static_cast<nnsuite::Severity>(fail_on);
  *json = CopyText(nnsuite::FindingsReport(model, std::move(findings)));
  return failed ? NNSUITE_CHECK_FAILED : NNSUITE_OK;
}

Status SetHalf(const CallOptions& o, nnsuite::ConvertOptions& out) {
  const bool is_bf16 = o.Flag("bf16");
  if (is_bf16 && o.Flag("fp16")) return UsageError("fp16 and bf16 exclude each other");
  if (is_bf16 || o.Flag("fp16")) {
    out.half = nnsuite::HalfOptions();
    out.half->type = is_bf16 ? nnsuite::DType::kBF16 : nnsuite::DType::kF16;
    out.half->weights_only = o.Flag("weights-only");
    out.half->interface = o.Flag("half-interface");
  } else if (o.Flag("weights-only") || o.Flag("half-interface")) {
    return UsageError("the options \"weights-only\" and \"half-interface\" need fp16 or bf16");
  }
  return {};
}

Status SetQuantization(const CallOptions& o, nnsuite::ConvertOptions& out) {
  nnsuite::QuantizeOptions q;
  q.form = o.Text("quantize");
  if (const std::string method = o.Text("calibrate-method"); !method.empty()) q.method = method;
  q.symmetric = o.Flag("symmetric");
  q.per_tensor = o.Flag("per-tensor");
  q.bias_correction = o.Flag("bias-correction");
  q.equalize = o.Flag("equalize");
  q.integer_interface = o.Flag("integer-interface");
  q.samples = o.all().samples;
  const int64_t seeded = o.Integer("calibrate-seeded").value_or(0);
  if (seeded < 0) return UsageError("the option \"calibrate-seeded\" must be at least 0");
  q.seeded = static_cast<uint64_t>(seeded);
  if (!q.form.empty()) {
    out.quantize = std::move(q);
    return {};
  }
  if (!q.samples.empty() || seeded > 0 || q.symmetric || q.per_tensor || q.bias_correction ||
      q.equalize || q.integer_interface || !o.Text("calibrate-method").empty())
    return UsageError("samples, and options of a quantization, need the option \"quantize\"");
  return {};
}

Result<nnsuite::ConvertOptions> ConversionOptions(const CallOptions& o) {
  nnsuite::ConvertOptions out;
  out.format = o.Text("to");
  const nnsuite::InputShapes shapes = o.Shapes();
  out.input_shapes = shapes.shapes;
  out.batch = shapes.batch;
  out.edits.merge = o.Text("merge");
  out.edits.connections = o.Texts("connect");
  out.edits.symbol_shapes = o.Texts("input-shape");
  out.edits.batch = o.Text("set-batch");
  out.edits.preprocess = o.Texts("preprocess");
  out.edits.layouts = o.Texts("layout");
  out.opset = o.Integer("opset").value_or(0);
  NN_ASSIGN(out.external_data, o.DataFiles());
  out.fold_batch_norm = o.Flag("fold-batch-norm");
  out.fuse = o.Flag("fuse");
  out.simplify = o.Flag("simplify");
  out.allow_rounding = o.Flag("allow-rounding");
  if (out.allow_rounding && !out.simplify)
    return UsageError("the option \"allow-rounding\" needs \"simplify\"");
  NN_RETURN_IF_ERROR(SetHalf(o, out));
  NN_RETURN_IF_ERROR(SetQuantization(o, out));
  out.keep_float32 = o.Texts("keep-float32");
  out.dequantize = o.Flag("dequantize");
  out.float32 = o.Flag("float32");
  out.unroll = o.Integer("unroll");
  out.states = o.Flag("states");
  out.dry_run = o.Flag("dry-run");
  out.verify = !o.Flag("no-verify");
  NN_ASSIGN(out.verification, o.Verification());
  return out;
}

nnsuite::EditOptions EditOptionsOf(const CallOptions& o) {
  nnsuite::EditOptions out;
  out.extract = o.Text("extract");
  out.cut_before = o.Texts("cut-before");
  out.cut_after = o.Texts("cut-after");
  out.remove_outputs = o.Texts("remove-output");
  out.add_outputs = o.Texts("add-output");
  out.renames = o.Texts("rename");
  out.metadata = o.Texts("set-metadata");
  out.strip = o.Text("strip");
  return out;
}

Result<int> EditInto(const nnsuite::Model& model, const CallOptions& o, nnsuite_model** edited,
                     char** json) {
  NN_ASSIGN(const nnsuite::VerifyOptions verification, o.Verification());
  NN_ASSIGN(nnsuite::EditedModel done,
            nnsuite::EditModel(model, EditOptionsOf(o),
                               o.Flag("no-verify") ? std::nullopt : std::optional(verification)));
  const bool failed = done.verification && !done.verification->passed;
  std::unique_ptr<nnsuite_model> out(failed ? nullptr : new nnsuite_model{std::move(done.model)});
  *json = CopyText(done.report);
  *edited = out.release();
  return failed ? NNSUITE_CHECK_FAILED : NNSUITE_OK;
}

// What the entries have in common: a model, and a result that is null on errors.
template <typename T>
Status RequireModelAnd(const nnsuite_model* model, T** result) {
  NN_RETURN_IF_ERROR(RequireArgument(result, "result"));
  *result = nullptr;
  return RequireArgument(model, "model");
}

}  // namespace
}  // namespace nn::api

extern "C" {

using nn::api::CallOptions;
using nn::api::CopyText;
using nn::api::Guard;
using nn::api::RequireArgument;
using nn::api::RequireModelAnd;

int nnsuite_open(const char* path, const nnsuite_options* options, nnsuite_model** model,
                 nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireArgument(model, "model"));
    *model = nullptr;
    NN_RETURN_IF_ERROR(RequireArgument(path, "path"));
    NN_ASSIGN(const CallOptions o, CallOptions::For(options, nn::api::kOpen));
    NN_ASSIGN(const nnsuite::ReadLimits limits, o.Limits());
    NN_ASSIGN(*model, nn::api::Opened(nnsuite::Model::Read(path, limits)));
    return NNSUITE_OK;
  });
}

int nnsuite_open_memory(const void* bytes, size_t size, nnsuite_release release, void* context,
                        const char* path, const nnsuite_options* options, nnsuite_model** model,
                        nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireArgument(model, "model"));
    *model = nullptr;
    if (size > 0) NN_RETURN_IF_ERROR(RequireArgument(bytes, "bytes"));
    NN_ASSIGN(const CallOptions o, CallOptions::For(options, nn::api::kOpen));
    NN_ASSIGN(const nnsuite::ReadLimits limits, o.Limits());
    NN_ASSIGN(*model,
              nn::api::Opened(nn::api::FromMemory(bytes, size, release, context, path, limits)));
    return NNSUITE_OK;
  });
}

void nnsuite_model_free(nnsuite_model* model) {
  delete model;
}

const char* nnsuite_model_format(const nnsuite_model* model) {
  return model == nullptr ? "" : model->model.format().data();
}

const char* nnsuite_model_path(const nnsuite_model* model) {
  return model == nullptr ? "" : model->model.path().c_str();
}

int nnsuite_inspect(const nnsuite_model* model, const nnsuite_options* options, char** json,
                    nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, json));
    NN_ASSIGN(const CallOptions o, CallOptions::For(options, nn::api::kInspect));
    NN_ASSIGN(const std::string report,
              nnsuite::Report(model->model, nn::api::PartsOf(o), o.Shapes()));
    *json = CopyText(report);
    return NNSUITE_OK;
  });
}

int nnsuite_diff(const nnsuite_model* a, const nnsuite_model* b, char** json,
                 nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(a, json));
    NN_RETURN_IF_ERROR(RequireArgument(b, "b"));
    NN_ASSIGN(const nnsuite::DiffReport report, nnsuite::ReportDifferences(a->model, b->model));
    *json = CopyText(report.json);
    return report.equal ? NNSUITE_OK : NNSUITE_CHECK_FAILED;
  });
}

int nnsuite_draw(const nnsuite_model* model, const char* form, const nnsuite_options* options,
                 char** text, nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, text));
    NN_RETURN_IF_ERROR(RequireArgument(form, "form"));
    NN_ASSIGN(const CallOptions o, CallOptions::For(options, nn::api::kDraw));
    const std::string_view name = form;
    if (name != "svg" && name != "dot")
      return nn::UsageError("a picture has the form svg or dot, not {}", nn::Quote(name));
    NN_ASSIGN(const std::string picture, name == "svg"
                                             ? nnsuite::DrawSvg(model->model, o.Flag("expand"))
                                             : nnsuite::DrawDot(model->model, o.Flag("expand")));
    *text = CopyText(picture);
    return NNSUITE_OK;
  });
}

int nnsuite_validate(const nnsuite_model* model, const nnsuite_options* options, char** json,
                     nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, json));
    NN_ASSIGN(const CallOptions o, CallOptions::For(options, nn::api::kValidate));
    return nn::api::ValidateInto(model->model, o, json);
  });
}

int nnsuite_dump(const nnsuite_model* model, const nnsuite_options* options, char** json,
                 nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, json));
    NN_ASSIGN(const CallOptions o, CallOptions::For(options, nn::api::kDump));
    constexpr std::array<std::string_view, 5> kForms = {"base64", "inline", "stats", "digest",
                                                        "none"};
    NN_ASSIGN(const size_t form, nn::api::ChoiceOf(o, "weights", kForms, 0));
    NN_ASSIGN(const std::string text,
              model->model.DumpText({static_cast<nnsuite::DumpWeights>(form), ""}));
    *json = CopyText(text);
    return NNSUITE_OK;
  });
}

int nnsuite_write(const nnsuite_model* model, const char* path, const nnsuite_options* options,
                  nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireArgument(model, "model"));
    NN_RETURN_IF_ERROR(RequireArgument(path, "path"));
    NN_ASSIGN(const CallOptions o, CallOptions::For(options, nn::api::kWrite));
    NN_ASSIGN(const nnsuite::ExternalData data, o.DataFiles());
    NN_RETURN_IF_ERROR(model->model.Write(path, data));
    return NNSUITE_OK;
  });
}

int nnsuite_convert(const nnsuite_model* model, const char* path, const nnsuite_options* options,
                    char** json, nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, json));
    NN_RETURN_IF_ERROR(RequireArgument(path, "path"));
    NN_ASSIGN(const CallOptions o, CallOptions::For(options, nn::api::kConvert));
    NN_ASSIGN(const nnsuite::ConvertOptions all, nn::api::ConversionOptions(o));
    NN_ASSIGN(const nnsuite::Conversion done, nnsuite::ConvertModel(model->model, path, all));
    *json = CopyText(done.report);
    return done.exit_code;
  });
}

int nnsuite_edit(const nnsuite_model* model, const nnsuite_options* options, nnsuite_model** edited,
                 char** json, nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    if (edited != nullptr) *edited = nullptr;
    NN_RETURN_IF_ERROR(RequireModelAnd(model, json));
    NN_RETURN_IF_ERROR(RequireArgument(edited, "edited"));
    NN_ASSIGN(const CallOptions o, CallOptions::For(options, nn::api::kEdit));
    return nn::api::EditInto(model->model, o, edited, json);
  });
}

int nnsuite_model_constant(const nnsuite_model* model, size_t index, nnsuite_tensor** tensor,
                           nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, tensor));
    std::call_once(model->listed, [&] { model->constants = model->model.Tensors(); });
    if (!*model->constants) return tl::unexpected(model->constants->error());
    const std::vector<nnsuite::StoredTensor>& constants = **model->constants;
    if (index >= constants.size())
      return nn::UsageError("constant {} does not exist; the model has {}", index,
                            constants.size());
    NN_ASSIGN(nnsuite::Tensor contents, constants[index].Read());
    *tensor = new nnsuite_tensor{std::move(contents)};
    return NNSUITE_OK;
  });
}

}  // extern "C"

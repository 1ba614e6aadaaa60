#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c/options.h"
#include "base/text/text.h"
#include "nnsuite/attest.h"
#include "nnsuite/convert.h"
#include "nnsuite/edit.h"
#include "nnsuite/folder.h"
#include "nnsuite/inspect.h"
#include "nnsuite/validate.h"

namespace nn::api {
namespace {

Result<nnsuite_model*> Opened(Result<nnsuite::Model> model) {
  if (!model) return tl::unexpected(std::move(model).error());
  return new nnsuite_model{*std::move(model)};
}

// With the function that the call names.
Result<nnsuite::Model> Chosen(Result<nnsuite::Model> model, const OpenCall& call) {
  return model ? model->WithFunction(call.function) : model;
}

Result<nnsuite::Model> FromMemory(const void* bytes, size_t size, nnsuite_release release,
                                  void* context, const char* path, const OpenCall& call) {
  const std::span contents(static_cast<const std::byte*>(bytes), size);
  const std::string name = path == nullptr ? "" : path;
  if (release == nullptr)
    return Chosen(nnsuite::Model::FromBytes(contents, name, call.limits), call);
  Borrowed borrowed(release, context);
  auto model =
      Chosen(nnsuite::Model::FromView(contents, borrowed.owner(), name, call.limits), call);
  if (model) borrowed.Keep();
  return model;
}

Result<int> ValidateInto(const nnsuite::Model& model, ValidateCall call, char** json) {
  if (!call.write_baseline.empty()) {
    NN_RETURN_IF_ERROR(nnsuite::WriteBaseline(model, call.write_baseline, call.checks));
    call.checks.baseline = call.write_baseline;
  }
  NN_ASSIGN(const nnsuite::CheckedModel checked, nnsuite::CheckModel(model, call.checks));
  *json = CopyText(checked.report);
  return checked.failed ? NNSUITE_CHECK_FAILED : NNSUITE_OK;
}

Result<int> EditInto(const nnsuite::Model& model, const EditCall& call, nnsuite_model** edited,
                     char** json) {
  NN_ASSIGN(nnsuite::EditedModel done,
            nnsuite::EditModel(model, call.edits,
                               call.unverified ? std::nullopt : std::optional(call.verification),
                               call.progress));
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

// The shapes of a comparison, which has these arguments. `function` as for call::Diff().
Result<nnsuite::InputShapes> DiffArguments(const nnsuite_model* a, const nnsuite_model* b,
                                           const nnsuite_options* options,
                                           std::string_view function, char** result) {
  NN_RETURN_IF_ERROR(RequireModelAnd(a, result));
  NN_RETURN_IF_ERROR(RequireArgument(b, "b"));
  return call::Diff(options, function);
}

}  // namespace
}  // namespace nn::api

extern "C" {

using nn::api::CopyText;
using nn::api::DiffArguments;
using nn::api::Guard;
using nn::api::RequireArgument;
using nn::api::RequireModelAnd;

int nnsuite_open(const char* path, const nnsuite_options* options, nnsuite_model** model,
                 nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireArgument(model, "model"));
    *model = nullptr;
    NN_RETURN_IF_ERROR(RequireArgument(path, "path"));
    NN_ASSIGN(const nn::api::OpenCall call, nn::api::call::Open(options));
    NN_ASSIGN(*model,
              nn::api::Opened(nn::api::Chosen(nnsuite::Model::Read(path, call.limits), call)));
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
    NN_ASSIGN(const nn::api::OpenCall call, nn::api::call::Open(options));
    NN_ASSIGN(*model,
              nn::api::Opened(nn::api::FromMemory(bytes, size, release, context, path, call)));
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
    NN_ASSIGN(const nn::api::InspectCall call, nn::api::call::Inspect(options));
    NN_ASSIGN(const std::string report, nnsuite::Report(model->model, call.parts, call.shapes));
    *json = CopyText(report);
    return NNSUITE_OK;
  });
}

int nnsuite_diff(const nnsuite_model* a, const nnsuite_model* b, char** json,
                 nnsuite_error** error) {
  return nnsuite_diff_with(a, b, nullptr, json, error);
}

int nnsuite_diff_with(const nnsuite_model* a, const nnsuite_model* b,
                      const nnsuite_options* options, char** json, nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_ASSIGN(const nnsuite::InputShapes shapes, DiffArguments(a, b, options, "diff_with", json));
    NN_ASSIGN(const nnsuite::DiffReport report,
              nnsuite::ReportDifferences(a->model, b->model, shapes));
    *json = CopyText(report.json);
    return report.equal ? NNSUITE_OK : NNSUITE_CHECK_FAILED;
  });
}

int nnsuite_draw_diff(const nnsuite_model* a, const nnsuite_model* b,
                      const nnsuite_options* options, char** html, nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_ASSIGN(const nnsuite::InputShapes shapes, DiffArguments(a, b, options, "draw_diff", html));
    NN_ASSIGN(const std::string page, nnsuite::DrawDifferences(a->model, b->model, shapes));
    *html = CopyText(page);
    return NNSUITE_OK;
  });
}

int nnsuite_draw(const nnsuite_model* model, const char* form, const nnsuite_options* options,
                 char** text, nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, text));
    NN_RETURN_IF_ERROR(RequireArgument(form, "form"));
    NN_ASSIGN(const nn::api::DrawCall call, nn::api::call::Draw(options));
    const std::string_view name = form;
    if (name != "svg" && name != "dot" && name != "html")
      return nn::UsageError("a picture has the form svg, dot or html, not {}", nn::Quote(name));
    NN_ASSIGN(const std::string picture,
              name == "html"  ? nnsuite::DrawHtml(model->model, call.reports)
              : name == "svg" ? nnsuite::DrawSvg(model->model, call.expand)
                              : nnsuite::DrawDot(model->model, call.expand));
    *text = CopyText(picture);
    return NNSUITE_OK;
  });
}

int nnsuite_bill_of_materials(const nnsuite_model* model, char** json, nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, json));
    NN_ASSIGN(const std::string bill, nnsuite::BillOfMaterials(model->model));
    *json = CopyText(bill);
    return NNSUITE_OK;
  });
}

int nnsuite_validate(const nnsuite_model* model, const nnsuite_options* options, char** json,
                     nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, json));
    NN_ASSIGN(nn::api::ValidateCall call, nn::api::call::Validate(options));
    return nn::api::ValidateInto(model->model, std::move(call), json);
  });
}

int nnsuite_dump(const nnsuite_model* model, const nnsuite_options* options, char** json,
                 nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, json));
    NN_ASSIGN(const nnsuite::DumpOptions all, nn::api::call::Dump(options));
    NN_ASSIGN(const std::string text, model->model.DumpText(all));
    *json = CopyText(text);
    return NNSUITE_OK;
  });
}

int nnsuite_dump_file(const nnsuite_model* model, const char* path, const nnsuite_options* options,
                      nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireArgument(model, "model"));
    NN_RETURN_IF_ERROR(RequireArgument(path, "path"));
    NN_ASSIGN(const nnsuite::DumpOptions call, nn::api::call::DumpFile(options));
    NN_RETURN_IF_ERROR(model->model.Dump(path, call));
    return NNSUITE_OK;
  });
}

int nnsuite_write(const nnsuite_model* model, const char* path, const nnsuite_options* options,
                  nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireArgument(model, "model"));
    NN_RETURN_IF_ERROR(RequireArgument(path, "path"));
    NN_ASSIGN(const nnsuite::ExternalData data, nn::api::call::Write(options));
    NN_RETURN_IF_ERROR(model->model.Write(path, data));
    return NNSUITE_OK;
  });
}

int nnsuite_convert(const nnsuite_model* model, const char* path, const nnsuite_options* options,
                    char** json, nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireModelAnd(model, json));
    NN_RETURN_IF_ERROR(RequireArgument(path, "path"));
    NN_ASSIGN(const nn::api::ConvertCall call, nn::api::call::Convert(options));
    NN_ASSIGN(const nnsuite::Conversion done,
              call.attest.empty()
                  ? nnsuite::ConvertModel(model->model, path, call.convert)
                  : nnsuite::ConvertAndAttest(model->model, path, call.attest, call.convert));
    *json = CopyText(done.report);
    return done.exit_code;
  });
}

int nnsuite_convert_folder(const char* path, const char* output, const nnsuite_options* options,
                           char** json, nnsuite_error** error) {
  return Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(RequireArgument(json, "json"));
    *json = nullptr;
    NN_RETURN_IF_ERROR(RequireArgument(path, "path"));
    NN_ASSIGN(const nn::api::FolderCall call, nn::api::call::ConvertFolder(options));
    NN_ASSIGN(
        const nnsuite::FolderConversion done,
        nnsuite::ConvertFolder(path, output == nullptr ? "" : output, call.convert, call.folder));
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
    NN_ASSIGN(const nn::api::EditCall call, nn::api::call::Edit(options));
    return nn::api::EditInto(model->model, call, edited, json);
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

#include <memory>
#include <utility>

#include "api/c/options.h"
#include "nnsuite/search_dtype.h"
#include "nnsuite/sequence.h"
#include "nnsuite/step_values.h"
#include "nnsuite/test_data.h"

extern "C" {

int nnsuite_run_sequence(const nnsuite_model* model, const nnsuite_options* options,
                         nnsuite_tensor_list** outputs, nnsuite_tensor_list** states,
                         nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(outputs, "outputs"));
    *outputs = nullptr;
    if (states != nullptr) *states = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(model, "model"));
    NN_ASSIGN(const nn::api::SequenceCall call, nn::api::call::RunSequence(options));
    const auto& [run, sequence, progress] = call;
    NN_ASSIGN(nnsuite::SequenceRun result,
              nnsuite::RunSequence(model->model, run.inputs, sequence, run.compile.shapes,
                                   run.compile.options, progress));
    auto values = std::make_unique<nnsuite_tensor_list>(std::move(result.outputs));
    if (states != nullptr) *states = new nnsuite_tensor_list(std::move(result.states));
    *outputs = values.release();
    return NNSUITE_OK;
  });
}

int nnsuite_save_step_values(const nnsuite_model* model, const char* folder,
                             const nnsuite_options* options, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(model, "model"));
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(folder, "folder"));
    NN_ASSIGN(const nn::api::StepValuesCall call, nn::api::call::SaveStepValues(options));
    const auto& [run, progress] = call;
    NN_RETURN_IF_ERROR(nnsuite::SaveStepValues(model->model, folder, run.inputs, run.compile.shapes,
                                               run.compile.options, progress));
    return NNSUITE_OK;
  });
}

int nnsuite_search_dtype(const nnsuite_model* model, const nnsuite_options* options, char** json,
                         nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(json, "json"));
    *json = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(model, "model"));
    NN_ASSIGN(const nn::api::DtypeSearchCall call, nn::api::call::SearchDtype(options));
    const auto& [run, search] = call;
    NN_ASSIGN(const nnsuite::DtypeSearch found,
              nnsuite::SearchDtype(model->model, run.inputs, search, run.compile.shapes,
                                   run.compile.options));
    *json = nn::api::CopyText(found.report);
    return NNSUITE_OK;
  });
}

int nnsuite_run_test_data(const nnsuite_model* model, const char* folder,
                          const nnsuite_options* options, char** json, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(json, "json"));
    *json = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(model, "model"));
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(folder, "folder"));
    NN_ASSIGN(const nn::api::TestDataCall call, nn::api::call::RunTestData(options));
    NN_ASSIGN(const nnsuite::TestDataReport report,
              nnsuite::RunTestData(model->model, folder, call.options, call.compile.shapes,
                                   call.compile.options, call.progress));
    *json = nn::api::CopyText(report.report);
    return report.passed ? NNSUITE_OK : NNSUITE_CHECK_FAILED;
  });
}

}  // extern "C"

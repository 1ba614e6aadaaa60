#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c/options.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "nnsuite/dtype.h"
#include "nnsuite/graph.h"
#include "nnsuite/plan.h"

namespace nn::api {
namespace {

Json PortListJson(const std::vector<nnsuite::PortType>& ports) {
  Json out = Json::array();
  for (const nnsuite::PortType& p : ports) {
    Json port = {{"name", p.name},
                 {"type", p.type.ToString()},
                 {"dtype", nnsuite::DTypeName(p.type.dtype)},
                 {"shape", nullptr}};
    if (p.type.shape) {
      port["shape"] = Json::array();
      for (const nnsuite::Dimension& d : *p.type.shape)
        port["shape"].push_back(d.is_known() ? Json(d.size) : Json(nullptr));
    }
    out.push_back(std::move(port));
  }
  return out;
}

// The inputs in the program's order.
Result<std::vector<nnsuite::Tensor>> InOrder(const nnsuite::Program& program,
                                             const char* const* names,
                                             const nnsuite_tensor* const* inputs, size_t count) {
  const std::vector<nnsuite::PortType>& ports = program.inputs();
  if (count != ports.size())
    return UsageError("the program has {} inputs; {} are given", ports.size(), count);
  if (count > 0) NN_RETURN_IF_ERROR(RequireArgument(inputs, "inputs"));
  std::vector<nnsuite::Tensor> out(count);
  std::vector<bool> given(count);
  for (size_t i = 0; i < count; ++i) {
    NN_RETURN_IF_ERROR(RequireArgument(inputs[i], "inputs"));
    size_t at = i;
    if (names != nullptr) {
      NN_RETURN_IF_ERROR(RequireArgument(names[i], "names"));
      const auto it =
          std::ranges::find(ports, std::string_view(names[i]), &nnsuite::PortType::name);
      if (it == ports.end()) return UsageError("no input is named {}", Quote(names[i]));
      at = static_cast<size_t>(it - ports.begin());
    }
    if (given[at]) return UsageError("the input {} is given twice", Quote(ports[at].name));
    given[at] = true;
    out[at] = inputs[i]->tensor;
  }
  return out;
}

// Hands all tensors out, or none.
void HandOut(std::vector<nnsuite::Tensor> tensors, nnsuite_tensor** out) {
  std::vector<std::unique_ptr<nnsuite_tensor>> handles;
  for (nnsuite::Tensor& t : tensors) handles.emplace_back(new nnsuite_tensor{std::move(t)});
  for (size_t i = 0; i < handles.size(); ++i) out[i] = handles[i].release();
}

// Room for as many handles as there are ports.
Status RequireRoom(const nnsuite_program* program, nnsuite_tensor** handles, size_t count,
                   bool inputs) {
  NN_RETURN_IF_ERROR(RequireArgument(program, "program"));
  if (count > 0) NN_RETURN_IF_ERROR(RequireArgument(handles, inputs ? "inputs" : "outputs"));
  std::fill_n(handles, count, nullptr);
  const size_t ports =
      inputs ? program->program.inputs().size() : program->program.outputs().size();
  if (count != ports)
    return UsageError("the program has {} {}; there is room for {}", ports,
                      inputs ? "inputs" : "outputs", count);
  return {};
}

const char* PortName(const std::vector<nnsuite::PortType>& ports, size_t index) {
  return index < ports.size() ? ports[index].name.c_str() : nullptr;
}

}  // namespace
}  // namespace nn::api

extern "C" {

int nnsuite_compile(const nnsuite_model* model, const nnsuite_options* options,
                    nnsuite_program** program, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(program, "program"));
    *program = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(model, "model"));
    NN_ASSIGN(const nn::api::CompileCall call, nn::api::call::Compile(options));
    NN_ASSIGN(nnsuite::Graph graph, model->model.Import(call.shapes));
    NN_ASSIGN(nnsuite::Program compiled, nnsuite::Program::Compile(std::move(graph), call.options));
    *program = new nnsuite_program{std::move(compiled)};
    return NNSUITE_OK;
  });
}

int nnsuite_compile_for_inputs(const nnsuite_model* model, const nnsuite_options* options,
                               nnsuite_program** program, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(program, "program"));
    *program = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(model, "model"));
    NN_ASSIGN(const nn::api::CompileForInputsCall call, nn::api::call::CompileForInputs(options));
    NN_ASSIGN(nnsuite::ModelInputs given,
              nnsuite::ReadInputs(model->model, call.inputs, call.compile.shapes));
    NN_ASSIGN(nnsuite::Program compiled,
              nnsuite::Program::Compile(std::move(given.graph), call.compile.options));
    *program = new nnsuite_program{
        std::move(compiled),
        nnsuite_program::Given{std::move(given.arrays), call.inputs.seed.value_or(0)}};
    return NNSUITE_OK;
  });
}

int nnsuite_given_inputs(const nnsuite_program* program, nnsuite_tensor** inputs, size_t count,
                         nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireRoom(program, inputs, count, true));
    if (!program->given)
      return nn::UsageError("the program was not compiled for inputs; it has none");
    const nnsuite_program::Given& given = *program->given;
    NN_ASSIGN(std::vector<nnsuite::Tensor> all,
              nnsuite::CompleteInputs(program->program, given.arrays, given.seed));
    nn::api::HandOut(std::move(all), inputs);
    return NNSUITE_OK;
  });
}

void nnsuite_program_free(nnsuite_program* program) {
  delete program;
}

int nnsuite_program_describe(const nnsuite_program* program, char** json, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(json, "json"));
    *json = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(program, "program"));
    const nnsuite::Program& p = program->program;
    *json = nn::api::CopyText(nn::JsonText({{"inputs", nn::api::PortListJson(p.inputs())},
                                            {"outputs", nn::api::PortListJson(p.outputs())},
                                            {"arena_bytes", p.arena_bytes()},
                                            {"packed_bytes", p.packed_bytes()}}));
    return NNSUITE_OK;
  });
}

size_t nnsuite_program_input_count(const nnsuite_program* program) {
  return program == nullptr ? 0 : program->program.inputs().size();
}

size_t nnsuite_program_output_count(const nnsuite_program* program) {
  return program == nullptr ? 0 : program->program.outputs().size();
}

const char* nnsuite_program_input_name(const nnsuite_program* program, size_t index) {
  return program == nullptr ? nullptr : nn::api::PortName(program->program.inputs(), index);
}

const char* nnsuite_program_output_name(const nnsuite_program* program, size_t index) {
  return program == nullptr ? nullptr : nn::api::PortName(program->program.outputs(), index);
}

int nnsuite_run(const nnsuite_program* program, const char* const* names,
                const nnsuite_tensor* const* inputs, size_t input_count, nnsuite_tensor** outputs,
                size_t output_count, nnsuite_error** error) {
  return nnsuite_run_with(program, names, inputs, input_count, nullptr, outputs, output_count,
                          error);
}

int nnsuite_run_with(const nnsuite_program* program, const char* const* names,
                     const nnsuite_tensor* const* inputs, size_t input_count,
                     const nnsuite_options* options, nnsuite_tensor** outputs, size_t output_count,
                     nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireRoom(program, outputs, output_count, false));
    NN_ASSIGN(const std::vector<nnsuite::Tensor> in,
              nn::api::InOrder(program->program, names, inputs, input_count));
    NN_ASSIGN(const nnsuite::ProgressCallback progress, nn::api::call::Run(options));
    NN_ASSIGN(std::vector<nnsuite::Tensor> out, program->program.Run(in, progress));
    nn::api::HandOut(std::move(out), outputs);
    return NNSUITE_OK;
  });
}

int nnsuite_compare_outputs(const nnsuite_program* program, const nnsuite_tensor* const* outputs,
                            const nnsuite_tensor* const* expected, size_t count,
                            const nnsuite_options* options, char** json, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(json, "json"));
    *json = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(program, "program"));
    if (count > 0) NN_RETURN_IF_ERROR(nn::api::RequireArgument(outputs, "outputs"));
    NN_ASSIGN(nnsuite::ExpectOptions call, nn::api::call::CompareOutputs(options));
    const std::vector<nnsuite::PortType>& ports = program->program.outputs();
    std::vector<nnsuite::Tensor> actual;
    for (size_t i = 0; i < count; ++i) {
      NN_RETURN_IF_ERROR(nn::api::RequireArgument(outputs[i], "outputs"));
      actual.push_back(outputs[i]->tensor);
      if (expected != nullptr && expected[i] != nullptr && i < ports.size())
        call.arrays.push_back({ports[i].name, expected[i]->tensor});
    }
    NN_ASSIGN(const nnsuite::OutputChecks checks,
              nnsuite::CompareOutputs(program->program, actual, call));
    *json = nn::api::CopyText(checks.report);
    return checks.passed ? NNSUITE_OK : NNSUITE_CHECK_FAILED;
  });
}

int nnsuite_bench(const nnsuite_program* program, const char* const* names,
                  const nnsuite_tensor* const* inputs, size_t input_count,
                  const nnsuite_options* options, char** json, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(json, "json"));
    *json = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(program, "program"));
    NN_ASSIGN(const std::vector<nnsuite::Tensor> in,
              nn::api::InOrder(program->program, names, inputs, input_count));
    NN_ASSIGN(const nn::api::BenchCall call, nn::api::call::Bench(options));
    NN_ASSIGN(const nnsuite::LatencyReport report,
              nnsuite::MeasureLatency(program->program, in, call.options, call.progress));
    *json = nn::api::CopyText(report.report);
    return NNSUITE_OK;
  });
}

int nnsuite_explain_plan(const nnsuite_program* program, char** json, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(json, "json"));
    *json = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(program, "program"));
    *json = nn::api::CopyText(nnsuite::ExplainPlan(program->program).report);
    return NNSUITE_OK;
  });
}

int nnsuite_trace(const nnsuite_program* program, const char* const* names,
                  const nnsuite_tensor* const* inputs, size_t input_count, char** json,
                  nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(json, "json"));
    *json = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(program, "program"));
    NN_ASSIGN(const std::vector<nnsuite::Tensor> in,
              nn::api::InOrder(program->program, names, inputs, input_count));
    NN_ASSIGN(const std::string trace, nnsuite::TraceRun(program->program, in));
    *json = nn::api::CopyText(trace);
    return NNSUITE_OK;
  });
}

int nnsuite_seeded_inputs(const nnsuite_program* program, uint64_t seed, nnsuite_tensor** inputs,
                          size_t count, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireRoom(program, inputs, count, true));
    NN_ASSIGN(std::vector<nnsuite::Tensor> seeded, program->program.SeededInputs(seed));
    nn::api::HandOut(std::move(seeded), inputs);
    return NNSUITE_OK;
  });
}

int nnsuite_simd_targets(char** json, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(json, "json"));
    *json = nullptr;
    *json = nn::api::CopyText(nn::JsonText(nnsuite::SimdTargets()));
    return NNSUITE_OK;
  });
}

int nnsuite_use_simd_target(const char* name, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(name, "name"));
    NN_RETURN_IF_ERROR(nnsuite::UseSimdTarget(name));
    return NNSUITE_OK;
  });
}

}  // extern "C"

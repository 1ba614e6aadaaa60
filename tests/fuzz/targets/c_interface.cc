// libFuzzer: arbitrary bytes as a model, through the C interface: every function, on what the ones
// before it return.
#include <nnsuite/nnsuite.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

namespace {

// A result is an error with a code that belongs to it, or a report.
void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// Frees the error of a call.
void CheckError(int code, nnsuite_error** error) {
  if (*error != nullptr) {
    Require(nnsuite_error_code(*error) == code && code != NNSUITE_OK, "the code of an error");
    Require(std::strcmp(nnsuite_error_kind(*error), "internal") != 0,
            nnsuite_error_message(*error));
  }
  nnsuite_error_free(*error);
  *error = nullptr;
}

// Frees the report, or the error, of a call.
void CheckReport(int code, char** text, nnsuite_error** error) {
  Require((*text == nullptr) == (*error != nullptr), "either a report or an error");
  CheckError(code, error);
  nnsuite_text_free(*text);
  *text = nullptr;
}

nnsuite_options* Options(std::initializer_list<std::pair<const char*, int64_t>> values) {
  nnsuite_options* options = nullptr;
  if (nnsuite_options_create(&options, nullptr) != NNSUITE_OK) std::abort();
  for (const auto& [name, value] : values)
    Require(nnsuite_options_set_integer(options, name, value, nullptr) == NNSUITE_OK, name);
  return options;
}

// Of nnsuite_compile_for_inputs() if `given`.
void Run(const nnsuite_program* program, bool given) {
  std::vector<nnsuite_tensor*> inputs(nnsuite_program_input_count(program));
  std::vector<nnsuite_tensor*> outputs(nnsuite_program_output_count(program));
  nnsuite_error* error = nullptr;
  int code = given ? nnsuite_given_inputs(program, inputs.data(), inputs.size(), &error)
                   : nnsuite_seeded_inputs(program, 0, inputs.data(), inputs.size(), &error);
  CheckError(code, &error);
  if (code == NNSUITE_OK) {
    code = nnsuite_run(program, nullptr, inputs.data(), inputs.size(), outputs.data(),
                       outputs.size(), &error);
    CheckError(code, &error);
  }
  if (code == NNSUITE_OK && !outputs.empty()) {
    char* text = nullptr;
    const int same = nnsuite_compare_outputs(program, outputs.data(), outputs.data(),
                                             outputs.size(), nullptr, &text, &error);
    Require(same == NNSUITE_OK, "outputs agree with themselves");
    CheckReport(same, &text, &error);
  }
  for (nnsuite_tensor* t : inputs) nnsuite_tensor_free(t);
  for (nnsuite_tensor* t : outputs) {
    Require((t != nullptr) == (code == NNSUITE_OK), "all outputs or none");
    nnsuite_tensor_free(t);
  }
}

void Use(nnsuite_model* model) {
  nnsuite_error* error = nullptr;
  char* text = nullptr;
  nnsuite_options* const parts = Options({{"nodes", 1}, {"tensors", 1}, {"tree", 1}});
  CheckReport(nnsuite_inspect(model, parts, &text, &error), &text, &error);
  nnsuite_options_free(parts);
  CheckReport(nnsuite_validate(model, nullptr, &text, &error), &text, &error);
  CheckReport(nnsuite_dump(model, nullptr, &text, &error), &text, &error);
  CheckReport(nnsuite_draw(model, "svg", nullptr, &text, &error), &text, &error);
  nnsuite_tensor* constant = nullptr;
  CheckError(nnsuite_model_constant(model, 0, &constant, &error), &error);
  nnsuite_tensor_free(constant);
  nnsuite_options* const limits =
      Options({{"max-memory", int64_t{64} << 20}, {"max-work", 10'000'000}, {"max-steps", 100}});
  nnsuite_program* program = nullptr;
  CheckError(nnsuite_compile(model, limits, &program, &error), &error);
  if (program != nullptr) Run(program, false);
  nnsuite_program_free(program);
  CheckError(nnsuite_compile_for_inputs(model, limits, &program, &error), &error);
  nnsuite_options_free(limits);
  if (program != nullptr) Run(program, true);
  nnsuite_program_free(program);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nnsuite_options* const limits =
      Options({{"max-items", 100'000}, {"max-unpacked-bytes", int64_t{64} << 20}});
  nnsuite_model* model = nullptr;
  nnsuite_error* error = nullptr;
  CheckError(nnsuite_open_memory(data, size, nullptr, nullptr, nullptr, limits, &model, &error),
             &error);
  nnsuite_options_free(limits);
  if (model != nullptr) Use(model);
  nnsuite_model_free(model);
  return 0;
}

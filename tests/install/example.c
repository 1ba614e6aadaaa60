/* Runs a model on seeded inputs and converts it, by the C interface. */
#include <nnsuite/nnsuite.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints the error, if there is one; returns the code. */
static int check(int code, nnsuite_error** error) {
  if (*error != NULL) fprintf(stderr, "%s\n", nnsuite_error_message(*error));
  nnsuite_error_free(*error);
  *error = NULL;
  return code;
}

static int run(const nnsuite_program* program) {
  const size_t input_count = nnsuite_program_input_count(program);
  const size_t output_count = nnsuite_program_output_count(program);
  nnsuite_tensor** inputs = calloc(input_count + 1, sizeof *inputs);
  nnsuite_tensor** outputs = calloc(output_count + 1, sizeof *outputs);
  nnsuite_error* error = NULL;
  size_t i;
  int code = NNSUITE_LIMIT;
  if (inputs != NULL && outputs != NULL)
    code = check(nnsuite_seeded_inputs(program, 0, inputs, input_count, &error), &error);
  if (code == NNSUITE_OK)
    code = check(nnsuite_run(program, NULL, (const nnsuite_tensor* const*)inputs, input_count,
                             outputs, output_count, &error),
                 &error);
  for (i = 0; code == NNSUITE_OK && i < output_count; ++i)
    printf("%s: %s, %lu bytes\n", nnsuite_program_output_name(program, i),
           nnsuite_tensor_dtype(outputs[i]), (unsigned long)nnsuite_tensor_size(outputs[i]));
  for (i = 0; inputs != NULL && i < input_count; ++i) nnsuite_tensor_free(inputs[i]);
  for (i = 0; outputs != NULL && i < output_count; ++i) nnsuite_tensor_free(outputs[i]);
  free(inputs);
  free(outputs);
  return code;
}

int main(int argc, char** argv) {
  nnsuite_error* error = NULL;
  nnsuite_model* model = NULL;
  nnsuite_program* program = NULL;
  char* report = NULL;
  int code = NNSUITE_USAGE;
  if (argc != 3) return code;
  code = check(nnsuite_open(argv[1], NULL, &model, &error), &error);
  if (code == NNSUITE_OK) code = check(nnsuite_compile(model, NULL, &program, &error), &error);
  if (code == NNSUITE_OK) code = run(program);
  if (code == NNSUITE_OK)
    code = check(nnsuite_convert(model, argv[2], NULL, &report, &error), &error);
  if (code == NNSUITE_OK) puts("converted and verified");
  nnsuite_text_free(report);
  nnsuite_program_free(program);
  nnsuite_model_free(model);
  return code;
}

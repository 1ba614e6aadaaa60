// The C interface of the library: C99, and for every language that can call C.
//
//   nnsuite_model* model = NULL;
//   nnsuite_error* error = NULL;
//   if (nnsuite_open("m.onnx", NULL, &model, &error) != NNSUITE_OK) {
//     fprintf(stderr, "%s\n", nnsuite_error_message(error));
//     nnsuite_error_free(error);
//   }
//
// Codes. Functions that can fail return one of enum nnsuite_code: the exit codes of the programs,
// and NNSUITE_INTERNAL, for which a program exits with 2. Errors go to `*error` unless `error` is
// NULL. NNSUITE_CHECK_FAILED and NNSUITE_UNSUPPORTED may also be the result of a report; `*error`
// is NULL then, and the report says why. Results are set to NULL, or 0, if there is an error.
//
// Ownership. Everything that a function returns through a pointer to a pointer belongs to the
// caller, who frees it with the function named after its type; NULL may be freed. Handles keep what
// they refer to: a tensor outlives the program that computed it, and an edited model its source.
// Texts that a function returns as const char* belong to the handle. Texts are UTF-8.
//
// NULL. A function that returns a code says NNSUITE_USAGE, and names the argument, if a pointer is
// NULL that must not be. Functions that ask a handle return 0 (NNSUITE_OK), "" for a text that
// every handle has, and NULL for all else, if the handle is NULL.
//
// Threads. Functions may be called from any thread. Models, programs and tensors do not change, so
// several threads may use one; options and errors belong to one thread at a time. A handle is freed
// when no other call uses it.
//
// No exception leaves a function. If memory runs out, the code is NNSUITE_LIMIT.
//
// Compatibility. version.h has the policy. New functions and options may be added; the meaning of
// those that exist stays within a SOVERSION.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nnsuite_code {
  NNSUITE_OK = 0,
  NNSUITE_CHECK_FAILED = 1,  // findings, models that differ, or an invalid model
  NNSUITE_USAGE = 2,         // arguments, files, or bytes that are not a model
  NNSUITE_UNSUPPORTED = 3,   // the model uses an unsupported feature, which the message names
  NNSUITE_LIMIT = 4,         // a resource limit was exceeded
  NNSUITE_INTERNAL = 5       // a broken invariant of the library, which is a bug of it
};

typedef struct nnsuite_error nnsuite_error;
typedef struct nnsuite_options nnsuite_options;
typedef struct nnsuite_model nnsuite_model;
typedef struct nnsuite_program nnsuite_program;
typedef struct nnsuite_tensor nnsuite_tensor;
typedef struct nnsuite_tensor_list nnsuite_tensor_list;

// Called once, with its context, when borrowed memory is not needed any more; on any thread.
typedef void (*nnsuite_release)(void* context);

// Told, on the calling thread, that `done` of `total` are done of an activity: "runs" of a
// verification or a benchmark, "bytes" of a written model, "models" of a folder, "steps" of a run,
// "test sets", "values" that are saved. A result other than 0 ends the function that calls it, with
// the code NNSUITE_LIMIT; existing files are unchanged then.
typedef int (*nnsuite_progress)(void* context, const char* activity, uint64_t done, uint64_t total);

// The version of the library that the program runs with: "0.1.0".
const char* nnsuite_version(void);

// ---- Errors and texts

// One of enum nnsuite_code other than NNSUITE_OK.
int nnsuite_error_code(const nnsuite_error* error);
// "usage", "io", "parse", "model", "unsupported", "limit" or "internal".
const char* nnsuite_error_kind(const nnsuite_error* error);
const char* nnsuite_error_message(const nnsuite_error* error);
void nnsuite_error_free(nnsuite_error* error);

// Frees a text that a function returned as char**.
void nnsuite_text_free(char* text);

// ---- Options

// Options have the names of the programs' options, without dashes in front, and their meanings;
// the functions below list theirs. A function rejects options that it does not have, and NULL
// stands for none. Flags are integers, 0 or 1.
int nnsuite_options_create(nnsuite_options** options, nnsuite_error** error);
void nnsuite_options_free(nnsuite_options* options);
// NNSUITE_USAGE for an unknown name, and a value of another kind than that of the option. An option
// that is repeatable takes one more text or number at each call.
int nnsuite_options_set_integer(nnsuite_options* options, const char* name, int64_t value,
                                nnsuite_error** error);
int nnsuite_options_set_real(nnsuite_options* options, const char* name, double value,
                             nnsuite_error** error);
int nnsuite_options_set_text(nnsuite_options* options, const char* name, const char* value,
                             nnsuite_error** error);
// The shape of an input ("input-shape"), which as a text may have symbols: "NAME:N,3,h,w".
int nnsuite_options_set_shape(nnsuite_options* options, const char* input, const int64_t* shape,
                              size_t rank, nnsuite_error** error);
// One more sample of all inputs, in their order, for a quantization. Keeps the tensors.
int nnsuite_options_add_sample(nnsuite_options* options, const nnsuite_tensor* const* inputs,
                               size_t count, nnsuite_error** error);
// The same for one more run of a verification, in place of runs on generated inputs.
int nnsuite_options_add_verify_inputs(nnsuite_options* options, const nnsuite_tensor* const* inputs,
                                      size_t count, nnsuite_error** error);
// Makes an input a constant with these contents, in a conversion. Keeps the tensor.
int nnsuite_options_set_fixed_input(nnsuite_options* options, const char* input,
                                    const nnsuite_tensor* contents, nnsuite_error** error);
// The contents of an input of a run. Keeps the tensor.
int nnsuite_options_set_input(nnsuite_options* options, const char* input,
                              const nnsuite_tensor* contents, nnsuite_error** error);
// Reports the progress of a conversion, an edit, a run or a benchmark, which the callback may end.
// NULL: no reports.
int nnsuite_options_set_progress(nnsuite_options* options, nnsuite_progress progress, void* context,
                                 nnsuite_error** error);

// ---- Models

// Reads a model file or folder of any format, or a dump. The file is mapped and must not change as
// long as the model, or a tensor of it, exists.
//
// Texts: function. Integers: max-file-bytes, max-piped-bytes, max-unpacked-bytes, max-depth,
// max-items.
int nnsuite_open(const char* path, const nnsuite_options* options, nnsuite_model** model,
                 nnsuite_error** error);
// The same for bytes in memory. With `release`, they are borrowed: they must not change before it
// is called, which does not happen if the function fails. If `release` is NULL, they are copied.
// External data is looked up beside `path`, which may be NULL.
int nnsuite_open_memory(const void* bytes, size_t size, nnsuite_release release, void* context,
                        const char* path, const nnsuite_options* options, nnsuite_model** model,
                        nnsuite_error** error);
void nnsuite_model_free(nnsuite_model* model);

// "onnx", "tflite", "coreml" or "nnapi".
const char* nnsuite_model_format(const nnsuite_model* model);
const char* nnsuite_model_path(const nnsuite_model* model);

// What nninspect --format json prints (schemas/nninspect.schema.json).
//
// Texts: op, node. Repeatable texts: input-shape, length. Flags: nodes, tensors, stats, histogram,
// values, tree, cost, hash. Integers: batch. Shapes.
int nnsuite_inspect(const nnsuite_model* model, const nnsuite_options* options, char** json,
                    nnsuite_error** error);
// What nninspect --diff --format json prints (schemas/nninspect-diff.schema.json).
// NNSUITE_CHECK_FAILED, with the report, if the models differ.
int nnsuite_diff(const nnsuite_model* a, const nnsuite_model* b, char** json,
                 nnsuite_error** error);
// The same with shapes of the inputs of both models.
//
// Repeatable texts: input-shape, length. Integers: batch. Shapes.
int nnsuite_diff_with(const nnsuite_model* a, const nnsuite_model* b,
                      const nnsuite_options* options, char** json, nnsuite_error** error);
// The same as a page for a browser, which nninspect --diff --format html writes.
//
// Repeatable texts: input-shape, length. Integers: batch. Shapes.
int nnsuite_draw_diff(const nnsuite_model* a, const nnsuite_model* b,
                      const nnsuite_options* options, char** html, nnsuite_error** error);
// A picture; `form` is "svg", or "dot" for Graphviz; or "html", a page for a browser, with what is
// in reports of nnvalidate and nnrun, of which findings, times and errors are the files.
//
// Texts: findings, times, errors. Flags: expand.
int nnsuite_draw(const nnsuite_model* model, const char* form, const nnsuite_options* options,
                 char** text, nnsuite_error** error);

// The bill of materials as a CycloneDX document, which nninspect --format cyclonedx prints.
int nnsuite_bill_of_materials(const nnsuite_model* model, char** json, nnsuite_error** error);

// What nnvalidate --format json prints (schemas/nnvalidate-report.schema.json): rule, severity,
// message, location and hint of each finding. NNSUITE_CHECK_FAILED, with the report, for findings
// of severity error, or that of the option fail-on. The options enable and disable take rule ids,
// and patterns such as "ONNX-LINT-*".
//
// Texts: fail-on ("note", "warning", "error"), baseline, attestation, write-baseline, profile
// ("spec", "vendor", "strict", "safety"), deployment-target ("iOS13", "iOS14", "iOS15", "iOS16",
// "iOS17", "iOS18", "iOS26", "macOS10.15", "macOS11", "macOS12", "macOS13", "macOS14", "macOS15",
// "macOS26"). Repeatable texts: for, enable, disable, assert-ops, assert-dtype, assert-input.
// Flags: fingerprints, assert-static-shapes. Integers: max-per-rule, assert-max-params,
// assert-max-bytes, assert-macs-below.
int nnsuite_validate(const nnsuite_model* model, const nnsuite_options* options, char** json,
                     nnsuite_error** error);

// The complete model as JSON text, which nnsuite_open_memory takes in place of the model.
//
// Texts: weights ("base64", "inline", "stats", "digest", "none").
int nnsuite_dump(const nnsuite_model* model, const nnsuite_options* options, char** json,
                 nnsuite_error** error);

// The same as a file, which nnsuite_open takes in place of the model. The option "weights" may also
// be the path of an .npz or .safetensors file below the folder of the dump, for the tensors.
//
// Texts: weights.
int nnsuite_dump_file(const nnsuite_model* model, const char* path, const nnsuite_options* options,
                      nnsuite_error** error);

// Writes a copy in the same format. The files are replaced as a whole, or not at all.
//
// Texts: external-data. Flags: embed-data. Integers: external-threshold.
int nnsuite_write(const nnsuite_model* model, const char* path, const nnsuite_options* options,
                  nnsuite_error** error);

// Converts a model and verifies the result as nnconvert does, whose --format json prints the report
// (schemas/nnconvert-report.schema.json), without the digests of files. NNSUITE_CHECK_FAILED if
// outputs differ, and NNSUITE_UNSUPPORTED for nodes that the format cannot express; nothing is
// written then, and the report names the outputs or nodes. "attest" names a file for the statement
// of nnconvert --attest, for a model that was read from a file.
//
// Texts: to, merge, set-batch, function, core-ml, deployment-target, quantize, calibrate-method,
// external-data, attest. Repeatable texts: input-shape, length, clip-input, rename-input,
// rename-output, connect, preprocess, layout, carry, keep-float32, verify-shape. Flags:
// fold-batch-norm, fuse, simplify, allow-rounding, states, rewrite, dequantize, float32, fp16,
// bf16, weights-only, half-interface, symmetric, per-tensor, bias-correction, equalize,
// integer-interface, embed-data, infer-shapes, dry-run, no-verify. Integers: batch, cache-length,
// opset, unroll, calibrate-seeded, external-threshold, seed, verify-runs, threads, max-memory,
// max-work, max-steps. Reals: atol, rtol. Shapes, samples, inputs of the verification, fixed
// inputs, progress.
int nnsuite_convert(const nnsuite_model* model, const char* path, const nnsuite_options* options,
                    char** json, nnsuite_error** error);

// Converts all models below the folder `path`, or all that the pattern `path` matches, to files
// below the folder `output`, which may be NULL in a dry run, in the format of the option "to". A
// model that fails does not stop the others. Models that have not changed since they were converted
// with the same options are skipped, as by nnconvert, whose --format json prints the report. The
// code is the worst of the models' codes in the order 2, 4, 1, 3, 0. The progress is that of
// "models", and may be reported by other threads, by one at a time.
//
// Texts: to, set-batch, function, core-ml, deployment-target, quantize, calibrate-method,
// compose-json, extract, strip. Repeatable texts: input-shape, length, connect, keep-float32,
// verify-shape, cut-before, cut-after, remove-output, add-output, rename, set-metadata. Flags:
// fold-batch-norm, fuse, simplify, allow-rounding, states, rewrite, dequantize, float32, fp16,
// bf16, weights-only, half-interface, symmetric, per-tensor, bias-correction, equalize,
// integer-interface, embed-data, infer-shapes, dry-run, no-verify, force. Integers: batch, opset,
// unroll, calibrate-seeded, external-threshold, seed, verify-runs, threads, max-memory, max-work,
// max-steps, jobs, max-file-bytes, max-piped-bytes, max-unpacked-bytes, max-depth, max-items.
// Reals: atol, rtol. Shapes, progress.
int nnsuite_convert_folder(const char* path, const char* output, const nnsuite_options* options,
                           char** json, nnsuite_error** error);

// Edits a model in its own format and verifies the edit as nnconvert does; `json` is `native_edits`
// of its report. NNSUITE_CHECK_FAILED, with the report and without a model, if the outputs differ.
//
// Texts: compose-json, extract, strip. Repeatable texts: cut-before, cut-after, remove-output,
// add-output, rename, set-metadata, verify-shape. Flags: no-verify. Integers: seed, verify-runs,
// threads, max-memory, max-work, max-steps. Reals: atol, rtol. Progress.
int nnsuite_edit(const nnsuite_model* model, const nnsuite_options* options, nnsuite_model** edited,
                 char** json, nnsuite_error** error);

// Reads a constant tensor of a model. `index` is its place in `tensors` of nnsuite_inspect with the
// flag tensors. Refers to the mapped file where the contents are aligned.
int nnsuite_model_constant(const nnsuite_model* model, size_t index, nnsuite_tensor** tensor,
                           nnsuite_error** error);

// ---- Tensors

// Element types have the names "bool", "i2", "i4", "i8", "i16", "i32", "i64", "u2", "u4", "u8",
// "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2",
// "f8e5m2fnuz", "f8e8m0", "f4e2m1", "c64", "c128" and "str". Elements are dense, row-major and
// little-endian; those under 8 bits are packed from the lowest bits up.

// A tensor of `size` bytes. With `release`, they are borrowed as by nnsuite_open_memory; bytes that
// are not aligned to 16 are copied, and released before the function returns. If `release` is NULL,
// they are copied.
int nnsuite_tensor_create(const char* dtype, const int64_t* shape, size_t rank, const void* bytes,
                          size_t size, nnsuite_release release, void* context,
                          nnsuite_tensor** tensor, nnsuite_error** error);
// A tensor of strings; `sizes` has the bytes of each of the `count` texts.
int nnsuite_tensor_create_strings(const int64_t* shape, size_t rank, const char* const* texts,
                                  const size_t* sizes, size_t count, nnsuite_tensor** tensor,
                                  nnsuite_error** error);
// One more handle for the same tensor, without a copy of the contents.
int nnsuite_tensor_share(const nnsuite_tensor* tensor, nnsuite_tensor** shared,
                         nnsuite_error** error);
void nnsuite_tensor_free(nnsuite_tensor* tensor);

const char* nnsuite_tensor_dtype(const nnsuite_tensor* tensor);
size_t nnsuite_tensor_rank(const nnsuite_tensor* tensor);
const int64_t* nnsuite_tensor_shape(const nnsuite_tensor* tensor);
// The contents, which belong to the tensor, aligned to 16 bytes; NULL and 0 for strings.
const void* nnsuite_tensor_bytes(const nnsuite_tensor* tensor);
size_t nnsuite_tensor_size(const nnsuite_tensor* tensor);
// Element `index` of a tensor of strings, of `*size` bytes followed by a zero byte; NULL for
// other tensors, and beyond the last element.
const char* nnsuite_tensor_text(const nnsuite_tensor* tensor, size_t index, size_t* size);

// Tensors with names, in an order.
size_t nnsuite_tensor_list_size(const nnsuite_tensor_list* list);
// NULL beyond the last one.
const char* nnsuite_tensor_list_name(const nnsuite_tensor_list* list, size_t index);
// The tensor belongs to the list; nnsuite_tensor_share() makes a handle that outlives it. NULL
// beyond the last one.
const nnsuite_tensor* nnsuite_tensor_list_get(const nnsuite_tensor_list* list, size_t index);
void nnsuite_tensor_list_free(nnsuite_tensor_list* list);

// ---- Programs

// Compiles a model, which any number of threads may run. Output bits depend neither on the
// processor nor on the number of threads.
//
// Texts: backend ("simd", "reference"). Repeatable texts: input-shape, length. Flags: no-fuse.
// Integers: threads, max-memory, max-work, max-steps, batch. Shapes.
int nnsuite_compile(const nnsuite_model* model, const nnsuite_options* options,
                    nnsuite_program** program, nnsuite_error** error);
// Compiles a model for inputs from files, images and literals, as nnrun does: their shapes, and
// small integers where they decide about shapes, are those of the program, whose inputs
// nnsuite_given_inputs() returns. The option "input" is a text "NAME=VALUE", as of nnrun.
//
// Texts: inputs, image-size, image-fit ("stretch", "crop"), image-color ("rgb", "bgr", "gray"),
// image-layout ("nchw", "nhwc"), backend ("simd", "reference"). Repeatable texts: input,
// input-shape, length. Flags: cast-inputs, reshape-inputs, no-fuse. Integers: seed,
// max-image-pixels, threads, max-memory, max-work, max-steps, batch, max-file-bytes,
// max-piped-bytes, max-unpacked-bytes, max-depth, max-items. Reals: scale. Repeatable reals: mean,
// std. Shapes, inputs.
int nnsuite_compile_for_inputs(const nnsuite_model* model, const nnsuite_options* options,
                               nnsuite_program** program, nnsuite_error** error);
// The inputs that the program was compiled for, and for those that were not given, random numbers
// of the option "seed"; `inputs` has room for `count` handles. NNSUITE_USAGE for a program of
// nnsuite_compile().
int nnsuite_given_inputs(const nnsuite_program* program, nnsuite_tensor** inputs, size_t count,
                         nnsuite_error** error);
void nnsuite_program_free(nnsuite_program* program);

// {"inputs": [{"name", "type", "dtype", "shape"}], "outputs": [...], "arena_bytes",
// "packed_bytes"}. `type` is a text such as "u8[1, 10]{scale=0.5, zp=128}"; sizes known only during
// a run are null.
int nnsuite_program_describe(const nnsuite_program* program, char** json, nnsuite_error** error);
size_t nnsuite_program_input_count(const nnsuite_program* program);
size_t nnsuite_program_output_count(const nnsuite_program* program);
// NULL beyond the last one.
const char* nnsuite_program_input_name(const nnsuite_program* program, size_t index);
const char* nnsuite_program_output_name(const nnsuite_program* program, size_t index);

// Runs a program. `names` are those of the `input_count` inputs, each input once and in any order;
// NULL: they are in the program's order. Sets `outputs`, which has room for `output_count` handles,
// as many as the program has outputs.
int nnsuite_run(const nnsuite_program* program, const char* const* names,
                const nnsuite_tensor* const* inputs, size_t input_count, nnsuite_tensor** outputs,
                size_t output_count, nnsuite_error** error);
// The same with options.
//
// Progress.
int nnsuite_run_with(const nnsuite_program* program, const char* const* names,
                     const nnsuite_tensor* const* inputs, size_t input_count,
                     const nnsuite_options* options, nnsuite_tensor** outputs, size_t output_count,
                     nnsuite_error** error);

// Runs a model step by step, as nnrun --steps, and passes its states on. The options of the inputs
// are those of nnsuite_compile_for_inputs. `outputs` gets the outputs, with a first axis of the
// steps, unless the shape changes from step to step: then it is the last value. `states`, unless it
// is NULL, gets the states after the last step.
//
// Texts: inputs, image-size, image-fit ("stretch", "crop"), image-color ("rgb", "bgr", "gray"),
// image-layout ("nchw", "nhwc"), backend ("simd", "reference"), state. Repeatable texts: input,
// input-shape, length, carry. Flags: cast-inputs, reshape-inputs, no-fuse. Integers: seed,
// max-image-pixels, threads, max-memory, max-work, max-steps, batch, max-file-bytes,
// max-piped-bytes, max-unpacked-bytes, max-depth, max-items, steps. Reals: scale. Repeatable reals:
// mean, std. Shapes, inputs, progress.
int nnsuite_run_sequence(const nnsuite_model* model, const nnsuite_options* options,
                         nnsuite_tensor_list** outputs, nnsuite_tensor_list** states,
                         nnsuite_error** error);

// Runs a model and writes inputs, intermediate values and outputs to a folder, as
// nnrun --save-steps: .npy files and index.json. The options of the inputs are those of
// nnsuite_compile_for_inputs. The progress is that of "values".
//
// Texts: inputs, image-size, image-fit ("stretch", "crop"), image-color ("rgb", "bgr", "gray"),
// image-layout ("nchw", "nhwc"), backend ("simd", "reference"). Repeatable texts: input,
// input-shape, length. Flags: cast-inputs, reshape-inputs, no-fuse. Integers: seed,
// max-image-pixels, threads, max-memory, max-work, max-steps, batch, max-file-bytes,
// max-piped-bytes, max-unpacked-bytes, max-depth, max-items. Reals: scale. Repeatable reals: mean,
// std. Shapes, inputs, progress.
int nnsuite_save_step_values(const nnsuite_model* model, const char* folder,
                             const nnsuite_options* options, nnsuite_error** error);

// Finds the operators that must stay float32 so that the outputs hold the tolerance, of which rtol
// must be set, if all others compute in the option "dtype". The options of the inputs are those of
// nnsuite_compile_for_inputs. `json` has the member "search_dtype" of what
// nnrun --search-dtype --format json prints.
//
// Texts: inputs, image-size, image-fit ("stretch", "crop"), image-color ("rgb", "bgr", "gray"),
// image-layout ("nchw", "nhwc"), backend ("simd", "reference"), dtype ("f16", "bf16"). Repeatable
// texts: input, input-shape, length. Flags: cast-inputs, reshape-inputs, no-fuse. Integers: seed,
// max-image-pixels, threads, max-memory, max-work, max-steps, batch, max-file-bytes,
// max-piped-bytes, max-unpacked-bytes, max-depth, max-items. Reals: scale, atol, rtol. Repeatable
// reals: mean, std. Shapes, inputs.
int nnsuite_search_dtype(const nnsuite_model* model, const nnsuite_options* options, char** json,
                         nnsuite_error** error);

// Runs a model on test data of ONNX: `folder` has input_K.pb and output_K.pb, or folders
// test_data_set_* that have them. `json` has the member "test_data" of what
// nnrun --test-data --format json prints. NNSUITE_CHECK_FAILED, with the report, if outputs differ
// by more than atol plus rtol times the magnitude of the expected value, or none is expected.
//
// Texts: backend ("simd", "reference"). Repeatable texts: input-shape, length. Flags: no-fuse.
// Integers: threads, max-memory, max-work, max-steps, batch. Reals: atol, rtol. Shapes, progress.
int nnsuite_run_test_data(const nnsuite_model* model, const char* folder,
                          const nnsuite_options* options, char** json, nnsuite_error** error);

// Compares the outputs of a run, in the program's order, with a file of the option "expect", or
// with tensors: `expected` has a handle for each output, or NULL for one without a tensor, and may
// be NULL itself. `json` is the member "expect" of what nnrun --expect --format json prints.
// NNSUITE_CHECK_FAILED, with the report, if outputs differ by more than atol plus rtol times the
// largest magnitude of the expected tensor.
//
// Texts: expect. Integers: max-file-bytes, max-piped-bytes, max-unpacked-bytes, max-depth,
// max-items. Reals: atol, rtol.
int nnsuite_compare_outputs(const nnsuite_program* program, const nnsuite_tensor* const* outputs,
                            const nnsuite_tensor* const* expected, size_t count,
                            const nnsuite_options* options, char** json, nnsuite_error** error);

// Measures the latency of a program. Inputs are as for nnsuite_run. `json` is what
// nnrun --bench --format json prints, without the version and the model; with the flag "step-times"
// as with --profile.
//
// Flags: step-times. Integers: warmup, runs. Progress.
int nnsuite_bench(const nnsuite_program* program, const char* const* names,
                  const nnsuite_tensor* const* inputs, size_t input_count,
                  const nnsuite_options* options, char** json, nnsuite_error** error);

// What nnrun --explain-plan --format json prints, without the version and the model: the steps of a
// run, their operands and memory, and work. "plan" is null if there is none.
int nnsuite_explain_plan(const nnsuite_program* program, char** json, nnsuite_error** error);
// Runs a program, which needs a plan, and records which thread did what, and when: the JSON of
// Chrome trace events that nnrun --trace writes. Inputs are as for nnsuite_run.
int nnsuite_trace(const nnsuite_program* program, const char* const* names,
                  const nnsuite_tensor* const* inputs, size_t input_count, char** json,
                  nnsuite_error** error);

// Contents for all inputs, the same as those of nnrun --seed; `inputs` has room for `count`
// handles.
int nnsuite_seeded_inputs(const nnsuite_program* program, uint64_t seed, nnsuite_tensor** inputs,
                          size_t count, nnsuite_error** error);

// The SIMD targets that this processor supports, best first: a JSON array of names.
int nnsuite_simd_targets(char** json, nnsuite_error** error);
// Restricts all programs of the process to one of them; "" restores the choice by processor. No
// program may run meanwhile.
int nnsuite_use_simd_target(const char* name, nnsuite_error** error);

#ifdef __cplusplus
}  // extern "C"
#endif

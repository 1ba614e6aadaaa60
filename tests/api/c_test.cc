#include <nnsuite/nnsuite.h>
#include <nnsuite/version.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support.h"

namespace nnsuite::test::c_test {
namespace {

// A handle that is freed at the end.
template <typename T, void (*kFree)(T*)>
class Handle {
 public:
  Handle() = default;
  ~Handle() { kFree(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  operator T*() const { return handle_; }
  T** out() {
    kFree(handle_);
    handle_ = nullptr;
    return &handle_;
  }
  void reset() { out(); }

 private:
  T* handle_ = nullptr;
};

using COptions = Handle<nnsuite_options, nnsuite_options_free>;
using CModel = Handle<nnsuite_model, nnsuite_model_free>;
using CProgram = Handle<nnsuite_program, nnsuite_program_free>;
using CTensor = Handle<nnsuite_tensor, nnsuite_tensor_free>;
using CTensorList = Handle<nnsuite_tensor_list, nnsuite_tensor_list_free>;
using CError = Handle<nnsuite_error, nnsuite_error_free>;
using CText = Handle<char, nnsuite_text_free>;

std::string MessageOf(const CError& error) {
  return error == nullptr ? "" : nnsuite_error_message(error);
}

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void OpenGolden(const std::string& name, CModel& model) {
  CError error;
  REQUIRE_MESSAGE(
      nnsuite_open(Golden(name).c_str(), nullptr, model.out(), error.out()) == NNSUITE_OK,
      MessageOf(error));
}

void Set(const COptions& options, const char* name, int64_t value) {
  CError error;
  REQUIRE_MESSAGE(nnsuite_options_set_integer(options, name, value, error.out()) == NNSUITE_OK,
                  MessageOf(error));
}

void Set(const COptions& options, const char* name, const char* value) {
  CError error;
  REQUIRE_MESSAGE(nnsuite_options_set_text(options, name, value, error.out()) == NNSUITE_OK,
                  MessageOf(error));
}

// What a program prints.
std::string OutputOf(const std::string& command) {
  std::string out;
  FILE* const pipe = popen((BinDir() + "/" + command).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> part;
  while (const size_t n = fread(part.data(), 1, part.size(), pipe)) out.append(part.data(), n);
  pclose(pipe);
  return out;
}

void Count(void* context) {
  ++*static_cast<int*>(context);
}

}  // namespace

TEST_CASE("c: errors have the codes of the programs") {
  CModel model;
  CError error;
  CHECK(nnsuite_open("/no/such/file.onnx", nullptr, model.out(), error.out()) == NNSUITE_USAGE);
  REQUIRE(error != nullptr);
  CHECK(nnsuite_error_code(error) == NNSUITE_USAGE);
  CHECK(std::string(nnsuite_error_kind(error)) == "io");
  CHECK(Has(MessageOf(error), "/no/such/file.onnx"));
  CHECK(model == nullptr);
  CHECK(nnsuite_open("/no/such/file.onnx", nullptr, model.out(), nullptr) == NNSUITE_USAGE);
  CHECK(nnsuite_open(nullptr, nullptr, model.out(), error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "the argument path is NULL");
  CHECK(nnsuite_open("m.onnx", nullptr, nullptr, nullptr) == NNSUITE_USAGE);

  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  Set(options, "max-file-bytes", 10);
  CHECK(nnsuite_open(Golden("cnn.onnx").c_str(), options, model.out(), error.out()) ==
        NNSUITE_LIMIT);
  CHECK(std::string(nnsuite_error_kind(error)) == "limit");

  const std::string text = "this is no model";
  CHECK(nnsuite_open_memory(text.data(), text.size(), nullptr, nullptr, nullptr, nullptr,
                            model.out(), error.out()) == NNSUITE_USAGE);
  CHECK(std::string(nnsuite_error_kind(error)) == "parse");
  nnsuite_error_free(nullptr);
  CHECK(std::string(nnsuite_version()) == Version());
}

TEST_CASE("C: functions that ask a handle have a value for NULL") {
  CHECK(nnsuite_error_code(nullptr) == NNSUITE_OK);
  for (const char* text :
       {nnsuite_error_kind(nullptr), nnsuite_error_message(nullptr), nnsuite_model_format(nullptr),
        nnsuite_model_path(nullptr), nnsuite_tensor_dtype(nullptr)})
    CHECK(text == std::string_view());
  CHECK(nnsuite_tensor_rank(nullptr) == 0);
  CHECK(nnsuite_tensor_shape(nullptr) == nullptr);
  CHECK(nnsuite_tensor_bytes(nullptr) == nullptr);
  CHECK(nnsuite_tensor_size(nullptr) == 0);
  size_t size = 7;
  CHECK(nnsuite_tensor_text(nullptr, 0, &size) == nullptr);
  CHECK(size == 0);
  CHECK(nnsuite_program_input_count(nullptr) == 0);
  CHECK(nnsuite_program_output_count(nullptr) == 0);
  CHECK(nnsuite_program_input_name(nullptr, 0) == nullptr);
  CHECK(nnsuite_program_output_name(nullptr, 0) == nullptr);
}

TEST_CASE("C: functions with codes name the argument that is NULL") {
  CText json;
  CError error;
  CModel model;
  CTensor tensor;
  CProgram program;
  auto* const edited = reinterpret_cast<nnsuite_model*>(&error);
  nnsuite_model* result = edited;
  CHECK(nnsuite_edit(nullptr, nullptr, &result, json.out(), error.out()) == NNSUITE_USAGE);
  CHECK(result == nullptr);
  const int codes[] = {
      nnsuite_options_create(nullptr, nullptr),
      nnsuite_options_set_integer(nullptr, nullptr, 0, nullptr),
      nnsuite_options_set_text(nullptr, nullptr, nullptr, nullptr),
      nnsuite_options_set_shape(nullptr, nullptr, nullptr, 1, nullptr),
      nnsuite_options_add_sample(nullptr, nullptr, 1, nullptr),
      nnsuite_options_add_verify_inputs(nullptr, nullptr, 1, nullptr),
      nnsuite_options_set_fixed_input(nullptr, nullptr, nullptr, nullptr),
      nnsuite_options_set_input(nullptr, nullptr, nullptr, nullptr),
      nnsuite_options_set_progress(nullptr, nullptr, nullptr, nullptr),
      nnsuite_open_memory(nullptr, 1, nullptr, nullptr, nullptr, nullptr, model.out(), nullptr),
      nnsuite_inspect(nullptr, nullptr, json.out(), nullptr),
      nnsuite_inspect(nullptr, nullptr, nullptr, nullptr),
      nnsuite_diff(nullptr, nullptr, json.out(), nullptr),
      nnsuite_diff_with(nullptr, nullptr, nullptr, json.out(), nullptr),
      nnsuite_draw_diff(nullptr, nullptr, nullptr, json.out(), nullptr),
      nnsuite_bill_of_materials(nullptr, json.out(), nullptr),
      nnsuite_draw(nullptr, nullptr, nullptr, json.out(), nullptr),
      nnsuite_validate(nullptr, nullptr, json.out(), nullptr),
      nnsuite_dump(nullptr, nullptr, json.out(), nullptr),
      nnsuite_dump_file(nullptr, nullptr, nullptr, nullptr),
      nnsuite_write(nullptr, nullptr, nullptr, nullptr),
      nnsuite_convert(nullptr, nullptr, nullptr, json.out(), nullptr),
      nnsuite_convert_folder(nullptr, nullptr, nullptr, json.out(), nullptr),
      nnsuite_edit(nullptr, nullptr, nullptr, nullptr, nullptr),
      nnsuite_model_constant(nullptr, 0, tensor.out(), nullptr),
      nnsuite_tensor_create(nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr, tensor.out(),
                            nullptr),
      nnsuite_tensor_create("f32", nullptr, 2, nullptr, 0, nullptr, nullptr, tensor.out(), nullptr),
      nnsuite_tensor_create_strings(nullptr, 0, nullptr, nullptr, 1, tensor.out(), nullptr),
      nnsuite_tensor_share(nullptr, tensor.out(), nullptr),
      nnsuite_compile(nullptr, nullptr, program.out(), nullptr),
      nnsuite_compile_for_inputs(nullptr, nullptr, program.out(), nullptr),
      nnsuite_given_inputs(nullptr, nullptr, 0, nullptr),
      nnsuite_program_describe(nullptr, json.out(), nullptr),
      nnsuite_run(nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr),
      nnsuite_run_with(nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr),
      nnsuite_compare_outputs(nullptr, nullptr, nullptr, 0, nullptr, json.out(), nullptr),
      nnsuite_save_step_values(nullptr, nullptr, nullptr, nullptr),
      nnsuite_search_dtype(nullptr, nullptr, json.out(), nullptr),
      nnsuite_run_test_data(nullptr, nullptr, nullptr, json.out(), nullptr),
      nnsuite_run_sequence(nullptr, nullptr, nullptr, nullptr, nullptr),
      nnsuite_bench(nullptr, nullptr, nullptr, 0, nullptr, json.out(), nullptr),
      nnsuite_explain_plan(nullptr, json.out(), nullptr),
      nnsuite_trace(nullptr, nullptr, nullptr, 0, json.out(), nullptr),
      nnsuite_seeded_inputs(nullptr, 0, nullptr, 0, nullptr),
      nnsuite_simd_targets(nullptr, nullptr),
      nnsuite_use_simd_target(nullptr, nullptr)};
  for (const int code : codes) CHECK(code == NNSUITE_USAGE);
  // A number of axes that no tensor has is not read.
  const int64_t one = 1;
  CHECK(nnsuite_tensor_create("f32", &one, SIZE_MAX / 16, nullptr, 0, nullptr, nullptr,
                              tensor.out(), error.out()) == NNSUITE_USAGE);
  CHECK(Has(MessageOf(error), "a tensor has at most"));
}

TEST_CASE("c: options are checked when they are set, and where they are used") {
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  CError error;
  CHECK(nnsuite_options_set_integer(options, "opsets", 1, error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "no option is named \"opsets\"");
  CHECK(nnsuite_options_set_integer(options, "nodes", 2, error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "the option \"nodes\" is a flag, 0 or 1");
  CHECK(nnsuite_options_set_text(options, "opset", "17", error.out()) == NNSUITE_USAGE);
  CHECK(nnsuite_options_set_integer(options, "to", 1, error.out()) == NNSUITE_USAGE);
  CHECK(nnsuite_options_set_real(options, "opset", 1.5, error.out()) == NNSUITE_USAGE);
  CHECK(nnsuite_options_set_real(nullptr, "atol", 1.5, error.out()) == NNSUITE_USAGE);
  CHECK(nnsuite_options_set_integer(options, "atol", 1, error.out()) == NNSUITE_OK);

  CModel model;
  OpenGolden("cnn.onnx", model);
  CText json;
  CHECK(nnsuite_inspect(model, options, json.out(), error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "inspect has no option \"atol\"");
  CHECK(json == nullptr);

  COptions shapes;
  REQUIRE(nnsuite_options_create(shapes.out(), nullptr) == NNSUITE_OK);
  const int64_t shape[] = {1, 3, 32, 32};
  CHECK(nnsuite_options_set_shape(shapes, "image", shape, 4, nullptr) == NNSUITE_OK);
  CHECK(nnsuite_validate(model, shapes, json.out(), error.out()) == NNSUITE_USAGE);
  COptions negative;
  REQUIRE(nnsuite_options_create(negative.out(), nullptr) == NNSUITE_OK);
  Set(negative, "external-threshold", -1);
  CHECK(nnsuite_write(model, "m.onnx", negative, error.out()) == NNSUITE_USAGE);
  Set(shapes, "threads", -1);
  CProgram program;
  CHECK(nnsuite_compile(model, shapes, program.out(), error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "the option \"threads\" must be at least 0; it is -1");
}

TEST_CASE("c: a program is compiled for inputs from literals and images") {
  CModel model;
  OpenGolden("cnn.onnx", model);
  COptions options;
  CProgram program;
  CError error;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  Set(options, "input", "image=0.5");
  Set(options, "batch", 2);
  Set(options, "seed", 3);
  REQUIRE_MESSAGE(
      nnsuite_compile_for_inputs(model, options, program.out(), error.out()) == NNSUITE_OK,
      MessageOf(error));
  nnsuite_tensor* input = nullptr;
  CHECK(nnsuite_given_inputs(program, &input, 2, error.out()) == NNSUITE_USAGE);
  REQUIRE(nnsuite_given_inputs(program, &input, 1, nullptr) == NNSUITE_OK);
  REQUIRE(nnsuite_tensor_size(input) == 2 * 3 * 32 * 32 * 4);
  CHECK(*static_cast<const float*>(nnsuite_tensor_bytes(input)) == 0.5F);
  nnsuite_tensor* output = nullptr;
  CHECK(nnsuite_run(program, nullptr, &input, 1, &output, 1, nullptr) == NNSUITE_OK);
  nnsuite_tensor_free(output);
  nnsuite_tensor_free(input);

  // Numbers of each channel; integers are numbers.
  const std::filesystem::path image = std::filesystem::temp_directory_path() / "nnsuite-c.ppm";
  std::ofstream(image, std::ios::binary) << "P6 1 1 255\n" << std::string("\xff\0\0", 3);
  COptions pixels;
  REQUIRE(nnsuite_options_create(pixels.out(), nullptr) == NNSUITE_OK);
  Set(pixels, "input", ("image=" + image.string()).c_str());
  Set(pixels, "scale", 1);
  Set(pixels, "image-fit", "crop");
  for (const double mean : {0.5, 1.5, 2.5})
    CHECK(nnsuite_options_set_real(pixels, "mean", mean, nullptr) == NNSUITE_OK);
  Set(pixels, "std", 2);
  REQUIRE_MESSAGE(
      nnsuite_compile_for_inputs(model, pixels, program.out(), error.out()) == NNSUITE_OK,
      MessageOf(error));
  std::filesystem::remove(image);
  REQUIRE(nnsuite_given_inputs(program, &input, 1, nullptr) == NNSUITE_OK);
  const auto* const values = static_cast<const float*>(nnsuite_tensor_bytes(input));
  CHECK(values[0] == 127.25F);
  CHECK(values[2 * 32 * 32] == -1.25F);
  nnsuite_tensor_free(input);

  CHECK(nnsuite_options_set_text(pixels, "mean", "1", error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "the option \"mean\" is a number");
  Set(pixels, "image-fit", "squeeze");
  CHECK(nnsuite_compile_for_inputs(model, pixels, program.out(), error.out()) == NNSUITE_USAGE);
  CHECK(program == nullptr);
  COptions batch;
  REQUIRE(nnsuite_options_create(batch.out(), nullptr) == NNSUITE_OK);
  Set(batch, "batch", 1);
  REQUIRE(nnsuite_compile(model, batch, program.out(), nullptr) == NNSUITE_OK);
  CHECK(nnsuite_given_inputs(program, &input, 1, error.out()) == NNSUITE_USAGE);
}

TEST_CASE("c: reports are what the programs print") {
  CModel model;
  OpenGolden("cnn.onnx", model);
  const std::string path = Golden("cnn.onnx");
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  CText json;
  CHECK(nnsuite_inspect(model, nullptr, json.out(), nullptr) == NNSUITE_OK);
  CHECK(std::string(json) == OutputOf("nninspect --format json " + path));
  for (const char* flag : {"nodes", "tensors", "stats", "values", "tree", "cost"})
    Set(options, flag, 1);
  Set(options, "batch", 2);
  CHECK(nnsuite_inspect(model, options, json.out(), nullptr) == NNSUITE_OK);
  CHECK(std::string(json) == OutputOf("nninspect --nodes --tensors --stats --values --tree --cost "
                                      "--batch 2 --format json " +
                                      path));
  CHECK(nnsuite_validate(model, nullptr, json.out(), nullptr) == NNSUITE_OK);
  CHECK(std::string(json) == OutputOf("nnvalidate --no-config --format json " + path));

  CModel other;
  OpenGolden("squeeze.nnapi", other);
  CHECK(nnsuite_diff(model, model, json.out(), nullptr) == NNSUITE_OK);
  CHECK(nnsuite_diff(model, other, json.out(), nullptr) == NNSUITE_CHECK_FAILED);
  CHECK(std::string(json) ==
        OutputOf("nninspect --diff --format json " + path + " " + Golden("squeeze.nnapi")));
  CHECK(nnsuite_draw(model, "svg", nullptr, json.out(), nullptr) == NNSUITE_OK);
  CHECK(std::string(json) == OutputOf("nninspect --format svg " + path));
  CHECK(nnsuite_draw(model, "html", nullptr, json.out(), nullptr) == NNSUITE_OK);
  CHECK(std::string(json) == OutputOf("nninspect --format html " + path));
  CError error;
  CHECK(nnsuite_draw(model, "png", nullptr, json.out(), error.out()) == NNSUITE_USAGE);

  CHECK(nnsuite_dump(model, nullptr, json.out(), nullptr) == NNSUITE_OK);
  CModel restored;
  const std::string dump = static_cast<char*>(json);
  REQUIRE(nnsuite_open_memory(dump.data(), dump.size(), nullptr, nullptr, nullptr, nullptr,
                              restored.out(), nullptr) == NNSUITE_OK);
  CHECK(std::string(nnsuite_model_format(restored)) == "onnx");
  CHECK(nnsuite_diff(model, restored, json.out(), nullptr) == NNSUITE_OK);
}

TEST_CASE("c: findings have rules, and fail the check by severity") {
  const std::string text =
      R"(ir_version: 8 opset_import { version: 17 } graph { name: "g"
         node { input: "x" output: "y" op_type: "Rleu" }
         input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
         output { name: "y" type { tensor_type { elem_type: 1 shape { } } } } })";
  CModel model;
  CError error;
  REQUIRE_MESSAGE(nnsuite_open_memory(text.data(), text.size(), nullptr, nullptr, "m.textproto",
                                      nullptr, model.out(), error.out()) == NNSUITE_OK,
                  MessageOf(error));
  CText json;
  CHECK(nnsuite_validate(model, nullptr, json.out(), error.out()) == NNSUITE_CHECK_FAILED);
  CHECK(error == nullptr);
  CHECK(Has(static_cast<char*>(json), "\"rule\": \"ONNX-NODE-004\""));
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  Set(options, "disable", "ONNX-NODE-004");
  CHECK(nnsuite_validate(model, options, json.out(), error.out()) == NNSUITE_OK);
  Set(options, "disable", "ONNX-NODE-0004");
  CHECK(nnsuite_validate(model, options, json.out(), error.out()) == NNSUITE_USAGE);
  Set(options, "profile", "strictest");
  CHECK(nnsuite_validate(model, options, json.out(), error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) ==
        "the option \"profile\" is \"strictest\"; expected one of spec, vendor, strict, safety");
  CProgram program;
  CHECK(nnsuite_compile(model, nullptr, program.out(), error.out()) == NNSUITE_UNSUPPORTED);
  CHECK(Has(MessageOf(error), "Rleu"));
}

TEST_CASE("c: a conversion reports its progress, and the caller may end it") {
  const TestFolder folder;
  CModel model;
  OpenGolden("cnn.onnx", model);
  CError error;
  CText json;
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  std::vector<std::string> told;
  const auto tell = [](void* context, const char* activity, uint64_t done, uint64_t total) {
    auto& texts = *static_cast<std::vector<std::string>*>(context);
    texts.push_back(std::string(activity) + " " + std::to_string(done));
    return std::string_view(activity) == "runs" && done > total ? 1 : 0;
  };
  CHECK(nnsuite_options_set_progress(options, tell, &told, nullptr) == NNSUITE_OK);
  const std::string path = folder / "m.tflite";
  CHECK(nnsuite_convert(model, path.c_str(), options, json.out(), nullptr) == NNSUITE_OK);
  for (const char* text : {"runs 0", "runs 3", "bytes 0"})
    CHECK(std::find(told.begin(), told.end(), text) != told.end());

  const auto stop = [](void*, const char* activity, uint64_t, uint64_t) {
    return std::string_view(activity) == "runs" ? 1 : 0;
  };
  CHECK(nnsuite_options_set_progress(options, stop, nullptr, nullptr) == NNSUITE_OK);
  const std::string none = folder / "none.tflite";
  CHECK(nnsuite_convert(model, none.c_str(), options, json.out(), error.out()) == NNSUITE_LIMIT);
  CHECK(Has(MessageOf(error), "the caller ended the conversion"));
  CHECK_FALSE(std::filesystem::exists(none));
  CHECK(nnsuite_validate(model, options, json.out(), error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "validate reports no progress");
  CHECK(nnsuite_options_set_progress(options, nullptr, nullptr, nullptr) == NNSUITE_OK);
  CHECK(nnsuite_convert(model, none.c_str(), options, json.out(), nullptr) == NNSUITE_OK);
}

TEST_CASE("c: edits and runs report their progress, and the caller may end them") {
  CModel model, edited;
  OpenGolden("cnn.onnx", model);
  CError error;
  CText json;
  COptions options, progress;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  REQUIRE(nnsuite_options_create(progress.out(), nullptr) == NNSUITE_OK);
  CHECK(nnsuite_options_set_text(options, "cut-after", "features", nullptr) == NNSUITE_OK);
  const auto stop = [](void*, const char*, uint64_t, uint64_t) { return 1; };
  CHECK(nnsuite_options_set_progress(options, stop, nullptr, nullptr) == NNSUITE_OK);
  CHECK(nnsuite_edit(model, options, edited.out(), json.out(), error.out()) == NNSUITE_LIMIT);
  CHECK(MessageOf(error) == "the caller ended the edit");

  CProgram program;
  COptions batch;
  REQUIRE(nnsuite_options_create(batch.out(), nullptr) == NNSUITE_OK);
  CHECK(nnsuite_options_set_integer(batch, "batch", 1, nullptr) == NNSUITE_OK);
  REQUIRE(nnsuite_compile(model, batch, program.out(), nullptr) == NNSUITE_OK);
  CTensor input, output;
  REQUIRE(nnsuite_seeded_inputs(program, 0, input.out(), 1, nullptr) == NNSUITE_OK);
  const nnsuite_tensor* const inputs[] = {input};
  uint64_t steps = 0;
  const auto count = [](void* context, const char* activity, uint64_t done, uint64_t) {
    *static_cast<uint64_t*>(context) = done;
    return std::string_view(activity) == "steps" ? 0 : 1;
  };
  CHECK(nnsuite_options_set_progress(progress, count, &steps, nullptr) == NNSUITE_OK);
  CHECK(nnsuite_run_with(program, nullptr, inputs, 1, progress, output.out(), 1, nullptr) ==
        NNSUITE_OK);
  CHECK(steps > 3);
  CHECK(nnsuite_options_set_progress(progress, stop, nullptr, nullptr) == NNSUITE_OK);
  CHECK(nnsuite_run_with(program, nullptr, inputs, 1, progress, output.out(), 1, error.out()) ==
        NNSUITE_LIMIT);
  CHECK(nnsuite_run_with(program, nullptr, inputs, 1, batch, output.out(), 1, error.out()) ==
        NNSUITE_USAGE);
  CHECK(MessageOf(error) == "run_with has no option \"batch\"");

  CHECK(nnsuite_diff_with(model, model, batch, json.out(), nullptr) == NNSUITE_OK);
  CHECK(nnsuite_draw_diff(model, model, batch, json.out(), nullptr) == NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "<html"));
}

TEST_CASE("c: assertions and targets are checked with the rules") {
  CModel model;
  OpenGolden("cnn.onnx", model);
  CError error;
  CText json;
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  CHECK(nnsuite_options_set_text(options, "for", "tflite", nullptr) == NNSUITE_OK);
  CHECK(nnsuite_validate(model, options, json.out(), nullptr) == NNSUITE_OK);
  CHECK(nnsuite_options_set_integer(options, "assert-max-params", 10, nullptr) == NNSUITE_OK);
  CHECK(nnsuite_validate(model, options, json.out(), nullptr) == NNSUITE_CHECK_FAILED);
  CHECK(Has(static_cast<char*>(json), "ASSERT-MAX-PARAMS"));
  CHECK(nnsuite_options_set_text(options, "for", "paper", nullptr) == NNSUITE_OK);
  CHECK(nnsuite_validate(model, options, json.out(), error.out()) == NNSUITE_USAGE);
  CHECK(Has(MessageOf(error), "paper"));
  CHECK(nnsuite_bill_of_materials(model, json.out(), nullptr) == NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "CycloneDX"));
}

TEST_CASE("c: the models of a folder are converted, and those that have not changed are skipped") {
  const TestFolder folder;
  std::filesystem::create_directory(folder / "in");
  std::filesystem::copy(Golden("cnn.onnx"), folder / "in/a.onnx");
  std::filesystem::copy(Golden("squeeze.nnapi"), folder / "in/b.nnapi");
  const std::string in = folder / "in", out = folder / "out";
  CError error;
  CText json;
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  CHECK(nnsuite_convert_folder(in.c_str(), out.c_str(), options, json.out(), error.out()) ==
        NNSUITE_USAGE);
  CHECK(Has(MessageOf(error), "need a format"));
  CHECK(nnsuite_options_set_text(options, "to", "tflite", nullptr) == NNSUITE_OK);
  CHECK(nnsuite_options_set_integer(options, "jobs", 2, nullptr) == NNSUITE_OK);
  std::vector<uint64_t> told;
  const auto tell = [](void* context, const char* activity, uint64_t done, uint64_t) {
    if (std::string_view(activity) == "models")
      static_cast<std::vector<uint64_t>*>(context)->push_back(done);
    return 0;
  };
  CHECK(nnsuite_options_set_progress(options, tell, &told, nullptr) == NNSUITE_OK);
  REQUIRE(nnsuite_convert_folder(in.c_str(), out.c_str(), options, json.out(), nullptr) ==
          NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "\"converted\": 2"));
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() == 2);
  CHECK(std::filesystem::exists(folder / "out/b.tflite"));
  REQUIRE(nnsuite_convert_folder(in.c_str(), out.c_str(), options, json.out(), nullptr) ==
          NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "\"unchanged\": 2"));

  const auto stop = [](void*, const char*, uint64_t, uint64_t) { return 1; };
  CHECK(nnsuite_options_set_progress(options, stop, nullptr, nullptr) == NNSUITE_OK);
  CHECK(nnsuite_convert_folder(in.c_str(), out.c_str(), options, json.out(), error.out()) ==
        NNSUITE_LIMIT);
  CHECK(MessageOf(error) == "the caller ended the conversion");
  CHECK(nnsuite_options_set_text(options, "rename-input", "a=b", nullptr) == NNSUITE_OK);
  CHECK(nnsuite_convert_folder(in.c_str(), out.c_str(), options, json.out(), error.out()) ==
        NNSUITE_USAGE);
  CHECK(MessageOf(error) == "convert_folder has no option \"rename-input\"");
}

TEST_CASE("c: SIMD targets have names") {
  CText json;
  CHECK(nnsuite_simd_targets(json.out(), nullptr) == NNSUITE_OK);
  CHECK(static_cast<char*>(json)[0] == '[');
  CError error;
  CHECK(nnsuite_use_simd_target("ABACUS", error.out()) == NNSUITE_USAGE);
  CHECK(nnsuite_use_simd_target("", nullptr) == NNSUITE_OK);
}

TEST_CASE("c: a patch of the dump form, and patterns of rules") {
  const TestFolder folder;
  CModel model;
  OpenGolden("cnn.onnx", model);
  const std::string patch = folder / "p.json";
  std::ofstream(patch) << R"([{"op": "replace", "path": "/model/producer_name", "value": "mine"}])";
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  Set(options, "compose-json", patch.c_str());
  CModel edited;
  CText json;
  CError error;
  REQUIRE_MESSAGE(nnsuite_edit(model, options, edited.out(), json.out(), error.out()) == NNSUITE_OK,
                  MessageOf(error));
  CHECK(Has(static_cast<char*>(json), "\"patched\": true"));
  CHECK(nnsuite_inspect(edited, nullptr, json.out(), nullptr) == NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "mine"));

  COptions rules;
  REQUIRE(nnsuite_options_create(rules.out(), nullptr) == NNSUITE_OK);
  Set(rules, "enable", "onnx-lint-*");
  CHECK(nnsuite_validate(model, rules, json.out(), nullptr) == NNSUITE_OK);
  Set(rules, "enable", "ONNX-NONE-*");
  CHECK(nnsuite_validate(model, rules, json.out(), error.out()) == NNSUITE_USAGE);
}

TEST_CASE("c: conversions and edits report what they do") {
  const TestFolder folder;
  CModel model;
  OpenGolden("cnn.onnx", model);
  CError error;
  CText json;
  const std::string path = folder / "m.tflite";
  REQUIRE_MESSAGE(
      nnsuite_convert(model, path.c_str(), nullptr, json.out(), error.out()) == NNSUITE_OK,
      MessageOf(error));
  CHECK(Has(static_cast<char*>(json), "\"result\": \"converted\""));
  CHECK(std::filesystem::exists(path));
  CHECK(nnsuite_convert(model, (folder / "m.xyz").c_str(), nullptr, json.out(), error.out()) ==
        NNSUITE_USAGE);

  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  Set(options, "quantize", "int8");
  Set(options, "calibrate-seeded", 4);
  const std::string quantized = folder / "q.tflite";
  CHECK_MESSAGE(
      nnsuite_convert(model, quantized.c_str(), options, json.out(), error.out()) == NNSUITE_OK,
      MessageOf(error));
  CHECK(Has(static_cast<char*>(json), "\"quantization\""));
  CHECK(Has(static_cast<char*>(json), "\"samples\": 4"));

  COptions graph;
  REQUIRE(nnsuite_options_create(graph.out(), nullptr) == NNSUITE_OK);
  Set(graph, "set-batch", "N");
  Set(graph, "preprocess", "image:u8");
  Set(graph, "layout", "image=nhwc");
  Set(graph, "input-shape", "image:B,3,32,32");
  const std::string changed = folder / "e.tflite";
  CHECK_MESSAGE(
      nnsuite_convert(model, changed.c_str(), graph, json.out(), error.out()) == NNSUITE_OK,
      MessageOf(error));
  CHECK(Has(static_cast<char*>(json), "\"graph_edits\""));
  CHECK(Has(static_cast<char*>(json), "u8[N, 32, 32, 3]"));
  Set(graph, "connect", "a=b");
  CHECK(nnsuite_convert(model, changed.c_str(), graph, json.out(), error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "--connect requires --merge");

  COptions names;
  REQUIRE(nnsuite_options_create(names.out(), nullptr) == NNSUITE_OK);
  Set(names, "rename-input", "image=picture");
  Set(names, "verify-shape", "picture:2,3,32,32");
  CHECK_MESSAGE(
      nnsuite_convert(model, changed.c_str(), names, json.out(), error.out()) == NNSUITE_OK,
      MessageOf(error));
  CHECK(Has(static_cast<char*>(json), "\"picture\""));
  Set(names, "weights-only", 1);
  CHECK(nnsuite_convert(model, changed.c_str(), names, json.out(), error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "the option \"weights-only\" requires \"fp16\" or \"bf16\"");

  COptions edit;
  REQUIRE(nnsuite_options_create(edit.out(), nullptr) == NNSUITE_OK);
  Set(edit, "cut-after", "features");
  CModel part;
  REQUIRE_MESSAGE(nnsuite_edit(model, edit, part.out(), json.out(), error.out()) == NNSUITE_OK,
                  MessageOf(error));
  CHECK(Has(static_cast<char*>(json), "\"new_outputs\": [\n    \"features\""));
  CHECK(Has(static_cast<char*>(json), "\"passed\": true"));
  model.reset();  // the edited model keeps what it shares
  const std::string written = folder / "part.onnx";
  CHECK(nnsuite_write(part, written.c_str(), nullptr, error.out()) == NNSUITE_OK);
  CModel read;
  CHECK(nnsuite_open(written.c_str(), nullptr, read.out(), error.out()) == NNSUITE_OK);
  Set(edit, "cut-after", "no such value");
  CHECK(nnsuite_edit(part, edit, read.out(), json.out(), error.out()) == NNSUITE_USAGE);
  CHECK(read == nullptr);
}

TEST_CASE("c: borrowed memory is used in place, and released once") {
  const std::string bytes = BytesOf(Golden("cnn.onnx"));
  int released = 0;
  CTensor weights;
  {
    CModel model;
    REQUIRE(nnsuite_open_memory(bytes.data(), bytes.size(), Count, &released, nullptr, nullptr,
                                model.out(), nullptr) == NNSUITE_OK);
    REQUIRE(nnsuite_model_constant(model, 0, weights.out(), nullptr) == NNSUITE_OK);
    CHECK(nnsuite_tensor_size(weights) > 0);
    CTensor none;
    CHECK(nnsuite_model_constant(model, 10000, none.out(), nullptr) == NNSUITE_USAGE);
  }
  weights.reset();
  CHECK(released == 1);

  CModel model;
  CHECK(nnsuite_open_memory(bytes.data(), 100, Count, &released, nullptr, nullptr, model.out(),
                            nullptr) == NNSUITE_USAGE);
  CHECK(released == 1);  // a function that fails leaves the memory to the caller

  alignas(16) const std::array<float, 8> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t shape[] = {2, 4};
  CTensor tensor, shared;
  REQUIRE(nnsuite_tensor_create("f32", shape, 2, values.data(), sizeof(values), Count, &released,
                                tensor.out(), nullptr) == NNSUITE_OK);
  CHECK(nnsuite_tensor_bytes(tensor) == values.data());
  CHECK(std::string(nnsuite_tensor_dtype(tensor)) == "f32");
  CHECK(nnsuite_tensor_rank(tensor) == 2);
  CHECK(nnsuite_tensor_shape(tensor)[1] == 4);
  REQUIRE(nnsuite_tensor_share(tensor, shared.out(), nullptr) == NNSUITE_OK);
  tensor.reset();
  CHECK(released == 1);
  CHECK(nnsuite_tensor_bytes(shared) == values.data());
  shared.reset();
  CHECK(released == 2);

  CError error;
  CHECK(nnsuite_tensor_create("f32", shape, 2, values.data(), 5, Count, &released, tensor.out(),
                              error.out()) == NNSUITE_CHECK_FAILED);
  CHECK(MessageOf(error) == "8 elements of f32 take 32 bytes, but the data has 5");
  CHECK(nnsuite_tensor_create("f31", shape, 2, values.data(), 5, nullptr, nullptr, tensor.out(),
                              error.out()) == NNSUITE_USAGE);
  CHECK(released == 2);

  const char* const texts[] = {"a", nullptr, "cd"};
  const size_t sizes[] = {1, 0, 2};
  const int64_t three[] = {3};
  REQUIRE(nnsuite_tensor_create_strings(three, 1, texts, sizes, 3, tensor.out(), nullptr) ==
          NNSUITE_OK);
  size_t size = 0;
  CHECK(std::string(nnsuite_tensor_text(tensor, 2, &size)) == "cd");
  CHECK(size == 2);
  CHECK(nnsuite_tensor_text(tensor, 3, &size) == nullptr);
  CHECK(nnsuite_tensor_bytes(tensor) == nullptr);
}

TEST_CASE("c: a dump may have its tensors in a file beside it") {
  const TestFolder folder;
  CModel model, dumped;
  OpenGolden("cnn.onnx", model);
  COptions options;
  CError error;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  Set(options, "weights", "w.safetensors");
  CText json;
  CHECK(nnsuite_dump(model, options, json.out(), error.out()) == NNSUITE_USAGE);
  const std::string path = folder / "m.json";
  REQUIRE_MESSAGE(nnsuite_dump_file(model, path.c_str(), options, error.out()) == NNSUITE_OK,
                  MessageOf(error));
  CHECK(std::filesystem::exists(folder / "w.safetensors"));
  REQUIRE(nnsuite_open(path.c_str(), nullptr, dumped.out(), error.out()) == NNSUITE_OK);
  CHECK(nnsuite_diff(model, dumped, json.out(), error.out()) == NNSUITE_OK);
  Set(options, "weights", "some");
  CHECK(nnsuite_dump_file(model, path.c_str(), options, error.out()) == NNSUITE_USAGE);
}

TEST_CASE("c: outputs are compared as nnrun compares them") {
  CModel model;
  OpenGolden("cnn.onnx", model);
  COptions batch;
  CProgram program;
  REQUIRE(nnsuite_options_create(batch.out(), nullptr) == NNSUITE_OK);
  Set(batch, "batch", 1);
  REQUIRE(nnsuite_compile(model, batch, program.out(), nullptr) == NNSUITE_OK);
  std::array<nnsuite_tensor*, 2> inputs = {};
  std::array<nnsuite_tensor*, 2> outputs = {};
  for (size_t i = 0; i < 2; ++i) {
    REQUIRE(nnsuite_seeded_inputs(program, i, &inputs[i], 1, nullptr) == NNSUITE_OK);
    REQUIRE(nnsuite_run(program, nullptr, &inputs[i], 1, &outputs[i], 1, nullptr) == NNSUITE_OK);
  }
  CText json;
  CError error;
  CHECK(nnsuite_compare_outputs(program, outputs.data(), outputs.data(), 1, nullptr, json.out(),
                                error.out()) == NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "\"identical\": true"));
  CHECK(nnsuite_compare_outputs(program, outputs.data(), &outputs[1], 1, nullptr, json.out(),
                                error.out()) == NNSUITE_CHECK_FAILED);
  CHECK(error == nullptr);
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  Set(options, "atol", 10);
  CHECK(nnsuite_compare_outputs(program, outputs.data(), &outputs[1], 1, options, json.out(),
                                error.out()) == NNSUITE_OK);

  const TestFolder folder;
  const std::string path = folder / "want.npz";
  OutputOf("nnrun " + Golden("cnn.onnx") + " --batch 1 --output " + path);
  Set(options, "expect", path.c_str());
  CHECK(nnsuite_compare_outputs(program, outputs.data(), nullptr, 1, options, json.out(),
                                error.out()) == NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "\"identical\": true"));
  CHECK(nnsuite_compare_outputs(program, outputs.data(), nullptr, 1, nullptr, json.out(),
                                error.out()) == NNSUITE_USAGE);
  CHECK(nnsuite_compare_outputs(program, outputs.data(), outputs.data(), 2, nullptr, json.out(),
                                error.out()) == NNSUITE_USAGE);
  for (size_t i = 0; i < 2; ++i) {
    nnsuite_tensor_free(inputs[i]);
    nnsuite_tensor_free(outputs[i]);
  }
}

TEST_CASE("c: a sequence takes tensors as inputs, and returns lists of tensors") {
  const std::string text = R"(ir_version: 8
opset_import { version: 13 }
graph { name: "g"
  node { op_type: "Add" input: "x" input: "h" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
  input { name: "h" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
})";
  CModel model;
  CError error;
  REQUIRE(nnsuite_open_memory(text.data(), text.size(), nullptr, nullptr, "m.textproto", nullptr,
                              model.out(), error.out()) == NNSUITE_OK);
  const int64_t shape[] = {2, 1};
  const float parts[] = {1, 2};
  CTensor x;
  REQUIRE(nnsuite_tensor_create("f32", shape, 2, parts, sizeof parts, nullptr, nullptr, x.out(),
                                error.out()) == NNSUITE_OK);
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  REQUIRE(nnsuite_options_set_input(options, "x", x, error.out()) == NNSUITE_OK);
  Set(options, "steps", 2);
  Set(options, "carry", "y=h");
  CTensorList outputs, states;
  REQUIRE_MESSAGE(
      nnsuite_run_sequence(model, options, outputs.out(), states.out(), error.out()) == NNSUITE_OK,
      MessageOf(error));
  REQUIRE(nnsuite_tensor_list_size(outputs) == 1);
  CHECK(std::string(nnsuite_tensor_list_name(outputs, 0)) == "y");
  const auto* const y =
      static_cast<const float*>(nnsuite_tensor_bytes(nnsuite_tensor_list_get(outputs, 0)));
  CHECK(y[0] == 1);
  CHECK(y[1] == 3);
  CHECK(std::string(nnsuite_tensor_list_name(states, 0)) == "h");
  CHECK(nnsuite_tensor_list_name(states, 1) == nullptr);
  CHECK(nnsuite_tensor_list_get(states, 1) == nullptr);
  CHECK(nnsuite_tensor_list_size(nullptr) == 0);

  CProgram program;
  CHECK(nnsuite_compile(model, options, program.out(), error.out()) == NNSUITE_USAGE);
  COptions given;
  REQUIRE(nnsuite_options_create(given.out(), nullptr) == NNSUITE_OK);
  REQUIRE(nnsuite_options_set_input(given, "x", x, error.out()) == NNSUITE_OK);
  CHECK(nnsuite_compile(model, given, program.out(), error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "compile takes no inputs");
  Set(given, "reshape-inputs", 1);
  CHECK(nnsuite_compile_for_inputs(model, given, program.out(), error.out()) == NNSUITE_USAGE);
  CHECK(Has(MessageOf(error), "x"));
}

TEST_CASE("c: a program is timed, explained and traced as by nnrun") {
  CModel model;
  OpenGolden("cnn.onnx", model);
  COptions options;
  CProgram program;
  CTensor input;
  CError error;
  CText json;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  Set(options, "batch", 1);
  REQUIRE(nnsuite_compile(model, options, program.out(), nullptr) == NNSUITE_OK);
  REQUIRE(nnsuite_seeded_inputs(program, 0, input.out(), 1, nullptr) == NNSUITE_OK);
  const nnsuite_tensor* const inputs[] = {input};
  const char* const names[] = {"image"};
  CHECK(nnsuite_bench(program, names, inputs, 1, options, json.out(), error.out()) ==
        NNSUITE_USAGE);
  CHECK(MessageOf(error) == "bench has no option \"batch\"");

  COptions bench;
  REQUIRE(nnsuite_options_create(bench.out(), nullptr) == NNSUITE_OK);
  Set(bench, "runs", 2);
  Set(bench, "warmup", int64_t{0});
  Set(bench, "step-times", 1);
  REQUIRE(nnsuite_bench(program, names, inputs, 1, bench, json.out(), error.out()) == NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "\"runs\": 2"));
  CHECK(Has(static_cast<char*>(json), "\"steps\""));
  Set(bench, "runs", int64_t{0});
  CHECK(nnsuite_bench(program, names, inputs, 1, bench, json.out(), error.out()) == NNSUITE_USAGE);
  CHECK(nnsuite_bench(program, nullptr, nullptr, 1, nullptr, json.out(), error.out()) ==
        NNSUITE_USAGE);
  CHECK(json == nullptr);

  REQUIRE(nnsuite_explain_plan(program, json.out(), error.out()) == NNSUITE_OK);
  const std::string plan = static_cast<char*>(json);
  CHECK(Has(OutputOf("nnrun " + Golden("cnn.onnx") + " --batch 1 --explain-plan --format json"),
            plan.substr(1)));
  REQUIRE(nnsuite_trace(program, nullptr, inputs, 1, json.out(), error.out()) == NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "traceEvents"));
  CHECK(nnsuite_trace(program, nullptr, inputs, 0, json.out(), error.out()) == NNSUITE_USAGE);
}

TEST_CASE("c: a program runs by name and by position, on any number of threads") {
  CModel model;
  OpenGolden("cnn.onnx", model);
  COptions options;
  REQUIRE(nnsuite_options_create(options.out(), nullptr) == NNSUITE_OK);
  Set(options, "batch", 1);
  CProgram program;
  CError error;
  REQUIRE_MESSAGE(nnsuite_compile(model, options, program.out(), error.out()) == NNSUITE_OK,
                  MessageOf(error));
  model.reset();
  REQUIRE(nnsuite_program_input_count(program) == 1);
  REQUIRE(nnsuite_program_output_count(program) == 1);
  CHECK(std::string(nnsuite_program_input_name(program, 0)) == "image");
  CHECK(nnsuite_program_input_name(program, 1) == nullptr);
  CHECK(std::string(nnsuite_program_output_name(program, 0)) == "classes");
  CText json;
  CHECK(nnsuite_program_describe(program, json.out(), nullptr) == NNSUITE_OK);
  CHECK(Has(static_cast<char*>(json), "\"dtype\": \"f32\""));

  nnsuite_tensor* input = nullptr;
  REQUIRE(nnsuite_seeded_inputs(program, 0, &input, 1, nullptr) == NNSUITE_OK);
  const char* const names[] = {"image"};
  const char* const wrong[] = {"picture"};
  nnsuite_tensor* output = nullptr;
  CHECK(nnsuite_run(program, wrong, &input, 1, &output, 1, error.out()) == NNSUITE_USAGE);
  CHECK(MessageOf(error) == "no input is named \"picture\"");
  CHECK(nnsuite_run(program, names, &input, 1, &output, 2, error.out()) == NNSUITE_USAGE);
  CHECK(nnsuite_run(program, names, &input, 0, &output, 1, error.out()) == NNSUITE_USAGE);
  CHECK(output == nullptr);
  REQUIRE(nnsuite_run(program, names, &input, 1, &output, 1, nullptr) == NNSUITE_OK);
  const std::string expected(static_cast<const char*>(nnsuite_tensor_bytes(output)),
                             nnsuite_tensor_size(output));
  nnsuite_tensor_free(output);
  std::vector<std::thread> threads;
  std::array<bool, 4> same = {};
  for (bool& s : same)
    threads.emplace_back([&] {
      nnsuite_tensor* out = nullptr;
      if (nnsuite_run(program, nullptr, &input, 1, &out, 1, nullptr) != NNSUITE_OK) return;
      s = nnsuite_tensor_size(out) == expected.size() &&
          std::memcmp(nnsuite_tensor_bytes(out), expected.data(), expected.size()) == 0;
      nnsuite_tensor_free(out);
    });
  for (std::thread& t : threads) t.join();
  for (const bool s : same) CHECK(s);
  program.reset();
  CHECK(nnsuite_tensor_size(input) == 3 * 32 * 32 * 4);
  nnsuite_tensor_free(input);
}

}  // namespace nnsuite::test::c_test

// Examples of TensorFlow Lite rules: models and graphs.
#include "validators/tflite/doc/example_models.h"

namespace nn::tflite {

namespace {

// A model without tensors and operators.
constexpr const char* kBare = R"({"version": 3,
"subgraphs": [{"tensors": [], "operators": []}],
"buffers": [{}, {"data": [49, 46, 53, 46, 48]}],
"metadata": [{"name": "min_runtime_version", "buffer": 1}],
"signature_defs": [{"signature_key": "serving"}]})";

// Moves the data of the tensor "c", 8 bytes, to an external file.
std::vector<Edit> External(const std::string& file, int offset) {
  return {{"{\"name\": \"c\", \"shape\": [1, 2], \"buffer\": 1}",
           "{\"name\": \"c\", \"shape\": [1, 2], \"buffer\": 0, \"external_buffer\": 1}"},
          {"{\"data\": [0, 0, 128, 63, 0, 0, 0, 64]}", "{}"},
          {"\"metadata\"", "\"external_buffer_groups\": [{\"name\": \"" + file +
                               "\"}], \"external_buffers\": [{\"id\": 1, \"group\": 0, "
                               "\"offset\": " +
                               std::to_string(offset) + ", \"length\": 8}], \"metadata\""}};
}

}  // namespace

std::vector<RuleExample> ModelExamples() {
  // Adds another signature of the subgraph.
  const auto second = [](const std::string& key) {
    return Edit{"\"signature_defs\": [",
                "\"signature_defs\": [{\"signature_key\": \"" + key +
                    "\", \"inputs\": [{\"name\": \"x\", \"tensor_index\": 0}], \"outputs\": "
                    "[{\"name\": \"y\", \"tensor_index\": 3}]}, "};
  };
  const auto codes = [](const std::string& members) {
    return Edit{"\"deprecated_builtin_code\": 19, \"builtin_code\": \"RELU\"", members};
  };
  const Edit one_output = {"[{\"name\": \"y\", \"tensor_index\": 3}]",
                           "[{\"name\": \"y\", \"tensor_index\": 4}]"};
  return {
      {"TFLITE-MODEL-001", kModel, {{"\"version\": 3", "\"version\": 4"}}, {}},
      {"TFLITE-MODEL-002 TFLITE-MODEL-008",
       kBare,
       {{"[{\"tensors\": [], \"operators\": []}]", "[]"}},
       {{"\"operators\": []", "\"operators\": [], \"name\": \"main\""}}},
      {"TFLITE-MODEL-003",
       kBare,
       {{"[{}, {", "[{\"data\": [1]}, {"}},
       {{"[{}, {", "[{\"data\": []}, {"}}},
      {"TFLITE-MODEL-004",
       kModel,
       {{"48]}]", "48]}, {\"offset\": 99999, \"size\": 8}]"},
        {"\"buffer\": 1", "\"buffer\": 3"},
        {"\"data\": [0, 0, 128, 63, 0, 0, 0, 64]", ""}},
       {{"48]}]", "48]}, {\"offset\": 16, \"size\": 8}]"},
        {"\"buffer\": 1", "\"buffer\": 3"},
        {"\"data\": [0, 0, 128, 63, 0, 0, 0, 64]", ""}}},
      {"TFLITE-MODEL-005",
       kModel,
       {codes("\"builtin_code\": 999, \"deprecated_builtin_code\": 127")},
       {codes("\"builtin_code\": 150, \"deprecated_builtin_code\": 127")}},
      {"TFLITE-MODEL-006",
       kModel,
       {codes("\"builtin_code\": 19, \"deprecated_builtin_code\": 18")},
       {codes("\"builtin_code\": 0, \"deprecated_builtin_code\": 19")}},
      {"TFLITE-MODEL-007 TFLITE-LINT-004",
       kModel,
       {codes("\"deprecated_builtin_code\": 32, \"builtin_code\": \"CUSTOM\"")},
       {codes(
           "\"deprecated_builtin_code\": 19, \"builtin_code\": \"RELU\", \"custom_code\": \"\"")}},
      {"TFLITE-MODEL-008",
       kModel,
       {one_output},
       {{"\"y\", \"tensor_index\": 3", "\"z\", \"tensor_index\": 3"}}},
      {"TFLITE-MODEL-008", kModel, {{"\"subgraph_index\": 0", "\"subgraph_index\": 1"}}, {}},
      {"TFLITE-MODEL-009", kModel, {second("serving")}, {second("training")}},
      {"TFLITE-MODEL-010",
       kModel,
       {{"version\", \"buffer\": 2}",
         "version\", \"buffer\": 2}, {\"name\": \"m\", \"buffer\": 3}"}},
       {{"version\", \"buffer\": 2}",
         "version\", \"buffer\": 2}, {\"name\": \"m\", \"buffer\": 1}"}}},
      {"TFLITE-MODEL-011 TFLITE-LINT-006",
       R"({"version": 3, "subgraphs": [{"tensors": [], "operators": []}], "buffers": [{}],
"metadata": [{"name": "min_runtime_version", "buffer": 0}],
"signature_defs": [{"signature_key": "serving"}]})",
       {{", \"buffers\": [{}]", ""},
        {"\"metadata\": [{\"name\": \"min_runtime_version\", \"buffer\": 0}],", ""}},
       {{"[{}]", "[{}, {}]"}}},
      {"TFLITE-MODEL-012",
       kModel,
       {{"\"signature_key\": \"serving\", ", ""}},
       {{"\"serving\"", "\"\""}}},
      {"TFLITE-MODEL-013 TFLITE-MODEL-014",
       kModel,
       {{"[{\"name\": \"x\", \"tensor_index\": 0}]",
         "[{\"name\": \"x\", \"tensor_index\": 0}, {\"name\": \"x\", \"tensor_index\": 0}]"}},
       {{"[{\"name\": \"x\", \"tensor_index\": 0}]", "[{\"name\": \"y\", \"tensor_index\": 0}]"}}},
      {"TFLITE-MODEL-014",
       kModel,
       {{"[{\"name\": \"x\", \"tensor_index\": 0}]", "[]"}},
       {{"\"x\", \"tensor_index\": 0", "\"image\", \"tensor_index\": 0"}}},
      {"TFLITE-MODEL-015 TFLITE-MODEL-016",
       kModel,
       {{"\"outputs\": [3]}",
         "\"outputs\": [3], \"large_custom_options_offset\": 99999, \"large_custom_options_size\": "
         "8}"}},
       {{"\"outputs\": [3]}", "\"outputs\": [3], \"large_custom_options_offset\": 1}"}}},
      {"TFLITE-MODEL-016",
       kModel,
       {{"\"outputs\": [3]}", "\"outputs\": [3], \"custom_options\": [1]}"}},
       {{"\"outputs\": [3]}", "\"outputs\": [3], \"custom_options_format\": 0}"}}},
      {"TFLITE-MODEL-017",
       kModel,
       {{"\"metadata\"",
         "\"external_buffer_groups\": [{\"name\": \"w\"}], \"external_buffers\": [{\"id\": 1, "
         "\"group\": 1}], \"metadata\""}},
       {{"\"metadata\"",
         "\"external_buffer_groups\": [{\"name\": \"w\"}], \"external_buffers\": [{\"id\": 1, "
         "\"group\": 0}], \"metadata\""}}},
      {"TFLITE-MODEL-018", kModel, External("w.bin", 1000), External("w.bin", 0)},
      {"TFLITE-MODEL-018", kModel, External("missing.bin", 0), External("w.bin", 8)},
  };
}

std::vector<RuleExample> GraphExamples() {
  const std::string codes =
      "{\"deprecated_builtin_code\": 0, \"builtin_code\": \"ADD\"},\n"
      "{\"deprecated_builtin_code\": 19, \"builtin_code\": \"RELU\"}";
  const std::string swapped =
      "{\"deprecated_builtin_code\": 19, \"builtin_code\": \"RELU\"},\n"
      "{\"deprecated_builtin_code\": 0, \"builtin_code\": \"ADD\"}";
  const Edit turned = {"\"inputs\": [0, 1]", "\"inputs\": [1, 0]"};
  const Edit third_port = {"{\"name\": \"y\", \"tensor_index\": 3}]",
                           "{\"name\": \"y\", \"tensor_index\": 3}, "
                           "{\"name\": \"z\", \"tensor_index\": 4}]"};
  const auto third = [](const std::string& shape) {
    return Edit{"\"buffer\": 0}\n]",
                "\"buffer\": 0},\n{\"name\": \"z\", \"shape\": " + shape + "}\n]"};
  };
  const Edit both = {"\"outputs\": [3],\n", "\"outputs\": [3, 4],\n"};
  return {
      {"TFLITE-GRAPH-001 TFLITE-MODEL-014",
       kModel,
       {{"\"inputs\": [0],\n", "\"inputs\": [0, 4],\n"}},
       {{"\"inputs\": [0],\n\"outputs\": [3]", "\"outputs\": [3], \"inputs\": [0]"}}},
      {"TFLITE-GRAPH-002 TFLITE-LINT-010",
       kModel,
       {{"\"opcode_index\": 1", "\"opcode_index\": 2"}},
       {{"\"opcode_index\": 1", "\"opcode_index\": 7"},
        {"\"opcode_index\": 0", "\"opcode_index\": 1"},
        {"\"opcode_index\": 7", "\"opcode_index\": 0"},
        {codes, swapped}}},
      {"TFLITE-GRAPH-003 TFLITE-LINT-009",
       kModel,
       {{"\"inputs\": [0, 1]", "\"inputs\": [0, -2]"}},
       {turned}},
      {"TFLITE-GRAPH-004", kModel, {{"\"inputs\": [0, 1]", "\"inputs\": [3, 1]"}}, {turned}},
      {"TFLITE-GRAPH-005",
       kModel,
       {{"\"outputs\": [2]},",
         "\"outputs\": [2]}, {\"opcode_index\": 1, \"inputs\": [0], \"outputs\": [2]},"}},
       {turned}},
      {"TFLITE-GRAPH-006 TFLITE-LINT-009",
       kModel,
       {{"\"inputs\": [0, 1], \"outputs\": [2]", "\"inputs\": [0, 0], \"outputs\": [1]"},
        {"\"inputs\": [2]", "\"inputs\": [1]"}},
       {turned}},
      {"TFLITE-GRAPH-007",
       kModel,
       {third("[1]"), both, third_port},
       {third("[0]"), both, third_port}},
      {"TFLITE-GRAPH-008",
       kModel,
       {{"{\"name\": \"t\",", "{\"name\": \"t\", \"is_variable\": true,"}},
       {{"{\"name\": \"t\",", "{\"name\": \"t\", \"is_variable\": false,"}}},
      {"TFLITE-GRAPH-009 TFLITE-MODEL-014",
       kModel,
       {{"\"inputs\": [0],\n", "\"inputs\": [0, 2],\n"}},
       {turned}},
      {"TFLITE-GRAPH-010 TFLITE-GRAPH-004 TFLITE-LINT-009",
       kModel,
       {{"\"inputs\": [0, 1]", "\"inputs\": [0, 2]"}, {"\"c\",", "\"c\", \"external_buffer\": 0,"}},
       {turned}},
      {"TFLITE-GRAPH-011 TFLITE-MODEL-014",
       kModel,
       {{"\"inputs\": [0],\n", "\"inputs\": [0, 0],\n"}},
       {turned}},
      {"TFLITE-GRAPH-012",
       kModel,
       {{"\"inputs\": [0],\n", "\"inputs\": [0, 1],\n"},
        {"{\"name\": \"x\", \"tensor_index\": 0}",
         "{\"name\": \"x\", \"tensor_index\": 0}, {\"name\": \"c\", \"tensor_index\": 1}"}},
       {{"\"inputs\": [0],\n", "\"inputs\": [0, 4],\n"},
        third("[1]"),
        {"{\"name\": \"x\", \"tensor_index\": 0}",
         "{\"name\": \"x\", \"tensor_index\": 0}, {\"name\": \"z\", \"tensor_index\": 4}"}}},
      {"TFLITE-GRAPH-013",
       kBare,
       {{", \"operators\": []", ""}},
       {{"\"operators\": []", "\"operators\": [], \"inputs\": []"}}},
      {"TFLITE-GRAPH-014",
       kModel,
       {{"\"outputs\": [3]}", "\"outputs\": [3], \"mutating_variable_inputs\": [false, false]}"}},
       {{"\"outputs\": [3]}", "\"outputs\": [3], \"mutating_variable_inputs\": [false]}"}}},
  };
}

}  // namespace nn::tflite

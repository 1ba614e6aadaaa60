// Examples of ONNX rules: tensors, external data, sparse tensors.
#include "validators/onnx/doc/example_models.h"

namespace nn::onnx {

std::vector<RuleExample> TensorExamples() {
  const std::string external =
      "data_location: EXTERNAL external_data { key: \"location\" value: \"data.bin\" }";
  return {
      {"ONNX-TENSOR-001",
       kGraph,
       {AddInitializer("data_type: 27 dims: 0")},
       {AddInitializer("data_type: 26 dims: 0")}},
      {"ONNX-TENSOR-002",
       kGraph,
       {AddInitializer("data_type: 1 dims: -1")},
       {AddInitializer("data_type: 1 dims: 0")}},
      {"ONNX-TENSOR-002",
       kGraph,
       {AddInitializer("data_type: 1 dims: [4294967296, 4294967296]")},
       {AddInitializer("data_type: 1 dims: [0, 4294967296]")}},
      {"ONNX-TENSOR-003",
       kGraph,
       {AddInitializer("data_type: 1 dims: 1")},
       {AddInitializer("data_type: 1 dims: 1 raw_data: \"1234\"")}},
      {"ONNX-TENSOR-003",
       kGraph,
       {AddInitializer("data_type: 1 dims: 1 float_data: 1 raw_data: \"1234\"")},
       {AddInitializer("data_type: 1 dims: 1 float_data: 1 raw_data: \"\"")}},
      {"ONNX-TENSOR-004",
       kGraph,
       {AddInitializer("data_type: 1 dims: 1 int32_data: 1")},
       {AddInitializer("data_type: 10 dims: 1 int32_data: 1")}},
      {"ONNX-TENSOR-005",
       kGraph,
       {AddInitializer("data_type: 14 dims: 1 float_data: 1")},
       {AddInitializer("data_type: 14 dims: 1 float_data: [1, 2]")}},
      {"ONNX-TENSOR-005",
       kGraph,
       {AddInitializer("data_type: 22 dims: 9 raw_data: \"1234\"")},
       {AddInitializer("data_type: 22 dims: 9 raw_data: \"12345\"")}},
      {"ONNX-TENSOR-006",
       kGraph,
       {AddInitializer("data_type: 1 dims: 0 segment { begin: 2 end: 1 }")},
       {AddInitializer("data_type: 1 dims: 0 segment { begin: 1 end: 1 }")}},
      {"ONNX-TENSOR-007",
       kGraph,
       {AddInitializer("data_type: 1 dims: 1 float_data: [1, 2]")},
       {AddInitializer("data_type: 1 dims: 2 float_data: [1, 2]")}},
      {"ONNX-TENSOR-007",
       kGraph,
       {AddInitializer("data_type: 22 dims: 9 int32_data: [0, 1, 2, 3, 4, 5]")},
       {AddInitializer("data_type: 22 dims: 9 int32_data: [0, 1, 2, 3, 4]")}},
      {"ONNX-TENSOR-013",
       kGraph,
       {AddInitializer("data_type: 22 dims: 9 int32_data: [0, 1, 2, 3]")},
       {AddInitializer("data_type: 22 dims: 9 int32_data: [0, 1, 2, 3, 4]")}},
      {"ONNX-TENSOR-013",
       kGraph,
       {AddInitializer("data_type: 25 dims: 9 int32_data: [0, 1]")},
       {AddInitializer("data_type: 25 dims: 9 int32_data: [0, 1, 2]")}},
      {"ONNX-TENSOR-008",
       kGraph,
       {AddInitializer("data_type: 27 dims: 1 raw_data: \"1\"")},
       {AddInitializer("data_type: 2 dims: 1 raw_data: \"1\"")}},
      {"ONNX-TENSOR-009",
       kGraph,
       {AddInitializer("data_type: 1 dims: -2 " + external)},
       {AddInitializer("data_type: 1 dims: 2 " + external)}},
      {"ONNX-TENSOR-010",
       kGraph,
       {AddInitializer("data_type: 2 dims: 2 int32_data: [0, 256]")},
       {AddInitializer("data_type: 2 dims: 2 int32_data: [0, 255]")}},
      {"ONNX-TENSOR-011",
       kGraph,
       {AddInitializer("data_type: 9 dims: 2 raw_data: \"\\001\\002\"")},
       {AddInitializer("data_type: 9 dims: 2 raw_data: \"\\001\\000\"")}},
      {"ONNX-TENSOR-012",
       kGraph,
       {AddInitializer("data_type: 8 dims: 1 string_data: \"\\377\"")},
       {AddInitializer("data_type: 8 dims: 1 string_data: \"\\303\\277\"")}},
  };
}

std::vector<RuleExample> ExternalExamples() {
  const auto at = [](const std::string& location, const std::string& more = "") {
    return AddInitializer(
        "data_type: 1 dims: 2 data_location: EXTERNAL external_data { "
        "key: \"location\" value: \"" +
        location + "\" } " + more);
  };
  const auto entry = [&](const std::string& key, const std::string& value) {
    return at("data.bin", "external_data { key: \"" + key + "\" value: \"" + value + "\" }");
  };
  return {
      {"ONNX-EXT-001",
       kGraph,
       {AddInitializer(
           "data_type: 1 dims: 2 data_location: EXTERNAL external_data { key: \"offset\" "
           "value: \"0\" }")},
       {at("data.bin")}},
      {"ONNX-EXT-002", kGraph, {at("../data.bin")}, {at("folder/data.bin")}},
      {"ONNX-EXT-002", kGraph, {at("/data.bin")}, {at("data.bin")}},
      {"ONNX-EXT-003", kGraph, {entry("offset", "0 ")}, {entry("offset", "0")}},
      {"ONNX-EXT-004",
       kGraph,
       {at("data.bin", "float_data: [1, 2]")},
       {at("data.bin", "raw_data: \"\"")}},
      {"ONNX-EXT-005", kGraph, {entry("length", "7")}, {entry("length", "8")}},
      {"ONNX-EXT-006", kGraph, {at("data")}, {at("data.bin")}},
      {"ONNX-EXT-007", kGraph, {entry("offset", "4096")}, {entry("offset", "0")}},
      {"ONNX-EXT-008", kGraph, {at("#data.bin")}, {at("data.bin")}},
      {"ONNX-EXT-009", kGraph, {at("folder/link.bin")}, {at("folder/data.bin")}},
      {"ONNX-EXT-010", kGraph, {at("folder/../data.bin")}, {at("folder/./data.bin")}},
      {"ONNX-EXT-011", kGraph, {entry("size", "8")}, {entry("length", "8")}},
      {"ONNX-EXT-012",
       kGraph,
       {at("data.bin", "external_data { key: \"location\" value: \"folder/data.bin\" }")},
       {entry("basepath", "folder")}},
      {"ONNX-EXT-013",
       kGraph,
       {AddInitializer("$D external_data { key: \"location\" value: \"data.bin\" }")},
       {AddInitializer("$D data_location: DEFAULT")}},
      {"ONNX-EXT-014", kGraph, {entry("offset", "8")}, {entry("offset", "0")}},
      {"ONNX-EXT-015",
       kGraph,
       {entry("checksum", "cafe")},
       {entry("checksum", "da39a3ee5e6b4b0d3255bfef95601890afd80709")}},
  };
}

std::vector<RuleExample> SparseExamples() {
  return {
      {"ONNX-SPARSE-001", kSparse, {{"dims: 2 float_data", "dims: [2, 1] float_data"}}, {}},
      {"ONNX-SPARSE-002",
       kSparse,
       {{"dims: [2, 2]", "dims: [2, 0]"}},
       {{"dims: [2, 2]", "dims: 4"}}},
      {"ONNX-SPARSE-003",
       kSparse,
       {{"dims: 2 int64_data: [0, 3]", "dims: [2, 1] int64_data: [0, 3]"}},
       {{"dims: 2 int64_data: [0, 3]", "dims: [2, 2] int64_data: [0, 0, 1, 1]"}}},
      {"ONNX-SPARSE-004", kSparse, {{"[0, 3]", "[3, 0]"}}, {{"[0, 3]", "[2, 3]"}}},
      {"ONNX-SPARSE-004", kSparse, {{"[0, 3]", "[0, 4]"}}, {{"[0, 3]", "[0, 1]"}}},
      {"ONNX-SPARSE-005 ONNX-TENSOR-007",
       kSparse,
       {{"[0, 3]", "[0, 3, 1]"}},
       {{"[0, 3]", "[0, 2]"}}},
  };
}

}  // namespace nn::onnx

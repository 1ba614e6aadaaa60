// TensorFlow Lite files made from graphs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "formats/tflite/file/native.h"
#include "ir/graph.h"
#include "support/blobs.h"

namespace nn::test {

const Format& Tflite();

// The file that a graph becomes; a failed REQUIRE if something in it cannot be expressed.
std::string FileOf(const Graph& graph);

// The graph of a file; an error also if something in it is unsupported.
Result<Graph> ImportFile(const std::string& file);

inline const tflite::fb::Model& Root(const std::string& file) {
  return *tflite::fb::GetModel(file.data());
}

// "CONV_2D v1": the operators of a file in order.
std::vector<std::string> OperatorsOf(const std::string& file);

// A tensor of a custom operator.
struct CustomTensor {
  std::vector<int32_t> shape;
  std::vector<float> contents = {};  // of a constant
  tflite::fb::TensorType type = tflite::fb::TensorType::FLOAT32;
  float scale = 0;                   // of a quantized one
  std::vector<int16_t> shorts = {};  // the contents of a constant of int16
};

// A model of one operator. Its inputs without contents are those of the model.
std::string FileOfCustom(const std::string& name, const std::vector<uint8_t>& options,
                         const std::vector<CustomTensor>& inputs,
                         const std::vector<CustomTensor>& outputs);

// The options of a custom operator: a flexbuffer with a map of integers.
std::vector<uint8_t> IntOptions(const std::vector<std::pair<std::string, int64_t>>& options);

}  // namespace nn::test

// TensorFlow Lite files made from graphs.
#pragma once

#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/tflite/native.h"
#include "ir/graph.h"

namespace nn::test {

const Format& Tflite();

// The bytes of a file's parts.
std::string Joined(const FileImage& image);

// The file that a graph becomes; a failed REQUIRE if something in it cannot be expressed.
std::string FileOf(const Graph& graph);

// The graph of a file; an error also if something in it is unsupported.
Result<Graph> ImportFile(const std::string& file);

inline const tflite::fb::Model& Root(const std::string& file) {
  return *tflite::fb::GetModel(file.data());
}

// "CONV_2D v1": the operators of a file in order.
std::vector<std::string> OperatorsOf(const std::string& file);

}  // namespace nn::test

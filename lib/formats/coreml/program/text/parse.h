// The text form of ML Programs, which compiled models have (model.mil):
//
//   program(1.0)
//   [buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}})]
//   {
//       func main<ios16>(tensor<fp32, [1, 2]> x) {
//           tensor<fp32, [3, 2]> w = const()[name = tensor<string, []>("w"), val = tensor<fp32,
//               [3, 2]>(BLOBFILE(path = tensor<string, []>("@model_path/weights/weight.bin"),
//               offset = tensor<uint64, []>(64)))];
//           tensor<fp32, [1, 3]> y = linear(weight = w, x = x)[name = tensor<string, []>("y")];
//       } -> (y);
//   }
//
// Types without axes may be written as "fp32". The grammar is not published; it is what coremlc
// writes. Blocks are written as coremltools describes programs that have some; no compiled model
// with blocks is known:
//
//   tensor<fp32, [2]> y = cond(pred = p,
//       () {
//           tensor<fp32, [2]> a = relu(x = x);
//       } -> (a)
//       () {
//       } -> (x));
#pragma once

#include <string_view>

#include "base/status.h"
#include "coreml_mil.pb.h"

namespace nn::coreml::program {

// Adds the functions of the text to `program`. kParse and kUnsupported name the line and the
// column.
Status ParseProgram(std::string_view text, pb::mil::Program& program);

}  // namespace nn::coreml::program

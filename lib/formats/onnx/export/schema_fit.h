// How graph nodes fit the operator schemas: each is written on trial, and its ONNX nodes are
// compared with the schemas (schema.h). The schemas alone therefore determine what ONNX can
// represent.
//
// Design: docs/design/034-trial-writes.md.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::onnx {

struct SchemaFit {
  int64_t opset = 0;     // the lowest operator set that has the operators for these types; 0: none
  std::string reason;    // if there is none: "Slice of ONNX does not support i4 as data"
  bool has_form = true;  // whether the last set has a form, for other types or attributes
};

// Looks from operator set `least` to `most`.
SchemaFit FitToSchemas(const Node& node, int64_t least, int64_t most);

}  // namespace nn::onnx

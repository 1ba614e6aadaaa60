// The length of a Scan, and one whose length only the run knows, as a loop.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"
#include "formats/onnx/import/import.h"
#include "ir/graph.h"

namespace nn::onnx {

// The size of the axis, which becomes non-negative; all values must have the same. If `open` is not
// null and only the run knows the size, says so there.
Result<int64_t> CommonLength(std::span<Value* const> values, std::span<int64_t> axes,
                             std::string* open = nullptr);

struct OpenScan {
  std::span<Value* const> states;   // at first
  std::span<Value* const> scanned;  // with known ranks
  // Of each scan input and output; a direction of 1 is from the end.
  std::vector<int64_t> in, out, in_directions, out_directions;
  // The results of the body: the next states, and elements of the scan outputs.
  std::function<Result<std::vector<Value*>>(std::span<Value* const>)> run_body;
  std::string why;  // the length is not known
};

// Adds the loop, and sets the outputs of the operator. kUnsupported if a region cannot hold the
// body.
Status EmitScanLoop(ImportContext& ctx, Graph& graph, std::vector<UnsupportedNode>& unsupported,
                    const OpenScan& scan);

}  // namespace nn::onnx

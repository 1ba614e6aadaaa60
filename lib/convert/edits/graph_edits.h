// The edits of nnsuite::GraphEdits, whose texts are those of nnconvert's options: --merge,
// --input-shape with symbols, --set-batch, --preprocess, --layout, --cache-length. They apply in
// this order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "convert/verify/verify.h"
#include "formats/format.h"
#include "formats/given_inputs.h"
#include "ir/graph.h"
#include "nnsuite/convert.h"
#include "passes/interface/edits.h"

namespace nn {

using nnsuite::GraphEdits;

// The model to edit, and the settings of its import.
struct ModelToEdit {
  const Format& format;
  std::string path;  // for messages
  // Sizes that are set before others open, also of inputs of the model that is appended.
  InputShapes shapes;
  std::optional<int64_t> batch;
  std::vector<std::string> carry;  // ConvertOptions::carry
  ReadLimits limits;               // of the model that is appended
  VerifyOptions verification;      // limits and threads of its runs
};

// Whether the text "NAME:N,3,h,w" is a shape for GraphEdits::symbol_shapes.
bool HasSymbols(const std::string& input_shape);

// kUsage for edits that lack another one, or exclude a `batch` that is set.
Status CheckGraphEdits(const GraphEdits& edits, std::optional<int64_t> batch);

// The option of the first edit; "" if there is none.
std::string_view GraphEditOption(const GraphEdits& edits);

// Errors: kUsage for texts that cannot be read, and names of nothing; those of
// passes/interface/edits.h, and of reading the model that is appended.
Result<std::vector<GraphEdit>> ApplyGraphEdits(const GraphEdits& edits, const ModelToEdit& model,
                                               Graph& graph);

}  // namespace nn

// Recorded values as the other side of --against.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "against/drift.h"
#include "base/status.h"
#include "convert/inputs/port_arrays.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "ir/types/type.h"

namespace nn::app {

// A value that was recorded.
struct RecordedValue {
  std::string name;
  std::string op;                // that computed it; empty if unknown
  std::optional<Type> type;      // if it is quantized
  std::optional<size_t> output;  // of the model, if it is one
  std::function<Result<Tensor>()> read;
};

struct Record {
  PortArrays inputs;  // of the model
  std::vector<RecordedValue> values;
};

// Whether the path is a record: an .npz or .safetensors file with values by name, or out_K and in_K
// by position; a folder of --save-steps; or a folder with input_K.pb and output_K.pb.
bool IsRecord(const std::string& path);
Result<Record> ReadRecord(const std::string& path, const Graph& graph, const ReadLimits& limits);
// `record` must outlive it.
std::unique_ptr<against::Reference> ReferenceOf(const Record& record, const Graph& graph);

// Finds names as PortFinder does.
against::FindName FindNames(const std::vector<std::string>& names);

}  // namespace nn::app

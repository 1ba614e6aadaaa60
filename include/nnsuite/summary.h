// A summary of a model file, whether its operators are supported or not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnsuite {

// One operator in a model's summary.
struct OperatorSummary {
  std::string op;  // with its domain, if not the default
  std::string name;
  std::string scope;                // its subgraph or function; "": the main graph
  std::vector<std::string> inputs;  // names; "" for absent ones
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, std::string>> attributes;
};

struct TensorSummary {
  std::string name;
  std::string type;                               // the format's own name: "FLOAT", "FLOAT32"
  std::optional<std::vector<std::string>> shape;  // numbers or symbols; nullopt: unknown rank
  std::string quantization;                       // text, empty if none
};

// Facts about a model from its file alone, including unsupported operators.
struct ModelSummary {
  std::string format;   // "ONNX"
  std::string version;  // "IR version 7, opset 13"
  std::string producer;
  std::string name;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<TensorSummary> inputs;
  std::vector<TensorSummary> outputs;
  // In file order; subgraphs follow their operator, functions come last.
  std::vector<OperatorSummary> operators;
  uint64_t parameter_count = 0;  // elements of constant tensors
  uint64_t parameter_bytes = 0;
};

}  // namespace nnsuite

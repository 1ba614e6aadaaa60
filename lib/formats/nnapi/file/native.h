// An Android NNAPI 1.0 model with the fields of the neural networks HAL 1.0 (types.hal: Model,
// Operand, Operation, DataLocation), from a .nnapi file (schemas/nnapi.fbs) or .nnapi.json. Indices
// and locations are unchecked and may be out of range; BytesOf() checks them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file/blob.h"
#include "formats/common/edit/native_edit.h"
#include "formats/format.h"
#include "formats/nnapi/file/codes.h"
#include "formats/nnapi/file/memory.h"

namespace nn::nnapi {

// The file format version to write; files of later versions are rejected.
inline constexpr uint32_t kFormVersion = 1;

struct DataLocation {
  uint32_t pool_index = 0;
  uint32_t offset = 0;
  uint32_t length = 0;
  bool operator==(const DataLocation&) const = default;
};

struct Operand {
  OperandType type = OperandType::kFloat32;
  std::vector<uint32_t> dimensions;  // empty for a scalar; 0 for an unknown size
  uint32_t number_of_consumers = 0;
  float scale = 0.0f;
  int32_t zero_point = 0;
  LifeTime lifetime = LifeTime::kTemporaryVariable;
  DataLocation location;
  std::string name;  // extension of the suite; may be empty
  bool operator==(const Operand&) const = default;
};

struct Operation {
  OperationType type = OperationType::kAdd;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  bool operator==(const Operation&) const = default;
};

// Memory of constants.
struct Pool {
  Memory bytes;
  std::string file;  // beside the model, that has the bytes; "": the model itself has them
};

// The data of one input or output in a run.
struct RequestArgument {
  bool has_no_value = false;  // left out
  DataLocation location;      // in the request's pools
  std::vector<uint32_t> dimensions;
};

// One run of a model.
struct Request {
  std::vector<RequestArgument> inputs;   // of Model::input_indexes
  std::vector<RequestArgument> outputs;  // of Model::output_indexes
  std::vector<uint64_t> pool_sizes;      // bytes
};

struct Model : NativeModel {
  std::vector<Operand> operands;
  std::vector<Operation> operations;
  std::vector<uint32_t> input_indexes;
  std::vector<uint32_t> output_indexes;
  Memory operand_values;
  std::vector<Pool> pools;
  std::string name;      // extension of the suite; may be empty
  uint32_t version = 0;  // of the file format; 0: not stated
  // A run to validate with the model; only in .nnapi.json.
  std::optional<Request> request;
};

// A model that the format's reader made, as the roles of the format get it.
inline const Model& ModelOf(const NativeModel& model) {
  return static_cast<const Model&>(model);
}

// operandValues or the pool of a constant; null if the operand is not a constant, or its pool does
// not exist.
const Memory* MemoryOf(const Model& model, const Operand& operand);
// The bytes of a constant, with the length of its location; nullopt if it has none, or if they are
// outside its pool.
std::optional<Blob> BytesOf(const Model& model, const Operand& operand);

// Parses either form, without reading external pools.
Result<std::unique_ptr<Model>> ReadFlatbuffer(const Blob& file, const ReadLimits& limits);
Result<std::unique_ptr<Model>> ReadJson(const Blob& file, const ReadLimits& limits);

// The inverse of the readers; a flatbuffer in parts. kUnsupported above 2 GiB, the maximum of a
// flatbuffer.
Result<std::vector<Blob>> WriteFlatbuffer(const Model& model);
Result<Blob> WriteJson(const Model& model);

// The file of a model in the form of options.path's extension, with its external pools as side
// files. options.external_data moves constants to an external pool, or all pools into the model.
Result<FileImage> Assemble(Model model, const ExportOptions& options);

}  // namespace nn::nnapi

// Export to ML Programs. One-to-one operators (OpDef::formats, "mil") need no code here; every
// other operator has a row in program/ops/<family>.cc.
//
// Integers of 64 bits are written as int32, the only integers of inputs and outputs of Core ML.
// Design: docs/design/075-ml-program-export.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "coreml_mil.pb.h"
#include "formats/common/named_export.h"
#include "formats/common/protobuf/pb_payload.h"
#include "formats/coreml/file/blob_storage.h"
#include "formats/coreml/program/export/operation.h"
#include "formats/coreml/program/spec/signature.h"
#include "formats/format.h"
#include "ir/graph.h"

namespace nn::coreml::program {

// Where large constants go: into a weight file, or into the program.
struct ConstantStore {
  PayloadTable& payloads;
  BlobStorageWriter* weights = nullptr;  // null: into the program
};

// What a name of the program that is written stands for.
struct Symbol {
  mil::ValueType type;
  std::optional<Tensor> constant;
  bool is_constant = false;  // no run changes it, even if `constant` is not known
};

class ExportContext final : public NamedExport {
 public:
  ExportContext(mil::Block& block, Opset opset, ConstantStore store, Mode mode = Mode::kFile);

  Opset opset() const { return opset_; }
  // Constants are packed from now on (packed.h). The operation set must have the forms.
  void UsePacking() { packs_constants_ = true; }
  mil::Block& block() { return *block_; }

  // Constants become operations.
  std::string NameOf(const Value* value) override;
  // The same; kUnsupported for constants that programs cannot hold.
  Result<std::string> NameFor(const Value* value);
  // A name that is not in use; names of programs are identifiers.
  std::string NewIdentifier(std::string_view hint);
  // The operation `type`.
  OperationWriter Add(std::string_view type) { return {*this, type}; }
  // An operation with the inputs of the node, in the order of the definition.
  OperationWriter AddFor(std::string_view type, const Node& node);
  // Makes the output of a node the same as another value, unless it is an output of the function
  // with its own name, which gets an operation of its own.
  Status Alias(const Node& node, const Value* same);

  // The name of a new constant.
  Result<std::string> AddConstant(const Tensor& tensor, std::string_view hint);
  Result<std::string> AddConstant(const Tensor& tensor, mil::DataType type, std::string_view hint);
  std::string AddConstant(mil::Value value, std::string_view hint,
                          std::optional<Tensor> elements = std::nullopt);

  // A constant as it stands in the program, or as its place in the weight file; a trial has no
  // contents. `dims`: its sizes, which a tensor of packed elements does not have.
  mil::Value ValueOf(const Tensor& tensor, mil::DataType type, const std::vector<int64_t>& dims);

  // The sizes of a value are where those of its symbols come from.
  void Define(const Value* value);
  // The name of an int32 vector of these sizes: a constant, or computed from the sizes of values.
  Result<std::string> AddSizes(const Dims& dims);

  // Adds operations to another block, until the next call. Returns the one before.
  mil::Block* Enter(mil::Block* block) { return std::exchange(block_, block); }

  void Declare(const std::string& name, mil::ValueType type,
               std::optional<Tensor> constant = std::nullopt);
  // Null if nothing has the name.
  const Symbol* Find(const std::string& name) const;
  const std::unordered_map<std::string, Symbol>& symbols() const { return symbols_; }

 private:
  // A scalar.
  Result<std::string> AddSize(const Dim& dim);
  Result<std::string> AddSizeTree(const Dim::Tree& tree);

  mil::Block* block_;
  const mil::Block* const function_;  // the outermost block
  Opset opset_;
  bool packs_constants_ = false;
  ConstantStore store_;
  std::unordered_map<std::string, Symbol> symbols_;
  // Of the function's block: where each symbol of a size comes from, and sizes by their text.
  std::unordered_map<std::string, std::pair<const Value*, int>> sources_;
  std::unordered_map<std::string, std::string> sizes_;
};

struct ExportRow {
  std::string_view op;
  Status (*write)(ExportContext&, const Node&) = nullptr;
  // Why a node cannot be written, whatever the operation set; null: every node can.
  std::optional<std::string> (*why_not)(const Node&) = nullptr;
};

// The row of an operator; null if there is none.
const ExportRow* FindExport(std::string_view op);

// Whether there is a row or an encoding for an operator.
bool HasOperation(const OpDef& op);

// Writes a node as operations. kUnsupported if the operation set has none for it.
Status WriteNode(ExportContext& ctx, const Node& node);

// The element type in programs; UNUSED_TYPE if they have none.
mil::DataType DataTypeOf(DType dtype);
// Its name in strings of programs: "fp16".
std::string_view NameInPrograms(DType dtype);
// The type of a tensor in programs.
mil::ValueType ValueTypeOf(const Type& type);
mil::ValueType TensorTypeOf(mil::DataType type, const Dims& dims);

void SetAttribute(mil::Operation& operation, std::string_view key, mil::Value value);

// A string as a value.
mil::Value TextValue(std::string_view text);

// An identifier that resembles the name.
std::string Identifier(std::string_view name);

// Whether the operation set has a form of constants in blocks for a constant that the source file
// has in blocks.
bool HasBlocks(const Tensor& tensor, Opset opset);
// Writes it in that form. The name of the constant.
Result<std::string> AddBlocks(ExportContext& ctx, const Value& value);

// Why the program of an operation set cannot hold a node; nullopt if it can.
std::optional<std::string> FindMisfit(const Node& node, Opset opset);

// How a graph is written.
struct ProgramForm {
  Opset opset;
  bool packs_constants = false;  // packed.h
};

// With the lowest operation set, from `oldest` to `newest`, that holds all nodes.
ProgramForm FormOf(const Graph& graph, Opset oldest, Opset newest);

// The contents of a constant, in the shape of its type: legalization asks about nodes whose
// operands have other axes in their types alone.
Result<Tensor> ContentsOf(const Value& constant);

// Whether the program stores the value: a constant, or integers that are only dequantized. Operands
// that must be constants may be either.
bool IsStored(const Value& value);

// The constant in input i; null if it is not constant.
inline const Tensor* ConstantOf(const Node& node, size_t i) {
  const Value* v = node.input(i);
  return v != nullptr && v->is_constant() ? &v->constant() : nullptr;
}

// What programs of an operation set hold.
const Target& ProgramTarget(Opset opset);

// Writes a graph that is legal for ProgramTarget(newest) as a model of the lowest operation set
// that holds it: a package, or a file whose program contains all constants.
Result<FileImage> WriteProgram(const Graph& graph, const ExportOptions& options, Opset newest);

}  // namespace nn::coreml::program

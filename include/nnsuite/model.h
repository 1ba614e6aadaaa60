// Model files: reading, describing, dumping and copying them, whatever their format.
//
//   nnsuite::Result<nnsuite::Model> model = nnsuite::Model::Read("m.tflite");
//   if (!model) ...
//   nnsuite::Result<nnsuite::Graph> graph = model->Import();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nnsuite/dtype.h"
#include "nnsuite/error.h"
#include "nnsuite/options.h"
#include "nnsuite/shapes.h"
#include "nnsuite/summary.h"
#include "nnsuite/tensor.h"

namespace nnsuite {

class Graph;

// A model file format.
struct FormatInfo {
  std::string_view name;                     // "onnx"
  std::string_view label;                    // "ONNX"
  std::vector<std::string_view> extensions;  // ".onnx", the most common one first
};

// All formats. The texts live as long as the program.
std::vector<FormatInfo> Formats();

// A constant tensor in a model file: an initializer, a buffer, the weights of a layer, or a tensor
// attribute of an operator. Keeps the model alive.
class StoredTensor {
 public:
  const std::string& name() const;
  const std::string& scope() const;           // its subgraph or function; "": the main graph
  const std::string& type() const;            // the format's own name: "FLOAT"
  const std::vector<int64_t>& shape() const;  // as stored, valid or not
  uint64_t bytes() const;                     // stored size
  // The file that holds the contents and where, "w.bin at 4096", "buffer 12"; may be empty.
  const std::string& location() const;
  // The operators that use it, as ascending indices into ModelSummary::operators.
  const std::vector<size_t>& users() const;

  // Reads the contents; nothing is read before this call. Errors: kIo, kParse, kLimit, kUnsupported
  // for types without a DType.
  Result<Tensor> Read() const;

 private:
  friend struct nn::api::Access;
  struct Impl;
  explicit StoredTensor(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

// A model in the terms of its own format, including operators that this library does not support.
// Immutable: copies are cheap and share the model, and all may be used by several threads at the
// same time. The file is mapped into memory as long as a copy exists and must not change.
class Model {
 public:
  // Reads a file or folder of any format, or a dump. The contents determine the format, not the
  // name. Standard input for the path "-". Errors: kIo; kParse for damaged files and for files of
  // other kinds, which the message names; kLimit beyond the limits.
  static Result<Model> Read(const std::string& path, const ReadLimits& limits = {});
  // The same for a copy of `bytes`. External data is looked up beside `path`, which may be empty.
  static Result<Model> FromBytes(std::span<const std::byte> bytes, const std::string& path = {},
                                 const ReadLimits& limits = {});

  // The same without a copy: `bytes` must not change and must stay valid as long as `owner`, which
  // the model and everything that shares its constants keep.
  static Result<Model> FromView(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                const std::string& path = {}, const ReadLimits& limits = {});

  // The functions of an ML Program that has several; empty for other models.
  std::vector<std::string> Functions() const;
  // The model with one of them as the function that runs by default. kUsage for another name.
  Result<Model> WithFunction(const std::string& name) const;

  // FormatInfo::name of its format.
  std::string_view format() const;
  const std::string& path() const;

  // Facts from the file alone. Long lists and texts of attributes are truncated unless `in_full`.
  Result<ModelSummary> Summarize(bool in_full = false) const;
  // All constant tensors in file order.
  Result<std::vector<StoredTensor>> Tensors() const;
  // The graph, with names for all of its inputs and outputs. Errors: kModel, and kUnsupported for a
  // model with operators that cannot be imported; the message lists them all.
  Result<Graph> Import() const;
  // The same for inputs of these shapes, which may decide about control flow. kUsage for shapes
  // that the model does not have.
  Result<Graph> Import(const InputShapes& shapes) const;

  // Writes the complete model as JSON text, which Read() takes in place of the model. The file is
  // replaced as a whole, or not at all; "-" is standard output.
  Status Dump(const std::string& path, const DumpOptions& options = {}) const;
  // The same as text; DumpWeights::kFile is kUsage.
  Result<std::string> DumpText(const DumpOptions& options = {}) const;
  // Writes a copy in the same format, unchanged except for the location of its constants. Existing
  // files are replaced as a whole, or not at all.
  Status Write(const std::string& path, const ExternalData& external_data = {}) const;

 private:
  friend struct nn::api::Access;
  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace nnsuite

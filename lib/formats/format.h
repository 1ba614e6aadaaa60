// What every model file format offers, behind one table, so that programs need not know which
// formats there are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/blob.h"
#include "base/status.h"
#include "ir/graph.h"
#include "passes/legalise.h"

namespace nn {

class DumpNode;
class JsonWriter;

// A model as its own format has it, safe to read whether it is valid or not. Each format derives
// its own type.
class NativeModel {
 public:
  virtual ~NativeModel() = default;
};

// What a reader refuses to go beyond; violations are kLimit.
struct ReadLimits {
  uint64_t max_file_bytes = uint64_t{64} << 30;
  int max_depth = 100;                      // nested messages or sub-graphs
  uint64_t max_items = uint64_t{16} << 20;  // nodes, tensors, operands: any one list
};

// A graph, and what of the file has no place in it. With obstacles the graph still holds an
// "opaque" node for each of them.
struct ImportedModel {
  Graph graph;
  std::vector<Obstacle> obstacles;
};

struct ExportOptions {
  std::string path;   // of the file that is to be written: tells forms of one format apart
  int64_t opset = 0;  // ONNX operator set version; 0: the format's default
  std::string producer_version;
};

// The bytes of a file to be written, in order; weights are not copied.
struct FileImage {
  std::vector<Blob> parts;
  // Files that belong beside it: name and contents.
  std::vector<std::pair<std::string, std::vector<Blob>>> side_files;
  // The path names a folder that holds side_files, and parts is empty. Names are relative paths
  // with "/"; one that ends in "/" is an empty folder.
  bool is_folder = false;

  uint64_t size() const;
};

// One line of a model's table of operators.
struct OperatorSummary {
  std::string op;  // with its domain where that is not the format's own
  std::string name;
  std::string scope;                // the sub-graph or function it stands in; "": the main graph
  std::vector<std::string> inputs;  // names; "" for absent ones
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, std::string>> attributes;
};

struct TensorSummary {
  std::string name;
  std::string type;                               // the format's own name: "FLOAT", "FLOAT32"
  std::optional<std::vector<std::string>> shape;  // numbers or symbols; nullopt: unknown rank
  std::string quantisation;                       // text, empty if none
};

// What can be told about a model from its file alone, operators known or not.
struct ModelSummary {
  std::string format;   // "ONNX"
  std::string version;  // "IR version 7, opset 13"
  std::string producer;
  std::string name;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<TensorSummary> inputs;
  std::vector<TensorSummary> outputs;
  // In file order; sub-graphs follow the operator that has them, functions come last.
  std::vector<OperatorSummary> operators;
  uint64_t parameter_count = 0;  // elements of constant tensors
  uint64_t parameter_bytes = 0;
};

// An operator of a format, by the name that files have.
struct OperatorSupport {
  std::string name;
  bool imported = false;  // in some form; other forms are refused by name
};

struct Format {
  std::string_view name;                     // "onnx"
  std::string_view label;                    // "ONNX"
  std::vector<std::string_view> extensions;  // ".onnx", longest first
  // True if the bytes look like this format. Cheap; only the first bytes are looked at.
  bool (*sniff)(std::span<const std::byte> bytes) = nullptr;
  // `path` is where the file came from: external data lies beside it.
  Result<std::unique_ptr<NativeModel>> (*read)(const Blob& file, const std::string& path,
                                               const ReadLimits& limits) = nullptr;
  // Reads a model that is a folder; null if the format has none.
  Result<std::unique_ptr<NativeModel>> (*read_folder)(const std::string& path,
                                                      const ReadLimits& limits) = nullptr;
  Result<ImportedModel> (*import)(const NativeModel& model) = nullptr;
  // Requires a graph that Legalise found legal for `target`.
  Result<FileImage> (*write)(const Graph& graph, const ExportOptions& options) = nullptr;
  const Target* target = nullptr;
  Result<ModelSummary> (*summarize)(const NativeModel& model) = nullptr;
  // The operators that the format's schema names, in its order; of ONNX, whose schema names none,
  // those that are imported.
  std::vector<OperatorSupport> (*operators)() = nullptr;
  // Whether nodes of an operator of the graph can be written as they are, in some form.
  bool (*writes)(const OpDef& op) = nullptr;
  // Writes the model as one JSON value that holds all there is in it, in the names of the format's
  // own schema. kUnsupported for what the schema does not let be read (named).
  Status (*dump)(const NativeModel& model, JsonWriter& out) = nullptr;
  // The model of such a value. `path` is as for `read`. kParse with the place for values that are
  // not in the schema or do not fit it.
  Result<std::unique_ptr<NativeModel>> (*restore)(const DumpNode& dump, const std::string& path,
                                                  const ReadLimits& limits) = nullptr;
  // The file of a native model, which is not checked. `path` tells forms of one format apart.
  Result<FileImage> (*save)(const NativeModel& model, const std::string& path) = nullptr;
};

// All formats.
std::span<const Format> Formats();
const Format* FindFormat(std::string_view name);
// By the path's extension, a last "/" aside; nullptr if none fits.
const Format* FormatOfPath(std::string_view path);

struct ReadModel {
  const Format* format;
  std::unique_ptr<NativeModel> model;
  bool from_dump = false;  // the file was a dump of a model of `format`
};

// What a file is that is no model at all: "a ZIP archive"; empty if nothing is recognised.
std::string_view KnownNonModel(std::span<const std::byte> bytes);

// Reads a file of any format, or the dump of one: told by its bytes, by its extension where those
// do not tell; folders by their extension. Files that are something else altogether (a Git LFS
// pointer, an HTML page, a compiled model) are named for what they are.
Result<ReadModel> ReadModelFile(const std::string& path, const ReadLimits& limits = {});

// Writes a model as JSON text that ReadModelFile takes for the model itself
// (schemas/dump.schema.json): a copy, nothing is imported. Whatever the size of the model, little
// of the text is in memory at a time.
Status WriteDump(const ReadModel& model, const std::string& path);

// Whether a path names a dump: ".json" that is no extension of a format.
bool IsDumpPath(std::string_view path);

// ReadModelFile and import; obstacles are an error of kind kUnsupported that lists them all.
Result<Graph> ReadGraph(const std::string& path, const ReadLimits& limits = {});

}  // namespace nn

// What every model file format offers, behind one table, so that programs need not know which
// formats there are.
#pragma once

#include <cstdint>
#include <functional>
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
class DumpWriter;

// A model as its own format has it, safe to read whether it is valid or not. Each format derives
// its own type.
class NativeModel {
 public:
  virtual ~NativeModel() = default;
};

// What a reader refuses to go beyond; violations are kLimit and name the limit, as the programs'
// options do: max-file-bytes, max-piped-bytes, max-unpacked-bytes, max-depth, max-items.
struct ReadLimits {
  // Of the model's file, or the files of its folder, and all files beside it that are read,
  // together.
  uint64_t max_file_bytes = uint64_t{64} << 30;
  uint64_t max_piped_bytes = uint64_t{2} << 30;     // of a pipe, which is read into memory
  uint64_t max_unpacked_bytes = uint64_t{4} << 30;  // of all entries of an archive
  int max_depth = 100;                              // nested messages or sub-graphs
  uint64_t max_items = uint64_t{16} << 20;          // nodes, tensors, operands: any one list
};

// A graph, and what of the file has no place in it. With obstacles the graph still holds an
// "opaque" node for each of them.
struct ImportedModel {
  Graph graph;
  std::vector<Obstacle> obstacles;
};

// Where the constants of a model are put.
struct ExternalData {
  // A file beside the model that takes those of `threshold` bytes or more; "": none, but for an
  // ONNX model that would pass 2 GiB, where one is named after it.
  std::string file;
  uint64_t threshold = 1024;
  bool embed = false;  // all of them go inside the model; what does not fit there is kLimit
};

struct ExportOptions {
  std::string path;   // of the file that is to be written: tells forms of one format apart
  int64_t opset = 0;  // ONNX operator set version; 0: the format's default
  std::string producer_version = {};
  ExternalData external_data = {};
};

struct SideFile {
  std::string name;  // relative to the model's folder, '/' between its parts
  std::vector<Blob> parts;
  // The name comes with the model and was not chosen for the file that is written: another file of
  // that name stays as it is.
  bool keep_existing = false;

  uint64_t size() const;
};

// The bytes of a file to be written, in order; weights are not copied.
struct FileImage {
  std::vector<Blob> parts;
  std::vector<SideFile> side_files;  // that belong beside it
  // The path names a folder that holds the side files, and there are no parts. A name that ends in
  // "/" is an empty folder.
  bool is_folder = false;

  uint64_t size() const;  // of the file, or of all in the folder
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

// A constant tensor as a file has it: an initializer, a buffer, the weights of a layer, a tensor
// among an operator's attributes.
struct TensorEntry {
  std::string name;
  std::string scope;           // as OperatorSummary has it
  std::string type;            // the format's own name
  std::vector<int64_t> shape;  // as stored, valid or not
  uint64_t bytes = 0;          // that its contents take where they are stored
  bool external = false;       // whether that is another file
  std::string location;        // "w.bin at 4096", "buffer 12"; may be empty
  // The operators that take it, by their place in ModelSummary::operators, ascending.
  std::vector<size_t> users;
  bool is_attribute = false;  // of its one user
  // Reads the contents, dense and as real numbers where the format stores them packed; nothing of
  // them is touched before. The model must outlive the entry.
  std::function<Result<Tensor>()> read;
};

// An operator of a format, by the name that files have.
struct OperatorSupport {
  std::string name;
  bool imported = false;  // in some form; other forms are refused by name
};

// A part of a format that is no operator.
struct FeatureSupport {
  std::string_view name;
  std::string_view versions = "";  // of the format that have it; "": all
  bool copied = true;              // inspected, validated, dumped and written back as it is
  bool imported = true;            // converted from, and executed
  bool exported = true;            // conversions to the format make it
  std::string_view note = "";
};

// What is wrong with the types of a model's values.
struct TypeDefect {
  enum class Kind : uint8_t {
    kInference,    // an operator does not take what it is given
    kElementType,  // a value is declared of another element type, or kind, than it has
    kShape,        // a value is declared with another shape than it has
  };
  Kind kind = Kind::kInference;
  std::string element;  // path to the operator or its output: "graph.node[3].output[0]"
  int64_t index = -1;   // of the operator
  std::string message;
};

struct Format {
  std::string_view name;                     // "onnx"
  std::string_view label;                    // "ONNX"
  std::vector<std::string_view> extensions;  // ".onnx", the most usual one first
  // True if the bytes look like this format. Cheap; only the first bytes are looked at.
  bool (*sniff)(std::span<const std::byte> bytes) = nullptr;
  // `path` is where the file came from: external data lies beside it.
  Result<std::unique_ptr<NativeModel>> (*read)(const Blob& file, const std::string& path,
                                               const ReadLimits& limits) = nullptr;
  // Reads a model that is a folder; null if the format has none.
  Result<std::unique_ptr<NativeModel>> (*read_folder)(const std::string& path,
                                                      const ReadLimits& limits) = nullptr;
  Result<ImportedModel> (*import)(const NativeModel& model) = nullptr;
  // Infers the types of all values, sub-graphs included, and goes on where that fails. What cannot
  // be inferred is no defect. Reads no large constants.
  std::vector<TypeDefect> (*check_types)(const NativeModel& model) = nullptr;
  // Requires a graph that Legalise found legal for `target`.
  Result<FileImage> (*write)(const Graph& graph, const ExportOptions& options) = nullptr;
  bool external_data = false;  // write and save take ExportOptions::external_data
  const Target* target = nullptr;
  Result<ModelSummary> (*summarize)(const NativeModel& model) = nullptr;
  // The same with the attributes' lists and texts in full.
  Result<ModelSummary> (*summarize_in_full)(const NativeModel& model) = nullptr;
  // All constant tensors, in the file's order. What is wrong with one of them shows when it is
  // read.
  Result<std::vector<TensorEntry>> (*tensors)(const NativeModel& model) = nullptr;
  // The operators that the format's schema names, in its order; of ONNX, whose schema names none,
  // those that are imported.
  std::vector<OperatorSupport> (*operators)() = nullptr;
  std::span<const FeatureSupport> features;
  // Whether nodes of an operator of the graph can be written as they are, in some form.
  bool (*writes)(const OpDef& op) = nullptr;
  // Writes the model as one JSON value that holds all there is in it, in the names of the format's
  // own schema. kUnsupported for what the schema does not let be read (named).
  Status (*dump)(const NativeModel& model, DumpWriter& out) = nullptr;
  // The model of such a value. `path` is as for `read`. kParse with the place for values that are
  // not in the schema or do not fit it.
  Result<std::unique_ptr<NativeModel>> (*restore)(const DumpNode& dump, const std::string& path,
                                                  const ReadLimits& limits) = nullptr;
  // The file of a native model, which is not checked: a copy of it, but for what the options ask of
  // external data. The producer and the operator set stay what they are.
  Result<FileImage> (*save)(const NativeModel& model, const ExportOptions& options) = nullptr;
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
// The same for the contents of a file; `path` is where they came from.
Result<ReadModel> ReadModelBytes(const Blob& file, const std::string& path,
                                 const ReadLimits& limits = {});

// How a dump shows the data of tensors of 1 KiB and more; kFile takes those that have a name of any
// size.
enum class DumpWeights : uint8_t {
  kBase64,  // can be restored, as kInline can
  kInline,  // lists of numbers where the type is known
  kStats,   // size, type, range, mean, deviation
  kDigest,  // size and SHA-256
  kNone,    // size
  kFile,    // as tensors of a file beside the dump; can be restored
};

struct DumpOptions {
  DumpWeights weights = DumpWeights::kBase64;
  // Of kFile: its path below the dump's folder, .npz or .safetensors.
  std::string file = {};
};

// Writes a model as JSON text that ReadModelFile takes for the model itself
// (schemas/dump.schema.json): a copy, nothing is imported. Whatever the size of the model, little
// of the text is in memory at a time.
Status WriteDump(const ReadModel& model, const std::string& path, const DumpOptions& options = {});

// Whether a path names a dump: ".json" that is no extension of a format.
bool IsDumpPath(std::string_view path);

// ReadModelFile and import; obstacles are an error of kind kUnsupported that lists them all.
Result<Graph> ReadGraph(const std::string& path, const ReadLimits& limits = {});

}  // namespace nn

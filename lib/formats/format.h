// The interface of model file formats: one table per format, so that programs are independent of
// formats.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/common/describe/value_type.h"
#include "formats/common/edit/side_files.h"
#include "ir/graph.h"
#include "nnsuite/options.h"
#include "nnsuite/summary.h"
#include "rewrite/legalize.h"

namespace nn {

class DumpNode;
class DumpWriter;
struct Holding;
struct KnownInputs;
struct MicroModel;
struct NativeEdit;
struct NativeFlow;
struct PortKinds;

// A model in the terms of its own format, safe to read even if it is invalid. Each format derives
// its own type.
class NativeModel {
 public:
  virtual ~NativeModel() = default;

  // The reader of the files that the model names, other than those of its folder. Copies know all
  // files that were read, without keeping the model in memory.
  SideFiles files;
};

using nnsuite::DumpOptions;
using nnsuite::DumpWeights;
using nnsuite::ExternalData;
using nnsuite::ModelSummary;
using nnsuite::OperatorSummary;
using nnsuite::ReadLimits;
using nnsuite::TensorSummary;

// Which values that a run leaves for the next one become inputs and outputs of the graph. The
// others begin each run with their initial values.
enum class StatePorts : uint8_t {
  kNone,
  kResources,  // resource variables, which a model has only for the sake of the next run
  kAll,        // also the states of layers, which applications reset before a sequence
};

// A value that a run leaves for the next one, with its ports in the graph.
struct ModelState {
  std::string name;
  std::string input;   // name of the input with the value before a run
  std::string output;  // name of the output with the value after it
  // Before the first run; nullopt: zeros (the zero point, if the input is quantized).
  std::optional<Tensor> initial;
};

// A graph and the unsupported parts of the file. Each of them has an "opaque" node in the
// graph.
struct ImportedModel {
  Graph graph;
  std::vector<UnsupportedNode> unsupported;
  // Float operators in place of hybrid kernels, which quantize their float inputs in each run:
  // those of Format::import_with `as_float`, and those of blockwise weights.
  int64_t hybrids = 0;
  std::vector<ModelState> states = {};  // that are ports, as StatePorts requires
  // What the import did not take as the file states it, a sentence each.
  std::vector<std::string> notes = {};
};

// What a file states besides its operators and constants, such as its metadata.
struct ModelFrame {
  // The model without operators and constants.
  std::shared_ptr<const NativeModel> model;
  int64_t opset = 0;  // its ONNX operator set version
};

struct ExportOptions {
  std::string path;   // of the output; selects a form of the format
  int64_t opset = 0;  // ONNX operator set version; 0: the format's default
  std::string producer_version = {};
  ExternalData external_data = {};
  bool value_info = false;  // ONNX: states the types of all values
  // Of the source, if the format does not change (Format::frame): the written model has its
  // metadata, producer and declarations of inputs and outputs. Null: those of a new model.
  std::shared_ptr<const NativeModel> frame = nullptr;
};

struct SideFile {
  std::string name;  // relative to the model's folder, '/' between its parts
  std::vector<Blob> parts;
  // The name comes from the model, not from the writer: an existing different file of that name is
  // kept.
  bool keep_existing = false;

  uint64_t size() const;
};

// The bytes of a file to write, in order; weights are not copied.
struct FileImage {
  std::vector<Blob> parts;
  std::vector<SideFile> side_files;
  // The path is a folder that contains the side files, and `parts` is empty. A name that ends in
  // "/" is an empty folder.
  bool is_folder = false;

  uint64_t size() const;  // bytes of the file, or of all files in the folder
  Blob Contents() const;  // of the file, without side files, in memory of its own
};

// How the elements that a tensor stores represent real numbers: scale * (stored - zero point) +
// bias, or table[stored].
struct StoredQuantization {
  std::vector<float> scales;         // one; or one for each index of `axis`, or for each block
  std::vector<int64_t> zero_points;  // empty: zero; else one, or as many as scales
  std::vector<float> biases;         // the same
  std::vector<float> table;          // without scales
  int64_t axis = -1;                 // of several scales; -1: unknown
  int64_t block = 0;                 // consecutive elements with one scale; 0: no blocks
  bool operator==(const StoredQuantization&) const = default;
};

// A constant tensor in a file: an initializer, a buffer, the weights of a layer, or a tensor
// attribute of an operator.
struct TensorEntry {
  std::string name;
  std::string scope;           // as in OperatorSummary
  std::string type;            // the format's own name
  std::vector<int64_t> shape;  // as stored, valid or not
  uint64_t bytes = 0;          // stored size
  bool external = false;       // stored in another file
  std::string location;        // "w.bin at 4096", "buffer 12"; may be empty
  // The operators that use it, as ascending indices into ModelSummary::operators.
  std::vector<size_t> users;
  bool is_attribute = false;  // of its only user
  // Reads the contents: dense, and as real numbers if the format stores them packed. No contents
  // are read before this call. The model must outlive the entry.
  std::function<Result<Tensor>()> read;
  // Null if the file does not say that the tensor is quantized. Reads the scales if they are
  // tensors of their own; kUnsupported if a run computes them.
  std::function<Result<StoredQuantization>()> quantization = nullptr;
};

// The names of a model's inputs and outputs, in the order of the imported graph's.
struct PortNames {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  bool operator==(const PortNames&) const = default;
};

// The channels of an image, in the order in which the input has them.
enum class ImageColors : uint8_t { kGray, kRgb, kBgr };

// The outputs of a classifier. The label is not an output of the graph.
struct Classes {
  std::string scores;  // name of the output with a score for each class
  std::string label;   // name of the output with the label of the class with the highest score
  Tensor labels;       // of the classes: strings or i64, one axis
};

// An operator of a format, by its name in files.
struct OperatorSupport {
  std::string name;
  bool imported = false;  // in some form; other forms are rejected by name
};

// A feature of a format other than operators.
struct FeatureSupport {
  std::string_view name;
  std::string_view versions = "";  // of the format with the feature; "": all
  bool copied = true;              // inspected, validated, dumped and written back unchanged
  bool imported = true;            // converted and executed
  bool exported = true;            // written by conversions
  std::string_view note = "";
};

// An error in the types of a model's values.
struct TypeDefect {
  enum class Kind : uint8_t {
    kInference,    // an operator does not accept its inputs
    kElementType,  // a declared element type or kind differs from the inferred one
    kShape,        // a declared shape differs from the inferred one
  };
  Kind kind = Kind::kInference;
  std::string element;  // path to the operator or its output: "graph.node[3].output[0]"
  int64_t index = -1;   // of the operator
  std::string message;
};

// How likely it is that a file has a format, by its contents.
enum class Likeness : uint8_t {
  kNone,
  kPossible,  // nothing contradicts the format
  kLikely,    // has the fields that every model of the format has
  kSure,      // has the format's identifier
};

struct Format {
  std::string_view name;                     // "onnx"
  std::string_view label;                    // "ONNX"
  std::vector<std::string_view> extensions;  // ".onnx", the most common one first
  // Cheap: reads only the beginning of the file and of the data it refers to.
  Likeness (*likeness)(std::span<const std::byte> bytes) = nullptr;
  // Whether the folder is a model of this format; null if the format has no folders.
  bool (*is_folder)(const std::string& path) = nullptr;
  // `path` is the path of the file; external data is beside it. kParse for damaged files, kLimit
  // beyond the limits.
  Result<std::unique_ptr<NativeModel>> (*read)(const Blob& file, const std::string& path,
                                               const ReadLimits& limits) = nullptr;
  // Reads a model that is a folder; null if the format has none.
  Result<std::unique_ptr<NativeModel>> (*read_folder)(const std::string& path,
                                                      const ReadLimits& limits) = nullptr;
  Result<ImportedModel> (*import)(const NativeModel& model) = nullptr;
  // The same for a model whose inputs are known in part. `as_float`: hybrid kernels, which multiply
  // integer weights by float inputs that they quantize in each run, become float operators on
  // dequantized weights.
  Result<ImportedModel> (*import_with)(const NativeModel& model, const KnownInputs& known,
                                       bool as_float) = nullptr;
  // The same for inputs of these shapes, by name, which may have other ranks than the declared
  // ones. Shapes that cannot replace the declared ones are ignored. Null: ranks are as declared.
  Result<ImportedModel> (*import_with_shapes)(
      const NativeModel& model,
      const std::map<std::string, std::vector<int64_t>>& shapes) = nullptr;
  // The format's runtime rounds arrays of other numeric types to the real numbers of the inputs, as
  // Core ML's does, which keeps a multi-array of doubles as float32 or float16. The inputs of other
  // formats take only arrays of their own type; programs convert others if no value changes.
  bool rounds_inputs = false;
  // The colors of an input [1, C, H, W] of an imported graph; nullopt if the model does not declare
  // it as an image. Null: the format has no images.
  std::optional<ImageColors> (*image_colors)(const Graph& graph,
                                             const std::string& input) = nullptr;
  // The classes of an imported graph; nullopt if it is not a classifier. Null: the format has none.
  std::optional<Classes> (*classes)(const Graph& graph) = nullptr;
  // Infers the types of all values, subgraphs included, and continues after errors. Types that
  // cannot be inferred are not defects. Does not read large constants.
  std::vector<TypeDefect> (*check_types)(const NativeModel& model) = nullptr;
  // The values of the main graph, and of subgraphs below operators, with their types as inferred,
  // refined by those that the file declares. `inputs` are types that replace the declared ones of
  // inputs. Null: the types are those of the imported graph.
  std::vector<ValueEntry> (*values)(
      const NativeModel& model, const std::map<std::string, Type, std::less<>>& inputs) = nullptr;
  // Decomposes operators that a newer version of the format has, but not the one to write. Adds the
  // decompositions to `rewrites` unless it is null. Null: the version does not matter.
  Status (*lower)(Graph& graph, const ExportOptions& options, RewriteCounts* rewrites) = nullptr;
  // The frame of a model, which shares no memory with it. kUnsupported, with the part's name, for
  // parts that an imported graph cannot keep. Null: `write` restores what the format has from the
  // metadata of the graph.
  Result<ModelFrame> (*frame)(const NativeModel& model) = nullptr;
  // Requires a graph that Legalize() made legal for `target`.
  Result<FileImage> (*write)(const Graph& graph, const ExportOptions& options) = nullptr;
  bool external_data = false;  // write and save support ExportOptions::external_data
  const Target* target = nullptr;
  Result<ModelSummary> (*summarize)(const NativeModel& model) = nullptr;
  // The same without truncating lists and texts of attributes.
  Result<ModelSummary> (*summarize_in_full)(const NativeModel& model) = nullptr;
  // All that the file holds beside its graph (formats/holdings.h).
  std::vector<Holding> (*holdings)(const NativeModel& model) = nullptr;
  // All constant tensors in file order. Errors in a tensor are returned by TensorEntry::read.
  Result<std::vector<TensorEntry>> (*tensors)(const NativeModel& model) = nullptr;
  // The lists of operators of main graphs, as paths in locations of findings: "graph.node".
  std::vector<std::string_view> operator_lists;
  // The operators of the format's schema, in its order; for ONNX those of all standard domains, by
  // name.
  std::vector<OperatorSupport> (*operators)() = nullptr;
  std::span<const FeatureSupport> features;
  // Writes the complete model as one JSON value, with the names of the format's schema.
  // kUnsupported, with a name, for contents that the schema cannot describe.
  Status (*dump)(const NativeModel& model, DumpWriter& out) = nullptr;
  // The inverse of `dump`. `path` is as for `read`. kParse, with the location, for values that do
  // not match the schema.
  Result<std::unique_ptr<NativeModel>> (*restore)(const DumpNode& dump, const std::string& path,
                                                  const ReadLimits& limits) = nullptr;
  // The file of a native model, unchecked: a copy, except for the external data options. Producer
  // and operator set are unchanged.
  Result<FileImage> (*save)(const NativeModel& model, const ExportOptions& options) = nullptr;
  // The names that `rename` changes; unnamed inputs and outputs have names by position. kModel if
  // the file lists inputs or outputs that it does not have.
  Result<PortNames> (*port_names)(const NativeModel& model) = nullptr;
  // The kinds of the inputs and outputs, in the order of `port_names`. Null: all are tensors.
  PortKinds (*port_kinds)(const NativeModel& model) = nullptr;
  // `save` with other names for the inputs and outputs, in the order of `port_names`, and wherever
  // the file refers to them. All names change at once, so names can be swapped. kUsage, with the
  // location, for a new name that another value of the model has, and for different new names of an
  // input and an output that are one value; kUnsupported, with the reason, for names that occur
  // where they cannot be changed.
  Result<FileImage> (*rename)(const NativeModel& model, const PortNames& names,
                              const ExportOptions& options) = nullptr;
  // What the operators of the main graph read and write (formats/common/edit/native_edit.h),
  // unknown ones included. kModel if the file refers to what it does not have. Null: no native
  // edits.
  Result<NativeFlow> (*flow)(const NativeModel& model) = nullptr;
  // The model with the edit, which refers to its flow. Operators, subgraphs, functions and
  // constants that nothing uses any more are dropped, and so are declared types of dropped values;
  // everything else stays. Weights are shared with the model, not copied. kUnsupported, with the
  // reason, for what the format has no place for, such as the type of an input or a metadata entry.
  Result<std::unique_ptr<NativeModel>> (*edit)(const NativeModel& model,
                                               const NativeEdit& edit) = nullptr;
  // What an interpreter for microcontrollers needs (formats/common/describe/micro.h). kUnsupported
  // for models that it cannot plan. Null: there is none for the format.
  Result<MicroModel> (*micro)(const NativeModel& model) = nullptr;
};

// All formats.
std::span<const Format> Formats();
const Format* FindFormat(std::string_view name);
// By the path's extension, ignoring a trailing "/"; nullptr if none matches.
const Format* FormatOfPath(std::string_view path);

// Copies share the model.
struct ReadModel {
  const Format* format;
  std::shared_ptr<const NativeModel> model;
  bool from_dump = false;  // the file was a dump of a model of `format`
};

// Whether the file or folder counts as a model: by its contents if their likeness is at least
// kLikely, otherwise by its extension. The model may still be damaged.
bool IsModel(const std::string& path);

// Reads a file or folder of any format, or a dump. The contents determine the format
// (formats/recognize.h), or the extension if they are ambiguous. Errors name other recognized file
// types (a Git LFS pointer, an HTML page, a compiled model).
Result<ReadModel> ReadModelFile(const std::string& path, const ReadLimits& limits = {});
// The same for the contents of the file at `path`.
Result<ReadModel> ReadModelBytes(const Blob& file, const std::string& path,
                                 const ReadLimits& limits = {});

// Writes a model as JSON text that ReadModelFile can read in place of the model
// (schemas/dump.schema.json): a copy, without import. The text is streamed, so memory use does not
// grow with the model.
Status WriteDump(const ReadModel& model, const std::string& path, const DumpOptions& options = {});

// The model whose dump is that of `model` after an RFC 6902 patch, a JSON array of operations on
// paths such as "/model/graph/node/3/name". Tensor data do not pass through the text: in the
// patched document they are {"stored": NAME, ...}. `path` is that of the model. kUsage for a patch
// that is malformed or does not apply; kParse, with the location, if the result is not a model.
Result<ReadModel> PatchModel(const ReadModel& model, std::string_view patch,
                             const std::string& path, const ReadLimits& limits = {});

// Whether a path names a dump: ".json", unless part of a format's extension.
bool IsDumpPath(std::string_view path);

// Imports a model that was read from `path`, which is for messages; unsupported nodes are an error
// of kind kUnsupported that lists them all.
Result<Graph> ImportGraph(const ReadModel& read, const std::string& path);

// ReadModelFile and ImportGraph.
Result<Graph> ReadGraph(const std::string& path, const ReadLimits& limits = {});

}  // namespace nn

// The interface of model file formats: what each of them reads, imports, describes, writes and
// edits, so that programs are independent of formats.
// Design: docs/design/073-format-interfaces.md.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/model/describer.h"
#include "formats/model/editor.h"
#include "formats/model/importer.h"
#include "formats/model/native_model.h"
#include "formats/model/reader.h"
#include "formats/model/writer.h"
#include "ir/graph.h"
#include "nnsuite/options.h"

namespace nn {

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

struct Format {
  std::string_view name;                     // "onnx"
  std::string_view label;                    // "ONNX"
  std::vector<std::string_view> extensions;  // ".onnx", the most common one first
  const ModelReader& reader;
  const ModelImporter& importer;
  const ModelDescriber& describer;
  const ModelWriter& writer;
  const ModelEditor& editor;
  const Target* target = nullptr;
  // The lists of operators of main graphs, as paths in locations of findings: "graph.node".
  std::vector<std::string_view> operator_lists;
  // The operators of the format's schema, in its order; for ONNX those of all standard domains, by
  // name.
  std::vector<OperatorSupport> (*operators)() = nullptr;
  std::span<const FeatureSupport> features;
};

// A kind of model that graphs are written as: a format, and the options that choose the kind.
struct OutputKind {
  std::string_view name;   // "onnx"; of a format with several kinds, "mil"
  std::string_view label;  // "ML Program"
  const Format* format;
  ExportOptions options;  // with a path of one file

  const Target& target() const;
};

// Those of all formats, in their order, and then further kinds.
std::span<const OutputKind> OutputKinds();

// What a graph must be legal for to be written with the options.
const Target& TargetOf(const Format& format, const ExportOptions& options);

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

// The model with this function as the one that runs by default; "": as it is. kUsage if the model
// does not have it.
Result<ReadModel> WithFunction(ReadModel read, const std::string& function);

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

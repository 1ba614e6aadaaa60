// The part of a format that writes files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file/blob.h"
#include "base/status.h"
#include "formats/model/native_model.h"
#include "ir/graph.h"
#include "nnsuite/options.h"
#include "rewrite/legalize.h"

namespace nn {

using nnsuite::ExternalData;

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
  bool value_info = false;             // ONNX: states the types of all values
  std::string core_ml = {};            // the kind of model: "network", "program"; "": by the path
  std::string deployment_target = {};  // of ML Programs: "iOS16"; "": the lowest that fits
  // Of the source, if the format does not change (ModelWriter::FrameOf): the written model has its
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
  // What the writer chose, for the report: "an ML Program for iOS15, macOS12 and later".
  std::vector<std::string> notes = {};

  uint64_t size() const;  // bytes of the file, or of all files in the folder
  Blob Contents() const;  // of the file, without side files, in memory of its own
};

class ModelWriter {
 public:
  virtual ~ModelWriter() = default;

  // Whether ExportOptions::external_data has an effect.
  virtual bool HasExternalData() const { return false; }
  // kUsage for options of other formats, or values that they do not have.
  virtual Status CheckOptions(const ExportOptions& options) const;
  // What the graphs to write must be legal for, where the options choose between kinds of models;
  // null: Format::target.
  virtual const Target* TargetFor(const ExportOptions& /*options*/) const { return nullptr; }
  // Whether a model of the format is of the kind that the options choose, so that it can be copied.
  virtual bool WouldKeep(const NativeModel& /*model*/, const ExportOptions& /*options*/) const {
    return true;
  }
  // Whether a new model of the kind that the options choose can keep states (StateFrame).
  virtual bool KeepsStates(const ExportOptions& /*options*/) const { return false; }
  // The options that write the same kind of model as one file.
  virtual ExportOptions InOneFile(ExportOptions options) const { return options; }
  // Decomposes operators that a newer version of the format has, but not the one to write. Adds the
  // decompositions to `rewrites` unless it is null.
  virtual Status Lower(Graph& graph, const ExportOptions& options, RewriteCounts* rewrites) const;
  // Requires a graph that Legalize() made legal for Format::target.
  virtual Result<FileImage> Write(const Graph& graph, const ExportOptions& options) const = 0;
  // The file of a native model, unchecked: a copy, except for the external data options. Producer
  // and operator set are unchanged.
  virtual Result<FileImage> Save(const NativeModel& model, const ExportOptions& options) const = 0;
  // The frame of a model, which shares no memory with it; without a model if Write restores what
  // the format has from the metadata of the graph. kUnsupported, with the part's name, for parts
  // that an imported graph cannot keep.
  virtual Result<ModelFrame> FrameOf(const NativeModel& model) const;
};

}  // namespace nn

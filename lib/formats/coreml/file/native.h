// A Core ML model as protobuf message, with large weights as views of the file.
#pragma once

#include <memory>
#include <string_view>

#include "base/file/blob.h"
#include "formats/common/edit/native_edit.h"
#include "formats/coreml/file/fields.h"
#include "formats/coreml/file/package.h"
#include "formats/format.h"

namespace nn::coreml {

namespace pb {
class Model;
}

struct Model : NativeModel {
  Model();
  ~Model() override;

  std::unique_ptr<pb::Model> proto;
  PayloadTable payloads;
  Blob file;
  // Its side files: all files of a package, or the existing files that an ML Program refers to.
  ModelFolder folder;

  Fields root() const;
  // The same message, mutable.
  Writer writer();
  const Message& message() const;
  Message* mutable_message();
  // The name of the field that holds the kind of model: "neuralNetworkClassifier"; "" for kinds not
  // in the schema.
  std::string_view kind() const;
  // Whether it is a neural network of layers; network() is that network.
  bool has_network() const;
  Fields network() const;
};

// "pipeline", "mlProgram", ...: the kind of model for messages, or that it has none.
std::string DescribeKind(const Fields& model);

// Parses an .mlmodel file. Checks limits and the wire form, not the rules of the format.
Result<std::unique_ptr<NativeModel>> Read(const Blob& file, const std::string& path,
                                          const ReadLimits& limits);
// The same for a package, which is a folder.
Result<std::unique_ptr<NativeModel>> ReadFolder(const std::string& path, const ReadLimits& limits);

// The model's file, in parts. kUnsupported above the 2 GiB that protobuf reads.
Result<std::vector<Blob>> Serialize(const Model& model);

// Format::likeness.
Likeness LikenessOf(std::span<const std::byte> bytes);

Result<ModelSummary> Summarize(const NativeModel& model);
Result<ModelSummary> SummarizeInFull(const NativeModel& model);
Result<std::vector<TensorEntry>> Tensors(const NativeModel& model);

// Format::dump, restore and save.
Status Dump(const NativeModel& model, DumpWriter& out);
Result<std::unique_ptr<NativeModel>> Restore(const DumpNode& dump, const std::string& path,
                                             const ReadLimits& limits);
Result<FileImage> Save(const NativeModel& model, const ExportOptions& options);

// Format::port_names and rename.
Result<PortNames> NamesOfPorts(const NativeModel& model);
Result<FileImage> Rename(const NativeModel& model, const PortNames& names,
                         const ExportOptions& options);

// Format::flow and edit. A model that is not a network is one operator.
Result<NativeFlow> FlowOf(const NativeModel& model);
Result<std::unique_ptr<NativeModel>> ApplyEdit(const NativeModel& model, const NativeEdit& edit);

// The blob with the scores of a classifier: the named one, or the output of the last layer.
std::string ScoresBlob(const Fields& network);

// The name of a layer's kind in the schema: "convolution", "activation.ReLU", "unary.SQRT"; "" if
// the layer has none.
std::string KindOf(const Fields& layer);
// All kinds, in the schema's order.
std::vector<std::string> LayerKinds();

}  // namespace nn::coreml

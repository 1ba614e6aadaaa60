// A Core ML model as protobuf has it, large weights kept apart as views of the file.
#pragma once

#include <memory>
#include <string_view>

#include "base/blob.h"
#include "formats/coreml/fields.h"
#include "formats/coreml/package.h"
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
  // What lies around it: all files of a package, or those that an ML Program refers to and that
  // are there.
  ModelFolder folder;

  Fields root() const;
  // The same message, to be written to.
  Writer writer();
  const Message& message() const;
  Message* mutable_message();
  // The name of the field that holds the kind of model: "neuralNetworkClassifier"; "" for a kind
  // that the schema does not have.
  std::string_view kind() const;
  // Whether it is a neural network of layers; network() is that network.
  bool has_network() const;
  Fields network() const;
};

// "pipeline", "mlProgram", ...: what kind of model it is, or that it is of none.
std::string DescribeKind(const Fields& model);

// Parses an .mlmodel file. Checks limits and the wire form, not the model's rules.
Result<std::unique_ptr<NativeModel>> Read(const Blob& file, const std::string& path,
                                          const ReadLimits& limits);
// The same for a package, which is a folder.
Result<std::unique_ptr<NativeModel>> ReadFolder(const std::string& path, const ReadLimits& limits);

// True if the bytes start like a Model.
bool Sniff(std::span<const std::byte> bytes);

Result<ModelSummary> Summarize(const NativeModel& model);
Result<ModelSummary> SummarizeInFull(const NativeModel& model);
Result<std::vector<TensorEntry>> Tensors(const NativeModel& model);

// Format::dump, restore and save.
Status Dump(const NativeModel& model, DumpWriter& out);
Result<std::unique_ptr<NativeModel>> Restore(const DumpNode& dump, const std::string& path,
                                             const ReadLimits& limits);
Result<FileImage> Save(const NativeModel& model, const ExportOptions& options);

// The name of a layer's kind as the schema has it: "convolution", "activation.ReLU", "unary.SQRT";
// "" if the layer has none.
std::string KindOf(const Fields& layer);
// All kinds, in the schema's order.
std::vector<std::string> LayerKinds();

}  // namespace nn::coreml

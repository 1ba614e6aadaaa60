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

// A model that the format's reader made, as the roles of the format get it.
inline const Model& ModelOf(const NativeModel& model) {
  return static_cast<const Model&>(model);
}

// "pipeline", "mlProgram", ...: the kind of model for messages, or that it has none.
std::string DescribeKind(const Fields& model);

// The model's file, in parts. kUnsupported above the 2 GiB that protobuf reads.
Result<std::vector<Blob>> Serialize(const Model& model);

// The blob with the scores of a classifier: the named one, or the output of the last layer.
std::string ScoresBlob(const Fields& network);

// The name of a layer's kind in the schema: "convolution", "activation.ReLU", "unary.SQRT"; "" if
// the layer has none.
std::string KindOf(const Fields& layer);
// All kinds, in the schema's order.
std::vector<std::string> LayerKinds();

}  // namespace nn::coreml

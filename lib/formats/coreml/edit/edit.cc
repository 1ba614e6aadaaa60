// ModelEditor::Apply of neural networks; of other models, names and metadata only.
#include <fmt/core.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text/text.h"
#include "coreml_model.pb.h"
#include "formats/coreml/describe/program.h"
#include "formats/coreml/edit/edit_metadata.h"
#include "formats/coreml/edit/network_parts.h"
#include "formats/coreml/edit/rename.h"
#include "formats/coreml/export/write_interface.h"
#include "formats/coreml/file/native.h"
#include "formats/coreml/import/importer.h"
#include "formats/coreml/import/interface.h"
#include "formats/coreml/roles.h"

namespace nn::coreml {
namespace {

using google::protobuf::FieldDescriptor;

// Removes the elements of a list of messages for which keeps(index) does not hold.
template <typename Keeps>
void KeepElements(Message& owner, const char* list, const Keeps& keeps) {
  const auto& reflection = *owner.GetReflection();
  const FieldDescriptor* field = owner.GetDescriptor()->FindFieldByName(list);
  int kept = 0;
  const int count = reflection.FieldSize(owner, field);
  for (int i = 0; i < count; ++i)
    if (keeps(i)) reflection.SwapElements(&owner, field, i, kept++);
  for (int i = kept; i < count; ++i) reflection.RemoveLast(&owner, field);
}

std::set<size_t> ValuesOf(const std::vector<NativeEdit::Port>& ports) {
  std::set<size_t> values;
  for (const auto& port : ports) values.insert(port.value);
  return values;
}

class NetworkEditor {
 public:
  NetworkEditor(const Model& source, const NativeFlow& flow, const NativeEdit& edit, Model& model)
      : source_(source),
        flow_(flow),
        edit_(edit),
        model_(model),
        ports_(PortsOf(source)),
        inputs_(ValuesOf(edit.inputs)) {
    for (size_t i = 0; i < ports_.inputs.size(); ++i)
      old_inputs_.try_emplace(flow.inputs[i], &ports_.inputs[i].message());
    for (size_t i = 0; i < ports_.outputs.size(); ++i)
      old_outputs_.try_emplace(flow.outputs[i], &ports_.outputs[i].message());
  }

  Status Run() {
    NN_RETURN_IF_ERROR(CheckKind());
    if (!source_.has_network()) return {};
    NN_RETURN_IF_ERROR(CheckPorts());
    NN_RETURN_IF_ERROR(DropClassifier());
    const auto count = static_cast<int>(source_.network().Count("layers"));
    if (std::count(edit_.keeps.begin(), edit_.keeps.begin() + count, true) == 0)
      return UnsupportedError("no layer would remain; a Core ML network has at least one");
    KeepElements(*network(), "layers", [&](int i) { return edit_.keeps[static_cast<size_t>(i)]; });
    NN_RETURN_IF_ERROR(DetachInputs());
    NN_RETURN_IF_ERROR(SetInputs());
    NN_RETURN_IF_ERROR(SetOutputs());
    DropPreprocessing();
    return {};
  }

 private:
  const std::string& NameOf(size_t value) const { return flow_.values[value].name; }

  Message* network() {
    Message& root = *model_.mutable_message();
    const auto& reflection = *root.GetReflection();
    return reflection.MutableMessage(
        &root,
        reflection.GetOneofFieldDescriptor(root, root.GetDescriptor()->FindOneofByName("Type")));
  }

  // Whether operators and ports are those of the source.
  bool ChangesOnlyNames() const {
    const auto same = [](const std::vector<NativeEdit::Port>& ports,
                         const std::vector<size_t>& present) {
      return std::ranges::equal(ports, present, {}, &NativeEdit::Port::value);
    };
    return std::ranges::count(edit_.keeps, false) == 0 && same(edit_.inputs, flow_.inputs) &&
           same(edit_.outputs, flow_.outputs);
  }

  Status CheckKind() const {
    if (ChangesOnlyNames()) return {};
    if (!source_.has_network())
      return UnsupportedError(
          "only the names and the metadata of {} can be changed: operators and ports are those of "
          "neural networks",
          DescribeKind(source_.root()));
    if (source_.root().Bool("isUpdatable"))
      return UnsupportedError(
          "the model is updatable: its training refers to its layers, inputs and outputs");
    return {};
  }

  // Outputs are results of layers, and blobs that layers change have no single value to cut at.
  Status CheckPorts() const {
    if (edit_.inputs.empty() && source_.root().Int("specificationVersion") < kNoInputs)
      return UnsupportedError("networks without inputs need specification version {}", kNoInputs);
    for (const auto& port : edit_.outputs)
      if (inputs_.contains(port.value))
        return UnsupportedError("{} would be an input and an output; a layer must write an output",
                                Quote(NameOf(port.value)));
    std::vector<size_t> writers(flow_.values.size());
    for (const auto& op : flow_.operators)
      for (const size_t v : op.outputs) ++writers[v];
    for (const auto& port : edit_.inputs)
      if (!HasInput(port.value) && writers[port.value] > 1)
        return UnsupportedError(
            "{} cannot be an input: {} layers write it, so it has several values",
            Quote(NameOf(port.value)), writers[port.value]);
    return {};
  }

  bool HasInput(size_t value) const { return old_inputs_.contains(value); }

  // ---- Classifiers and regressors ---------------------------------------------------------------

  // A classifier without its label or probabilities, or a regressor without its number, is a plain
  // network.
  Status DropClassifier() {
    if (source_.kind() == kNetwork) return {};
    const Fields description = source_.root().Sub("description");
    std::set<std::string> predicted;
    for (const char* field : {"predictedFeatureName", "predictedProbabilitiesName"})
      if (std::string name = description.Text(field); !name.empty()) predicted.insert(name);
    if (source_.kind() == kClassifier)
      for (const size_t v : flow_.operators.back().outputs) predicted.insert(NameOf(v));
    const std::set<std::string> present = NamesOf(edit_.outputs);
    if (std::ranges::includes(present, predicted)) return {};
    if (source_.kind() == kClassifier)
      for (const size_t v : flow_.operators.back().outputs)
        if (present.contains(NameOf(v)))
          return UnsupportedError(
              "output {} is no blob: it remains only with all outputs of the classifier",
              Quote(NameOf(v)));
    is_plain_ = true;
    auto plain = std::make_unique<pb::NeuralNetwork>();
    const Message& old = *network();
    for (const char* field :
         {"layers", "preprocessing", "arrayInputShapeMapping", "imageInputShapeMapping"})
      CopyField(old, field, *plain);
    plain->GetReflection()
        ->MutableUnknownFields(plain.get())
        ->MergeFrom(old.GetReflection()->GetUnknownFields(old));
    model_.proto->set_allocated_neuralnetwork(plain.release());
    auto& written = *model_.proto->mutable_description();
    written.clear_predictedfeaturename();
    written.clear_predictedprobabilitiesname();
    return {};
  }

  static void CopyField(const Message& from, const char* name, Message& to) {
    const FieldDescriptor* source = from.GetDescriptor()->FindFieldByName(name);
    const FieldDescriptor* target = to.GetDescriptor()->FindFieldByName(name);
    const auto &read = *from.GetReflection(), &write = *to.GetReflection();
    if (!source->is_repeated())
      return write.SetEnumValue(&to, target, read.GetEnumValue(from, source));
    for (int i = 0; i < read.FieldSize(from, source); ++i)
      write.AddMessage(&to, target)->CopyFrom(read.GetRepeatedMessage(from, source, i));
  }

  std::set<std::string> NamesOf(const std::vector<NativeEdit::Port>& ports) const {
    std::set<std::string> names;
    for (const auto& port : ports) names.insert(NameOf(port.value));
    return names;
  }

  // ---- Inputs and outputs -----------------------------------------------------------------------

  // A layer that still writes a new input writes a blob that nothing reads.
  Status DetachInputs() {
    std::set<std::string> cut;
    for (const auto& port : edit_.inputs)
      if (!HasInput(port.value)) cut.insert(NameOf(port.value));
    std::set<std::string> used;
    for (const auto& value : flow_.values) used.insert(value.name);
    Message& owner = *network();
    const auto& reflection = *owner.GetReflection();
    const FieldDescriptor* layers = owner.GetDescriptor()->FindFieldByName("layers");
    for (int i = 0; i < reflection.FieldSize(owner, layers); ++i) {
      auto& layer = static_cast<pb::NeuralNetworkLayer&>(
          *reflection.MutableRepeatedMessage(&owner, layers, i));
      const std::string kind = KindOf(Fields(layer, model_.payloads));
      for (std::string& name : *layer.mutable_output()) {
        if (!cut.contains(name)) continue;
        std::string unused = name + "_unused";
        for (int k = 1; !used.insert(unused).second; ++k)
          unused = fmt::format("{}_unused{}", name, k);
        name = unused;
      }
      if (!IsControlFlow(kind)) continue;
      if (const auto written = WrittenIn(layer, cut))
        return UnsupportedError("{} cannot be an input: layer {} ({}), which remains, writes it",
                                Quote(*written), Quote(layer.name()), kind);
    }
    return {};
  }

  std::optional<std::string> WrittenIn(const Message& layer,
                                       const std::set<std::string>& names) const {
    for (const Fields& inner : NestedNetworks(Fields(layer, model_.payloads)))
      for (const Fields& l : inner.List("layers")) {
        for (std::string& name : l.Texts("output"))
          if (names.contains(name)) return std::move(name);
        if (auto found = WrittenIn(l.message(), names)) return found;
      }
    return std::nullopt;
  }

  bool IsRank5() const {
    return source_.network().Enum("arrayInputShapeMapping") == "RANK5_ARRAY_MAPPING";
  }

  // Several blobs may be one value of the imported graph, which has one name.
  Type ImportedType(const std::string& name) const {
    if (!types_) {
      types_.emplace();
      const Shapes shapes;
      Importer importer(source_, shapes);
      if (const auto imported = importer.Run()) *types_ = importer.BlobTypes();
    }
    const auto it = types_->find(name);
    return it == types_->end() ? Type() : it->second;
  }

  // The type of a new port in the description. With rank 5 blobs, it lacks the sequence and batch
  // axes, which must be 1.
  Result<Type> PortType(const NativeEdit::Port& port) const {
    const std::string& name = NameOf(port.value);
    const Type type = port.type.is_tensor() ? port.type.tensor : ImportedType(name);
    if (!type.ranked())
      return UnsupportedError("the type of the new input {} is unknown", Quote(name));
    if (!IsRank5()) return type;
    const Dims& dims = *type.dims;
    if (dims.size() != 5 || !(dims[0] == 1) || !(dims[1] == 1))
      return UnsupportedError(
          "{} is {}: an array of a network with RANK5_ARRAY_MAPPING has the axes [C, H, W], with "
          "sequence and batch of size 1",
          Quote(name), type.ToString());
    return type.WithDims(Dims(dims.begin() + 2, dims.end()));
  }

  Status SetInputs() {
    pb::ModelDescription& description = *model_.proto->mutable_description();
    description.clear_input();
    DropDims();
    std::set<size_t> added;
    for (const auto& port : edit_.inputs) {
      if (!added.insert(port.value).second)
        return UnsupportedError("{} would be listed twice", Quote(NameOf(port.value)));
      if (const Message* present = FeatureOf(old_inputs_, port.value)) {
        description.add_input()->CopyFrom(*present);
        continue;
      }
      NN_ASSIGN(const Type type, PortType(port));
      Writer writer = model_.writer().Sub("description");
      Writer feature = writer.Add("input");
      feature.Text("name", NameOf(port.value));
      const auto status = WriteArray(type, true, feature.Sub("type").Sub("multiArrayType"));
      if (!status) return tl::unexpected(status.error().In("input " + Quote(NameOf(port.value))));
      if (!ConstDims(*type.dims)) WriteDims(NameOf(port.value), *type.dims, writer.Sub("metadata"));
    }
    return {};
  }

  Status SetOutputs() {
    pb::ModelDescription& description = *model_.proto->mutable_description();
    description.clear_output();
    std::set<size_t> added;
    for (const auto& port : edit_.outputs) {
      if (!added.insert(port.value).second)
        return UnsupportedError("{} would be listed twice", Quote(NameOf(port.value)));
      const Message* present = FeatureOf(old_outputs_, port.value);
      if (present != nullptr && !(is_plain_ && IsPrediction(*present))) {
        description.add_output()->CopyFrom(*present);
        continue;
      }
      Writer feature = model_.writer().Sub("description").Add("output");
      feature.Text("name", NameOf(port.value));
      Writer array = feature.Sub("type").Sub("multiArrayType");
      // Without a shape, the output has that of the blob.
      const auto type = port.type.is_known() ? PortType(port) : Result<Type>(Type());
      if (!type || !type->ranked()) {
        array.Enum("dataType", "FLOAT32");
      } else if (const auto status = WriteArray(*type, false, array); !status) {
        return tl::unexpected(status.error().In("output " + Quote(NameOf(port.value))));
      }
    }
    return {};
  }

  // Whether only classifiers and regressors have such outputs.
  static bool IsPrediction(const Message& feature) {
    const std::string_view kind = Fields(feature, PayloadTable()).Sub("type").OneOf("Type");
    return kind != "multiArrayType" && kind != "imageType";
  }

  using OldFeatures = std::map<size_t, const Message*>;  // of the source, by value
  // Null for a new port.
  static const Message* FeatureOf(const OldFeatures& features, size_t value) {
    const auto it = features.find(value);
    return it == features.end() ? nullptr : it->second;
  }

  // What the metadata record about inputs that are none any more.
  void DropDims() {
    auto& description = *model_.proto->mutable_description();
    if (!description.has_metadata()) return;
    std::set<std::string> keys;
    for (const size_t v : flow_.inputs)
      if (!inputs_.contains(v)) keys.insert(std::string(kDimsKey) + NameOf(v));
    auto& metadata = *description.mutable_metadata();
    KeepElements(metadata, "userDefined",
                 [&](int i) { return !keys.contains(metadata.userdefined(i).key()); });
  }

  // Without a name, an entry belongs to the only image.
  void DropPreprocessing() {
    std::set<std::string> images;
    bool had_image = false, has_image = false;
    for (size_t i = 0; i < flow_.inputs.size(); ++i) {
      if (ports_.inputs[i].Sub("type").OneOf("Type") != "imageType") continue;
      had_image = true;
      if (!inputs_.contains(flow_.inputs[i])) continue;
      has_image = true;
      images.insert(NameOf(flow_.inputs[i]));
    }
    std::set<std::string> dropped;
    for (const size_t v : flow_.inputs)
      if (!inputs_.contains(v)) dropped.insert(NameOf(v));
    const auto entries = source_.network().List("preprocessing");
    KeepElements(*network(), "preprocessing", [&](int i) {
      const std::string name = entries[static_cast<size_t>(i)].Text("featureName");
      return name.empty() ? has_image || !had_image : !dropped.contains(name);
    });
  }

  static constexpr int64_t kNoInputs = 9;

  const Model& source_;
  const NativeFlow& flow_;
  const NativeEdit& edit_;
  Model& model_;
  const Features ports_;
  const std::set<size_t> inputs_;
  OldFeatures old_inputs_, old_outputs_;
  mutable std::optional<std::map<std::string, Type>> types_;  // of blobs
  bool is_plain_ = false;  // the source was a classifier or regressor
};

// Blobs need names: those that say something become numbers.
void AddNumbers(const NativeFlow& flow, const NativeEdit& edit, FeatureNames& names) {
  std::set<std::string, std::less<>> used;
  for (const auto& value : flow.values) used.insert(value.name);
  for (const auto& [from, to] : names) used.insert(to);
  std::set<size_t> ports = ValuesOf(edit.inputs);
  ports.merge(ValuesOf(edit.outputs));
  size_t next = 0;
  for (size_t v = 0; v < flow.values.size(); ++v) {
    if (ports.contains(v)) continue;
    std::string number = std::to_string(next++);
    while (!used.insert(number).second) number = std::to_string(next++);
    names[flow.values[v].name] = number;
  }
}

// Payloads and files are shared.
std::unique_ptr<Model> CopyOf(const Model& source) {
  auto model = std::make_unique<Model>();
  *model->proto = *source.proto;
  model->payloads = source.payloads;
  model->folder = source.folder;
  model->files = source.files;
  return model;
}

}  // namespace

std::vector<std::string> CoremlEditor::FunctionsOf(const NativeModel& model) const {
  return coreml::FunctionsOf(ModelOf(model).root().Sub("description"));
}

std::unique_ptr<NativeModel> CoremlEditor::WithFunction(const NativeModel& native,
                                                        const std::string& name) const {
  auto model = CopyOf(ModelOf(native));
  model->proto->mutable_description()->set_defaultfunctionname(name);
  return model;
}

Result<std::unique_ptr<NativeModel>> CoremlEditor::Apply(const NativeModel& native,
                                                         const NativeEdit& edit) const {
  const auto& source = ModelOf(native);
  NN_ASSIGN(const NativeFlow flow, FlowOf(native));
  auto model = CopyOf(source);
  NN_RETURN_IF_ERROR(NetworkEditor(source, flow, edit, *model).Run());
  NN_RETURN_IF_ERROR(EditMetadata(source, edit, *model));
  FeatureNames names;
  for (const auto& [value, name] : edit.names) names[flow.values[value].name] = name;
  if (edit.strip.names && source.has_network() && !source.root().Bool("isUpdatable"))
    AddNumbers(flow, edit, names);
  std::erase_if(names, [](const auto& entry) { return entry.first == entry.second; });
  if (names.contains(""))
    return UnsupportedError("an input or output without a name cannot be renamed");
  if (!names.empty()) NN_RETURN_IF_ERROR(RenameFeatures(*model, std::move(names)));
  return std::unique_ptr<NativeModel>(std::move(model));
}

}  // namespace nn::coreml

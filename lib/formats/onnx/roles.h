// What the format does with its models.
#pragma once

#include "formats/format.h"

namespace nn::onnx {

// .onnx, or one of the text forms of protobuf (formats/common/protobuf/pb_text.h). Checks limits
// and the wire form, not the rules of the format.
class OnnxReader final : public ModelReader {
 public:
  Result<std::unique_ptr<NativeModel>> Restore(const DumpNode& dump, const std::string& path,
                                               const ReadLimits& limits) const override;
  Likeness LikenessOf(std::span<const std::byte> bytes) const override;
  Result<std::unique_ptr<NativeModel>> Read(const Blob& file, const std::string& path,
                                            const ReadLimits& limits) const override;
};

class OnnxImporter final : public ModelImporter {
 public:
  using ModelImporter::Import;
  Result<ImportedModel> Import(const NativeModel& model, const KnownInputs& known,
                               bool as_float) const override;
};

class OnnxDescriber final : public ModelDescriber {
 public:
  bool InfersTypes() const override { return true; }
  Status Dump(const NativeModel& model, DumpWriter& out) const override;
  std::vector<Holding> HoldingsOf(const NativeModel& model) const override;
  // Of the inputs without an initializer, and of the outputs.
  PortKinds PortKindsOf(const NativeModel& model) const override;
  Result<ModelSummary> Summarize(const NativeModel& model) const override;
  Result<ModelSummary> SummarizeInFull(const NativeModel& model) const override;
  std::vector<TypeDefect> CheckTypes(const NativeModel& model) const override;
  std::vector<ValueEntry> ValuesOf(
      const NativeModel& model,
      const std::map<std::string, Type, std::less<>>& inputs) const override;
  Result<PortNames> PortNamesOf(const NativeModel& model) const override;
  Result<std::vector<TensorEntry>> TensorsOf(const NativeModel& model) const override;
};

class OnnxWriter final : public ModelWriter {
 public:
  bool HasExternalData() const override { return true; }
  Result<FileImage> Save(const NativeModel& model, const ExportOptions& options) const override;
  Result<FileImage> Write(const Graph& graph, const ExportOptions& options) const override;
  Status Lower(Graph& graph, const ExportOptions& options, RewriteCounts* rewrites) const override;
  // kUnsupported for training information.
  Result<ModelFrame> FrameOf(const NativeModel& model) const override;
};

// Main graphs only. Values that subgraphs capture are inputs of their operator. A model with
// training information, which refers to all of the graph, must keep its operators, inputs and
// outputs (kUnsupported). The nodes of the edited model are in topological order. Names inside of
// functions change only by Strip::names, without those of their inputs and outputs.
class OnnxEditor final : public ModelEditor {
 public:
  Result<NativeFlow> FlowOf(const NativeModel& model) const override;
  Result<std::unique_ptr<NativeModel>> Apply(const NativeModel& model,
                                             const NativeEdit& edit) const override;
  Result<FileImage> Rename(const NativeModel& model, const PortNames& names,
                           const ExportOptions& options) const override;
};

}  // namespace nn::onnx

// What the format does with its models.
#pragma once

#include "formats/format.h"

namespace nn::nnapi {

// Either form. Checks limits, the wire form and the types of fields, not the rules of the format.
class NnapiReader final : public ModelReader {
 public:
  Result<std::unique_ptr<NativeModel>> Restore(const DumpNode& dump, const std::string& path,
                                               const ReadLimits& limits) const override;
  Likeness LikenessOf(std::span<const std::byte> bytes) const override;
  Result<std::unique_ptr<NativeModel>> Read(const Blob& file, const std::string& path,
                                            const ReadLimits& limits) const override;
};

class NnapiImporter final : public ModelImporter {
 public:
  using ModelImporter::Import;
  Result<ImportedModel> Import(const NativeModel& model, const KnownInputs& known,
                               bool as_float) const override;
};

class NnapiDescriber final : public ModelDescriber {
 public:
  Status Dump(const NativeModel& model, DumpWriter& out) const override;
  std::vector<Holding> HoldingsOf(const NativeModel& model) const override;
  Result<ModelSummary> Summarize(const NativeModel& model) const override;
  Result<PortNames> PortNamesOf(const NativeModel& model) const override;
  Result<std::vector<TensorEntry>> TensorsOf(const NativeModel& model) const override;
};

// The form is given by the extension of the path: .nnapi.json, else the flatbuffer. kUnsupported if
// a shape is unknown.
class NnapiWriter final : public ModelWriter {
 public:
  bool HasExternalData() const override { return true; }
  Result<FileImage> Save(const NativeModel& model, const ExportOptions& options) const override;
  Result<FileImage> Write(const Graph& graph, const ExportOptions& options) const override;
};

class NnapiEditor final : public ModelEditor {
 public:
  Result<NativeFlow> FlowOf(const NativeModel& model) const override;
  Result<std::unique_ptr<NativeModel>> Apply(const NativeModel& model,
                                             const NativeEdit& edit) const override;
  Result<FileImage> Rename(const NativeModel& model, const PortNames& names,
                           const ExportOptions& options) const override;
};

}  // namespace nn::nnapi

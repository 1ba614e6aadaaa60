// What the format does with its models.
#pragma once

#include "formats/format.h"

namespace nn::coreml {

// Checks limits and the wire form, not the rules of the format.
class CoremlReader final : public ModelReader {
 public:
  bool HasFolders() const override { return true; }
  // Whether the folder contains a manifest and a folder Data, or a compiled program, regardless of
  // its name.
  bool IsModelFolder(const std::string& path) const override;
  Result<std::unique_ptr<NativeModel>> Restore(const DumpNode& dump, const std::string& path,
                                               const ReadLimits& limits) const override;
  Likeness LikenessOf(std::span<const std::byte> bytes) const override;
  Result<std::unique_ptr<NativeModel>> Read(const Blob& file, const std::string& path,
                                            const ReadLimits& limits) const override;
  Result<std::unique_ptr<NativeModel>> ReadFolder(const std::string& path,
                                                  const ReadLimits& limits) const override;
};

class CoremlImporter final : public ModelImporter {
 public:
  using ModelImporter::Import;
  bool TakesOtherRanks() const override { return true; }
  bool RoundsInputs() const override { return true; }
  std::optional<ImageColors> ImageColorsOf(const Graph& graph,
                                           const std::string& input) const override;
  std::optional<Classes> ClassesOf(const Graph& graph) const override;
  Result<ImportedModel> Import(const NativeModel& model, const KnownInputs& known,
                               bool as_float) const override;
  // An array [C] or [C, H, W] of a network with the mapping RANK5_ARRAY_MAPPING may be given as
  // [S, B, C, H, W].
  Result<ImportedModel> ImportWithShapes(
      const NativeModel& model,
      const std::map<std::string, std::vector<int64_t>>& shapes) const override;
};

class CoremlDescriber final : public ModelDescriber {
 public:
  Status Dump(const NativeModel& model, DumpWriter& out) const override;
  std::vector<Holding> HoldingsOf(const NativeModel& model) const override;
  Result<ModelSummary> Summarize(const NativeModel& model) const override;
  Result<ModelSummary> SummarizeInFull(const NativeModel& model) const override;
  Result<PortNames> PortNamesOf(const NativeModel& model) const override;
  Result<std::vector<TensorEntry>> TensorsOf(const NativeModel& model) const override;
};

// Writes networks and ML Programs: by the options, or else the latter as packages.
class CoremlWriter final : public ModelWriter {
 public:
  Status CheckOptions(const ExportOptions& options) const override;
  const Target* TargetFor(const ExportOptions& options) const override;
  bool WouldKeep(const NativeModel& model, const ExportOptions& options) const override;
  bool KeepsStates(const ExportOptions& options) const override;
  ExportOptions InOneFile(ExportOptions options) const override;
  Result<FileImage> Save(const NativeModel& model, const ExportOptions& options) const override;
  Result<FileImage> Write(const Graph& graph, const ExportOptions& options) const override;
};

// A model that is not a network is one operator.
class CoremlEditor final : public ModelEditor {
 public:
  Result<std::unique_ptr<NativeModel>> Apply(const NativeModel& model,
                                             const NativeEdit& edit) const override;
  Result<NativeFlow> FlowOf(const NativeModel& model) const override;
  Result<FileImage> Rename(const NativeModel& model, const PortNames& names,
                           const ExportOptions& options) const override;
  std::vector<std::string> FunctionsOf(const NativeModel& model) const override;
  std::unique_ptr<NativeModel> WithFunction(const NativeModel& model,
                                            const std::string& name) const override;
};

}  // namespace nn::coreml

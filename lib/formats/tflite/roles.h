// What the format does with its models.
#pragma once

#include "formats/format.h"

namespace nn::tflite {

// Verifies the flatbuffer.
class TfliteReader final : public ModelReader {
 public:
  Result<std::unique_ptr<NativeModel>> Restore(const DumpNode& dump, const std::string& path,
                                               const ReadLimits& limits) const override;
  Likeness LikenessOf(std::span<const std::byte> bytes) const override;
  Result<std::unique_ptr<NativeModel>> Read(const Blob& file, const std::string& path,
                                            const ReadLimits& limits) const override;
};

class TfliteImporter final : public ModelImporter {
 public:
  using ModelImporter::Import;
  Result<ImportedModel> Import(const NativeModel& model, const KnownInputs& known,
                               bool as_float) const override;
};

class TfliteDescriber final : public ModelDescriber {
 public:
  Status Dump(const NativeModel& model, DumpWriter& out) const override;
  std::vector<Holding> HoldingsOf(const NativeModel& model) const override;
  // The lifetimes of the tensors and the greedy placement by size are those of MicroAllocator and
  // GreedyMemoryPlanner, with offsets that the metadata "OfflineMemoryAllocation" states. Kernels
  // may request scratch memory beyond that, and the interpreter keeps data of its own in the arena;
  // both depend on the build. kUnsupported for tensors without a known size.
  std::optional<Result<MicroModel>> MicroModelOf(const NativeModel& model) const override;
  Result<ModelSummary> Summarize(const NativeModel& model) const override;
  Result<ModelSummary> SummarizeInFull(const NativeModel& model) const override;
  Result<PortNames> PortNamesOf(const NativeModel& model) const override;
  Result<std::vector<TensorEntry>> TensorsOf(const NativeModel& model) const override;
};

class TfliteWriter final : public ModelWriter {
 public:
  Result<FileImage> Save(const NativeModel& model, const ExportOptions& options) const override;
  Result<FileImage> Write(const Graph& graph, const ExportOptions& options) const override;
  // A model whose main subgraph has only the tensors of inputs and outputs, and the VAR_HANDLEs.
  // Entries about the order or the place of operators and tensors are not in it. The sparse
  // tensors, without their elements, are in a second subgraph. kUnsupported, with the way out, for
  // signatures of other subgraphs, and for those that name what is no input or output.
  Result<ModelFrame> FrameOf(const NativeModel& model) const override;
};

class TfliteEditor final : public ModelEditor {
 public:
  Result<std::unique_ptr<NativeModel>> Apply(const NativeModel& model,
                                             const NativeEdit& edit) const override;
  Result<NativeFlow> FlowOf(const NativeModel& model) const override;
  Result<FileImage> Rename(const NativeModel& model, const PortNames& names,
                           const ExportOptions& options) const override;
};

}  // namespace nn::tflite

#include "nnsuite/model.h"

#include <utility>

#include "api/access.h"
#include "convert/convert.h"
#include "formats/common/describe/dump.h"
#include "formats/common/describe/dump_writer.h"
#include "formats/format.h"
#include "formats/format_options.h"
#include "formats/given_inputs.h"
#include "inspect/loaded.h"
#include "passes/core/ports.h"

namespace nnsuite {

std::vector<FormatInfo> Formats() {
  std::vector<FormatInfo> out;
  for (const nn::Format& f : nn::Formats()) out.push_back({f.name, f.label, f.extensions});
  return out;
}

StoredTensor::StoredTensor(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

const std::string& StoredTensor::name() const {
  return impl_->entry.name;
}
const std::string& StoredTensor::scope() const {
  return impl_->entry.scope;
}
const std::string& StoredTensor::type() const {
  return impl_->entry.type;
}
const std::vector<int64_t>& StoredTensor::shape() const {
  return impl_->entry.shape;
}
uint64_t StoredTensor::bytes() const {
  return impl_->entry.bytes;
}
const std::string& StoredTensor::location() const {
  return impl_->entry.location;
}
const std::vector<size_t>& StoredTensor::users() const {
  return impl_->entry.users;
}
Result<Tensor> StoredTensor::Read() const {
  NN_ASSIGN(const nn::Tensor tensor, impl_->entry.read());
  return Access::Wrap(tensor);
}

Model::Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<Model> Model::Read(const std::string& path, const ReadLimits& limits) {
  NN_ASSIGN(nn::ReadModel read, nn::ReadModelFile(path, limits));
  return Access::Wrap(std::move(read), path);
}

Result<Model> Model::FromBytes(std::span<const std::byte> bytes, const std::string& path,
                               const ReadLimits& limits) {
  NN_ASSIGN(nn::ReadModel read, nn::ReadModelBytes(nn::Blob::Copy(bytes), path, limits));
  return Access::Wrap(std::move(read), path);
}

Result<Model> Model::FromView(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                              const std::string& path, const ReadLimits& limits) {
  NN_ASSIGN(nn::ReadModel read,
            nn::ReadModelBytes(nn::Blob(bytes, std::move(owner)), path, limits));
  return Access::Wrap(std::move(read), path);
}

std::vector<std::string> Model::Functions() const {
  return impl_->read.format->editor.FunctionsOf(*impl_->read.model);
}

Result<Model> Model::WithFunction(const std::string& name) const {
  NN_ASSIGN(nn::ReadModel read, nn::WithFunction(impl_->read, name));
  return Access::Wrap(std::move(read), impl_->path);
}

std::string_view Model::format() const {
  return impl_->read.format->name;
}
const std::string& Model::path() const {
  return impl_->path;
}

Result<ModelSummary> Model::Summarize(bool in_full) const {
  NN_ASSIGN(nn::inspect::LoadedModel loaded,
            nn::inspect::LoadFrom(impl_->read, impl_->path, {.in_full = in_full, .graph = false}));
  return std::move(loaded.summary);
}

Result<std::vector<StoredTensor>> Model::Tensors() const {
  NN_ASSIGN(std::vector<nn::TensorEntry> entries, nn::inspect::TensorsOf(impl_->read, impl_->path));
  std::vector<StoredTensor> out;
  for (nn::TensorEntry& e : entries) out.push_back(Access::Wrap(std::move(e), impl_->read));
  return out;
}

Result<Graph> Model::Import() const {
  NN_ASSIGN(nn::Graph graph, nn::ImportGraph(impl_->read, impl_->path));
  nn::NamePorts(graph);
  return Access::Wrap(std::move(graph));
}

Result<Graph> Model::Import(const InputShapes& shapes) const {
  if (shapes.empty()) return Import();
  NN_ASSIGN(nn::Graph graph, nn::ImportGraph(impl_->read, impl_->path, nn::SettingsOf(shapes)));
  nn::NamePorts(graph);
  NN_RETURN_IF_ERROR(nn::BindShapes(graph, shapes.shapes, shapes.batch));
  return Access::Wrap(std::move(graph));
}

Status Model::Dump(const std::string& path, const DumpOptions& options) const {
  return nn::WriteDump(impl_->read, path, options);
}

Result<std::string> Model::DumpText(const DumpOptions& options) const {
  if (options.weights == DumpWeights::kFile)
    return nn::UsageError("a text has no file beside it for weights");
  std::string text;
  nn::DumpWriter out([&](std::string_view part) { text += part; }, options);
  NN_RETURN_IF_ERROR(nn::WriteDump(impl_->read, out));
  return text;
}

Status Model::Write(const std::string& path, const ExternalData& external_data) const {
  nn::ConvertJob job;
  job.input = impl_->path;
  job.output = path;
  job.external_data = external_data;
  job.edited = impl_->edited;
  NN_RETURN_IF_ERROR(nn::CopyModel(impl_->read, job));
  return {};
}

}  // namespace nnsuite

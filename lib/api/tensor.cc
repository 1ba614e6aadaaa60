#include "nnsuite/tensor.h"

#include "api/access.h"
#include "base/checked_math.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "tensorio/compare.h"
#include "tensorio/digest.h"
#include "tensorio/npy.h"
#include "tensorio/tensor_archive.h"

namespace nn::api {

nnsuite::Comparison WrapComparison(const nn::Comparison& c, std::string text) {
  return {c.agrees, c.identical, c.outside, c.max_absolute, c.max_relative, std::move(text)};
}

}  // namespace nn::api

namespace nnsuite {
namespace {

Status RequireType(DType dtype) {
  if (dtype == DType::kUnknown || dtype == DType::kString)
    return nn::UsageError("tensors of type {} do not consist of bytes", DTypeName(dtype));
  return {};
}

bool EndsWith(const std::string& path, std::string_view extension) {
  return path.size() >= extension.size() && path.ends_with(extension);
}

}  // namespace

Tensor::Tensor() : impl_(new Impl{nn::Tensor(DType::kUnknown, {0}, {})}) {}
Tensor::Tensor(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<Tensor> Tensor::Copy(DType dtype, std::vector<int64_t> shape,
                            std::span<const std::byte> bytes) {
  NN_RETURN_IF_ERROR(RequireType(dtype));
  NN_ASSIGN(const nn::Tensor t, nn::Tensor::Make(dtype, std::move(shape), nn::Blob::Copy(bytes)));
  return Access::Wrap(t);
}

Result<Tensor> Tensor::View(DType dtype, std::vector<int64_t> shape,
                            std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  NN_RETURN_IF_ERROR(RequireType(dtype));
  NN_ASSIGN(const nn::Tensor t,
            nn::Tensor::Make(dtype, std::move(shape), nn::Blob(bytes, std::move(owner))));
  return Access::Wrap(t);
}

Result<Tensor> Tensor::OfStrings(std::vector<int64_t> shape, std::vector<std::string> strings) {
  const auto elements = nn::CheckedElements(shape);
  if (!elements || *elements != static_cast<int64_t>(strings.size()))
    return nn::ModelError("{} strings do not have the shape {}", strings.size(),
                          nn::ToString(nn::ToDims(shape)));
  return Access::Wrap(nn::Tensor(std::move(shape), std::move(strings)));
}

DType Tensor::dtype() const {
  return impl_->tensor.dtype();
}
const std::vector<int64_t>& Tensor::shape() const {
  return impl_->tensor.dims();
}
int64_t Tensor::elements() const {
  return impl_->tensor.elements();
}
std::span<const std::byte> Tensor::bytes() const {
  return impl_->tensor.blob().bytes();
}
const std::vector<std::string>& Tensor::strings() const {
  static const std::vector<std::string> none;
  return dtype() == DType::kString ? impl_->tensor.strings() : none;
}
bool Tensor::Identical(const Tensor& other) const {
  return impl_->tensor.Identical(other.impl_->tensor);
}
tl::unexpected<Error> Tensor::WrongType(DType wanted) const {
  return nn::UsageError("the tensor has elements of type {}, not {}", DTypeName(dtype()),
                        DTypeName(wanted));
}

Result<std::vector<NamedTensor>> ReadTensors(const std::string& path) {
  NN_ASSIGN(const nn::Blob file, nn::ReadFile(path));
  const auto in_file = [&](const Error& error) { return tl::unexpected(error.In(path)); };
  std::vector<NamedTensor> out;
  if (EndsWith(path, ".npy")) {
    const auto tensor = nn::ReadNpy(file);
    if (!tensor) return in_file(tensor.error());
    out.push_back({"", Access::Wrap(*tensor)});
    return out;
  }
  const auto tensors = nn::ReadTensorArchive(file);
  if (!tensors) return in_file(tensors.error());
  for (const nn::NamedTensor& t : *tensors) out.push_back({t.name, Access::Wrap(t.tensor)});
  return out;
}

Status WriteTensors(const std::string& path, std::span<const NamedTensor> tensors) {
  if (!nn::IsTensorArchivePath(path))
    return nn::UsageError("{}: tensors are written as .npz or .safetensors", path);
  return nn::WriteTensorArchive(path, Access::Of(tensors));
}

std::string Digest(std::span<const NamedTensor> tensors) {
  return nn::Digest(Access::Of(tensors));
}

Comparison Compare(const Tensor& want, const Tensor& got, const Tolerance& tolerance) {
  const nn::Comparison c = nn::Compare(Access::Of(want), Access::Of(got), tolerance);
  return nn::api::WrapComparison(c, nn::Describe(c, Access::Of(want)));
}

}  // namespace nnsuite

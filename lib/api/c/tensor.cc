#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/c/support.h"
#include "base/text/text.h"
#include "nnsuite/dtype.h"

namespace nn::api {
namespace {

Result<nnsuite::Tensor> TensorOf(const char* dtype, std::vector<int64_t> shape, const void* bytes,
                                 size_t size, nnsuite_release release, void* context) {
  const std::optional<nnsuite::DType> type = nnsuite::ParseDType(dtype);
  if (!type) return UsageError("no element type is named {}", Quote(dtype));
  const std::span contents(static_cast<const std::byte*>(bytes), size);
  if (release == nullptr) return nnsuite::Tensor::Copy(*type, std::move(shape), contents);
  Borrowed borrowed(release, context);
  // If the contents were copied, for their alignment, they are released at the end.
  auto tensor = nnsuite::Tensor::View(*type, std::move(shape), contents, borrowed.owner());
  if (tensor) borrowed.Keep();
  return tensor;
}

Result<nnsuite::Tensor> TensorOfStrings(std::vector<int64_t> shape, const char* const* texts,
                                        const size_t* sizes, size_t count) {
  std::vector<std::string> strings;
  for (size_t i = 0; i < count; ++i) {
    if (sizes[i] > 0) NN_RETURN_IF_ERROR(RequireArgument(texts[i], "texts"));
    strings.emplace_back(sizes[i] > 0 ? std::string(texts[i], sizes[i]) : std::string());
  }
  return nnsuite::Tensor::OfStrings(std::move(shape), std::move(strings));
}

}  // namespace
}  // namespace nn::api

nnsuite_tensor_list::nnsuite_tensor_list(std::vector<nnsuite::NamedTensor> named) {
  for (nnsuite::NamedTensor& t : named) {
    names.push_back(std::move(t.name));
    tensors.push_back({std::move(t.tensor)});
  }
}

extern "C" {

int nnsuite_tensor_create(const char* dtype, const int64_t* shape, size_t rank, const void* bytes,
                          size_t size, nnsuite_release release, void* context,
                          nnsuite_tensor** tensor, nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(tensor, "tensor"));
    *tensor = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(dtype, "dtype"));
    if (size > 0) NN_RETURN_IF_ERROR(nn::api::RequireArgument(bytes, "bytes"));
    NN_ASSIGN(std::vector<int64_t> dims, nn::api::ShapeOf(shape, rank));
    auto out = std::make_unique<nnsuite_tensor>();
    NN_ASSIGN(out->tensor,
              nn::api::TensorOf(dtype, std::move(dims), bytes, size, release, context));
    *tensor = out.release();
    return NNSUITE_OK;
  });
}

int nnsuite_tensor_create_strings(const int64_t* shape, size_t rank, const char* const* texts,
                                  const size_t* sizes, size_t count, nnsuite_tensor** tensor,
                                  nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(tensor, "tensor"));
    *tensor = nullptr;
    if (count > 0) {
      NN_RETURN_IF_ERROR(nn::api::RequireArgument(texts, "texts"));
      NN_RETURN_IF_ERROR(nn::api::RequireArgument(sizes, "sizes"));
    }
    NN_ASSIGN(std::vector<int64_t> dims, nn::api::ShapeOf(shape, rank));
    NN_ASSIGN(nnsuite::Tensor strings,
              nn::api::TensorOfStrings(std::move(dims), texts, sizes, count));
    *tensor = new nnsuite_tensor{std::move(strings)};
    return NNSUITE_OK;
  });
}

int nnsuite_tensor_share(const nnsuite_tensor* tensor, nnsuite_tensor** shared,
                         nnsuite_error** error) {
  return nn::api::Guard(error, [&]() -> nn::Result<int> {
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(shared, "shared"));
    *shared = nullptr;
    NN_RETURN_IF_ERROR(nn::api::RequireArgument(tensor, "tensor"));
    *shared = new nnsuite_tensor{tensor->tensor};
    return NNSUITE_OK;
  });
}

void nnsuite_tensor_free(nnsuite_tensor* tensor) {
  delete tensor;
}

const char* nnsuite_tensor_dtype(const nnsuite_tensor* tensor) {
  return tensor == nullptr ? "" : nnsuite::DTypeName(tensor->tensor.dtype()).data();
}

size_t nnsuite_tensor_rank(const nnsuite_tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->tensor.shape().size();
}

const int64_t* nnsuite_tensor_shape(const nnsuite_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->tensor.shape().data();
}

const void* nnsuite_tensor_bytes(const nnsuite_tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->tensor.bytes().data();
}

size_t nnsuite_tensor_size(const nnsuite_tensor* tensor) {
  return tensor == nullptr ? 0 : tensor->tensor.bytes().size();
}

const char* nnsuite_tensor_text(const nnsuite_tensor* tensor, size_t index, size_t* size) {
  if (size != nullptr) *size = 0;
  if (tensor == nullptr) return nullptr;
  const std::vector<std::string>& strings = tensor->tensor.strings();
  const bool exists = index < strings.size();
  if (exists && size != nullptr) *size = strings[index].size();
  return exists ? strings[index].c_str() : nullptr;
}

size_t nnsuite_tensor_list_size(const nnsuite_tensor_list* list) {
  return list == nullptr ? 0 : list->tensors.size();
}

const char* nnsuite_tensor_list_name(const nnsuite_tensor_list* list, size_t index) {
  return index < nnsuite_tensor_list_size(list) ? list->names[index].c_str() : nullptr;
}

const nnsuite_tensor* nnsuite_tensor_list_get(const nnsuite_tensor_list* list, size_t index) {
  return index < nnsuite_tensor_list_size(list) ? &list->tensors[index] : nullptr;
}

void nnsuite_tensor_list_free(nnsuite_tensor_list* list) {
  delete list;
}

}  // extern "C"

#include "formats/tflite/file/blockwise.h"

#include <algorithm>
#include <cmath>

#include "formats/tflite/file/tensor.h"

namespace nn::tflite {
namespace {

// The contents of a tensor that a quantization refers to.
Result<Tensor> ReadNumbers(const Model& model, const fb::SubGraph& subgraph, int64_t index,
                           std::string_view what) {
  const fb::Tensor* const tensor = At(subgraph.tensors(), index);
  if (tensor == nullptr)
    return ModelError("the {} refer to tensor {}, which does not exist", what, index);
  NN_ASSIGN(const bool contents, HasContents(model, *tensor));
  if (!contents) return UnsupportedError("{} that are not constant are unsupported", what);
  return ReadContents(model, *tensor);
}

Status RequireZeros(const Model& model, const fb::SubGraph& subgraph, int64_t index) {
  if (index == -1) return {};
  NN_ASSIGN(const Tensor points, ReadNumbers(model, subgraph, index, "zero points"));
  if (!IsInteger(points.dtype()))
    return ModelError("the zero points are {}", DTypeName(points.dtype()));
  for (int64_t i = 0; i < points.elements(); ++i)
    if (points.GetInt(i) != 0)
      return UnsupportedError(
          "blockwise quantization with zero point {} is unsupported; expected 0", points.GetInt(i));
  return {};
}

}  // namespace

bool IsBlockwise(const fb::Tensor& tensor) {
  const auto* const p = tensor.quantization();
  return p != nullptr && p->details_as_BlockwiseQuantization() != nullptr;
}

Result<Blocks> ReadBlocks(const Model& model, const fb::SubGraph& subgraph,
                          const fb::Tensor& tensor) {
  const fb::BlockwiseQuantization& q = *tensor.quantization()->details_as_BlockwiseQuantization();
  const DType dtype = DTypeOf(tensor.type());
  if (dtype != DType::kI2 && dtype != DType::kI4 && dtype != DType::kI8)
    return UnsupportedError("blockwise quantization of {} is unsupported",
                            TensorTypeName(tensor.type()));
  if (tensor.quantization()->quantized_dimension() != 0)
    return UnsupportedError("blockwise quantization along dimension {} is unsupported; expected 0",
                            tensor.quantization()->quantized_dimension());
  NN_ASSIGN(const bool contents, HasContents(model, tensor));
  if (!contents) return UnsupportedError("blockwise quantization of a variable is unsupported");
  NN_ASSIGN(const Tensor integers, ReadContents(model, tensor));
  const int64_t block = q.block_size();
  if (integers.dims().empty() || integers.elements() == 0 || block < 1 ||
      integers.dims().back() % block != 0)
    return ModelError("block_size is {}; it must divide the last dimension of {}", block,
                      ToString(ToDims(integers.dims())));
  NN_RETURN_IF_ERROR(RequireZeros(model, subgraph, q.zero_points()));
  NN_ASSIGN(const Tensor scales, ReadNumbers(model, subgraph, q.scales(), "scales"));
  const int64_t blocks = integers.elements() / block;
  if (!IsFloat(scales.dtype()) || DTypeBits(scales.dtype()) > 32 || scales.elements() != blocks)
    return ModelError("the scales are {}{}; expected {} numbers for blocks of {}",
                      DTypeName(scales.dtype()), ToString(ToDims(scales.dims())), blocks, block);
  auto quant = std::make_shared<Quant>();
  quant->axis = blocks == 1 ? -1 : 0;
  quant->scales.reserve(static_cast<size_t>(blocks));
  for (int64_t i = 0; i < blocks; ++i) {
    const double s = scales.GetDouble(i);
    if (!(s >= 0) || std::isinf(s))
      return ModelError("scale {} is {}; it must be positive and finite", i, s);
    quant->scales.push_back(static_cast<float>(s));
  }
  NN_ASSIGN(Tensor rows, integers.Reshaped({blocks, block}));
  return Blocks{std::move(rows), std::move(quant), ToDims(integers.dims())};
}

}  // namespace nn::tflite

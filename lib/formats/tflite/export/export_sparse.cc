// Constants in the sparse form that the source has for them.
#include <algorithm>
#include <utility>

#include "formats/tflite/export/export.h"
#include "formats/tflite/family.h"
#include "formats/tflite/file/sparse.h"
#include "formats/tflite/file/tensor.h"

namespace nn::tflite {
namespace {

// Whether a constant of `type` may be after DENSIFY. Its kernel has three types
// (tensorflow/lite/kernels/densify.cc), but LiteRT computes other results from i8 after it than
// from dense weights with scales, so only what is i8 in the source stays so.
bool CanDensify(DType type, DType of_source) {
  if (type == DType::kI8) return of_source == DType::kI8;
  return type == DType::kF32 || type == DType::kF16;
}

// Whether nothing but FULLY_CONNECTED, whose kernel multiplies by sparse weights, reads the value.
bool IsSparseOperand(const Value& value) {
  return !value.uses().empty() && std::ranges::all_of(value.uses(), [](const Use& use) {
    const ExportRow* const row = FindExport(use.node->op_name());
    return use.index == 1 && row != nullptr && row->fuses == IsFullyConnected &&
           IsFullyConnected(*use.node);
  });
}

bool HasShape(const fb::Tensor& tensor, const Tensor& constant) {
  return ListOf<int64_t>(tensor.shape()) == constant.dims();
}

}  // namespace

TensorIndex ExportContext::AddSparse(const Value& value) {
  const Tensor& constant = value.constant();
  const FramedSparse* best = nullptr;
  Blob values;
  const auto take = [&](const FramedSparse& sparse) {
    if (!HasShape(*sparse.tensor, constant)) return false;
    const DType of_source = DTypeOf(sparse.tensor->type());
    const bool fits_users = sparse.is_densified
                                ? CanDensify(constant.dtype(), of_source)
                                : constant.dtype() == of_source && IsSparseOperand(value);
    auto stored = fits_users ? StoredValues(*sparse.tensor->sparsity(), constant) : std::nullopt;
    if (!stored || (best != nullptr && stored->size() >= values.size())) return false;
    best = &sparse;
    values = *std::move(stored);
    return true;
  };
  // The tensor's own form, or the smallest one that has a place for each of its numbers.
  const auto own = std::ranges::find_if(
      sparse_, [&](const FramedSparse& s) { return Text(s.tensor->name()) == value.name(); });
  if (own == sparse_.end() || !take(*own))
    for (const FramedSparse& sparse : sparse_) take(sparse);
  if (best == nullptr) return kNoTensor;
  const TensorIndex sparse = AddTensor(value.type(), Text(best->tensor->name()));
  TensorRow& row = part_.tensors[static_cast<size_t>(sparse)];
  row.buffer = AddBuffer(std::move(values));
  row.sparsity = best->tensor->sparsity();
  if (!best->is_densified) return sparse;
  const TensorIndex dense = AddTensor(value.type(), value.name());
  AddOperator(fb::BuiltinOperator::DENSIFY, {{dense}, {sparse}},
              fb::CreateDensifyOptions(builder_));
  return dense;
}

}  // namespace nn::tflite

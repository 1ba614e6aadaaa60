// What the operators of ai.onnx.ml have in common. Their results are those of ONNX's reference
// implementation, where the specification leaves them open.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/onnx/import/import.h"

namespace nn::onnx {

inline constexpr std::string_view kMlDomain = "ai.onnx.ml";

// The value with another element type.
Result<Value*> Converted(ImportContext& ctx, Value* v, DType dtype);

// An input as rows of numbers, [N, C]: a vector is one row, and integers become f32.
Result<Value*> RowsOf(ImportContext& ctx, size_t input = 0);

// Integers of a type; kModel if one is out of range.
Result<Tensor> IntegerTensor(DType dtype, std::vector<int64_t> dims,
                             const std::vector<int64_t>& values);

// A constant of a type of real numbers. `values` must fill the shape.
template <typename T>
Value* RealConstant(ImportContext& ctx, DType dtype, std::vector<int64_t> dims,
                    const std::vector<T>& values) {
  if (dtype == DType::kF64)
    return ctx.Constant(
        Tensor::Of(std::move(dims), std::vector<double>(values.begin(), values.end())));
  return ctx.Constant(
      Tensor::Of(std::move(dims), std::vector<float>(values.begin(), values.end())));
}

// In the order of TreeEnsemble's attribute.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
inline constexpr int64_t kPostTransforms = 5;
// The attribute post_transform, of operators where it is a name.
Result<PostTransform> PostTransformOf(const ImportContext& ctx);
// The scores, [N, E] of f32, after the transform.
Result<Value*> Transformed(ImportContext& ctx, PostTransform transform, Value* scores);

// The labels of a classifier, a constant vector; null without labels. An index is then its own
// label.
Result<Value*> ClassLabels(ImportContext& ctx, std::string_view integers);
int64_t LengthOfConstant(const Value* v);
// [0, label], of a classifier with one label: 0 stands for no class.
Result<Value*> OrNoClass(ImportContext& ctx, Value* label);
// The labels at these positions.
Result<Value*> LabelsAt(ImportContext& ctx, Value* labels, Value* indexes);
// The position of the largest score of each row; the first of equal ones.
Result<Value*> Winners(ImportContext& ctx, Value* scores);
// [first, second] of each row.
Result<Value*> Pairs(ImportContext& ctx, Value* first, Value* second);

}  // namespace nn::onnx

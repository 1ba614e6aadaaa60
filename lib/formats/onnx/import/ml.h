// What the operators of ai.onnx.ml have in common. Their results are those of ONNX's reference
// implementation, where the specification leaves them open.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/onnx/import/import.h"

namespace nn::onnx {

inline constexpr std::string_view kMlDomain = "ai.onnx.ml";

// An input as rows of numbers, [N, C]: a vector is one row, and integers become f32.
Result<Value*> RowsOf(ImportContext& ctx, size_t input = 0);

// Integers of a type; kModel if one is out of range.
Result<Tensor> IntegerTensor(DType dtype, std::vector<int64_t> dims,
                             const std::vector<int64_t>& values);

// Numbers of a type of real numbers. `values` must fill the shape.
template <typename T>
Tensor RealTensor(DType dtype, std::vector<int64_t> dims, const std::vector<T>& values) {
  if (dtype == DType::kF64)
    return Tensor::Of(std::move(dims), std::vector<double>(values.begin(), values.end()));
  return Tensor::Of(std::move(dims), std::vector<float>(values.begin(), values.end()));
}

// In the order of TreeEnsemble's attribute.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
inline constexpr int64_t kPostTransforms = 5;
// The attribute post_transform, of operators where it is a name.
Result<PostTransform> PostTransformOf(const ImportContext& ctx);
// The scores, [N, E] of f32, after the transform.
Term Transformed(PostTransform transform, const Term& scores);

// The labels of a classifier, a constant vector; null without labels. An index is then its own
// label.
Value* ClassLabels(ImportContext& ctx, std::string_view integers);
int64_t LengthOfConstant(const Value* v);
// [0, label], of a classifier with one label: 0 stands for no class.
Result<Value*> OrNoClass(ImportContext& ctx, Value* label);
// The labels at these positions.
Term LabelsAt(Value* labels, Term indexes);
// The position of the largest score of each row; the first of equal ones.
Term Winners(Term scores);
// [first, second] of each row.
Term Pairs(Term first, Term second);

}  // namespace nn::onnx

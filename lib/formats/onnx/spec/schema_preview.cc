// Signatures of operators of the preview domains. The notation is that of schema.h.
// Written by scripts/update-onnx-signatures.
#include "formats/onnx/spec/schema_tables.h"

namespace nn::onnx {

const char kSchemasPreview[] = R"(
FlexAttention 1 (Q:T1, K:T1, V:T1) -> (Y:T1) prob_mod:g scale:f score_mod:g softmax_precision:i |
    T1=FLOAT bf16)";

const char kSchemasTraining[] = R"(
Adagrad 1 (R:T1, T:T2, inputs**:T3) -> (outputs**:T3) decay_factor:f epsilon:f norm_coefficient:f
    | T1=f32 f64 | T2=i64 | T3=f32 f64
Adam 1 (R:T1, T:T2, inputs**:T3) -> (outputs**:T3) alpha:f beta:f epsilon:f norm_coefficient:f
    norm_coefficient_post:f | T1=f32 f64 | T2=i64 | T3=f32 f64
Gradient 1 (Inputs**:T1) -> (Outputs**:T2) xs!:S y!:s zs:S | T1=ANY | T2=FLOAT
Momentum 1 (R:T1, T:T2, inputs**:T3) -> (outputs**:T3) alpha!:f beta!:f mode!:s
    norm_coefficient!:f | T1=f32 f64 | T2=i64 | T3=f32 f64)";

}  // namespace nn::onnx

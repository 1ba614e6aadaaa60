// Signatures of operators of ai.onnx, M to R but reductions. The notation is that of schema.h.
// Written by scripts/update-onnx-signatures.
#include "formats/onnx/spec/schema_tables.h"

namespace nn::onnx {

const char kSchemasMToR[] = R"(
MatMul 1 (A:T, B:T) -> (Y:T) | T=FLOAT
MatMul 9 (A:T, B:T) -> (Y:T) | T=FLOAT i32 i64 u32 u64
MatMul 13 (A:T, B:T) -> (Y:T) | T=FLOAT bf16 i32 i64 u32 u64
MatMulInteger 10 (A:T1, B:T2, a_zero_point?:T1, b_zero_point?:T2) -> (Y:T3) | T1=i8 u8 | T2=i8 u8
    | T3=i32
Max 1 (data_0*:T) -> (max:T) consumed_inputs:I | T=FLOAT
Max 6 (data_0*:T) -> (max:T) | T=FLOAT
Max 8 (data_0*:T) -> (max:T) | T=FLOAT
Max 12 (data_0*:T) -> (max:T) | T=INT UINT FLOAT
Max 13 (data_0*:T) -> (max:T) | T=INT UINT FLOAT bf16
MaxPool 1 (X:T) -> (Y:T) auto_pad:s kernel_shape!:I pads:I strides:I | T=FLOAT
MaxPool 8 (X:T) -> (Y:T, Indices?:I) auto_pad:s kernel_shape!:I pads:I storage_order:i strides:I |
    T=FLOAT | I=i64
MaxPool 10 (X:T) -> (Y:T, Indices?:I) auto_pad:s ceil_mode:i dilations:I kernel_shape!:I pads:I
    storage_order:i strides:I | T=FLOAT | I=i64
MaxPool 11 (X:T) -> (Y:T, Indices?:I) auto_pad:s ceil_mode:i dilations:I kernel_shape!:I pads:I
    storage_order:i strides:I | T=FLOAT | I=i64
MaxPool 12 (X:T) -> (Y:T, Indices?:I) auto_pad:s ceil_mode:i dilations:I kernel_shape!:I pads:I
    storage_order:i strides:I | T=FLOAT i8 u8 | I=i64
MaxPool 22 (X:T) -> (Y:T, Indices?:I) auto_pad:s ceil_mode:i dilations:I kernel_shape!:I pads:I
    storage_order:i strides:I | T=FLOAT bf16 i8 u8 | I=i64
MaxRoiPool 1 (X:T, rois:T) -> (Y:T) pooled_shape!:I spatial_scale:f | T=FLOAT
MaxRoiPool 22 (X:T, rois:T) -> (Y:T) pooled_shape!:I spatial_scale:f | T=FLOAT bf16
MaxUnpool 9 (X:T1, I:T2, output_shape?:T2) -> (output:T1) kernel_shape!:I pads:I strides:I |
    T1=FLOAT | T2=i64
MaxUnpool 11 (X:T1, I:T2, output_shape?:T2) -> (output:T1) kernel_shape!:I pads:I strides:I |
    T1=FLOAT | T2=i64
MaxUnpool 22 (X:T1, I:T2, output_shape?:T2) -> (output:T1) kernel_shape!:I pads:I strides:I |
    T1=FLOAT bf16 | T2=i64
Mean 1 (data_0*:T) -> (mean:T) consumed_inputs:I | T=FLOAT
Mean 6 (data_0*:T) -> (mean:T) | T=FLOAT
Mean 8 (data_0*:T) -> (mean:T) | T=FLOAT
Mean 13 (data_0*:T) -> (mean:T) | T=FLOAT bf16
MeanVarianceNormalization 9 (X:T) -> (Y:T) axes:I | T=FLOAT
MeanVarianceNormalization 13 (X:T) -> (Y:T) axes:I | T=FLOAT bf16
MelWeightMatrix 17 (num_mel_bins:T1, dft_length:T1, sample_rate:T1, lower_edge_hertz:T2,
    upper_edge_hertz:T2) -> (output:T3) output_datatype:i | T1=i32 i64 | T2=FLOAT bf16 | T3=INT
    UINT FLOAT bf16
Min 1 (data_0*:T) -> (min:T) consumed_inputs:I | T=FLOAT
Min 6 (data_0*:T) -> (min:T) | T=FLOAT
Min 8 (data_0*:T) -> (min:T) | T=FLOAT
Min 12 (data_0*:T) -> (min:T) | T=INT UINT FLOAT
Min 13 (data_0*:T) -> (min:T) | T=INT UINT FLOAT bf16
Mish 18 (X:T) -> (Y:T) | T=FLOAT
Mish 22 (X:T) -> (Y:T) | T=FLOAT bf16
Mod 10 (A:T, B:T) -> (C:T) fmod:i | T=INT UINT FLOAT
Mod 13 (A:T, B:T) -> (C:T) fmod:i | T=INT UINT FLOAT bf16
Mod 28 (A:T, B:T) -> (C:T) fmod:i | T=INT UINT FLOAT bf16
Mul 1 (A:T, B:T) -> (C:T) axis:i broadcast:i consumed_inputs:I | T=FLOAT
Mul 6 (A:T, B:T) -> (C:T) axis:i broadcast:i | T=FLOAT i32 i64 u32 u64
Mul 7 (A:T, B:T) -> (C:T) | T=FLOAT i32 i64 u32 u64
Mul 13 (A:T, B:T) -> (C:T) | T=FLOAT bf16 i32 i64 u32 u64
Mul 14 (A:T, B:T) -> (C:T) | T=INT UINT FLOAT bf16
Multinomial 7 (input:T1) -> (output:T2) dtype:i sample_size:i seed:f | T1=FLOAT | T2=i32 i64
Multinomial 22 (input:T1) -> (output:T2) dtype:i sample_size:i seed:f | T1=FLOAT bf16 | T2=i32 i64
Neg 1 (X:T) -> (Y:T) consumed_inputs:I | T=FLOAT
Neg 6 (X:T) -> (Y:T) | T=INT FLOAT
Neg 13 (X:T) -> (Y:T) | T=INT FLOAT bf16
NegativeLogLikelihoodLoss 12 (input:T, target:Tind, weight?:T) -> (loss:T) ignore_index:i
    reduction:s | T=FLOAT | Tind=i32 i64
NegativeLogLikelihoodLoss 13 (input:T, target:Tind, weight?:T) -> (loss:T) ignore_index:i
    reduction:s | T=FLOAT | Tind=i32 i64
NegativeLogLikelihoodLoss 22 (input:T, target:Tind, weight?:T) -> (loss:T) ignore_index:i
    reduction:s | T=FLOAT bf16 | Tind=i32 i64
NonMaxSuppression 10 (boxes:{f32}, scores:{f32}, max_output_boxes_per_class?:{i64},
    iou_threshold?:{f32}, score_threshold?:{f32}) -> (selected_indices:{i64}) center_point_box:i
NonMaxSuppression 11 (boxes:{f32}, scores:{f32}, max_output_boxes_per_class?:{i64},
    iou_threshold?:{f32}, score_threshold?:{f32}) -> (selected_indices:{i64}) center_point_box:i
NonZero 9 (X:T) -> (Y:{i64}) | T=ANY
NonZero 13 (X:T) -> (Y:{i64}) | T=ANY bf16
Not 1 (X:T) -> (Y:T) | T=bool
OneHot 9 (indices:T1, depth:T2, values:T3) -> (output:T3) axis:i | T1=INT UINT FLOAT | T2=INT UINT
    FLOAT | T3=ANY
OneHot 11 (indices:T1, depth:T2, values:T3) -> (output:T3) axis:i | T1=INT UINT FLOAT | T2=INT
    UINT FLOAT | T3=ANY
OneHot 28 (indices:T1, depth:T2, values:T3) -> (output:T3) axis:i | T1=INT UINT FLOAT | T2=INT
    UINT FLOAT | T3=ANY bf16
Optional 15 (input?:V) -> (output:O) type:y | V=ANY seq(ANY) | O=opt(seq(ANY)) opt(ANY)
OptionalGetElement 15 (input:O) -> (output:V) | O=opt(seq(ANY)) opt(ANY) | V=ANY seq(ANY)
OptionalGetElement 18 (input:O) -> (output:V) | O=opt(seq(ANY)) opt(ANY) ANY seq(ANY) | V=ANY
    seq(ANY)
OptionalHasElement 15 (input:O) -> (output:B) | O=opt(seq(ANY)) opt(ANY) | B=bool
OptionalHasElement 18 (input?:O) -> (output:B) | O=opt(seq(ANY)) opt(ANY) ANY seq(ANY) | B=bool
Or 1 (A:T, B:T) -> (C:T1) axis:i broadcast:i | T=bool | T1=bool
Or 7 (A:T, B:T) -> (C:T1) | T=bool | T1=bool
PRelu 1 (X:T, slope:T) -> (Y:T) consumed_inputs:I | T=FLOAT
PRelu 6 (X:T, slope:T) -> (Y:T) | T=FLOAT
PRelu 7 (X:T, slope:T) -> (Y:T) | T=FLOAT
PRelu 9 (X:T, slope:T) -> (Y:T) | T=FLOAT i32 i64 u32 u64
PRelu 16 (X:T, slope:T) -> (Y:T) | T=FLOAT bf16 i32 i64 u32 u64
Pad 1 (data:T) -> (output:T) mode:s paddings!:I value:f | T=FLOAT
Pad 2 (data:T) -> (output:T) mode:s pads!:I value:f | T=FLOAT
Pad 11 (data:T, pads:{i64}, constant_value?:T) -> (output:T) mode:s | T=INT UINT FLOAT
Pad 13 (data:T, pads:{i64}, constant_value?:T) -> (output:T) mode:s | T=ANY bf16
Pad 18 (data:T, pads:{i64}, constant_value?:T, axes?:Tind) -> (output:T) mode:s | T=ANY bf16 |
    Tind=i32 i64
Pad 19 (data:T, pads:{i64}, constant_value?:T, axes?:Tind) -> (output:T) mode:s | T=ANY bf16 |
    Tind=i32 i64
Pad 21 (data:T, pads:{i64}, constant_value?:T, axes?:Tind) -> (output:T) mode:s | T=ANY FLOAT8
    bf16 u4 i4 | Tind=i32 i64
Pad 23 (data:T, pads:{i64}, constant_value?:T, axes?:Tind) -> (output:T) mode:s | T=ANY FLOAT8
    bf16 u4 i4 f4e2m1 | Tind=i32 i64
Pad 24 (data:T, pads:{i64}, constant_value?:T, axes?:Tind) -> (output:T) mode:s | T=ANY FLOAT8
    bf16 u4 i4 f4e2m1 f8e8m0 | Tind=i32 i64
Pad 25 (data:T, pads:{i64}, constant_value?:T, axes?:Tind) -> (output:T) mode:s | T=ANY FLOAT8
    bf16 u4 i4 u2 i2 f4e2m1 f8e8m0 | Tind=i32 i64
Pow 1 (X:T, Y:T) -> (Z:T) axis:i broadcast:i | T=FLOAT
Pow 7 (X:T, Y:T) -> (Z:T) | T=FLOAT
Pow 12 (X:T, Y:T1) -> (Z:T) | T=FLOAT i32 i64 | T1=INT UINT FLOAT
Pow 13 (X:T, Y:T1) -> (Z:T) | T=FLOAT bf16 i32 i64 | T1=INT UINT FLOAT
Pow 15 (X:T, Y:T1) -> (Z:T) | T=FLOAT bf16 i32 i64 | T1=INT UINT FLOAT bf16
QLinearConv 10 (x:T1, x_scale:{f32}, x_zero_point:T1, w:T2, w_scale:{f32}, w_zero_point:T2,
    y_scale:{f32}, y_zero_point:T3, B?:T4) -> (y:T3) auto_pad:s dilations:I group:i kernel_shape:I
    pads:I strides:I | T1=i8 u8 | T2=i8 u8 | T3=i8 u8 | T4=i32
QLinearMatMul 10 (a:T1, a_scale:{f32}, a_zero_point:T1, b:T2, b_scale:{f32}, b_zero_point:T2,
    y_scale:{f32}, y_zero_point:T3) -> (y:T3) | T1=i8 u8 | T2=i8 u8 | T3=i8 u8
QLinearMatMul 21 (a:T1, a_scale:TS, a_zero_point:T1, b:T2, b_scale:TS, b_zero_point:T2,
    y_scale:TS, y_zero_point:T3) -> (y:T3) | TS=f16 f32 bf16 | T1=FLOAT8 i8 u8 | T2=FLOAT8 i8 u8 |
    T3=FLOAT8 i8 u8
QuantizeLinear 10 (x:T1, y_scale:{f32}, y_zero_point?:T2) -> (y:T2) | T1=f32 i32 | T2=i8 u8
QuantizeLinear 13 (x:T1, y_scale:{f32}, y_zero_point?:T2) -> (y:T2) axis:i | T1=f32 i32 | T2=i8 u8
QuantizeLinear 19 (x:T1, y_scale:T1, y_zero_point?:T2) -> (y:T2) axis:i saturate:i | T1=f16 f32
    bf16 i32 | T2=FLOAT8 i8 u8
QuantizeLinear 21 (x:T1, y_scale:T1, y_zero_point?:T2) -> (y:T2) axis:i block_size:i
    output_dtype:i saturate:i | T1=f16 f32 bf16 i32 | T2=FLOAT8 i8 i16 u8 u16 u4 i4
QuantizeLinear 23 (x:T1, y_scale:T2, y_zero_point?:T3) -> (y:T3) axis:i block_size:i
    output_dtype:i precision:i saturate:i | T1=f16 f32 bf16 i32 | T2=f16 f32 bf16 i32 | T3=FLOAT8
    i8 i16 u8 u16 u4 i4 f4e2m1
QuantizeLinear 24 (x:T1, y_scale:T2, y_zero_point?:T3) -> (y:T3) axis:i block_size:i
    output_dtype:i precision:i saturate:i | T1=f16 f32 bf16 i32 | T2=f16 f32 bf16 i32 f8e8m0 |
    T3=FLOAT8 i8 i16 u8 u16 u4 i4 f4e2m1
QuantizeLinear 25 (x:T1, y_scale:T2, y_zero_point?:T3) -> (y:T3) axis:i block_size:i
    output_dtype:i precision:i saturate:i | T1=f16 f32 bf16 i32 | T2=f16 f32 bf16 i32 f8e8m0 |
    T3=FLOAT8 i8 i16 u8 u16 u4 i4 u2 i2 f4e2m1
RMSNormalization 23 (X:T, scale:V) -> (Y:V) axis:i epsilon:f stash_type:i | T=FLOAT bf16 | V=FLOAT
    bf16
RNN 1 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T) -> (Y?:T, Y_h?:T) activation_alpha:F
    activation_beta:F activations:S clip:f direction:s hidden_size:i output_sequence:i | T=FLOAT |
    T1=i32
RNN 7 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T) -> (Y?:T, Y_h?:T) activation_alpha:F
    activation_beta:F activations:S clip:f direction:s hidden_size:i | T=FLOAT | T1=i32
RNN 14 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T) -> (Y?:T, Y_h?:T) activation_alpha:F
    activation_beta:F activations:S clip:f direction:s hidden_size:i layout:i | T=FLOAT | T1=i32
RNN 22 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T) -> (Y?:T, Y_h?:T) activation_alpha:F
    activation_beta:F activations:S clip:f direction:s hidden_size:i layout:i | T=FLOAT bf16 |
    T1=i32
RandomNormal 1 () -> (output:T) dtype:i mean:f scale:f seed:f shape!:I | T=FLOAT
RandomNormal 22 () -> (output:T) dtype:i mean:f scale:f seed:f shape!:I | T=FLOAT bf16
RandomNormalLike 1 (input:T1) -> (output:T2) dtype:i mean:f scale:f seed:f | T1=ANY | T2=FLOAT
RandomNormalLike 22 (input:T1) -> (output:T2) dtype:i mean:f scale:f seed:f | T1=ANY bf16 |
    T2=FLOAT bf16
RandomUniform 1 () -> (output:T) dtype:i high:f low:f seed:f shape!:I | T=FLOAT
RandomUniform 22 () -> (output:T) dtype:i high:f low:f seed:f shape!:I | T=FLOAT bf16
RandomUniformLike 1 (input:T1) -> (output:T2) dtype:i high:f low:f seed:f | T1=ANY | T2=FLOAT
RandomUniformLike 22 (input:T1) -> (output:T2) dtype:i high:f low:f seed:f | T1=ANY bf16 |
    T2=FLOAT bf16
Range 11 (start:T, limit:T, delta:T) -> (output:T) | T=f32 f64 i16 i32 i64
Range 27 (start:T, limit:T, delta:T) -> (output:T) stash_type:i | T=FLOAT bf16 i16 i32 i64
Reciprocal 1 (X:T) -> (Y:T) consumed_inputs:I | T=FLOAT
Reciprocal 6 (X:T) -> (Y:T) | T=FLOAT
Reciprocal 13 (X:T) -> (Y:T) | T=FLOAT bf16
RegexFullMatch 20 (X:T1) -> (Y:T2) pattern:s | T1=str | T2=bool
Relu 1 (X:T) -> (Y:T) consumed_inputs:I | T=FLOAT
Relu 6 (X:T) -> (Y:T) | T=FLOAT
Relu 13 (X:T) -> (Y:T) | T=FLOAT bf16
Relu 14 (X:T) -> (Y:T) | T=INT FLOAT bf16
Reshape 1 (data:T) -> (reshaped:T) consumed_inputs:I shape:I | T=FLOAT
Reshape 5 (data:T, shape:{i64}) -> (reshaped:T) | T=ANY
Reshape 13 (data:T, shape:{i64}) -> (reshaped:T) | T=ANY bf16
Reshape 14 (data:T, shape:{i64}) -> (reshaped:T) allowzero:i | T=ANY bf16
Reshape 19 (data:T, shape:{i64}) -> (reshaped:T) allowzero:i | T=ANY FLOAT8 bf16
Reshape 21 (data:T, shape:{i64}) -> (reshaped:T) allowzero:i | T=ANY FLOAT8 bf16 u4 i4
Reshape 23 (data:T, shape:{i64}) -> (reshaped:T) allowzero:i | T=ANY FLOAT8 bf16 u4 i4 f4e2m1
Reshape 24 (data:T, shape:{i64}) -> (reshaped:T) allowzero:i | T=ANY FLOAT8 bf16 u4 i4 f4e2m1
    f8e8m0
Reshape 25 (data:T, shape:{i64}) -> (reshaped:T) allowzero:i | T=ANY FLOAT8 bf16 u4 i4 u2 i2
    f4e2m1 f8e8m0
Resize 10 (X:T, scales:{f32}) -> (Y:T) mode:s | T=ANY
Resize 11 (X:T1, roi:T2, scales:{f32}, sizes?:{i64}) -> (Y:T1) coordinate_transformation_mode:s
    cubic_coeff_a:f exclude_outside:i extrapolation_value:f mode:s nearest_mode:s | T1=ANY |
    T2=FLOAT
Resize 13 (X:T1, roi?:T2, scales?:{f32}, sizes?:{i64}) -> (Y:T1) coordinate_transformation_mode:s
    cubic_coeff_a:f exclude_outside:i extrapolation_value:f mode:s nearest_mode:s | T1=ANY bf16 |
    T2=FLOAT
Resize 18 (X:T1, roi?:T2, scales?:{f32}, sizes?:{i64}) -> (Y:T1) antialias:i axes:I
    coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i extrapolation_value:f
    keep_aspect_ratio_policy:s mode:s nearest_mode:s | T1=ANY bf16 | T2=FLOAT
Resize 19 (X:T1, roi?:T2, scales?:{f32}, sizes?:{i64}) -> (Y:T1) antialias:i axes:I
    coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i extrapolation_value:f
    keep_aspect_ratio_policy:s mode:s nearest_mode:s | T1=ANY bf16 | T2=FLOAT
ReverseSequence 10 (input:T, sequence_lens:{i64}) -> (Y:T) batch_axis:i time_axis:i | T=ANY
ReverseSequence 28 (input:T, sequence_lens:{i64}) -> (Y:T) batch_axis:i time_axis:i | T=ANY
    bf16
RoiAlign 10 (X:T1, rois:T1, batch_indices:T2) -> (Y:T1) mode:s output_height:i output_width:i
    sampling_ratio:i spatial_scale:f | T1=FLOAT | T2=i64
RoiAlign 16 (X:T1, rois:T1, batch_indices:T2) -> (Y:T1) coordinate_transformation_mode:s mode:s
    output_height:i output_width:i sampling_ratio:i spatial_scale:f | T1=FLOAT | T2=i64
RoiAlign 22 (X:T1, rois:T1, batch_indices:T2) -> (Y:T1) coordinate_transformation_mode:s mode:s
    output_height:i output_width:i sampling_ratio:i spatial_scale:f | T1=FLOAT bf16 | T2=i64
RotaryEmbedding 23 (X:T, cos_cache:T, sin_cache:T, position_ids?:M) -> (Y:T) interleaved:i
    num_heads:i rotary_embedding_dim:i | T=f16 f32 bf16 | M=i64
Round 11 (X:T) -> (Y:T) | T=FLOAT
Round 22 (X:T) -> (Y:T) | T=FLOAT bf16)";

}  // namespace nn::onnx

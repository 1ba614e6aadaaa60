// Signatures of operators of ai.onnx, A to C. The notation is that of schema.h.
// Written by scripts/update-onnx-signatures.
#include "formats/onnx/spec/schema_tables.h"

namespace nn::onnx {

const char kSchemasAToC[] = R"(
Abs 1 (X:T) -> (Y:T) consumed_inputs:I | T=FLOAT
Abs 6 (X:T) -> (Y:T) | T=INT UINT FLOAT
Abs 13 (X:T) -> (Y:T) | T=INT UINT FLOAT bf16
Acos 7 (input:T) -> (output:T) | T=FLOAT
Acos 22 (input:T) -> (output:T) | T=FLOAT bf16
Acosh 9 (input:T) -> (output:T) | T=FLOAT
Acosh 22 (input:T) -> (output:T) | T=FLOAT bf16
Add 1 (A:T, B:T) -> (C:T) axis:i broadcast:i consumed_inputs:I | T=FLOAT
Add 6 (A:T, B:T) -> (C:T) axis:i broadcast:i | T=FLOAT i32 i64 u32 u64
Add 7 (A:T, B:T) -> (C:T) | T=FLOAT i32 i64 u32 u64
Add 13 (A:T, B:T) -> (C:T) | T=FLOAT bf16 i32 i64 u32 u64
Add 14 (A:T, B:T) -> (C:T) | T=INT UINT FLOAT bf16
AffineGrid 20 (theta:T1, size:T2) -> (grid:T1) align_corners:i | T1=FLOAT bf16 | T2=i64
And 1 (A:T, B:T) -> (C:T1) axis:i broadcast:i | T=bool | T1=bool
And 7 (A:T, B:T) -> (C:T1) | T=bool | T1=bool
ArgMax 1 (data:T) -> (reduced:{i64}) axis:i keepdims:i | T=INT UINT FLOAT
ArgMax 11 (data:T) -> (reduced:{i64}) axis:i keepdims:i | T=INT UINT FLOAT
ArgMax 12 (data:T) -> (reduced:{i64}) axis:i keepdims:i select_last_index:i | T=INT UINT FLOAT
ArgMax 13 (data:T) -> (reduced:{i64}) axis:i keepdims:i select_last_index:i | T=INT UINT FLOAT
    bf16
ArgMin 1 (data:T) -> (reduced:{i64}) axis:i keepdims:i | T=INT UINT FLOAT
ArgMin 11 (data:T) -> (reduced:{i64}) axis:i keepdims:i | T=INT UINT FLOAT
ArgMin 12 (data:T) -> (reduced:{i64}) axis:i keepdims:i select_last_index:i | T=INT UINT FLOAT
ArgMin 13 (data:T) -> (reduced:{i64}) axis:i keepdims:i select_last_index:i | T=INT UINT FLOAT
    bf16
Asin 7 (input:T) -> (output:T) | T=FLOAT
Asin 22 (input:T) -> (output:T) | T=FLOAT bf16
Asinh 9 (input:T) -> (output:T) | T=FLOAT
Asinh 22 (input:T) -> (output:T) | T=FLOAT bf16
Atan 7 (input:T) -> (output:T) | T=FLOAT
Atan 22 (input:T) -> (output:T) | T=FLOAT bf16
Atanh 9 (input:T) -> (output:T) | T=FLOAT
Atanh 22 (input:T) -> (output:T) | T=FLOAT bf16
Attention 23 (Q:T1, K:T1, V:T2, attn_mask?:U, past_key?:T1, past_value?:T2) -> (Y:T1,
    present_key?:T1, present_value?:T2, qk_matmul_output?:T1) is_causal:i kv_num_heads:i
    q_num_heads:i qk_matmul_output_mode:i scale:f softcap:f softmax_precision:i | T1=FLOAT bf16 |
    T2=FLOAT bf16 | U=INT UINT FLOAT bf16 bool
Attention 24 (Q:T1, K:T1, V:T2, attn_mask?:U, past_key?:T1, past_value?:T2,
    nonpad_kv_seqlen?:{i64}) -> (Y:T1, present_key?:T1, present_value?:T2, qk_matmul_output?:T1)
    is_causal:i kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i scale:f softcap:f
    softmax_precision:i | T1=FLOAT bf16 | T2=FLOAT bf16 | U=INT UINT FLOAT bf16 bool
Attention 25 (Q:T1, K:T1, V:T2, attn_mask?:U, past_key?:T1, past_value?:T2,
    nonpad_kv_seqlen?:{i64}) -> (Y:T1, present_key?:T1, present_value?:T2, qk_matmul_output?:T1)
    is_causal:i kv_num_heads:i left_window_size:i q_num_heads:i qk_matmul_output_mode:i
    right_window_size:i scale:f softcap:f softmax_precision:i | T1=FLOAT bf16 | T2=FLOAT bf16 |
    U=INT UINT FLOAT bf16 bool
AveragePool 1 (X:T) -> (Y:T) auto_pad:s kernel_shape!:I pads:I strides:I | T=FLOAT
AveragePool 7 (X:T) -> (Y:T) auto_pad:s count_include_pad:i kernel_shape!:I pads:I strides:I |
    T=FLOAT
AveragePool 10 (X:T) -> (Y:T) auto_pad:s ceil_mode:i count_include_pad:i kernel_shape!:I pads:I
    strides:I | T=FLOAT
AveragePool 11 (X:T) -> (Y:T) auto_pad:s ceil_mode:i count_include_pad:i kernel_shape!:I pads:I
    strides:I | T=FLOAT
AveragePool 19 (X:T) -> (Y:T) auto_pad:s ceil_mode:i count_include_pad:i dilations:I
    kernel_shape!:I pads:I strides:I | T=FLOAT
AveragePool 22 (X:T) -> (Y:T) auto_pad:s ceil_mode:i count_include_pad:i dilations:I
    kernel_shape!:I pads:I strides:I | T=FLOAT bf16
BatchNormalization 1 (X:T, scale:T, B:T, mean:T, var:T) -> 1|5(Y:T, mean?:T, var?:T,
    saved_mean?:T, saved_var?:T) consumed_inputs!:I epsilon:f is_test:i momentum:f spatial:i |
    T=FLOAT
BatchNormalization 6 (X:T, scale:T, B:T, mean:T, var:T) -> 1|5(Y:T, mean?:T, var?:T,
    saved_mean?:T, saved_var?:T) epsilon:f is_test:i momentum:f spatial:i | T=FLOAT
BatchNormalization 7 (X:T, scale:T, B:T, mean:T, var:T) -> 1|5(Y:T, mean?:T, var?:T,
    saved_mean?:T, saved_var?:T) epsilon:f momentum:f spatial:i | T=FLOAT
BatchNormalization 9 (X:T, scale:T, B:T, mean:T, var:T) -> 1|5(Y:T, mean?:T, var?:T,
    saved_mean?:T, saved_var?:T) epsilon:f momentum:f | T=FLOAT
BatchNormalization 14 (X:T, scale:T, B:T, input_mean:U, input_var:U) -> 1|3(Y:T, running_mean?:U,
    running_var?:U) epsilon:f momentum:f training_mode:i | T=FLOAT bf16 | U=FLOAT bf16
BatchNormalization 15 (X:T, scale:T1, B:T1, input_mean:T2, input_var:T2) -> 1|3(Y:T,
    running_mean?:T2, running_var?:T2) epsilon:f momentum:f training_mode:i | T=FLOAT bf16 |
    T1=FLOAT bf16 | T2=FLOAT bf16
Bernoulli 15 (input:T1) -> (output:T2) dtype:i seed:f | T1=FLOAT | T2=INT UINT FLOAT bf16 bool
Bernoulli 22 (input:T1) -> (output:T2) dtype:i seed:f | T1=FLOAT bf16 | T2=INT UINT FLOAT bf16
    bool
BitCast 26 (input:T1) -> (output:T2) to!:i | T1=INT UINT FLOAT FLOAT8 bf16 bool c64 c128 u4 i4 u2
    i2 f4e2m1 f8e8m0 | T2=INT UINT FLOAT FLOAT8 bf16 bool c64 c128 u4 i4 u2 i2 f4e2m1 f8e8m0
BitShift 11 (X:T, Y:T) -> (Z:T) direction!:s | T=UINT
BitShift 28 (X:T, Y:T) -> (Z:T) direction!:s | T=INT UINT
BitwiseAnd 18 (A:T, B:T) -> (C:T) | T=INT UINT
BitwiseNot 18 (X:T) -> (Y:T) | T=INT UINT
BitwiseOr 18 (A:T, B:T) -> (C:T) | T=INT UINT
BitwiseXor 18 (A:T, B:T) -> (C:T) | T=INT UINT
BlackmanWindow 17 (size:T1) -> (output:T2) output_datatype:i periodic:i | T1=i32 i64 | T2=INT UINT
    FLOAT bf16
Cast 1 (input:T1) -> (output:T2) to!:s | T1=INT UINT FLOAT bool | T2=INT UINT FLOAT bool
Cast 6 (input:T1) -> (output:T2) to!:i | T1=INT UINT FLOAT bool | T2=INT UINT FLOAT bool
Cast 9 (input:T1) -> (output:T2) to!:i | T1=INT UINT FLOAT str bool | T2=INT UINT FLOAT str bool
Cast 13 (input:T1) -> (output:T2) to!:i | T1=INT UINT FLOAT bf16 str bool | T2=INT UINT FLOAT bf16
    str bool
Cast 19 (input:T1) -> (output:T2) saturate:i to!:i | T1=INT UINT FLOAT FLOAT8 bf16 str bool |
    T2=INT UINT FLOAT FLOAT8 bf16 str bool
Cast 21 (input:T1) -> (output:T2) saturate:i to!:i | T1=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4
    | T2=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4
Cast 23 (input:T1) -> (output:T2) saturate:i to!:i | T1=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4
    f4e2m1 | T2=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4 f4e2m1
Cast 24 (input:T1) -> (output:T2) round_mode:s saturate:i to!:i | T1=INT UINT FLOAT FLOAT8 bf16
    str bool u4 i4 f4e2m1 f8e8m0 | T2=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4 f4e2m1 f8e8m0
Cast 25 (input:T1) -> (output:T2) round_mode:s saturate:i to!:i | T1=INT UINT FLOAT FLOAT8 bf16
    str bool u4 i4 u2 i2 f4e2m1 f8e8m0 | T2=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4 u2 i2 f4e2m1
    f8e8m0
CastLike 15 (input:T1, target_type:T2) -> (output:T2) | T1=INT UINT FLOAT bf16 str bool | T2=INT
    UINT FLOAT bf16 str bool
CastLike 19 (input:T1, target_type:T2) -> (output:T2) saturate:i | T1=INT UINT FLOAT FLOAT8 bf16
    str bool | T2=INT UINT FLOAT FLOAT8 bf16 str bool
CastLike 21 (input:T1, target_type:T2) -> (output:T2) saturate:i | T1=INT UINT FLOAT FLOAT8 bf16
    str bool u4 i4 | T2=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4
CastLike 23 (input:T1, target_type:T2) -> (output:T2) saturate:i | T1=INT UINT FLOAT FLOAT8 bf16
    str bool u4 i4 f4e2m1 | T2=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4 f4e2m1
CastLike 24 (input:T1, target_type:T2) -> (output:T2) round_mode:s saturate:i | T1=INT UINT FLOAT
    FLOAT8 bf16 str bool u4 i4 f4e2m1 f8e8m0 | T2=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4 f4e2m1
    f8e8m0
CastLike 25 (input:T1, target_type:T2) -> (output:T2) round_mode:s saturate:i | T1=INT UINT FLOAT
    FLOAT8 bf16 str bool u4 i4 u2 i2 f4e2m1 f8e8m0 | T2=INT UINT FLOAT FLOAT8 bf16 str bool u4 i4
    u2 i2 f4e2m1 f8e8m0
CausalConvWithState 27 (input:T, weight:T, bias?:T, past_state?:T) -> (output:T, present_state:T)
    activation:s | T=f16 f32 bf16
Ceil 1 (X:T) -> (Y:T) consumed_inputs:I | T=FLOAT
Ceil 6 (X:T) -> (Y:T) | T=FLOAT
Ceil 13 (X:T) -> (Y:T) | T=FLOAT bf16
Celu 12 (X:T) -> (Y:T) alpha:f | T=f32
Celu 28 (X:T) -> (Y:T) alpha:f | T=FLOAT bf16
CenterCropPad 18 (input_data:T, shape:Tind) -> (output_data:T) axes:I | T=ANY bf16 | Tind=i32 i64
Clip 1 (input:T) -> (output:T) consumed_inputs:I max:f min:f | T=FLOAT
Clip 6 (input:T) -> (output:T) max:f min:f | T=FLOAT
Clip 11 (input:T, min?:T, max?:T) -> (output:T) | T=FLOAT
Clip 12 (input:T, min?:T, max?:T) -> (output:T) | T=INT UINT FLOAT
Clip 13 (input:T, min?:T, max?:T) -> (output:T) | T=INT UINT FLOAT bf16
Col2Im 18 (input:T, image_shape:{i64}, block_shape:{i64}) -> (output:T) dilations:I pads:I
    strides:I | T=ANY bf16
Compress 9 (input:T, condition:T1) -> (output:T) axis:i | T=ANY | T1=bool
Compress 11 (input:T, condition:T1) -> (output:T) axis:i | T=ANY | T1=bool
Compress 28 (input:T, condition:T1) -> (output:T) axis:i | T=ANY bf16 | T1=bool
Concat 1 (inputs*:T) -> (concat_result:T) axis:i | T=FLOAT
Concat 4 (inputs*:T) -> (concat_result:T) axis!:i | T=ANY
Concat 11 (inputs*:T) -> (concat_result:T) axis!:i | T=ANY
Concat 13 (inputs*:T) -> (concat_result:T) axis!:i | T=ANY bf16
ConcatFromSequence 11 (input_sequence:S) -> (concat_result:T) axis!:i new_axis:i | S=seq(ANY) |
    T=ANY
Constant 1 () -> (output:T) value!:t | T=FLOAT
Constant 9 () -> (output:T) value!:t | T=ANY
Constant 11 () -> (output:T) sparse_value:p value:t | T=ANY
Constant 12 () -> (output:T) sparse_value:p value:t value_float:f value_floats:F value_int:i
    value_ints:I value_string:s value_strings:S | T=ANY
Constant 13 () -> (output:T) sparse_value:p value:t value_float:f value_floats:F value_int:i
    value_ints:I value_string:s value_strings:S | T=ANY bf16
Constant 19 () -> (output:T) sparse_value:p value:t value_float:f value_floats:F value_int:i
    value_ints:I value_string:s value_strings:S | T=ANY FLOAT8 bf16
Constant 21 () -> (output:T) sparse_value:p value:t value_float:f value_floats:F value_int:i
    value_ints:I value_string:s value_strings:S | T=ANY FLOAT8 bf16 u4 i4
Constant 23 () -> (output:T) sparse_value:p value:t value_float:f value_floats:F value_int:i
    value_ints:I value_string:s value_strings:S | T=ANY FLOAT8 bf16 u4 i4 f4e2m1
Constant 24 () -> (output:T) sparse_value:p value:t value_float:f value_floats:F value_int:i
    value_ints:I value_string:s value_strings:S | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0
Constant 25 () -> (output:T) sparse_value:p value:t value_float:f value_floats:F value_int:i
    value_ints:I value_string:s value_strings:S | T=ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0
ConstantOfShape 9 (input:T1) -> (output:T2) value:t | T1=i64 | T2=INT UINT FLOAT bool
ConstantOfShape 20 (input:T1) -> (output:T2) value:t | T1=i64 | T2=INT UINT FLOAT FLOAT8 bf16 bool
ConstantOfShape 21 (input:T1) -> (output:T2) value:t | T1=i64 | T2=INT UINT FLOAT FLOAT8 bf16 bool
    u4 i4
ConstantOfShape 23 (input:T1) -> (output:T2) value:t | T1=i64 | T2=INT UINT FLOAT FLOAT8 bf16 bool
    u4 i4 f4e2m1
ConstantOfShape 24 (input:T1) -> (output:T2) value:t | T1=i64 | T2=INT UINT FLOAT FLOAT8 bf16 bool
    u4 i4 f4e2m1 f8e8m0
ConstantOfShape 25 (input:T1) -> (output:T2) value:t | T1=i64 | T2=INT UINT FLOAT FLOAT8 bf16 bool
    u4 i4 u2 i2 f4e2m1 f8e8m0
Conv 1 (X:T, W:T, B?:T) -> (Y:T) auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I |
    T=FLOAT
Conv 11 (X:T, W:T, B?:T) -> (Y:T) auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I |
    T=FLOAT
Conv 22 (X:T, W:T, B?:T) -> (Y:T) auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I |
    T=FLOAT bf16
ConvInteger 10 (x:T1, w:T2, x_zero_point?:T1, w_zero_point?:T2) -> (y:T3) auto_pad:s dilations:I
    group:i kernel_shape:I pads:I strides:I | T1=i8 u8 | T2=i8 u8 | T3=i32
ConvTranspose 1 (X:T, W:T, B?:T) -> (Y:T) auto_pad:s dilations:I group:i kernel_shape:I
    output_padding:I output_shape:I pads:I strides:I | T=FLOAT
ConvTranspose 11 (X:T, W:T, B?:T) -> (Y:T) auto_pad:s dilations:I group:i kernel_shape:I
    output_padding:I output_shape:I pads:I strides:I | T=FLOAT
ConvTranspose 22 (X:T, W:T, B?:T) -> (Y:T) auto_pad:s dilations:I group:i kernel_shape:I
    output_padding:I output_shape:I pads:I strides:I | T=FLOAT bf16
Cos 7 (input:T) -> (output:T) | T=FLOAT
Cos 22 (input:T) -> (output:T) | T=FLOAT bf16
Cosh 9 (input:T) -> (output:T) | T=FLOAT
Cosh 22 (input:T) -> (output:T) | T=FLOAT bf16
CumProd 26 (x:T, axis:T2) -> (y:T) exclusive:i reverse:i | T=FLOAT bf16 i32 i64 u32 u64 | T2=i32
    i64
CumSum 11 (x:T, axis:T2) -> (y:T) exclusive:i reverse:i | T=f32 f64 i32 i64 u32 u64 | T2=i32 i64
CumSum 14 (x:T, axis:T2) -> (y:T) exclusive:i reverse:i | T=FLOAT bf16 i32 i64 u32 u64 | T2=i32
    i64)";

}  // namespace nn::onnx

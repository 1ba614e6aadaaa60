// Signatures of operators of ai.onnx, D to L. The notation is that of schema.h.
// Written by scripts/update-onnx-signatures.
#include "formats/onnx/spec/schema_tables.h"

namespace nn::onnx {

const char kSchemasDToL[] = R"(
DFT 17 (input:T1, dft_length?:T2) -> (output:T1) axis:i inverse:i onesided:i | T1=FLOAT bf16 |
    T2=i32 i64
DFT 20 (input:T1, dft_length?:T2, axis?:{i64}) -> (output:T1) inverse:i onesided:i | T1=FLOAT bf16
    | T2=i32 i64
DeformConv 19 (X:T, W:T, offset:T, B?:T, mask?:T) -> (Y:T) dilations:I group:i kernel_shape:I
    offset_group:i pads:I strides:I | T=FLOAT
DeformConv 22 (X:T, W:T, offset:T, B?:T, mask?:T) -> (Y:T) dilations:I group:i kernel_shape:I
    offset_group:i pads:I strides:I | T=FLOAT bf16
DepthToSpace 1 (input:T) -> (output:T) blocksize!:i | T=ANY
DepthToSpace 11 (input:T) -> (output:T) blocksize!:i mode:s | T=ANY
DepthToSpace 13 (input:T) -> (output:T) blocksize!:i mode:s | T=ANY bf16
DepthToSpace 28 (input:T) -> (output:T) blocksize!:i mode:s | T=ANY bf16
DequantizeLinear 10 (x:T, x_scale:{f32}, x_zero_point?:T) -> (y:{f32}) | T=i8 i32 u8
DequantizeLinear 13 (x:T, x_scale:{f32}, x_zero_point?:T) -> (y:{f32}) axis:i | T=i8 i32 u8
DequantizeLinear 19 (x:T1, x_scale:T2, x_zero_point?:T1) -> (y:T2) axis:i | T1=FLOAT8 i8 i32 u8 |
    T2=f16 f32 bf16
DequantizeLinear 21 (x:T1, x_scale:T2, x_zero_point?:T1) -> (y:T2) axis:i block_size:i | T1=FLOAT8
    i8 i16 i32 u8 u16 u4 i4 | T2=f16 f32 bf16
DequantizeLinear 23 (x:T1, x_scale:T2, x_zero_point?:T1) -> (y:T3) axis:i block_size:i
    output_dtype:i | T1=FLOAT8 i8 i16 i32 u8 u16 u4 i4 f4e2m1 | T2=f16 f32 bf16 | T3=f16 f32 bf16
DequantizeLinear 24 (x:T1, x_scale:T2, x_zero_point?:T1) -> (y:T3) axis:i block_size:i
    output_dtype:i | T1=FLOAT8 i8 i16 i32 u8 u16 u4 i4 f4e2m1 | T2=f16 f32 bf16 f8e8m0 | T3=f16
    f32 bf16
DequantizeLinear 25 (x:T1, x_scale:T2, x_zero_point?:T1) -> (y:T3) axis:i block_size:i
    output_dtype:i | T1=FLOAT8 i8 i16 i32 u8 u16 u4 i4 u2 i2 f4e2m1 | T2=f16 f32 bf16 f8e8m0 |
    T3=f16 f32 bf16
Det 11 (X:T) -> (Y:T) | T=FLOAT
Det 22 (X:T) -> (Y:T) | T=FLOAT bf16
Div 1 (A:T, B:T) -> (C:T) axis:i broadcast:i consumed_inputs:I | T=FLOAT
Div 6 (A:T, B:T) -> (C:T) axis:i broadcast:i | T=FLOAT i32 i64 u32 u64
Div 7 (A:T, B:T) -> (C:T) | T=FLOAT i32 i64 u32 u64
Div 13 (A:T, B:T) -> (C:T) | T=FLOAT bf16 i32 i64 u32 u64
Div 14 (A:T, B:T) -> (C:T) | T=INT UINT FLOAT bf16
Dropout 1 (data:T) -> (output:T, mask?:T) consumed_inputs:I is_test:i ratio:f | T=FLOAT
Dropout 6 (data:T) -> (output:T, mask?:T) is_test:i ratio:f | T=FLOAT
Dropout 7 (data:T) -> (output:T, mask?:T) ratio:f | T=FLOAT
Dropout 10 (data:T) -> (output:T, mask?:T1) ratio:f | T=FLOAT | T1=bool
Dropout 12 (data:T, ratio?:T1, training_mode?:T2) -> (output:T, mask?:T2) seed:i | T=FLOAT |
    T1=FLOAT | T2=bool
Dropout 13 (data:T, ratio?:T1, training_mode?:T2) -> (output:T, mask?:T2) seed:i | T=FLOAT bf16 |
    T1=FLOAT | T2=bool
Dropout 22 (data:T, ratio?:T1, training_mode?:T2) -> (output:T, mask?:T2) seed:i | T=FLOAT FLOAT8
    bf16 | T1=FLOAT FLOAT8 bf16 | T2=bool
DynamicQuantizeLinear 11 (x:T1) -> (y:T2, y_scale:{f32}, y_zero_point:T2) | T1=f32 | T2=u8
Einsum 12 (Inputs*:T) -> (Output:T) equation!:s | T=INT UINT FLOAT
Einsum 28 (Inputs*:T) -> (Output:T) equation!:s | T=INT UINT FLOAT bf16
Elu 1 (X:T) -> (Y:T) alpha:f consumed_inputs:I | T=FLOAT
Elu 6 (X:T) -> (Y:T) alpha:f | T=FLOAT
Elu 22 (X:T) -> (Y:T) alpha:f | T=FLOAT bf16
Equal 1 (A:T, B:T) -> (C:T1) axis:i broadcast:i | T=i32 i64 bool | T1=bool
Equal 7 (A:T, B:T) -> (C:T1) | T=i32 i64 bool | T1=bool
Equal 11 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT bool | T1=bool
Equal 13 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT bf16 bool | T1=bool
Equal 19 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT bf16 str bool | T1=bool
Erf 9 (input:T) -> (output:T) | T=INT UINT FLOAT
Erf 13 (input:T) -> (output:T) | T=FLOAT bf16
Exp 1 (input:T) -> (output:T) consumed_inputs:I | T=FLOAT
Exp 6 (input:T) -> (output:T) | T=FLOAT
Exp 13 (input:T) -> (output:T) | T=FLOAT bf16
Expand 8 (input:T, shape:{i64}) -> (output:T) | T=ANY
Expand 13 (input:T, shape:{i64}) -> (output:T) | T=ANY bf16
EyeLike 9 (input:T1) -> (output:T2) dtype:i k:i | T1=INT UINT FLOAT bool | T2=INT UINT FLOAT bool
EyeLike 22 (input:T1) -> (output:T2) dtype:i k:i | T1=INT UINT FLOAT bf16 bool | T2=INT UINT FLOAT
    bf16 bool
Flatten 1 (input:T) -> (output:T) axis:i | T=FLOAT
Flatten 9 (input:T) -> (output:T) axis:i | T=ANY
Flatten 11 (input:T) -> (output:T) axis:i | T=ANY
Flatten 13 (input:T) -> (output:T) axis:i | T=ANY bf16
Flatten 21 (input:T) -> (output:T) axis:i | T=ANY FLOAT8 bf16 u4 i4
Flatten 23 (input:T) -> (output:T) axis:i | T=ANY FLOAT8 bf16 u4 i4 f4e2m1
Flatten 24 (input:T) -> (output:T) axis:i | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0
Flatten 25 (input:T) -> (output:T) axis:i | T=ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0
Floor 1 (X:T) -> (Y:T) consumed_inputs:I | T=FLOAT
Floor 6 (X:T) -> (Y:T) | T=FLOAT
Floor 13 (X:T) -> (Y:T) | T=FLOAT bf16
GRU 1 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T) -> (Y?:T, Y_h:T) activation_alpha:F
    activation_beta:F activations:S clip:f direction:s hidden_size:i output_sequence:i | T=FLOAT |
    T1=i32
GRU 3 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T) -> (Y?:T, Y_h?:T) activation_alpha:F
    activation_beta:F activations:S clip:f direction:s hidden_size:i linear_before_reset:i
    output_sequence:i | T=FLOAT | T1=i32
GRU 7 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T) -> (Y?:T, Y_h?:T) activation_alpha:F
    activation_beta:F activations:S clip:f direction:s hidden_size:i linear_before_reset:i |
    T=FLOAT | T1=i32
GRU 14 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T) -> (Y?:T, Y_h?:T) activation_alpha:F
    activation_beta:F activations:S clip:f direction:s hidden_size:i layout:i
    linear_before_reset:i | T=FLOAT | T1=i32
GRU 22 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T) -> (Y?:T, Y_h?:T) activation_alpha:F
    activation_beta:F activations:S clip:f direction:s hidden_size:i layout:i
    linear_before_reset:i | T=FLOAT bf16 | T1=i32
Gather 1 (data:T, indices:Tind) -> (output:T) axis:i | T=ANY | Tind=i32 i64
Gather 11 (data:T, indices:Tind) -> (output:T) axis:i | T=ANY | Tind=i32 i64
Gather 13 (data:T, indices:Tind) -> (output:T) axis:i | T=ANY bf16 | Tind=i32 i64
GatherElements 11 (data:T, indices:Tind) -> (output:T) axis:i | T=ANY | Tind=i32 i64
GatherElements 13 (data:T, indices:Tind) -> (output:T) axis:i | T=ANY bf16 | Tind=i32 i64
GatherND 11 (data:T, indices:{i64}) -> (output:T) | T=ANY
GatherND 12 (data:T, indices:{i64}) -> (output:T) batch_dims:i | T=ANY
GatherND 13 (data:T, indices:{i64}) -> (output:T) batch_dims:i | T=ANY bf16
Gelu 20 (X:T) -> (Y:T) approximate:s | T=FLOAT bf16
Gemm 1 (A:T, B:T, C:T) -> (Y:T) alpha:f beta:f broadcast:i transA:i transB:i | T=FLOAT
Gemm 6 (A:T, B:T, C:T) -> (Y:T) alpha:f beta:f broadcast:i transA:i transB:i | T=FLOAT
Gemm 7 (A:T, B:T, C:T) -> (Y:T) alpha:f beta:f transA:i transB:i | T=FLOAT
Gemm 9 (A:T, B:T, C:T) -> (Y:T) alpha:f beta:f transA:i transB:i | T=FLOAT i32 i64 u32 u64
Gemm 11 (A:T, B:T, C?:T) -> (Y:T) alpha:f beta:f transA:i transB:i | T=FLOAT i32 i64 u32 u64
Gemm 13 (A:T, B:T, C?:T) -> (Y:T) alpha:f beta:f transA:i transB:i | T=FLOAT bf16 i32 i64 u32 u64
GlobalAveragePool 1 (X:T) -> (Y:T) | T=FLOAT
GlobalAveragePool 22 (X:T) -> (Y:T) | T=FLOAT bf16
GlobalLpPool 1 (X:T) -> (Y:T) p:f | T=FLOAT
GlobalLpPool 2 (X:T) -> (Y:T) p:i | T=FLOAT
GlobalLpPool 22 (X:T) -> (Y:T) p:i | T=FLOAT bf16
GlobalMaxPool 1 (X:T) -> (Y:T) | T=FLOAT
GlobalMaxPool 22 (X:T) -> (Y:T) | T=FLOAT bf16
Greater 1 (A:T, B:T) -> (C:T1) axis:i broadcast:i | T=FLOAT | T1=bool
Greater 7 (A:T, B:T) -> (C:T1) | T=FLOAT | T1=bool
Greater 9 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT | T1=bool
Greater 13 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT bf16 | T1=bool
GreaterOrEqual 12 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT | T1=bool
GreaterOrEqual 16 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT bf16 | T1=bool
GridSample 16 (X:T1, grid:T2) -> (Y:T1) align_corners:i mode:s padding_mode:s | T1=ANY | T2=FLOAT
GridSample 20 (X:T1, grid:T2) -> (Y:T1) align_corners:i mode:s padding_mode:s | T1=ANY | T2=FLOAT
GridSample 22 (X:T1, grid:T2) -> (Y:T1) align_corners:i mode:s padding_mode:s | T1=ANY bf16 |
    T2=FLOAT bf16
GroupNormalization 18 deprecated
GroupNormalization 21 (X:T, scale:T, bias:T) -> (Y:T) epsilon:f num_groups!:i stash_type:i |
    T=FLOAT bf16
HammingWindow 17 (size:T1) -> (output:T2) output_datatype:i periodic:i | T1=i32 i64 | T2=INT UINT
    FLOAT bf16
HannWindow 17 (size:T1) -> (output:T2) output_datatype:i periodic:i | T1=i32 i64 | T2=INT UINT
    FLOAT bf16
HardSigmoid 1 (X:T) -> (Y:T) alpha:f beta:f consumed_inputs:I | T=FLOAT
HardSigmoid 6 (X:T) -> (Y:T) alpha:f beta:f | T=FLOAT
HardSigmoid 22 (X:T) -> (Y:T) alpha:f beta:f | T=FLOAT bf16
HardSwish 14 (X:T) -> (Y:T) | T=FLOAT
HardSwish 22 (X:T) -> (Y:T) | T=FLOAT bf16
Hardmax 1 (input:T) -> (output:T) axis:i | T=FLOAT
Hardmax 11 (input:T) -> (output:T) axis:i | T=FLOAT
Hardmax 13 (input:T) -> (output:T) axis:i | T=FLOAT bf16
Identity 1 (input:T) -> (output:T) | T=ANY
Identity 13 (input:T) -> (output:T) | T=ANY bf16
Identity 14 (input:V) -> (output:V) | V=ANY bf16 seq(ANY)
Identity 16 (input:V) -> (output:V) | V=ANY bf16 seq(ANY) opt(seq(ANY)) opt(ANY)
Identity 19 (input:V) -> (output:V) | V=ANY FLOAT8 bf16 seq(ANY) opt(seq(ANY)) opt(ANY)
Identity 21 (input:V) -> (output:V) | V=ANY FLOAT8 bf16 u4 i4 seq(ANY) opt(seq(ANY)) opt(ANY)
Identity 23 (input:V) -> (output:V) | V=ANY FLOAT8 bf16 u4 i4 f4e2m1 seq(ANY) opt(seq(ANY))
    opt(ANY)
Identity 24 (input:V) -> (output:V) | V=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0 seq(ANY) opt(seq(ANY))
    opt(ANY)
Identity 25 (input:V) -> (output:V) | V=ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0 seq(ANY)
    opt(seq(ANY)) opt(ANY)
If 1 (cond:B) -> (outputs**:V) else_branch!:g then_branch!:g | V=ANY | B=bool
If 11 (cond:B) -> (outputs**:V) else_branch!:g then_branch!:g | V=ANY | B=bool
If 13 (cond:B) -> (outputs**:V) else_branch!:g then_branch!:g | V=ANY seq(ANY) | B=bool
If 16 (cond:B) -> (outputs**:V) else_branch!:g then_branch!:g | V=ANY bf16 seq(ANY bf16)
    opt(seq(ANY bf16)) opt(ANY bf16) | B=bool
If 19 (cond:B) -> (outputs**:V) else_branch!:g then_branch!:g | V=ANY FLOAT8 bf16 seq(ANY FLOAT8
    bf16) opt(seq(ANY bf16)) opt(ANY FLOAT8 bf16) | B=bool
If 21 (cond:B) -> (outputs**:V) else_branch!:g then_branch!:g | V=ANY FLOAT8 bf16 u4 i4 seq(ANY
    FLOAT8 bf16 u4 i4) opt(seq(ANY bf16)) opt(ANY FLOAT8 bf16 u4 i4) | B=bool
If 23 (cond:B) -> (outputs**:V) else_branch!:g then_branch!:g | V=ANY FLOAT8 bf16 u4 i4 f4e2m1
    seq(ANY FLOAT8 bf16 u4 i4 f4e2m1) opt(seq(ANY bf16)) opt(ANY FLOAT8 bf16 u4 i4 f4e2m1) |
    B=bool
If 24 (cond:B) -> (outputs**:V) else_branch!:g then_branch!:g | V=ANY FLOAT8 bf16 u4 i4 f4e2m1
    f8e8m0 seq(ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0) opt(seq(ANY bf16)) opt(ANY FLOAT8 bf16 u4 i4
    f4e2m1 f8e8m0) | B=bool
If 25 (cond:B) -> (outputs**:V) else_branch!:g then_branch!:g | V=ANY FLOAT8 bf16 u4 i4 u2 i2
    f4e2m1 f8e8m0 seq(ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0) opt(seq(ANY bf16)) opt(ANY FLOAT8
    bf16 u4 i4 u2 i2 f4e2m1 f8e8m0) | B=bool
ImageDecoder 20 (encoded_stream:T1) -> (image:T2) pixel_format:s | T1=u8 | T2=u8
InstanceNormalization 1 (input:T, scale:T, B:T) -> (output:T) consumed_inputs:I epsilon:f |
    T=FLOAT
InstanceNormalization 6 (input:T, scale:T, B:T) -> (output:T) epsilon:f | T=FLOAT
InstanceNormalization 22 (input:T, scale:T, B:T) -> (output:T) epsilon:f | T=FLOAT bf16
IsInf 10 (X:T1) -> (Y:T2) detect_negative:i detect_positive:i | T1=f32 f64 | T2=bool
IsInf 20 (X:T1) -> (Y:T2) detect_negative:i detect_positive:i | T1=FLOAT FLOAT8 bf16 | T2=bool
IsNaN 9 (X:T1) -> (Y:T2) | T1=FLOAT | T2=bool
IsNaN 13 (X:T1) -> (Y:T2) | T1=FLOAT bf16 | T2=bool
IsNaN 20 (X:T1) -> (Y:T2) | T1=FLOAT FLOAT8 bf16 | T2=bool
LRN 1 (X:T) -> (Y:T) alpha:f beta:f bias:f size!:i | T=FLOAT
LRN 13 (X:T) -> (Y:T) alpha:f beta:f bias:f size!:i | T=FLOAT bf16
LSTM 1 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T, initial_c?:T, P?:T) -> (Y?:T,
    Y_h?:T, Y_c?:T) activation_alpha:F activation_beta:F activations:S clip:f direction:s
    hidden_size:i input_forget:i output_sequence:i | T=FLOAT | T1=i32
LSTM 7 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T, initial_c?:T, P?:T) -> (Y?:T,
    Y_h?:T, Y_c?:T) activation_alpha:F activation_beta:F activations:S clip:f direction:s
    hidden_size:i input_forget:i | T=FLOAT | T1=i32
LSTM 14 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T, initial_c?:T, P?:T) -> (Y?:T,
    Y_h?:T, Y_c?:T) activation_alpha:F activation_beta:F activations:S clip:f direction:s
    hidden_size:i input_forget:i layout:i | T=FLOAT | T1=i32
LSTM 22 (X:T, W:T, R:T, B?:T, sequence_lens?:T1, initial_h?:T, initial_c?:T, P?:T) -> (Y?:T,
    Y_h?:T, Y_c?:T) activation_alpha:F activation_beta:F activations:S clip:f direction:s
    hidden_size:i input_forget:i layout:i | T=FLOAT bf16 | T1=i32
LayerNormalization 17 (X:T, Scale:T, B?:T) -> (Y:T, Mean?:U, InvStdDev?:U) ... axis:i epsilon:f
    stash_type:i | T=FLOAT bf16 | U=f32 bf16
LeakyRelu 1 (X:T) -> (Y:T) alpha:f consumed_inputs:I | T=FLOAT
LeakyRelu 6 (X:T) -> (Y:T) alpha:f | T=FLOAT
LeakyRelu 16 (X:T) -> (Y:T) alpha:f | T=FLOAT bf16
Less 1 (A:T, B:T) -> (C:T1) axis:i broadcast:i | T=FLOAT | T1=bool
Less 7 (A:T, B:T) -> (C:T1) | T=FLOAT | T1=bool
Less 9 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT | T1=bool
Less 13 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT bf16 | T1=bool
LessOrEqual 12 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT | T1=bool
LessOrEqual 16 (A:T, B:T) -> (C:T1) | T=INT UINT FLOAT bf16 | T1=bool
LinearAttention 27 (query:T, key:T, value:T, past_state?:S, decay?:T, beta?:T) -> (output:T,
    present_state:S) chunk_size:i kv_num_heads!:i q_num_heads!:i scale:f update_rule:s | T=f16 f32
    bf16 | S=f16 f32 bf16
Log 1 (input:T) -> (output:T) consumed_inputs:I | T=FLOAT
Log 6 (input:T) -> (output:T) | T=FLOAT
Log 13 (input:T) -> (output:T) | T=FLOAT bf16
LogSoftmax 1 (input:T) -> (output:T) axis:i | T=FLOAT
LogSoftmax 11 (input:T) -> (output:T) axis:i | T=FLOAT
LogSoftmax 13 (input:T) -> (output:T) axis:i | T=FLOAT bf16
Loop 1 (M?:I, cond?:B, v_initial**:V) -> (v_final_and_scan_outputs**:V) body!:g | V=ANY | I=i64 |
    B=bool
Loop 11 2..(M?:I, cond?:B, v_initial**:V) -> (v_final_and_scan_outputs**:V) body!:g | V=ANY |
    I=i64 | B=bool
Loop 13 2..(M?:I, cond?:B, v_initial**:V) -> (v_final_and_scan_outputs**:V) body!:g | V=ANY
    seq(ANY) | I=i64 | B=bool
Loop 16 2..(M?:I, cond?:B, v_initial**:V) -> (v_final_and_scan_outputs**:V) body!:g | V=ANY bf16
    seq(ANY bf16) opt(seq(ANY bf16)) opt(ANY bf16) | I=i64 | B=bool
Loop 19 2..(M?:I, cond?:B, v_initial**:V) -> (v_final_and_scan_outputs**:V) body!:g | V=ANY FLOAT8
    bf16 seq(ANY FLOAT8 bf16) opt(seq(ANY bf16)) opt(ANY FLOAT8 bf16) | I=i64 | B=bool
Loop 21 2..(M?:I, cond?:B, v_initial**:V) -> (v_final_and_scan_outputs**:V) body!:g | V=ANY FLOAT8
    bf16 u4 i4 seq(ANY FLOAT8 bf16 u4 i4) opt(seq(ANY bf16)) opt(ANY FLOAT8 bf16 u4 i4) | I=i64 |
    B=bool
Loop 23 2..(M?:I, cond?:B, v_initial**:V) -> (v_final_and_scan_outputs**:V) body!:g | V=ANY FLOAT8
    bf16 u4 i4 f4e2m1 seq(ANY FLOAT8 bf16 u4 i4 f4e2m1) opt(seq(ANY bf16)) opt(ANY FLOAT8 bf16 u4
    i4 f4e2m1) | I=i64 | B=bool
Loop 24 2..(M?:I, cond?:B, v_initial**:V) -> (v_final_and_scan_outputs**:V) body!:g | V=ANY FLOAT8
    bf16 u4 i4 f4e2m1 f8e8m0 seq(ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0) opt(seq(ANY bf16)) opt(ANY
    FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0) | I=i64 | B=bool
Loop 25 2..(M?:I, cond?:B, v_initial**:V) -> (v_final_and_scan_outputs**:V) body!:g | V=ANY FLOAT8
    bf16 u4 i4 u2 i2 f4e2m1 f8e8m0 seq(ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0) opt(seq(ANY
    bf16)) opt(ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0) | I=i64 | B=bool
LpNormalization 1 (input:T) -> (output:T) axis:i p:i | T=FLOAT
LpNormalization 22 (input:T) -> (output:T) axis:i p:i | T=FLOAT bf16
LpPool 1 (X:T) -> (Y:T) auto_pad:s kernel_shape:I p:f pads:I strides:I | T=FLOAT
LpPool 2 (X:T) -> (Y:T) auto_pad:s kernel_shape!:I p:i pads:I strides:I | T=FLOAT
LpPool 11 (X:T) -> (Y:T) auto_pad:s kernel_shape!:I p:i pads:I strides:I | T=FLOAT
LpPool 18 (X:T) -> (Y:T) auto_pad:s ceil_mode:i dilations:I kernel_shape!:I p:i pads:I strides:I |
    T=FLOAT
LpPool 22 (X:T) -> (Y:T) auto_pad:s ceil_mode:i dilations:I kernel_shape!:I p:i pads:I strides:I |
    T=FLOAT bf16)";

}  // namespace nn::onnx

// Signatures of operators of ai.onnx, S to Z. The notation is that of schema.h.
// Written by scripts/update-onnx-signatures.
#include "formats/onnx/spec/schema_tables.h"

namespace nn::onnx {

const char kSchemasSToZ[] = R"(
STFT 17 (signal:T1, frame_step:T2, window?:T1, frame_length?:T2) -> (output:T1) onesided:i |
    T1=FLOAT bf16 | T2=i32 i64
Scan 8 (sequence_lens?:I, initial_state_and_scan_inputs**:V) -> (final_state_and_scan_outputs**:V)
    body!:g directions:I num_scan_inputs!:i | I=i64 | V=ANY
Scan 9 (initial_state_and_scan_inputs**:V) -> (final_state_and_scan_outputs**:V) body!:g
    num_scan_inputs!:i scan_input_axes:I scan_input_directions:I scan_output_axes:I
    scan_output_directions:I | V=ANY
Scan 11 (initial_state_and_scan_inputs**:V) -> (final_state_and_scan_outputs**:V) body!:g
    num_scan_inputs!:i scan_input_axes:I scan_input_directions:I scan_output_axes:I
    scan_output_directions:I | V=ANY
Scan 16 (initial_state_and_scan_inputs**:V) -> (final_state_and_scan_outputs**:V) body!:g
    num_scan_inputs!:i scan_input_axes:I scan_input_directions:I scan_output_axes:I
    scan_output_directions:I | V=ANY bf16
Scan 19 (initial_state_and_scan_inputs**:V) -> (final_state_and_scan_outputs**:V) body!:g
    num_scan_inputs!:i scan_input_axes:I scan_input_directions:I scan_output_axes:I
    scan_output_directions:I | V=ANY FLOAT8 bf16
Scan 21 (initial_state_and_scan_inputs**:V) -> (final_state_and_scan_outputs**:V) body!:g
    num_scan_inputs!:i scan_input_axes:I scan_input_directions:I scan_output_axes:I
    scan_output_directions:I | V=ANY FLOAT8 bf16 u4 i4
Scan 23 (initial_state_and_scan_inputs**:V) -> (final_state_and_scan_outputs**:V) body!:g
    num_scan_inputs!:i scan_input_axes:I scan_input_directions:I scan_output_axes:I
    scan_output_directions:I | V=ANY FLOAT8 bf16 u4 i4 f4e2m1
Scan 24 (initial_state_and_scan_inputs**:V) -> (final_state_and_scan_outputs**:V) body!:g
    num_scan_inputs!:i scan_input_axes:I scan_input_directions:I scan_output_axes:I
    scan_output_directions:I | V=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0
Scan 25 (initial_state_and_scan_inputs**:V) -> (final_state_and_scan_outputs**:V) body!:g
    num_scan_inputs!:i scan_input_axes:I scan_input_directions:I scan_output_axes:I
    scan_output_directions:I | V=ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0
Scatter 9 (data:T, indices:Tind, updates:T) -> (output:T) axis:i | T=ANY | Tind=i32 i64
Scatter 11 deprecated
ScatterElements 11 (data:T, indices:Tind, updates:T) -> (output:T) axis:i | T=ANY | Tind=i32 i64
ScatterElements 13 (data:T, indices:Tind, updates:T) -> (output:T) axis:i | T=ANY bf16 | Tind=i32
    i64
ScatterElements 16 (data:T, indices:Tind, updates:T) -> (output:T) axis:i reduction:s | T=ANY bf16
    | Tind=i32 i64
ScatterElements 18 (data:T, indices:Tind, updates:T) -> (output:T) axis:i reduction:s | T=ANY bf16
    | Tind=i32 i64
ScatterND 11 (data:T, indices:{i64}, updates:T) -> (output:T) | T=ANY
ScatterND 13 (data:T, indices:{i64}, updates:T) -> (output:T) | T=ANY bf16
ScatterND 16 (data:T, indices:{i64}, updates:T) -> (output:T) reduction:s | T=ANY bf16
ScatterND 18 (data:T, indices:{i64}, updates:T) -> (output:T) reduction:s | T=ANY bf16
Selu 1 (X:T) -> (Y:T) alpha:f consumed_inputs:I gamma:f | T=FLOAT
Selu 6 (X:T) -> (Y:T) alpha:f gamma:f | T=FLOAT
Selu 22 (X:T) -> (Y:T) alpha:f gamma:f | T=FLOAT bf16
SequenceAt 11 (input_sequence:S, position:I) -> (tensor:T) | S=seq(ANY) | T=ANY | I=i32 i64
SequenceConstruct 11 (inputs*:T) -> (output_sequence:S) | T=ANY | S=seq(ANY)
SequenceEmpty 11 () -> (output:S) dtype:i | S=seq(ANY)
SequenceErase 11 (input_sequence:S, position?:I) -> (output_sequence:S) | S=seq(ANY) | I=i32 i64
SequenceInsert 11 (input_sequence:S, tensor:T, position?:I) -> (output_sequence:S) | T=ANY |
    S=seq(ANY) | I=i32 i64
SequenceLength 11 (input_sequence:S) -> (length:I) | S=seq(ANY) | I=i64
SequenceMap 17 1..(input_sequence:S, additional_inputs**:V) -> (out_sequence**:S) body!:g |
    S=seq(ANY) | V=ANY seq(ANY)
Shape 1 (data:T) -> (shape:T1) | T=ANY | T1=i64
Shape 13 (data:T) -> (shape:T1) | T=ANY bf16 | T1=i64
Shape 15 (data:T) -> (shape:T1) end:i start:i | T=ANY bf16 | T1=i64
Shape 19 (data:T) -> (shape:T1) end:i start:i | T=ANY FLOAT8 bf16 | T1=i64
Shape 21 (data:T) -> (shape:T1) end:i start:i | T=ANY FLOAT8 bf16 u4 i4 | T1=i64
Shape 23 (data:T) -> (shape:T1) end:i start:i | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 | T1=i64
Shape 24 (data:T) -> (shape:T1) end:i start:i | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0 | T1=i64
Shape 25 (data:T) -> (shape:T1) end:i start:i | T=ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0 |
    T1=i64
Shrink 9 (input:T) -> (output:T) bias:f lambd:f | T=INT UINT FLOAT
Sigmoid 1 (X:T) -> (Y:T) consumed_inputs:I | T=FLOAT
Sigmoid 6 (X:T) -> (Y:T) | T=FLOAT
Sigmoid 13 (X:T) -> (Y:T) | T=FLOAT bf16
Sign 9 (input:T) -> (output:T) | T=INT UINT FLOAT
Sign 13 (input:T) -> (output:T) | T=INT UINT FLOAT bf16
Sin 7 (input:T) -> (output:T) | T=FLOAT
Sin 22 (input:T) -> (output:T) | T=FLOAT bf16
Sinh 9 (input:T) -> (output:T) | T=FLOAT
Sinh 22 (input:T) -> (output:T) | T=FLOAT bf16
Size 1 (data:T) -> (size:T1) | T=ANY | T1=i64
Size 13 (data:T) -> (size:T1) | T=ANY bf16 | T1=i64
Size 19 (data:T) -> (size:T1) | T=ANY FLOAT8 bf16 | T1=i64
Size 21 (data:T) -> (size:T1) | T=ANY FLOAT8 bf16 u4 i4 | T1=i64
Size 23 (data:T) -> (size:T1) | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 | T1=i64
Size 24 (data:T) -> (size:T1) | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0 | T1=i64
Size 25 (data:T) -> (size:T1) | T=ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0 | T1=i64
Slice 1 (data:T) -> (output:T) axes:I ends!:I starts!:I | T=ANY
Slice 10 (data:T, starts:Tind, ends:Tind, axes?:Tind, steps?:Tind) -> (output:T) | T=ANY |
    Tind=i32 i64
Slice 11 (data:T, starts:Tind, ends:Tind, axes?:Tind, steps?:Tind) -> (output:T) | T=ANY |
    Tind=i32 i64
Slice 13 (data:T, starts:Tind, ends:Tind, axes?:Tind, steps?:Tind) -> (output:T) | T=ANY bf16 |
    Tind=i32 i64
Softmax 1 (input:T) -> (output:T) axis:i | T=FLOAT
Softmax 11 (input:T) -> (output:T) axis:i | T=FLOAT
Softmax 13 (input:T) -> (output:T) axis:i | T=FLOAT bf16
SoftmaxCrossEntropyLoss 12 (scores:T, labels:Tind, weights?:T) -> (output:T, log_prob?:T)
    ignore_index:i reduction:s | T=FLOAT | Tind=i32 i64
SoftmaxCrossEntropyLoss 13 (scores:T, labels:Tind, weights?:T) -> (output:T, log_prob?:T)
    ignore_index:i reduction:s | T=FLOAT bf16 | Tind=i32 i64
Softplus 1 (X:T) -> (Y:T) | T=FLOAT
Softplus 22 (X:T) -> (Y:T) | T=FLOAT bf16
Softsign 1 (input:T) -> (output:T) | T=FLOAT
Softsign 22 (input:T) -> (output:T) | T=FLOAT bf16
SpaceToDepth 1 (input:T) -> (output:T) blocksize!:i | T=ANY
SpaceToDepth 13 (input:T) -> (output:T) blocksize!:i | T=ANY bf16
SpaceToDepth 28 (input:T) -> (output:T) blocksize!:i mode:s | T=ANY bf16
Split 1 (input:T, split?:T) -> (outputs*:T) axis:i split:I | T=FLOAT
Split 2 (input:T) -> (outputs*:T) axis:i split:I | T=ANY
Split 11 (input:T) -> (outputs*:T) axis:i split:I | T=ANY
Split 13 (input:T, split?:{i64}) -> (outputs*:T) axis:i | T=ANY bf16
Split 18 (input:T, split?:{i64}) -> (outputs*:T) axis:i num_outputs:i | T=ANY bf16
SplitToSequence 11 (input:T, split?:I) -> (output_sequence:S) axis:i keepdims:i | T=ANY | I=i32
    i64 | S=seq(ANY)
SplitToSequence 24 (input:T, split?:I) -> (output_sequence:S) axis:i keepdims:i | T=ANY bf16 |
    I=i32 i64 | S=seq(ANY bf16)
Sqrt 1 (X:T) -> (Y:T) consumed_inputs:I | T=FLOAT
Sqrt 6 (X:T) -> (Y:T) | T=FLOAT
Sqrt 13 (X:T) -> (Y:T) | T=FLOAT bf16
Squeeze 1 (data:T) -> (squeezed:T) axes:I | T=ANY
Squeeze 11 (data:T) -> (squeezed:T) axes:I | T=ANY
Squeeze 13 (data:T, axes?:{i64}) -> (squeezed:T) | T=ANY bf16
Squeeze 21 (data:T, axes?:{i64}) -> (squeezed:T) | T=ANY FLOAT8 bf16 u4 i4
Squeeze 23 (data:T, axes?:{i64}) -> (squeezed:T) | T=ANY FLOAT8 bf16 u4 i4 f4e2m1
Squeeze 24 (data:T, axes?:{i64}) -> (squeezed:T) | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0
Squeeze 25 (data:T, axes?:{i64}) -> (squeezed:T) | T=ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0
StringConcat 20 (X:T, Y:T) -> (Z:T) | T=str
StringNormalizer 10 (X:{str}) -> (Y:{str}) case_change_action:s is_case_sensitive:i locale:s
    stopwords:S
StringSplit 20 (X:T1) -> (Y:T2, Z:T3) delimiter:s maxsplit:i | T1=str | T2=str | T3=i64
Sub 1 (A:T, B:T) -> (C:T) axis:i broadcast:i consumed_inputs:I | T=FLOAT
Sub 6 (A:T, B:T) -> (C:T) axis:i broadcast:i | T=FLOAT i32 i64 u32 u64
Sub 7 (A:T, B:T) -> (C:T) | T=FLOAT i32 i64 u32 u64
Sub 13 (A:T, B:T) -> (C:T) | T=FLOAT bf16 i32 i64 u32 u64
Sub 14 (A:T, B:T) -> (C:T) | T=INT UINT FLOAT bf16
Sum 1 (data_0*:T) -> (sum:T) consumed_inputs:I | T=FLOAT
Sum 6 (data_0*:T) -> (sum:T) | T=FLOAT
Sum 8 (data_0*:T) -> (sum:T) | T=FLOAT
Sum 13 (data_0*:T) -> (sum:T) | T=FLOAT bf16
SwiGLU 28 (A:T, B:T) -> (Y:T) alpha:f | T=FLOAT bf16
Swish 24 (X:T) -> (Y:T) alpha:f | T=FLOAT bf16
Tan 7 (input:T) -> (output:T) | T=FLOAT
Tan 22 (input:T) -> (output:T) | T=FLOAT bf16
Tanh 1 (input:T) -> (output:T) consumed_inputs:I | T=FLOAT
Tanh 6 (input:T) -> (output:T) | T=FLOAT
Tanh 13 (input:T) -> (output:T) | T=FLOAT bf16
TensorScatter 24 (past_cache:T, update:T, write_indices?:{i64}) -> (present_cache:T) axis:i mode:s
    | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0
TfIdfVectorizer 9 (X:T) -> (Y:T1) max_gram_length!:i max_skip_count!:i min_gram_length!:i mode!:s
    ngram_counts!:I ngram_indexes!:I pool_int64s:I pool_strings:S weights:F | T=i32 i64 str |
    T1=f32
ThresholdedRelu 10 (X:T) -> (Y:T) alpha:f | T=FLOAT
ThresholdedRelu 22 (X:T) -> (Y:T) alpha:f | T=FLOAT bf16
Tile 1 (input:T, tiles:T, axis:T) -> (output:T) | T=FLOAT | T1=i64
Tile 6 (input:T, repeats:T1) -> (output:T) | T=ANY | T1=i64
Tile 13 (input:T, repeats:T1) -> (output:T) | T=ANY bf16 | T1=i64
TopK 1 (X:T) -> (Values:T, Indices:I) axis:i k!:i | T=FLOAT | I=i64
TopK 10 (X:T, K:{i64}) -> (Values:T, Indices:I) axis:i | T=FLOAT | I=i64
TopK 11 (X:T, K:{i64}) -> (Values:T, Indices:I) axis:i largest:i sorted:i | T=INT UINT FLOAT |
    I=i64
TopK 24 (X:T, K:{i64}) -> (Values:T, Indices:I) axis:i largest:i sorted:i | T=INT UINT FLOAT bf16
    | I=i64
Transpose 1 (data:T) -> (transposed:T) perm:I | T=ANY
Transpose 13 (data:T) -> (transposed:T) perm:I | T=ANY bf16
Transpose 21 (data:T) -> (transposed:T) perm:I | T=ANY FLOAT8 bf16 u4 i4
Transpose 23 (data:T) -> (transposed:T) perm:I | T=ANY FLOAT8 bf16 u4 i4 f4e2m1
Transpose 24 (data:T) -> (transposed:T) perm:I | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0
Transpose 25 (data:T) -> (transposed:T) perm:I | T=ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0
Trilu 14 (input:T, k?:{i64}) -> (output:T) upper:i | T=ANY bf16
Unique 11 (X:T) -> (Y:T, indices?:{i64}, inverse_indices?:{i64}, counts?:{i64}) axis:i sorted:i |
    T=ANY
Unique 28 (X:T) -> (Y:T, indices?:{i64}, inverse_indices?:{i64}, counts?:{i64}) axis:i sorted:i |
    T=ANY bf16
Unsqueeze 1 (data:T) -> (expanded:T) axes!:I | T=ANY
Unsqueeze 11 (data:T) -> (expanded:T) axes!:I | T=ANY
Unsqueeze 13 (data:T, axes:{i64}) -> (expanded:T) | T=ANY bf16
Unsqueeze 21 (data:T, axes:{i64}) -> (expanded:T) | T=ANY FLOAT8 bf16 u4 i4
Unsqueeze 23 (data:T, axes:{i64}) -> (expanded:T) | T=ANY FLOAT8 bf16 u4 i4 f4e2m1
Unsqueeze 24 (data:T, axes:{i64}) -> (expanded:T) | T=ANY FLOAT8 bf16 u4 i4 f4e2m1 f8e8m0
Unsqueeze 25 (data:T, axes:{i64}) -> (expanded:T) | T=ANY FLOAT8 bf16 u4 i4 u2 i2 f4e2m1 f8e8m0
Upsample 1 (X:T) -> (Y:T) height_scale!:f mode:s width_scale!:f | T=FLOAT i32 i64 bool
Upsample 7 (X:T) -> (Y:T) mode:s scales!:F | T=ANY
Upsample 9 (X:T, scales:{f32}) -> (Y:T) mode:s | T=ANY
Upsample 10 deprecated
Where 9 (condition:B, X:T, Y:T) -> (output:T) | B=bool | T=ANY
Where 16 (condition:B, X:T, Y:T) -> (output:T) | B=bool | T=ANY bf16
Xor 1 (A:T, B:T) -> (C:T1) axis:i broadcast:i | T=bool | T1=bool
Xor 7 (A:T, B:T) -> (C:T1) | T=bool | T1=bool)";

}  // namespace nn::onnx

// Signatures of operators of ai.onnx: reductions. The notation is that of schema.h.
// Written by scripts/update-onnx-signatures.
#include "formats/onnx/spec/schema_tables.h"

namespace nn::onnx {

const char kSchemasReduce[] = R"(
ReduceL1 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceL1 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceL1 13 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT bf16 i32 i64 u32 u64
ReduceL1 18 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT bf16
    i32 i64 u32 u64
ReduceL2 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceL2 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceL2 13 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT bf16 i32 i64 u32 u64
ReduceL2 18 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT bf16
    i32 i64 u32 u64
ReduceLogSum 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceLogSum 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceLogSum 13 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT bf16 i32 i64 u32 u64
ReduceLogSum 18 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT
    bf16 i32 i64 u32 u64
ReduceLogSum 28 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT
    bf16
ReduceLogSumExp 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceLogSumExp 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceLogSumExp 13 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT bf16 i32 i64 u32 u64
ReduceLogSumExp 18 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i |
    T=FLOAT bf16 i32 i64 u32 u64
ReduceLogSumExp 28 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i |
    T=FLOAT bf16
ReduceMax 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceMax 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceMax 12 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i8 i32 i64 u8 u32 u64
ReduceMax 13 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT bf16 i8 i32 i64 u8 u32 u64
ReduceMax 18 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT bf16
    i8 i32 i64 u8 u32 u64
ReduceMax 20 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT bf16
    i8 i32 i64 u8 u32 u64 bool
ReduceMean 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceMean 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceMean 13 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT bf16 i32 i64 u32 u64
ReduceMean 18 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT
    bf16 i32 i64 u32 u64
ReduceMin 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceMin 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceMin 12 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i8 i32 i64 u8 u32 u64
ReduceMin 13 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT bf16 i8 i32 i64 u8 u32 u64
ReduceMin 18 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT bf16
    i8 i32 i64 u8 u32 u64
ReduceMin 20 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT bf16
    i8 i32 i64 u8 u32 u64 bool
ReduceProd 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceProd 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceProd 13 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT bf16 i32 i64 u32 u64
ReduceProd 18 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT
    bf16 i32 i64 u32 u64
ReduceSum 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceSum 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceSum 13 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i | T=FLOAT bf16
    i32 i64 u32 u64
ReduceSumSquare 1 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceSumSquare 11 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT i32 i64 u32 u64
ReduceSumSquare 13 (data:T) -> (reduced:T) axes:I keepdims:i | T=FLOAT bf16 i32 i64 u32 u64
ReduceSumSquare 18 (data:T, axes?:{i64}) -> (reduced:T) keepdims:i noop_with_empty_axes:i |
    T=FLOAT bf16 i32 i64 u32 u64)";

}  // namespace nn::onnx

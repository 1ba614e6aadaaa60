// linear_attention(q, k, v, state, decay, beta): attention whose keys and values are summed up in a
// matrix of each head (ONNX LinearAttention-27). Results are y and the new state.
//
// q [B, T, Hq * D], k [B, T, Hkv * D], v [B, T, Hkv * E], state [B, Hkv, D, E], or zeros without
// it. Hq is a multiple of Hkv; head h of q reads the state of head h / (Hq / Hkv). For each batch
// and head, at t = 0, 1, ..., with S the state [D, E]:
//   S = S * exp(decay)             with decay: [B, T, Hkv], or [B, T, Hkv * D] with one for each
//   row u = beta * (v_t - k_t S)       with beta [B, T, 1 or Hkv]; u = v_t without it S = S + k_t^T
//   u y_t = scale * (q_t S)
// The rule of ONNX follows from the operands: linear without decay and beta, gated with decay,
// delta with beta, gated_delta with both.
//
// Computed in float32; the state is rounded to its type at the end. Products of vectors and S are
// dot products of the arithmetic contract, and S + k^T u is fused.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"

namespace nn {

struct LinearAttentionAttrs {
  int64_t q_heads = 1;
  int64_t kv_heads = 1;
  float scale = 0;  // 0: 1 / sqrt(D)
  static std::span<const AttrField> Fields();
};

}  // namespace nn

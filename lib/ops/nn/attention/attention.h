// Scaled dot-product attention.
//
// attention(q, k, v, mask): q [B, Hq, L, E], k [B, Hkv, S, E], v [B, Hkv, S, Ev]. Hq is a multiple
// of Hkv; head h of q uses head h / (Hq / Hkv) of k and v. For each batch and head,
//   products  (q r) (k r)^T            r = sqrt(scale), in float32
//   capped    softcap * tanh(products / softcap), or the products without a softcap
//   scores    capped + bias            [L, S]
//   weights   softmax(scores)          along S
//   y         weights v                [L, Ev]
// The mask broadcasts to [B, Hq, L, S]. The bias is a mask of the type of q; of a bool mask, 0
// where it is true and -infinity elsewhere. A causal attention adds -infinity where the key is
// after the query (j > i). A row of y is 0 if the bias of all of its keys is -infinity.
//
// The operator is defined by its decomposition into matmul, softmax and elementwise operators
// (OpDef::eval), each of which rounds. Those of f16 and bf16 compute in float32, and only y is
// rounded.
#pragma once

#include <cstdint>
#include <span>

#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/term.h"

namespace nn {

struct AttentionAttrs {
  float scale = 0;    // 0: 1 / sqrt(E)
  float softcap = 0;  // 0: none
  bool is_causal = false;
  static std::span<const AttrField> Fields();
};

// The positions 0, 1, ... along an axis of a value, i64[n].
Term AxisPositions(Value* value, int axis);

// The operators of an attention, on the element type of its operands, which may be any float.
class AttentionParts {
 public:
  struct Operands {
    Value *q, *k, *v, *mask;  // the mask may be null
  };
  enum class Stage : uint8_t { kProducts, kCapped, kScores, kWeights };

  // The operands must be valid for the operator. The softmax is computed in the given type;
  // kUnknown: that of the operands.
  AttentionParts(const Operands& operands, const AttentionAttrs& attrs,
                 DType softmax = DType::kUnknown);

  const Term& y() const { return y_; }
  // A value inside, [B, Hq, L, S]; rows of weights whose bias is -infinity are 0.
  Term At(Stage stage) const;

 private:
  void SetBias(const Operands& operands, const AttentionAttrs& attrs);
  Term Factor(Value* q, float scale) const;
  Term GroupedMask(Value* mask) const;
  Term ZeroWhereMasked(const Term& v) const;

  DType dtype_ = DType::kUnknown;  // a type of floats
  Dims shape_;                     // [B, Hq, L, S]
  // Queries that share a head of k and v have an axis of their own, so that no keys are copied:
  // [B, Hkv, groups, L, S]. 1: there is no such axis.
  int64_t groups_ = 1;
  Term bias_;        // absent: 0
  Term all_masked_;  // [..., L, 1]; absent: no row is
  Term products_, capped_, scores_, weights_, y_;
};

}  // namespace nn

// Shared by the imports of attention operators.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/onnx/import/import.h"
#include "ir/graph.h"

namespace nn::onnx {

// kUnsupported unless the rank of the value is known; kModel unless it is in the range.
Status RequireRanks(const ImportContext& ctx, const Value* v, std::string_view name, int least,
                    int most);

// ---- Heads. The values must have 3 or 4 axes.

// [B, L, heads * E] -> [B, L, heads, E]. `name` is the attribute with the number of heads.
Result<Value*> SplitHeads(ImportContext& ctx, Value* v, int64_t heads, std::string_view name);
// [B, heads, L, E] -> [B, L, heads * E]
Term JoinHeads(Value* v);
// Exchanges the axes of heads and of positions.
Term ExchangeHeads(Term v);
// Past keys or values, input i, followed by the new ones; all have the heads first.
Result<Value*> WithPast(ImportContext& ctx, size_t i, std::string_view name, Term v);
// Emits rotary_embedding with the attribute "interleaved". The result is packed, [B, L, heads * E],
// if `is_packed`; x is [B, L, heads, E] then.
Status EmitRotary(ImportContext& ctx, Terms operands, bool is_packed);

// ---- Masks

// Which keys a query may see, except for a mask.
struct Visibility {
  bool is_causal = false;
  int64_t left = -1, right = -1;  // sizes of a window; -1: no limit
  Value* past = nullptr;          // keys before those of the queries, [B, heads, P, E]
  Term valid;                     // the number of keys, [B]

  // Whether the attribute of the graph's operator says the same: attention is causal, if at all,
  // with the first query at position 0.
  bool is_plain() const;
};

// The mask for a visibility that is not plain: true where a key is visible. The operands have the
// heads first.
Term VisibilityMask(const Visibility& seen, Value* q, Value* k);
// A mask without the keys that are not visible. Either may be absent.
Result<Term> JoinMasks(ImportContext& ctx, Value* mask, Term visible);

}  // namespace nn::onnx

// GroupQueryAttention and SparseAttention of com.microsoft, as ONNX Runtime computes them on the
// CPU.
//
// The cache has P positions; each sequence of the batch has its own number of keys (seqlens_k[b] +
// 1 or key_total_sequence_lengths[b]), the last L of which are new (all of them, and no past, if
// total_sequence_length is L). They follow the past of their own sequence, so those of a batch
// differ in position. The new cache has max(P, total_sequence_length) positions. Behind the keys,
// that of GroupQueryAttention has zeros, and that of SparseAttention is the old one.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/export/quant/linear_quant.h"
#include "formats/onnx/family.h"
#include "formats/onnx/import/heads.h"
#include "ops/array/arrange/gather.h"
#include "ops/array/arrange/pad.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/attention/rotary_embedding.h"
#include "ops/support/term_ops.h"

namespace nn::onnx {
namespace {

// What differs between the two operators.
struct GroupForm {
  bool is_sparse;
  size_t total, lengths, cos, sin;  // inputs
};
constexpr GroupForm kDense = {.is_sparse = false, .total = 6, .lengths = 5, .cos = 7, .sin = 8};
constexpr GroupForm kSparse = {.is_sparse = true, .total = 7, .lengths = 8, .cos = 9, .sin = 10};

class GroupQuery {
 public:
  GroupQuery(ImportContext& ctx, const GroupForm& form) : ctx_(ctx), form_(form) {}

  Status Import() {
    if (!form_.is_sparse) {
      NN_RETURN_IF_ERROR(CheckForm());
    }
    NN_RETURN_IF_ERROR(ReadOperands());
    NN_RETURN_IF_ERROR(ReadLengths());
    if (ctx_.Int("do_rotary", 0) != 0) {
      NN_RETURN_IF_ERROR(Rotate());
    }
    for (const auto& [i, name, v] :
         {std::tuple(3, "past_key", &k_), std::tuple(4, "past_value", &v_)}) {
      NN_ASSIGN(*v, Cached(static_cast<size_t>(i), name, ExchangeHeads(*v)));
    }
    NN_ASSIGN(q_, ctx_.Build(ExchangeHeads(q_)));
    ctx_.SetOutput(1, k_);
    ctx_.SetOutput(2, v_);
    NN_ASSIGN(Term mask, Visible());
    if (form_.is_sparse) {
      NN_ASSIGN(const Term blocks, VisibleBlocks());
      mask = And(mask, blocks);
    } else {
      NN_ASSIGN(mask, JoinMasks(ctx_, ctx_.input(10), mask));
      NN_ASSIGN(mask, WithSink(mask));
    }
    AttentionAttrs attrs{.scale = ctx_.Float("scale", 0), .softcap = ctx_.Float("softcap", 0)};
    NN_ASSIGN(Value* const y, ctx_.Add("attention", {q_, k_, v_, mask}, attrs));
    return ctx_.EmitTerm(JoinHeads(y));
  }

 private:
  Status CheckForm() {
    for (const std::string_view name : {"k_quant_type", "v_quant_type"})
      if (const std::string type = ctx_.String(name, "NONE"); type != "NONE")
        return UnsupportedError("GroupQueryAttention with {} = {}", name, type);
    for (const std::string_view name : {"kv_cache_bit_width", "qk_output"})
      if (const int64_t v = ctx_.Int(name, 0); v != 0)
        return UnsupportedError("GroupQueryAttention with {} = {}", name, v);
    if (ctx_.WantsOutput(3)) return UnsupportedError("GroupQueryAttention with output_qk");
    for (const std::string_view name : {"scale", "softcap"})
      if (const float v = ctx_.Float(name, 0); !(v >= 0) || !std::isfinite(v))
        return UnsupportedError("GroupQueryAttention with {} = {}", name, v);
    return {};
  }

  // Sets q_, k_ and v_ to [B, L, heads, E].
  Status ReadOperands() {
    NN_ASSIGN(const int64_t q_heads, ctx_.RequiredInt("num_heads"));
    heads_ = q_heads;
    NN_ASSIGN(const int64_t kv_heads, ctx_.RequiredInt("kv_num_heads"));
    if (q_heads <= 0 || kv_heads <= 0 || q_heads % kv_heads != 0)
      return ModelError("num_heads is {} and kv_num_heads {}", q_heads, kv_heads);
    q_ = ctx_.input(0);
    NN_RETURN_IF_ERROR(RequireRanks(ctx_, q_, "query", 3, 3));
    k_ = ctx_.input(1);
    v_ = ctx_.input(2);
    if ((k_ == nullptr) != (v_ == nullptr))
      return ModelError("key and value must both be present or absent");
    if (k_ == nullptr) {
      const int64_t all = q_heads + 2 * kv_heads;
      NN_ASSIGN(Value* const packed, SplitHeads(ctx_, q_, all, "num_heads + 2 kv_num_heads"));
      int64_t start = 0;
      for (const auto& [v, heads] :
           {std::pair(&q_, q_heads), std::pair(&k_, kv_heads), std::pair(&v_, kv_heads)}) {
        NN_ASSIGN(*v, ctx_.Build(Slice(packed, 2, start, start + heads)));
        start += heads;
      }
      return {};
    }
    NN_RETURN_IF_ERROR(RequireRanks(ctx_, k_, "key", 3, 3));
    NN_RETURN_IF_ERROR(RequireRanks(ctx_, v_, "value", 3, 3));
    NN_ASSIGN(q_, SplitHeads(ctx_, q_, q_heads, "num_heads"));
    NN_ASSIGN(k_, SplitHeads(ctx_, k_, kv_heads, "kv_num_heads"));
    NN_ASSIGN(v_, SplitHeads(ctx_, v_, kv_heads, "kv_num_heads"));
    return {};
  }

  // Sets count_ (L), total_ and past_.
  Status ReadLengths() {
    NN_ASSIGN(Value* const lengths, ctx_.Required(form_.lengths));
    NN_ASSIGN(Value* const total, ctx_.Required(form_.total));
    const Term listed = Reshape(As(lengths, DType::kI64), {q_->type().dim(0)});
    total_ = Reshape(As(total, DType::kI64), {Dim(1)});
    count_ = SizeOfAxis(q_, 1);
    const Term keys = form_.is_sparse ? listed : listed + 1;
    past_ = Select(Equal(total_, count_), 0, keys - count_);
    return {};
  }

  Status Rotate() {
    Value* const given = form_.is_sparse ? nullptr : ctx_.input(9);
    Term at = given;
    if (given == nullptr) {
      const Term own = AxisPositions(q_, 1);
      at = ExpandDims(past_, {1}) + own;
    } else {
      NN_RETURN_IF_ERROR(RequireRanks(ctx_, given, "position_ids", 2, 2));
    }
    std::vector<Term> angles;
    for (const auto& [i, name] :
         {std::pair(form_.cos, "cos_cache"), std::pair(form_.sin, "sin_cache")}) {
      NN_ASSIGN(Value* const table, ctx_.Required(i));
      NN_RETURN_IF_ERROR(RequireRanks(ctx_, table, name, 2, 2));
      angles.push_back(ExpandDims(Gather(table, at, 0), {2}));
    }
    const RotaryEmbeddingAttrs attrs{ctx_.Int("rotary_interleaved", 0) != 0};
    for (Value** v : {&q_, &k_}) {
      NN_ASSIGN(*v, ctx_.Add("rotary_embedding", {*v, angles[0], angles[1]}, attrs));
    }
    return {};
  }

  // A value with one more position, of zeros, at the end of axis 2.
  static Term WithZero(Term v) {
    return Apply("pad", {std::move(v)}, PadAttrs{.pads = {0, 0, 0, 0, 0, 0, 1, 0}});
  }

  // The new cache, [B, heads, positions, E], of the old one, input i, and new keys or values.
  Result<Value*> Cached(size_t i, std::string_view name, const Term& v) {
    Value* const past = ctx_.input(i);
    if (past == nullptr && form_.is_sparse) return ModelError("{} is missing", name);
    Term old = 0, positions = total_, all = WithZero(v);
    if (past != nullptr) {
      NN_RETURN_IF_ERROR(RequireRanks(ctx_, past, name, 4, 4));
      old = SizeOfAxis(past, 2);
      positions = Maximum(total_, old);
      all = Concat({past, all}, 2);
    }
    const Term at = Apply("range", {0, Reshape(positions, {}), 1});
    // Each position comes from the past, the new values, or what is after them.
    const Term first = ExpandDims(past_, {1});
    const Term moved = at + (old - first);
    const Term is_new = Less(at, first + count_);
    const Term source = Select(is_new, moved, form_.is_sparse ? at : old + count_);
    return ctx_.Add("gather", {all, Select(Less(at, first), at, source)}, GatherAttrs{2, 1});
  }

  // Which keys are at or before each query, and inside its window: [B, 1, L, keys]. A window counts
  // the query itself, as in ONNX Runtime since pull request 25927; earlier releases had one key
  // more.
  Result<Term> Visible() {
    const Term own = AxisPositions(q_, 2);
    const Term key = AxisPositions(k_, 2);
    const Term query = ExpandDims(own, {1}) + ExpandDims(past_, {1, 2, 3});
    const Term past = LessEqual(key, query);
    const int64_t window = ctx_.Int("local_window_size", -1);
    return window <= 0 ? past : And(past, LessEqual(query - (window - 1), key));
  }

  // The table [layouts, blocks, blocks] of the blocks of keys that the queries of a block see. Row
  // r of a layout lists its blocks, or sees all if it lists r + 1.
  Result<Tensor> BlockTable() {
    Value *rows = nullptr, *columns = nullptr;
    for (const auto& [i, v] : {std::pair(5, &rows), std::pair(6, &columns)}) {
      NN_ASSIGN(*v, ctx_.Required(static_cast<size_t>(i)));
      NN_ASSIGN(*v, Folded(ctx_, *v));
      if (!(*v)->is_constant())
        return UnsupportedError("SparseAttention whose blocks are not constant");
    }
    const auto& r = rows->constant().dims();
    const auto& c = columns->constant().dims();
    if (r.size() != 2 || c.size() != 2 || r[0] != c[0] || r[0] < 1 || r[1] < 2 ||
        heads_ % r[0] != 0)
      return ModelError("block_row_indices are {} and block_col_indices {} for {} heads",
                        rows->type().ToString(), columns->type().ToString(), heads_);
    const int64_t blocks = r[1] - 1;
    const std::vector<int64_t> ends = rows->constant().ToInts();
    const std::vector<int64_t> list = columns->constant().ToInts();
    NN_ASSIGN(TensorBuilder table, TensorBuilder::Create(DType::kBool, {r[0], blocks, blocks}));
    int64_t at = 0;
    for (int64_t layout = 0; layout < r[0]; ++layout) {
      for (int64_t row = 0; row < blocks; ++row, at += blocks) {
        const int64_t begin = ends[static_cast<size_t>(layout * r[1] + row)];
        const int64_t end = ends[static_cast<size_t>(layout * r[1] + row + 1)];
        if (begin < 0 || begin > end || end > c[1])
          return ModelError("row {} of block layout {} has the columns {} to {} of {}", row, layout,
                            begin, end, c[1]);
        const bool all = end - begin == row + 1;
        bool sees = all;
        for (int64_t k = 0; k < blocks; ++k) table.SetInt(at + k, all ? 1 : 0);
        for (int64_t k = begin; k < end; ++k) {
          const int64_t column = list[static_cast<size_t>(layout * c[1] + k)];
          if (column < 0 || column >= blocks)
            return ModelError("block {} of layout {} is out of range", column, layout);
          table.SetInt(at + column, 1);
          sees |= column <= row;
        }
        if (!sees)
          return UnsupportedError("SparseAttention whose row {} of block layout {} is empty", row,
                                  layout);
      }
    }
    return table.Finish();
  }

  // The same for each query and key: [B, heads or 1, L, keys].
  Result<Term> VisibleBlocks() {
    NN_ASSIGN(const int64_t size, ctx_.RequiredInt("sparse_block_size"));
    if (size < 1) return ModelError("sparse_block_size is {}", size);
    NN_ASSIGN(const Tensor table, BlockTable());
    const int64_t layouts = table.dim(0), blocks = table.dim(1);
    const Term own = AxisPositions(q_, 2);
    const Term keys = AxisPositions(k_, 2);
    const Term query = (own + ExpandDims(past_, {1})) / size;
    // The cache may have positions after the last block.
    const Term key = Minimum(keys / size, blocks - 1);
    const Term sees = Gather(Transpose(Gather(table, query, 1), {1, 0, 2, 3}), key, 3);
    if (layouts == 1 || layouts == heads_) return sees;
    std::vector<int64_t> of_head;
    for (int64_t h = 0; h < heads_; ++h) of_head.push_back(h % layouts);
    return Gather(sees, Vector(of_head), 1);
  }

  // With head_sink, or smooth_softmax (a sink of 0), a softmax has one more score, whose weight is
  // dropped: that of a key and value of zeros.
  Result<Term> WithSink(const Term& given) {
    Value* const sink = ctx_.input(11);
    if (sink == nullptr && ctx_.Int("smooth_softmax", 0) == 0) return given;
    NN_ASSIGN(Value* const zero, ctx_.Number(q_->dtype(), 0));
    Term score = zero;
    if (sink != nullptr) {
      NN_RETURN_IF_ERROR(RequireRanks(ctx_, sink, "head_sink", 1, 1));
      score = ExpandDims(sink, {1, 2});
    }
    NN_ASSIGN(Value* const built, ctx_.Build(given));
    Term mask = built;
    if (built->dtype() == DType::kBool) {
      NN_ASSIGN(mask, JoinMasks(ctx_, zero, built));
    }
    const Term keys = SizeOfAxis(k_, 2);
    NN_ASSIGN(k_, ctx_.Build(WithZero(k_)));
    NN_ASSIGN(v_, ctx_.Build(WithZero(v_)));
    const Term at = AxisPositions(k_, 2);
    return Apply("pad", {mask}, PadAttrs{.pads = {0, 0, 0, 0, 0, 0, 0, 1}}) +
           Select(Equal(at, keys), score, zero);
  }

  ImportContext& ctx_;
  const GroupForm& form_;
  int64_t heads_ = 0;  // of queries
  Value *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;
  Term count_;  // the number of queries, [1]
  Term total_;  // total_sequence_length, [1]
  Term past_;   // the number of keys before the new ones, [B]
};

template <const GroupForm& form>
Status ImportGroupQuery(ImportContext& ctx) {
  return GroupQuery(ctx, form).Import();
}

constexpr ImportRow kContribGqaImports[] = {
    {.op = "GroupQueryAttention",
     .import = ImportGroupQuery<kDense>,
     .inputs = 1,
     .domain = kMicrosoft},
    {.op = "SparseAttention",
     .import = ImportGroupQuery<kSparse>,
     .inputs = 1,
     .domain = kMicrosoft},
};

}  // namespace

Family ContribGqaFamily() {
  return {.imports = kContribGqaImports};
}

}  // namespace nn::onnx

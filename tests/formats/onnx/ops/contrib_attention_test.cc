#include <doctest/doctest.h>

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/onnx/ops/contrib.h"

// Attention operators of com.microsoft. All scores are 0, so a result is the mean of the values
// that a query sees.
namespace nn::test::onnx_contrib_attention_test {
namespace {

using namespace onnx_contrib;

TEST_CASE("Attention and QAttention") {
  // Queries are 0; keys and values are x, 3 and 9.
  const Operand x{{1, 2, 1}, {3, 9}}, weights{{1, 3}, {0, 1, 1}}, bias{{3}, {0, 0, 0}};
  const Operand past{{2, 1, 1, 1, 1}, {0, 30}};
  for (const Row& row : std::vector<Row>{
           {"Attention", "num_heads=1", {x, weights}, {{6, 6}}},
           {"Attention", "num_heads=1 unidirectional=1", {x, weights, bias}, {{3, 6}}},
           {"Attention", "num_heads=1", {x, weights, bias, {{1}, {1}, kI32}}, {{3, 3}}},
           {"Attention", "num_heads=1", {x, weights, bias, {{2}, {2, 1}, kI32}}, {{9, 9}}},
           {"Attention", "num_heads=1", {x, weights, bias, {{1, 2}, {0, 1}, kI32}}, {{9, 9}}},
           {"Attention",
            "num_heads=1",
            {x, weights, bias, {{1, 2, 2}, {0, 1, 1, 1}, kI32}},
            {{9, 6}}},
           {"Attention",
            "num_heads=1",
            {x, weights, bias, kAbsent, past},
            {{14, 14}, {0, 3, 9, 30, 3, 9}}},
           {"Attention",
            "num_heads=1 unidirectional=1",
            {x, weights, bias, kAbsent, past},
            {{16.5, 14}}},
           {"Attention",
            "num_heads=1 qkv_hidden_sizes=[1,1,2] scale=2.0",
            {x, {{1, 4}, {0, 1, 1, 2}}},
            {{6, 12, 6, 12}}},
           {"QAttention",
            "num_heads=1 unidirectional=1",
            {{{1, 2, 1}, {5, 11}, kU8},
             Constant(kI8, {1, 3}, {0, 1, 1}),
             bias,
             Constant(kF32, {}, {0.5}),
             Constant(kF32, {3}, {1, 1, 4}),
             kAbsent,
             Constant(kU8, {}, {2})},
            {{6, 12}}},
           {"MultiHeadAttention", "num_heads=1", {{{1, 2, 1, 3, 1}, {0, 1, 3, 0, 2, 9}}}, {{6, 6}}},
           {"MultiHeadAttention",
            "num_heads=1",
            {{{1, 1, 1}, {0}}, {{1, 2, 1, 2, 1}, {1, 3, 2, 9}}},
            {{6}}},
       })
    Check(row);
  CHECK(WhyNot({"Attention", "num_heads=1 do_rotary=1", {x, weights}, {{0}}}) ==
        "Attention with do_rotary = 1");
  CHECK(WhyNot({"Attention", "num_heads=1", {x, weights, bias, {{3}, {0, 0, 0}, kI32}}, {{0}}})
            .find("a vector must have the size of the batch, or twice that") != std::string::npos);
}

TEST_CASE("GroupQueryAttention: the cache") {
  const std::string_view attrs = "num_heads=2 kv_num_heads=1";
  const Operand q{{2, 1, 2}, {0, 0, 0, 0}}, k{{2, 1, 1}, {1, 2}}, v{{2, 1, 1}, {12, 24}};
  const Operand past_k{{2, 1, 2, 1}, {5, 6, 7, 8}}, past_v{{2, 1, 2, 1}, {3, 6, 9, 15}};
  const Operand total{{1}, {3}, kI32};
  // Sequences of 3 and of 2 keys: the new key of the second replaces its last one in the past.
  const Operand last{{2}, {2, 1}, kI32};
  const Numbers keys = {5, 6, 1, 7, 2, 0}, values = {3, 6, 12, 9, 24, 0};
  const Operand longer_k{{2, 1, 4, 1}, {5, 6, 0, 0, 7, 8, 0, 0}};
  const Operand longer_v{{2, 1, 4, 1}, {3, 6, 0, 0, 9, 15, 0, 0}};
  for (const Row& row : std::vector<Row>{
           {"GroupQueryAttention",
            attrs,
            {q, k, v, past_k, past_v, last, total},
            {{7, 7, 16.5, 16.5}, keys, values}},
           {"GroupQueryAttention",
            attrs,
            {q, k, v, past_k, past_v, last, Constant(kI32, {}, {3})},
            {{7, 7, 16.5, 16.5}, keys, values}},
           // A cache with room for more.
           {"GroupQueryAttention",
            attrs,
            {q, k, v, longer_k, longer_v, last, total},
            {{7, 7, 16.5, 16.5}, {5, 6, 1, 0, 7, 2, 0, 0}, {3, 6, 12, 0, 9, 24, 0, 0}}},
           // The first L keys of a prompt: a past is ignored.
           {"GroupQueryAttention",
            attrs,
            {{{1, 2, 4}, {0, 0, 1, 3, 0, 0, 2, 9}},
             kAbsent,
             kAbsent,
             kAbsent,
             kAbsent,
             {{1}, {1}, kI32},
             {{1}, {2}, kI32}},
            {{3, 3, 6, 6}, {1, 2}, {3, 9}}},
           {"GroupQueryAttention",
            attrs,
            {{{1, 1, 2}, {0, 0}},
             {{1, 1, 1}, {1}},
             {{1, 1, 1}, {3}},
             {{1, 1, 2, 1}, {7, 7}},
             {{1, 1, 2, 1}, {7, 7}},
             {{1}, {0}, kI32},
             {{1}, {1}, kI32}},
            {{3, 3}, {1, 0}, {3, 0}}},
           // One more score of 0, or of log(3) and -infinity.
           {"GroupQueryAttention",
            "num_heads=2 kv_num_heads=1 smooth_softmax=1",
            {q, k, v, past_k, past_v, last, total},
            {{5.25, 5.25, 11, 11}}},
           {"GroupQueryAttention",
            attrs,
            {q, k, v, past_k, past_v, last, total, kAbsent, kAbsent, kAbsent, kAbsent,
             Constant(kF32, {2}, {std::log(3), -1000})},
            {{3.5, 7, 6.6, 16.5}}},
           // A window of the query's own key, and of the one before it.
           {"GroupQueryAttention",
            "num_heads=2 kv_num_heads=1 local_window_size=1",
            {q, k, v, past_k, past_v, last, total},
            {{12, 12, 24, 24}, keys, values}},
           {"GroupQueryAttention",
            "num_heads=2 kv_num_heads=1 local_window_size=2",
            {q, k, v, past_k, past_v, last, total},
            {{9, 9, 16.5, 16.5}, keys, values}},
           // A bias of log(4) for the first of the keys.
           {"GroupQueryAttention",
            attrs,
            {q, k, v, past_k, past_v, last, total, kAbsent, kAbsent, kAbsent,
             Constant(kF32, {1, 1, 1, 3}, {std::log(4), 0, 0})},
            {{5, 5, 12, 12}}},
       })
    Check(row);
}

TEST_CASE("GroupQueryAttention: rotation, and what is refused") {
  // Position 0 is not rotated, position 1 by a right angle.
  const Operand cos = Constant(kF32, {2, 1}, {1, 0}), sin = Constant(kF32, {2, 1}, {0, 1});
  const auto row = [&](std::string_view attrs, const Operand& ids, Numbers keys) {
    return Row{"GroupQueryAttention",
               attrs,
               {{{1, 1, 2}, {0, 0}},
                {{1, 1, 2}, {3, 4}},
                {{1, 1, 2}, {8, 16}},
                {{1, 1, 1, 2}, {5, 6}},
                {{1, 1, 1, 2}, {2, 4}},
                {{1}, {1}, kI32},
                Constant(kI32, {}, {2}),
                cos,
                sin,
                ids},
               {{5, 10}, std::move(keys)}};
  };
  const std::string_view rotated = "num_heads=1 kv_num_heads=1 do_rotary=1";
  Check(row(rotated, kAbsent, {5, 6, -4, 3}));
  Check(row(rotated, {{1, 1}, {0}, kI64}, {5, 6, 3, 4}));
  Check(row("num_heads=1 kv_num_heads=1 do_rotary=1 rotary_interleaved=1 local_window_size=2",
            kAbsent, {5, 6, -4, 3}));
  for (const auto& [attrs, reason] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"num_heads=1 kv_num_heads=1 k_quant_type=PER_TENSOR",
            "GroupQueryAttention with k_quant_type = PER_TENSOR"},
           {"num_heads=3 kv_num_heads=2", "num_heads is 3 and kv_num_heads 2"},
       })
    CHECK(WhyNot(row(attrs, kAbsent, {0})) == reason);
}

TEST_CASE("SparseAttention") {
  // Blocks of 1: layout 0 sees all blocks before, layout 1 only the own one and block 0.
  const Operand rows = Constant(kI32, {2, 5}, {0, 1, 3, 6, 10, 0, 1, 3, 5, 7});
  const Operand columns =
      Constant(kI32, {2, 10}, {0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0, 0, 1, 0, 2, 0, 3, 0, 0, 0});
  const std::string_view attrs = "num_heads=2 kv_num_heads=1 sparse_block_size=1";
  const Operand q{{1, 1, 2}, {0, 0}}, k{{1, 1, 1}, {1}}, v{{1, 1, 1}, {9}};
  const Operand past_k{{1, 1, 4, 1}, {5, 6, 7, 8}}, past_v{{1, 1, 4, 1}, {3, 6, 100, 100}};
  const auto row = [&](std::string_view with, const Operand& blocks) {
    return Row{
        "SparseAttention",
        with,
        {q, k, v, past_k, past_v, blocks, columns, Constant(kI32, {1}, {3}), {{1}, {3}, kI32}},
        {{6, 6}, {5, 6, 1, 8}, {3, 6, 9, 100}}};
  };
  Check(row(attrs, rows));
  // One block of 2 holds the keys 0 and 1, and the next one the new key.
  Row blocks = row("num_heads=2 kv_num_heads=1 sparse_block_size=2",
                   Constant(kI32, {2, 3}, {0, 1, 2, 0, 1, 3}));
  blocks.inputs[6] = Constant(kI32, {2, 3}, {0, 1, 0, 0, 0, 1});
  blocks.outputs[0] = {9, 6};
  Check(blocks);
  // A prompt: the past is ignored, and what is behind the keys stays.
  Check({"SparseAttention",
         attrs,
         {{{1, 3, 4}, {0, 0, 1, 3, 0, 0, 2, 6, 0, 0, 3, 12}},
          kAbsent,
          kAbsent,
          past_k,
          past_v,
          rows,
          columns,
          {{1}, {3}, kI32},
          {{1}, {3}, kI32}},
         {{3, 3, 4.5, 4.5, 7, 7.5}, {1, 2, 3, 8}, {3, 6, 12, 100}}});
  CHECK(WhyNot(row("num_heads=3 kv_num_heads=1 sparse_block_size=1", rows)) ==
        "2 elements are not divisible by num_heads = 3");
  CHECK(WhyNot(row(attrs, {{2, 5}, {0, 1, 3, 6, 10, 0, 1, 3, 5, 7}, kI32})) ==
        "SparseAttention whose blocks are not constant");
  CHECK(WhyNot(row(attrs, Constant(kI32, {2, 5}, {0, 1, 1, 3, 6, 0, 1, 3, 5, 7}))) ==
        "SparseAttention whose row 1 of block layout 0 is empty");
}

}  // namespace
}  // namespace nn::test::onnx_contrib_attention_test

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/ops/contrib.h"

// Operators of com.microsoft, and those that ONNX Runtime has in the domain of ONNX. The expected
// numbers are from the definitions, computed with NumPy where they are not integers.
namespace nn::test::onnx_contrib_test {
namespace {

using namespace onnx_contrib;

// ---- Weights in blocks

TEST_CASE("MatMulNBits") {
  const Operand a{{1, 4}, {1, 2, 3, 4}};
  const Operand scales = Constant(kF32, {1, 2}, {0.5, 2});
  // 1, 2 and 3, 4, the first in the lower bits.
  const Operand nibbles = Constant(kU8, {1, 2, 1}, {0x21, 0x43});
  const Operand zeros = Constant(kU8, {1}, {0x31});
  for (const Row& row : std::vector<Row>{
           {"MatMulNBits", "K=4 N=1 bits=4 block_size=2", {a, nibbles, scales}, {{-71.5}}},
           {"MatMulNBits", "K=4 N=1 block_size=2", {a, nibbles, scales, zeros}, {{9}}},
           {"MatMulNBits",
            "K=4 N=1 block_size=2 accuracy_level=4",
            {a, nibbles, scales, zeros, Constant(kI32, {4}, {1, 0, 1, 0}),
             Constant(kF32, {1}, {10})},
            {{13}}},
           {"MatMulNBits",
            "K=4 N=1 bits=8 block_size=2",
            {a, Constant(kU8, {1, 2, 2}, {1, 2, 3, 4}), scales},
            {{-1931.5}}},
           {"MatMulNBits",
            "K=4 N=1 bits=2 block_size=4",
            {a, Constant(kU8, {1, 1, 1}, {0xE4}), Constant(kF32, {1}, {0.5})},
            {{0}}},
           {"MatMulNBits",
            "K=4 N=1 bits=2 block_size=4",
            {a, Constant(kU8, {1, 1, 1}, {0xE4}), Constant(kF32, {1}, {0.5}),
             Constant(kF32, {1}, {1})},
            {{5}}},
           // A block may be longer than the rest of a row.
           {"MatMulNBits",
            "K=3 N=2 block_size=2",
            {{{1, 3}, {1, 1, 1}},
             Constant(kU8, {2, 2, 1}, {0x98, 0xFA, 0x88, 0xFC}),
             Constant(kF32, {2, 2}, {1, 10, 1, 100})},
            {{21, 400}}},
       })
    Check(row);
  const auto refused = [&](std::string_view attrs, const Operand& b) {
    return WhyNot({"MatMulNBits", attrs, {a, b, scales}, {{0}}});
  };
  CHECK(refused("K=4 N=1 bits=3 block_size=8", nibbles) ==
        "MatMulNBits of 3 bits; 2, 4 and 8 are supported");
  CHECK(refused("K=8 N=1 block_size=4", nibbles) == "B is u8[1, 2, 1]; must have shape [1, 2, 2]");
  CHECK(refused("K=4 N=1 block_size=2", {{1, 2, 1}, {1, 1}, kU8}) ==
        "MatMulNBits whose B is not constant");
  const auto with = [&](const Operand& b, const Operand& scale, const Operand& zero) {
    return WhyNot({"MatMulNBits", "K=4 N=1 block_size=2", {a, b, scale, zero}, {{0}}});
  };
  CHECK(with(nibbles, scales, zeros).empty());
  CHECK(with(Constant(kU8, {2, 1, 1}, {0x21, 0x43}), scales, zeros) ==
        "B is u8[2, 1, 1]; must have shape [1, 2, 1]");
  CHECK(with(Constant(kU8, {1, 2}, {0x21, 0x43}), scales, zeros) ==
        "B is u8[1, 2]; must have shape [1, 2, 1]");
  CHECK(with(nibbles, Constant(kF32, {2, 1}, {0.5, 2}), zeros) ==
        "scales is f32[2, 1]; must have shape [1, 2] or [2]");
  CHECK(with(nibbles, scales, Constant(kU8, {2}, {0x31, 0})) ==
        "zero_points is u8[2]; must have shape [1, 1] or [1]");
  CHECK(with(nibbles, scales, Constant(kF32, {1, 1}, {3})) ==
        "zero_points is f32[1, 1]; must have shape [1, 2] or [2]");
}

// Large enough that nnrun keeps the integers. All sums are exact.
TEST_CASE("MatMulNBits and DequantizeLinear of large weights") {
  constexpr int kDepth = 290, kColumns = 72, kBlock = 32, kBlocks = 10;
  const auto level = [](int n, int k) { return (n * 7 + k * 3 + n * k) % 16; };
  const auto scale = [](int n, int block) { return (n % 5 + 1) / double(1 << (block % 4)); };
  Numbers packed, scales, ones(kDepth, 1), sums, unpacked, dequantized;
  for (int n = 0; n < kColumns; ++n) {
    double sum = 0;
    for (int k = 0; k < kBlocks * kBlock; k += 2)
      packed.push_back(level(n, k) + 16 * level(n, k + 1));
    for (int b = 0; b < kBlocks; ++b) scales.push_back(scale(n, b));
    for (int k = 0; k < kDepth; ++k) {
      unpacked.push_back(level(n, k) - 8);
      dequantized.push_back((level(n, k) - 8) * scale(n, k / kBlock));
      sum += dequantized.back();
    }
    sums.push_back(sum);
  }
  Check({"MatMulNBits",
         "K=290 N=72 bits=4 block_size=32",
         {{{1, kDepth}, ones},
          Constant(kU8, {kColumns, kBlocks, kBlock / 2}, packed),
          Constant(kF32, {kColumns, kBlocks}, scales)},
         {sums}});
  Check({"DequantizeLinear",
         "axis=1 block_size=32",
         {Constant(kI8, {kColumns, kDepth}, unpacked), Constant(kF32, {kColumns, kBlocks}, scales)},
         {dequantized},
         ""});
}

TEST_CASE("GatherBlockQuantized") {
  // Rows 0 .. 15 and 15 .. 0.
  Numbers bytes, nibbles;
  for (int i = 0; i < 16; ++i) bytes.push_back(i);
  for (int i = 0; i < 16; ++i) bytes.push_back(15 - i);
  for (size_t i = 0; i < bytes.size(); i += 2) nibbles.push_back(bytes[i] + 16 * bytes[i + 1]);
  const Operand scales = Constant(kF32, {2, 1}, {1, 2});
  const Operand index{{1}, {1}, kI64};
  const auto second = [&](double zero) {
    Numbers y;
    for (int i = 0; i < 16; ++i) y.push_back(2 * (15 - i - zero));
    return y;
  };
  const std::string_view attrs = "block_size=16 bits=4";
  Check({"GatherBlockQuantized",
         attrs,
         {Constant(kU8, {2, 8}, nibbles), index, scales},
         {second(8)}});
  Check({"GatherBlockQuantized",
         attrs,
         {Constant(kU8, {2, 8}, nibbles), index, scales, Constant(kU8, {2, 1}, {3, 5})},
         {second(5)}});
  Check({"GatherBlockQuantized",
         "block_size=16 bits=8",
         {Constant(kU8, {2, 16}, bytes), index, scales},
         {second(128)}});
  CHECK(WhyNot({"GatherBlockQuantized",
                "block_size=16 gather_axis=1",
                {Constant(kU8, {2, 8}, nibbles), index, scales},
                {{0}}}) == "GatherBlockQuantized along the axis of its blocks");
}

// ---- Products

TEST_CASE("FusedMatMul, FusedGemm, FusedConv") {
  const Operand a{{1, 2, 2}, {1, 2, 3, 4}}, b{{1, 2, 2}, {1, 0, 2, 1}};
  const Operand m{{2, 2}, {1, 2, 3, 4}}, n{{2, 2}, {1, 0, 2, -1}};
  // [[1, 2], [3, 4]] and [[1, 0], [2, -1]] give [[5, -2], [11, -4]].
  const Operand x{{1, 1, 1, 2}, {1, -2}}, w = Constant(kF32, {1, 1, 1, 1}, {3});
  for (const Row& row : std::vector<Row>{
           {"FusedMatMul", "alpha=0.5", {a, b}, {{2.5, 1, 5.5, 2}}},
           {"FusedMatMul", "transA=1", {a, b}, {{7, 3, 10, 4}}},
           {"TransposeMatMul", "transB=1", {a, b}, {{1, 4, 3, 10}}},
           // Axis 0 of a [2, 3, 1] is that of the rows.
           {"FusedMatMul",
            "transBatchA=1",
            {{{2, 3, 1}, {1, 2, 3, 4, 5, 6}}, {{3, 1, 1}, {1, 10, 100}}},
            {{1, 4, 20, 50, 300, 600}}},
           {"FusedGemm",
            "activation=LeakyRelu activation_alpha=0.5",
            {m, n, {{2}, {0, 1}}},
            {{5, -0.5, 11, -1.5}}},
           {"FusedGemm", "activation=Relu", {m, n}, {{5, 0, 11, 0}}},
           {"FusedConv", "activation=Relu", {x, w}, {{3, 0}}},
           // 3, 0, -6 without the pads: a stride of 2.
           {"ConvTransposeWithDynamicPads",
            "strides=[1,2]",
            {x, w, Constant(kI64, {4}, {0, 0, 0, 2})},
            {{3}}},
           {"FusedConv",
            "activation=Clip activation_params=[-4.0,3.5]",
            {x, w, {{1}, {1}}, {{1, 1, 1, 2}, {0, 1}}},
            {{3.5, -4}}},
           // The filter is [O, X, Y, I]: the weights of the channels of a position are adjacent.
           {"NhwcConv",
            "kernel_shape=[1,2]",
            {{{1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}},
             Constant(kF32, {1, 1, 2, 2}, {1, 10, 100, 1000}),
             Constant(kF32, {1}, {0.5})},
            {{4321.5, 6543.5}}},
           {"NhwcConv",
            "group=2 pads=[0,1,0,1] strides=[1,2]",
            {{{1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}}, {{2, 1, 3, 1}, {1, 10, 100, 1, 2, 3}}},
            {{310, 16, 53, 16}}},
           {"NhwcFusedConv",
            "activation=Relu",
            {{{1, 1, 1, 2}, {1, 2}}, Constant(kF32, {1, 2, 1, 1}, {3, 4})},
            {{11}}},
       })
    Check(row);
  CHECK(WhyNot({"FusedGemm", "activation=Selu", {m, n}, {{0}}}) ==
        "FusedGemm with the activation \"Selu\"");
  CHECK(WhyNot({"FusedGemm", "activation=LeakyRelu", {m, n}, {{0}}}) ==
        "the activation LeakyRelu has 0 parameters; 1 are needed");
}

// ---- Elements

TEST_CASE("activations with a bias") {
  const Operand x{{1, 2}, {1, 2}}, bias{{2}, {0, 1}}, sum{{1, 2}, {1, 3}};
  const Numbers exact = {0.8413447460685429, 2.99595030590511};
  const Numbers tanh = {0.8411919906082768, 2.996362607918227};
  for (const Row& row : std::vector<Row>{
           {"BiasGelu", "", {x, bias}, {exact}},
           {"FastGelu", "", {x, bias}, {tanh}},
           {"FastGelu", "", {sum}, {tanh}},
           {"Gelu", "", {sum}, {exact}},
           {"QuickGelu", "", {sum}, {{0.8457957659328212, 2.981928690292214}}},
           {"QuickGelu", "alpha=2.0", {sum}, {{0.8807970779778823, 2.992582130530096}}},
           {"BiasAdd", "", {x, bias, sum}, {{2, 6}}},
           {"BiasSplitGelu", "", {x, bias}, {{2.99595030590511}}},
           {"ExpandDims", "", {x, Constant(kI32, {}, {-1})}, {{1, 2}}},
           {"Trilu", "upper=0", {{{2, 2}, {1, 2, 3, 4}}}, {{1, 0, 3, 4}}},
           {"Unique", "", {{{5}, {2, 1, 1, 3, 2}}}, {{2, 1, 3}, {0, 1, 1, 2, 0}, {2, 2, 1}}},
           {"BiasSoftmax",
            "axis=1 is_inner_broadcast=1",
            {{{1, 2, 2}, {1, 2, 3, 4}}, {{1, 1, 2}, {0, -1}}},
            {{0.0596014611, 0.0596014611, 0.4403985389, 0.4403985389}}},
           {"BiasSoftmax",
            "axis=2 is_inner_broadcast=1",
            {{{1, 1, 2}, {1, 2}}, {{1, 1, 2}, {0, -1}}},
            {{0.5, 0.5}}},
           {"NhwcMaxPool", "kernel_shape=[1,2]", {{{1, 1, 2, 2}, {1, 5, 3, 4}, kI8}}, {{3, 5}}},
           {"GridSample", "", {{{1, 1, 1, 2}, {2, 4}}, {{1, 1, 1, 2}, {0, 0}}}, {{3}}},
       })
    Check(row);
}

// ---- Normalizations

TEST_CASE("normalizations of sums") {
  const Operand x{{1, 1, 4}, {1, 2, 3, 6}}, skip{{1, 1, 4}, {1, 0, -1, 0}};
  const Operand gamma{{4}, {1, 2, 1, 2}}, beta{{4}, {0, 1, 0, 1}}, bias{{4}, {0, 1, 2, -1}};
  const Numbers sum = {2, 3, 4, 5}, plain = {2, 2, 2, 6};
  const Numbers centered = {-1.3416407865, 0.1055728090, 0.4472135955, 3.6832815730};
  const Numbers simple = {0.5547001962, 1.1094003925, 0.5547001962, 3.3282011774};
  for (const Row& row : std::vector<Row>{
           {"SkipLayerNormalization",
            "",
            {x, skip, gamma, beta, bias},
            {centered, {3.5}, {0.8944271910}, sum}},
           {"SkipLayerNormalization",
            "",
            {x, {{1, 4}, {1, 0, -1, 0}}, gamma, beta, bias},
            {centered, {}, {}, sum}},
           {"SkipSimplifiedLayerNormalization",
            "epsilon=1.0",
            {x, skip, gamma},
            {simple, {}, {0.2773500981}, plain}},
           {"SimplifiedLayerNormalization",
            "epsilon=1.0",
            {{{1, 1, 4}, plain}, gamma},
            {simple, {0.2773500981}},
            ""},
           // A scale of another type: f16 with exact numbers.
           {"SimplifiedLayerNormalization",
            "epsilon=0.0",
            {{{1, 1, 4}, {3, -3, 3, 3}}, {{4}, {1, 2, 1, 2}, kF16}},
            {{1, -2, 1, 2}, {0.3333333333}},
            ""},
           {"LayerNormalization",
            "epsilon=0.0",
            {{{1, 1, 4}, {3, -3, 3, -3}}, {{4}, {1, 2, 1, 2}, kF16}, {{4}, {0, 1, 0, 1}, kF16}},
            {{1, -1, 1, -1}},
            ""},
           {"LayerNormalization",
            "epsilon=0.0",
            {{{1, 1, 4}, sum}, gamma, beta},
            {centered, {3.5}, {0.8944271910}},
            ""},
           // Rows 1 and 0 of the words, 0 and 1 of the positions, 0 of the segments.
           {"EmbedLayerNormalization",
            "",
            {{{1, 2}, {1, 0}, kI32},
             {{1, 2}, {0, 0}, kI32},
             {{2, 4}, {0, 0, 0, 0, 1, 1, 0, 3}},
             {{2, 4}, {1, 1, 2, 2, 2, 3, 4, 5}},
             {{1, 4}, {0, 1, 2, 0}},
             gamma,
             beta,
             {{1, 2}, {1, 0}, kI32}},
            {{-1.3416407865, 0.1055728090, 0.4472135955, 3.6832815730,  //
              -1.5212776585, 0.6619382981, 1.1832159566, 2.0141851057},
             {1},
             {2, 3, 4, 5, 2, 4, 6, 5}}},
           {"GroupNorm",
            "groups=1 activation=0 epsilon=0.0",
            {{{1, 1, 1, 4}, sum}, gamma, beta},
            {centered}},
           {"GroupNorm",
            "groups=4 activation=1",
            {{{1, 1, 1, 4}, sum}, gamma, beta},
            {{0, 0.7310585786, 0, 0.7310585786}}},
           {"SkipGroupNorm",
            "groups=1 activation=0 epsilon=0.0",
            {{{1, 1, 1, 4}, {1, 2, 3, 6}}, gamma, beta, {{1, 1, 1, 4}, {1, 0, -1, 0}}, bias},
            {centered, sum}},
       })
    Check(row);
}

// ---- Refused by name

TEST_CASE("operators without a definition") {
  CHECK(WhyNot({"QMoE", "", {{{1}, {0}}}, {{0}}}) ==
        "QMoE: each run chooses the experts of a row, and the suite has no operator for it; export "
        "them as MatMul or MatMulNBits after TopK and Gather");
  CHECK(WhyNot({"QOrderedMatMul", "", {{{1}, {0}}}, {{0}}}) ==
        "QOrderedMatMul: its layouts and its rounding are those of cuBLASLt on a GPU, which no "
        "document defines");
  CHECK(WhyNot({"NoSuch", "", {{{1}, {0}}}, {{0}}}) ==
        "NoSuch (operator set com.microsoft, version 1) is unsupported");
}

// ---- Matrices

TEST_CASE("Inverse") {
  Check({"Inverse", "", {{{1, 2, 2}, {0, 2, 4, 0}}}, {{0, 0.25, 0.5, 0}}});
  CHECK(WhyNot({"Inverse", "", {{{1, 2, 3}, {0, 0, 0, 0, 0, 0}}}, {{0}}}) ==
        "inverse: rows and columns: 2 and 3 differ");
}

// ---- Spectra

TEST_CASE("Rfft and Irfft") {
  const Operand line{{2, 4}, {1, 2, 3, 4, 0, 1, 0, -1}};
  const Numbers half = {10, 0, -2, 2, -2, 0, 0, 0, 0, -2, 0, 0};
  const Operand plane{{1, 2, 4}, {1, 2, 3, 4, 0, 1, 0, -1}};
  const Numbers planes = {10, 0, -2, 0, -2, 0, 10, 0, -2, 4, -2, 0};
  for (const Row& row : std::vector<Row>{
           {"Rfft", "", {line}, {half}},
           {"Rfft", "signal_ndim=1 onesided=1 normalized=0", {line}, {half}},
           {"Rfft", "signal_ndim=2", {plane}, {planes}},
           {"Irfft", "signal_ndim=1", {{{2, 3, 2}, half}}, {line.values}},
           {"Irfft", "signal_ndim=2", {{{1, 2, 3, 2}, planes}}, {plane.values}},
       })
    Check(row);
  CHECK(WhyNot({"Rfft", "onesided=0", {line}, {{0}}}) == "Rfft with onesided = 0");
  CHECK(WhyNot({"Irfft", "signal_ndim=4", {{{2, 3, 2}, half}}, {{0}}}) ==
        "signal_ndim is 4; must be 1 to 3");
}

// ---- Images

TEST_CASE("CropAndResize") {
  // Two images of one channel: y * 10 + x, and the same plus 100.
  const Operand images{{2, 1, 2, 3}, {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112}};
  const Operand boxes{{2, 4}, {0, 0, 1, 1, 0.5, 0.25, 0, 0.75}};
  const Operand which = Constant(kI32, {2}, {1, 0});
  const auto size = [](double h, double w) { return Constant(kI32, {2}, {h, w}); };
  const Operand outside{{1, 4}, {0, -0.5, 1, 1.5}};
  const Operand first = Constant(kI32, {1}, {0});
  for (const Row& row : std::vector<Row>{
           {"CropAndResize",
            "",
            {images, boxes, which, size(2, 3)},
            {{100, 101, 102, 110, 111, 112, 5.5, 6, 6.5, 0.5, 1, 1.5}}},
           // A single position is in the middle.
           {"CropAndResize", "", {images, boxes, which, size(1, 2)}, {{105, 107, 3, 4}}},
           {"CropAndResize",
            "mode=nearest",
            {images, boxes, which, size(2, 2)},
            {{100, 102, 110, 112, 11, 12, 1, 2}}},
           {"CropAndResize",
            "mode=bilinear extrapolation_value=-7.0",
            {images, outside, first, size(2, 5)},
            {{-7, 0, 1, 2, -7, -7, 10, 11, 12, -7}}},
       })
    Check(row);
  CHECK(WhyNot({"CropAndResize", "mode=cubic", {images, boxes, which, size(1, 1)}, {{0}}}) ==
        "unknown mode \"cubic\"");
  CHECK(WhyNot({"CropAndResize", "", {images, boxes, which, {{2}, {1, 1}, kI32}}, {{0}}}) ==
        "CropAndResize whose crop_size is not constant");
}

}  // namespace
}  // namespace nn::test::onnx_contrib_test

// STABLEHLO_RNG_BIT_GENERATOR: the generators Philox4x32-10 and Threefry2x32-20 as operators on
// 64-bit integers, which hold a 32-bit word each.
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/checked_math.h"
#include "formats/tflite/family.h"
#include "ops/array/arrange/concat.h"
#include "ops/array/arrange/slice.h"
#include "ops/array/shape.h"
#include "ops/math/elementwise/elementwise.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Words for whose positions a constant is created.
constexpr int64_t kMaxWords = int64_t{1} << 24;

class BitGenerator {
 public:
  explicit BitGenerator(ImportContext& ctx) : ctx_(ctx) {}

  Status Run(bool threefry) {
    NN_ASSIGN(Value* const state, ctx_.Ranked(0));
    const auto size = state->type().const_dims();
    if (ctx_.output_count() != 2)
      return ModelError("there are {} outputs; expected 2", ctx_.output_count());
    if (!size || size->size() != 1 || ((*size)[0] != 2 && ((*size)[0] != 3 || threefry)))
      return ModelError("the state is {}; expected 2 numbers{}", state->type().ToString(),
                        threefry ? "" : ", or 3");
    const Type& type = ctx_.output_type(1);
    const auto dims = type.const_dims();
    const auto elements = dims ? CheckedElements(*dims) : std::nullopt;
    if (!elements || DTypeBits(type.dtype) < 32 || !IsInteger(type.dtype))
      return UnsupportedError("random bits of type {} are unsupported", type.ToString());
    const int64_t words = *elements * (DTypeBits(type.dtype) / 32);
    const int64_t in_block = threefry ? 2 : 4;
    const int64_t blocks = (words + in_block - 1) / in_block;
    if (words > kMaxWords)
      return UnsupportedError("more than {} words of random bits are unsupported", kMaxWords);
    const auto part = [&](int64_t i) {
      return ctx_.Add("slice", {state}, SliceAttrs{{0}, {i}, {i + 1}, {}});
    };
    NN_ASSIGN(Value* const key, part(0));
    NN_ASSIGN(Value* const counter, part(1));
    std::vector<uint64_t> positions(static_cast<size_t>(blocks));
    std::iota(positions.begin(), positions.end(), uint64_t{0});
    NN_ASSIGN(Value* const counters,
              ctx_.Add("add", {counter, ctx_.Constant(Tensor::Of({blocks}, positions))}));
    Value* rest = key;
    std::vector<Value*> next = {key};
    NN_ASSIGN(Value* const end, ctx_.Add("add", {counter, Word(static_cast<uint64_t>(blocks))}));
    next.push_back(end);
    if ((*size)[0] == 3) {
      NN_ASSIGN(rest, part(2));
      next.push_back(rest);
    }
    NN_ASSIGN(Value* const after, ctx_.Add("concat", next, ConcatAttrs{0}));
    ctx_.SetOutput(0, after);
    std::vector<Value*> out;
    if (threefry) {
      NN_ASSIGN(out, Threefry(key, counters));
    } else {
      NN_ASSIGN(out, Philox(key, counters, rest));
    }
    return Emit(out, words, type, *dims);
  }

 private:
  Value* Word(uint64_t v) { return ctx_.Constant(Tensor::Of<uint64_t>({1}, {v})); }
  Result<Value*> Binary(std::string_view op, Value* a, Value* b) { return ctx_.Add(op, {a, b}); }
  Result<Value*> Low(Value* v) { return Binary("bitwise_and", v, Word(0xFFFFFFFF)); }
  Result<Value*> High(Value* v) { return Binary("shift_right", v, Word(32)); }
  // The sum of two words modulo 2^32.
  Result<Value*> Sum(Value* a, Value* b) {
    NN_ASSIGN(Value* const sum, Binary("add", a, b));
    return Low(sum);
  }
  Result<Value*> Xor(Value* a, Value* b) { return Binary("bitwise_xor", a, b); }

  Result<Value*> Rotated(Value* v, uint64_t bits) {
    NN_ASSIGN(Value* const left, Binary("shift_left", v, Word(bits)));
    NN_ASSIGN(Value* const right, Binary("shift_right", v, Word(32 - bits)));
    NN_ASSIGN(Value* const both, Binary("bitwise_or", left, right));
    return Low(both);
  }

  // Both by J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
  Result<std::vector<Value*>> Threefry(Value* key, Value* counters) {
    constexpr uint64_t kParity = 0x1BD11BDA;
    constexpr std::array<std::array<uint64_t, 4>, 2> kRotations = {
        {{13, 15, 26, 6}, {17, 29, 16, 24}}};
    std::array<Value*, 3> keys{};
    NN_ASSIGN(keys[0], Low(key));
    NN_ASSIGN(keys[1], High(key));
    NN_ASSIGN(keys[2], Xor(keys[0], keys[1]));
    NN_ASSIGN(keys[2], Xor(keys[2], Word(kParity)));
    NN_ASSIGN(Value * a, Low(counters));
    NN_ASSIGN(Value * b, High(counters));
    NN_ASSIGN(a, Sum(a, keys[0]));
    NN_ASSIGN(b, Sum(b, keys[1]));
    for (size_t round = 0; round < 5; ++round) {
      for (const uint64_t bits : kRotations[round % 2]) {
        NN_ASSIGN(a, Sum(a, b));
        NN_ASSIGN(b, Rotated(b, bits));
        NN_ASSIGN(b, Xor(b, a));
      }
      NN_ASSIGN(a, Sum(a, keys[(round + 1) % 3]));
      NN_ASSIGN(b, Sum(b, keys[(round + 2) % 3]));
      NN_ASSIGN(b, Sum(b, Word(round + 1)));
    }
    return std::vector<Value*>{a, b};
  }

  Result<std::vector<Value*>> Philox(Value* key, Value* counters, Value* rest) {
    constexpr uint64_t kFactors[] = {0xD2511F53, 0xCD9E8D57};
    constexpr uint64_t kWeyl[] = {0x9E3779B9, 0xBB67AE85};
    NN_ASSIGN(Value * key_0, Low(key));
    NN_ASSIGN(Value * key_1, High(key));
    NN_ASSIGN(Value * a, Low(counters));
    NN_ASSIGN(Value * b, High(counters));
    NN_ASSIGN(Value * c, Low(rest));
    NN_ASSIGN(Value * d, High(rest));
    for (int round = 0; round < 10; ++round) {
      NN_ASSIGN(Value* const p, Binary("mul", a, Word(kFactors[0])));
      NN_ASSIGN(Value* const q, Binary("mul", c, Word(kFactors[1])));
      NN_ASSIGN(a, High(q));
      NN_ASSIGN(a, Xor(a, b));
      NN_ASSIGN(a, Xor(a, key_0));
      NN_ASSIGN(b, Low(q));
      NN_ASSIGN(c, High(p));
      NN_ASSIGN(c, Xor(c, d));
      NN_ASSIGN(c, Xor(c, key_1));
      NN_ASSIGN(d, Low(p));
      NN_ASSIGN(key_0, Sum(key_0, Word(kWeyl[0])));
      NN_ASSIGN(key_1, Sum(key_1, Word(kWeyl[1])));
    }
    return std::vector<Value*>{a, b, c, d};
  }

  // The words of each block one after the other, as elements of the result.
  Status Emit(const std::vector<Value*>& block, int64_t words, const Type& type,
              const std::vector<int64_t>& dims) {
    std::vector<Value*> columns;
    for (Value* v : block) {
      NN_ASSIGN(Value* const column, ctx_.Add("expand_dims", {v}, AxesAttrs{{1}}));
      columns.push_back(column);
    }
    NN_ASSIGN(Value * y, ctx_.Add("concat", columns, ConcatAttrs{1}));
    NN_ASSIGN(y, ctx_.Add("reshape", {y}, ReshapeAttrs{{Dim(-1)}, false}));
    NN_ASSIGN(y, ctx_.Add("slice", {y}, SliceAttrs{{0}, {0}, {words}, {}}));
    if (DTypeBits(type.dtype) == 64) {
      NN_ASSIGN(y, ctx_.Add("reshape", {y}, ReshapeAttrs{{Dim(words / 2), Dim(2)}}));
      NN_ASSIGN(Value* const low, ctx_.Add("slice", {y}, SliceAttrs{{1}, {0}, {1}, {}}));
      NN_ASSIGN(Value* const high, ctx_.Add("slice", {y}, SliceAttrs{{1}, {1}, {2}, {}}));
      NN_ASSIGN(y, Binary("shift_left", high, Word(32)));
      NN_ASSIGN(y, Binary("bitwise_or", y, low));
    }
    NN_ASSIGN(y, ctx_.Add("reshape", {y}, ReshapeAttrs{ToDims(dims)}));
    if (y->dtype() != type.dtype) {
      NN_ASSIGN(y, ctx_.Add("cast", {y}, CastAttrs{type.dtype}));
    }
    ctx_.SetOutput(1, y);
    return {};
  }

  ImportContext& ctx_;
};

Status ImportRngBitGenerator(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_StablehloRngBitGeneratorOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  return BitGenerator(ctx).Run(o->algorithm() == fb::RngAlgorithm::THREEFRY);
}

constexpr ImportRow kRandomBitsImports[] = {
    {.op = Op::STABLEHLO_RNG_BIT_GENERATOR, .import = ImportRngBitGenerator},
};

}  // namespace

Family RandomBitsFamily() {
  return {.imports = kRandomBitsImports};
}

}  // namespace nn::tflite

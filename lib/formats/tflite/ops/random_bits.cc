// STABLEHLO_RNG_BIT_GENERATOR: the generators Philox4x32-10 and Threefry2x32-20 as operators on
// 64-bit integers, which hold a 32-bit word each.
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "formats/tflite/family.h"
#include "ops/support/term_ops.h"

namespace nn::tflite {

// ==== From TensorFlow Lite =======================================================================

namespace {

// Limit of TensorFlow Lite: words of 32 bits of STABLEHLO_RNG_BIT_GENERATOR. A constant has their
// positions.
constexpr int64_t kMaxWords = int64_t{1} << 24;

class BitGenerator {
 public:
  explicit BitGenerator(ImportContext& ctx) : ctx_(ctx) {}

  Status Run(bool threefry) {
    Value* const state = ctx_.input(0);
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
    const Term key = Slice(state, 0, 0, 1), counter = Slice(state, 0, 1, 2);
    std::vector<uint64_t> positions(static_cast<size_t>(blocks));
    std::iota(positions.begin(), positions.end(), uint64_t{0});
    const Term counters = counter + Tensor::Of({blocks}, positions);
    std::vector<Term> next = {key, counter + Word(static_cast<uint64_t>(blocks))};
    if ((*size)[0] == 3) next.push_back(Slice(state, 0, 2, 3));
    const std::vector<Term> block =
        threefry ? Threefry(key, counters)
                 : Philox(key, counters, (*size)[0] == 3 ? next.back() : key);
    return ctx_.EmitTerms({Concat(std::move(next), 0), Elements(block, words, type, *dims)});
  }

 private:
  static Term Word(uint64_t v) { return Tensor::Of<uint64_t>({1}, {v}); }
  static Term Low(Term v) { return Apply("bitwise_and", {std::move(v), Word(0xFFFFFFFF)}); }
  static Term High(Term v) { return ShiftRight(std::move(v), Word(32)); }
  // The sum of two words modulo 2^32.
  static Term Sum(Term a, Term b) { return Low(std::move(a) + std::move(b)); }
  static Term Xor(Term a, Term b) { return Apply("bitwise_xor", {std::move(a), std::move(b)}); }

  static Term Rotated(const Term& v, uint64_t bits) {
    return Low(Apply("bitwise_or", {ShiftLeft(v, Word(bits)), ShiftRight(v, Word(32 - bits))}));
  }

  // Both by J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
  static std::vector<Term> Threefry(const Term& key, const Term& counters) {
    constexpr uint64_t kParity = 0x1BD11BDA;
    constexpr std::array<std::array<uint64_t, 4>, 2> kRotations = {
        {{13, 15, 26, 6}, {17, 29, 16, 24}}};
    const Term low = Low(key), high = High(key);
    const std::array<Term, 3> keys = {low, high, Xor(Xor(low, high), Word(kParity))};
    Term a = Sum(Low(counters), low), b = Sum(High(counters), high);
    for (size_t round = 0; round < 5; ++round) {
      for (const uint64_t bits : kRotations[round % 2]) {
        a = Sum(a, b);
        b = Xor(Rotated(b, bits), a);
      }
      a = Sum(a, keys[(round + 1) % 3]);
      b = Sum(Sum(b, keys[(round + 2) % 3]), Word(round + 1));
    }
    return {a, b};
  }

  static std::vector<Term> Philox(const Term& key, const Term& counters, const Term& rest) {
    constexpr uint64_t kFactors[] = {0xD2511F53, 0xCD9E8D57};
    constexpr uint64_t kWeyl[] = {0x9E3779B9, 0xBB67AE85};
    Term key_0 = Low(key), key_1 = High(key);
    Term a = Low(counters), b = High(counters), c = Low(rest), d = High(rest);
    for (int round = 0; round < 10; ++round) {
      const Term p = a * Word(kFactors[0]), q = c * Word(kFactors[1]);
      a = Xor(Xor(High(q), b), key_0);
      b = Low(q);
      c = Xor(Xor(High(p), d), key_1);
      d = Low(p);
      key_0 = Sum(key_0, Word(kWeyl[0]));
      key_1 = Sum(key_1, Word(kWeyl[1]));
    }
    return {a, b, c, d};
  }

  // The words of each block one after the other, as elements of the result.
  static Term Elements(const std::vector<Term>& block, int64_t words, const Type& type,
                       const std::vector<int64_t>& dims) {
    std::vector<Term> columns;
    for (const Term& v : block) columns.push_back(ExpandDims(v, {1}));
    Term y = Slice(Reshape(Concat(std::move(columns), 1), {Dim(-1)}), 0, 0, words);
    if (DTypeBits(type.dtype) == 64) {
      y = Reshape(y, {Dim(words / 2), Dim(2)});
      y = Apply("bitwise_or", {ShiftLeft(Slice(y, 1, 1, 2), Word(32)), Slice(y, 1, 0, 1)});
    }
    y = Reshape(y, ToDims(dims));
    return type.dtype == DType::kU64 ? y : Cast(y, type.dtype);
  }

  ImportContext& ctx_;
};

Status ImportRngBitGenerator(ImportContext& ctx) {
  const auto* const o = ctx.op().builtin_options_2_as_StablehloRngBitGeneratorOptions();
  if (o == nullptr) return ModelError("the options are missing or of a different kind");
  return BitGenerator(ctx).Run(o->algorithm() == fb::RngAlgorithm::THREEFRY);
}

constexpr ImportRow kRandomBitsImports[] = {
    {.op = Op::STABLEHLO_RNG_BIT_GENERATOR, .import = ImportRngBitGenerator, .inputs = "r"},
};

}  // namespace

Family RandomBitsFamily() {
  return {.imports = kRandomBitsImports};
}

}  // namespace nn::tflite

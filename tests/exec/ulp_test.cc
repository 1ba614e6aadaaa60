// The errors of the elementwise functions in units in the last place, measured against double
// precision. The functions that most models use are tested with all arguments, except that of
// blocks with known results only every kKnownStep-th is tested; the others with every kStep-th
// argument and those around all powers of two. Where that would take too long (without optimization
// or FMA, with sanitizers, under an emulator), every kCoarseStep-th argument is tested.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <mutex>
#include <random>
#include <string>

#include "base/thread_pool.h"
#include "exec/function_cases.h"
#include "exec/kernels/elementwise.h"
#include "exec/program.h"
#include "support/sanitizer.h"

namespace nn::test::ulp_test {
namespace {

constexpr uint32_t kStep = 509;
constexpr uint32_t kCoarseStep = 16411;
// Arguments of one block have one sign and exponent.
constexpr uint32_t kBlock = 4096;
// The step in blocks where a whole binade has one correctly rounded result, or each argument is its
// own.
constexpr uint32_t kKnownStep = 16;

struct Worst {
  double error = 0;
  float where = 0;

  void Add(double e, float x) {
    // Of equal errors the first, so the result does not depend on the order of items.
    if (e < error || (e == error && std::bit_cast<uint32_t>(x) >= std::bit_cast<uint32_t>(where)))
      return;
    error = e;
    where = x;
  }
};

class Meter {
 public:
  explicit Meter(const FunctionCase& f) : f_(f), id_(*UnaryFunctionId(f.name)) {}

  void Run(const float* x, float* y, size_t n) const { RunUnaryF32(id_, f_.params, x, y, n); }
  void Measure(std::span<const float> x, Worst& worst) const {
    std::vector<float> y(x.size());
    Run(x.data(), y.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i)
      worst.Add(ErrorInUlp(f_.want(static_cast<double>(x[i])), y[i]), x[i]);
  }

 private:
  const FunctionCase& f_;
  size_t id_;
};

// ---- All arguments

// Properties of a function that make it possible to measure all arguments in reasonable time.
struct Exhaustive {
  const char* name;
  bool odd;  // f(-x) = -f(x)
  // The exact values for the arguments of a block.
  void (*want)(const float* x, double* want, size_t n);
  // The correctly rounded result that all arguments of the block have; nullopt if there is none.
  // NaN: any NaN. Results equal to it need no exact value.
  std::optional<float> (*known)(float first);
  // Whether each argument of the block is its own correctly rounded result.
  bool (*identity)(float first);
};

template <double (*F)(double)>
void Each(const float* x, double* want, size_t n) {
  for (size_t i = 0; i < n; ++i) want[i] = F(static_cast<double>(x[i]));
}

// Below 2^-12 Taylor's series to about 2^-50 of the value.
bool Small(const float* x) {
  return std::fabs(x[0]) < 0x1p-12f;
}

void ExpOf(const float* x, double* want, size_t n) {
  if (!Small(x)) return Each<std::exp>(x, want, n);
  for (size_t i = 0; i < n; ++i) {
    const auto v = static_cast<double>(x[i]);
    want[i] = 1 + v * (1 + v * (0.5 + v / 6));
  }
}

void TanhOf(const float* x, double* want, size_t n) {
  if (!Small(x)) return Each<std::tanh>(x, want, n);
  for (size_t i = 0; i < n; ++i) {
    const auto v = static_cast<double>(x[i]);
    want[i] = v - v * v * v * (1.0 / 3 - v * v * (2.0 / 15));
  }
}

void SigmoidOf(const float* x, double* want, size_t n) {
  if (!Small(x)) return Each<Sigmoid>(x, want, n);
  for (size_t i = 0; i < n; ++i) {
    const auto v = static_cast<double>(x[i]);
    want[i] = 0.5 + v * (0.25 - v * v / 48);
  }
}

void ErfOf(const float* x, double* want, size_t n) {
  if (!Small(x)) return Each<std::erf>(x, want, n);
  constexpr double kFactor = 1.1283791670955126;  // 2 / sqrt(pi)
  for (size_t i = 0; i < n; ++i) {
    const auto v = static_cast<double>(x[i]);
    want[i] = kFactor * v * (1 - v * v * (1.0 / 3 - v * v / 10));
  }
}

// log(m 2^e) = log(m) + e log(2), away from 1; the logarithms of all m in [1, 2) are kept.
void LogOf(const float* x, double* want, size_t n) {
  static const std::vector<double> logs = [] {
    std::vector<double> v(size_t{1} << 23);
    for (uint32_t i = 0; i < v.size(); ++i)
      v[i] = std::log(static_cast<double>(std::bit_cast<float>(0x3F800000 + i)));
    return v;
  }();
  const uint32_t bits = std::bit_cast<uint32_t>(x[0]);
  const int e = static_cast<int>(bits >> 23) - 127;
  if (e <= -127 || e == -1 || e == 0 || e >= 128) return Each<std::log>(x, want, n);
  const double* from = logs.data() + (bits & 0x7FFFFF);
  const double shift = e * 0.69314718055994531;
  for (size_t i = 0; i < n; ++i) want[i] = from[i] + shift;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr auto kNone = [](float) { return false; };

const Exhaustive kExhaustive[] = {
    {"exp", false, ExpOf,
     [](float x) -> std::optional<float> {
       if (std::fabs(x) < 0x1p-26f) return 1.0f;
       if (std::fabs(x) < 128) return std::nullopt;
       return x > 0 ? kInfinity : 0.0f;
     },
     kNone},
    {"log", false, LogOf,
     [](float x) { return std::signbit(x) ? std::optional(kNan) : std::nullopt; }, kNone},
    {"tanh", true, TanhOf, [](float x) { return x >= 16 ? std::optional(1.0f) : std::nullopt; },
     [](float x) { return std::fabs(x) < 0x1p-13f; }},
    {"sigmoid", false, SigmoidOf,
     [](float x) -> std::optional<float> {
       if (std::fabs(x) < 0x1p-25f) return 0.5f;
       if (x >= 32) return 1.0f;
       return x <= -128 ? std::optional(0.0f) : std::nullopt;
     },
     kNone},
    {"erf", true, ErfOf, [](float x) { return x >= 4 ? std::optional(1.0f) : std::nullopt; },
     kNone},
    {"sqrt", false, Each<std::sqrt>,
     [](float x) { return std::signbit(x) ? std::optional(kNan) : std::nullopt; }, kNone},
};

// Whether the condition holds for all of a block. Without branches, so that compilers make vectors
// of it.
template <typename Fn>
bool AllOf(Fn&& good) {
  uint32_t bad = 0;
  for (size_t i = 0; i < kBlock; ++i) bad |= good(i) ? 0u : 1u;
  return bad == 0;
}

// Whether the block has the known results.
bool AsKnown(const Exhaustive& e, const float* x, const float* y) {
  if (e.identity(x[0])) return std::memcmp(x, y, kBlock * sizeof(float)) == 0;
  const auto known = e.known(x[0]);
  if (!known) return false;
  const float k = *known;
  if (!std::isnan(k)) return AllOf([&](size_t i) { return y[i] == k; });
  uint32_t bits[kBlock];
  std::memcpy(bits, y, sizeof(bits));
  return AllOf([&](size_t i) { return (bits[i] & 0x7FFFFFFF) > 0x7F800000; });
}

// Whether f(-x) = -f(x), with y = f(x).
bool IsMirrored(const Meter& meter, const float* x, const float* y) {
  float mirrored[kBlock], of_mirrored[kBlock];
  for (size_t i = 0; i < kBlock; ++i) mirrored[i] = -x[i];
  meter.Run(mirrored, of_mirrored, kBlock);
  uint32_t got[kBlock], wanted[kBlock];
  std::memcpy(got, of_mirrored, sizeof(got));
  std::memcpy(wanted, y, sizeof(wanted));
  return AllOf([&](size_t i) { return got[i] == (wanted[i] ^ 1u << 31); });
}

// Whether no error is above `limit`; false if infinity or NaN occurs.
bool Within(const double* want, const float* y, double limit) {
  uint64_t bits[kBlock];
  double scale[kBlock];
  std::memcpy(bits, want, sizeof(bits));
  // As in ErrorInUlp.
  for (size_t i = 0; i < kBlock; ++i) {
    const uint64_t above = (bits[i] >> 52 & 0x7FF) - (1023 - 126);
    const uint64_t exponent = (above & ((above >> 63) - 1)) + (1023 - 126);
    bits[i] = (1023 + 23 + 1023 - exponent) << 52;
  }
  std::memcpy(scale, bits, sizeof(scale));
  uint64_t bad = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const double error = std::fabs(static_cast<double>(y[i]) - want[i]) * scale[i];
    bad |= error <= limit ? 0u : 1u;
  }
  return bad == 0;
}

// `first`: the bits of the block's first argument. Odd functions: and of its mirror image.
void MeasureBlock(const Exhaustive& e, const Meter& meter, uint32_t first, Worst& worst) {
  uint32_t bits[kBlock];
  float x[kBlock], y[kBlock];
  for (uint32_t i = 0; i < kBlock; ++i) bits[i] = first + i;
  std::memcpy(x, bits, sizeof(x));
  meter.Run(x, y, kBlock);
  // The last exponent has infinity and NaN.
  const bool numbers = (first >> 23 & 0xFF) != 0xFF;
  if (e.odd && !(numbers && IsMirrored(meter, x, y))) {
    float mirrored[kBlock];
    for (size_t i = 0; i < kBlock; ++i) mirrored[i] = -x[i];
    meter.Measure(mirrored, worst);
  }
  if (!numbers) return meter.Measure(x, worst);
  if (AsKnown(e, x, y)) return;
  double want[kBlock];
  e.want(x, want, kBlock);
  if (Within(want, y, worst.error)) return;
  for (size_t i = 0; i < kBlock; ++i) worst.Add(ErrorInUlp(want[i], y[i]), x[i]);
}

Worst MeasureAll(const Exhaustive& e, const FunctionCase& f) {
  const Meter meter(f);
  Worst worst;
  std::mutex mutex;
  ThreadPool pool(std::min<size_t>(2, AvailableProcessors()));
  // An item is a binade.
  pool.ParallelFor(e.odd ? 256 : 512, [&](size_t item) {
    const uint32_t begin = static_cast<uint32_t>(item) << 23;
    const float first = std::bit_cast<float>(begin);
    const uint32_t step = e.known(first) || e.identity(first) ? kKnownStep * kBlock : kBlock;
    Worst own;
    for (uint32_t b = 0; b < 1u << 23; b += step) MeasureBlock(e, meter, begin + b, own);
    const std::lock_guard lock(mutex);
    worst.Add(own.error, own.where);
  });
  return worst;
}

// ---- Some arguments

// Every `step`-th float, and those around the powers of two and what lies halfway between them.
Worst MeasureSome(const FunctionCase& f, uint32_t step) {
  const Meter meter(f);
  Worst worst;
  std::mutex mutex;
  ThreadPool pool(std::min<size_t>(2, AvailableProcessors()));
  pool.ParallelFor(512, [&](size_t item) {
    const uint64_t begin = static_cast<uint64_t>(item) << 23;
    const uint64_t end = begin + (1u << 23);
    std::vector<float> x;
    for (uint64_t bits = (begin + step - 1) / step * step; bits < end; bits += step)
      x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    for (const uint64_t middle : {begin, begin + (1u << 22)})
      for (uint64_t bits = middle - 64; bits < middle + 64; ++bits)
        x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    Worst own;
    meter.Measure(x, own);
    const std::lock_guard lock(mutex);
    worst.Add(own.error, own.where);
  });
  return worst;
}

bool Fast() {
#if defined(NDEBUG) && !NN_ADDRESS_SANITIZER && defined(__x86_64__)
  return SimdTargets().front().starts_with("AVX");
#else
  return false;
#endif
}

TEST_CASE("ulp: the largest errors are as documented") {
  // NN_FUNCTION_STEP=1 takes all floats for all functions, which is slow; NN_FUNCTION takes the
  // functions of that name only.
  const char* variable = std::getenv("NN_FUNCTION_STEP");
  uint32_t step = Fast() ? kStep : kCoarseStep;
  if (variable != nullptr) step = static_cast<uint32_t>(std::atoi(variable));
  REQUIRE(step > 0);
  const char* only = std::getenv("NN_FUNCTION");
  for (const FunctionCase& f : FunctionCases()) {
    const std::string name = f.name;
    if (only != nullptr && only != name) continue;
    CAPTURE(name);
    CAPTURE(f.params[0]);
    const auto e = std::find_if(std::begin(kExhaustive), std::end(kExhaustive),
                                [&](const Exhaustive& row) { return row.name == name; });
    const bool all = e != std::end(kExhaustive) && Fast() && variable == nullptr;
    const Worst worst = all ? MeasureAll(*e, f) : MeasureSome(f, step);
    CAPTURE(worst.where);
    CHECK(worst.error <= f.limit);
    CHECK(f.limit <= f.bound);
    std::cout << fmt::format(
        "{}({}): {:.4f} ULP at {:a}, {}\n", f.name, f.params[0], worst.error, worst.where,
        all ? std::string("all floats but known ones") : fmt::format("every {}th float", step));
  }
}

TEST_CASE("ulp: powers and angles are rounded once") {
  struct Case {
    const char* name;
    double (*want)(double, double);
  };
  const Case cases[] = {{"pow", [](double a, double b) { return std::pow(a, b); }},
                        {"atan2", [](double a, double b) { return std::atan2(a, b); }},
                        {"log_add_exp", [](double a, double b) {
                           if (a == b) return a + std::log(2.0);
                           return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
                         }}};
  constexpr size_t kPairs = 200'000;
  std::mt19937 generator(1);
  std::vector<float> a(kPairs), b(kPairs), y(kPairs);
  for (size_t i = 0; i < kPairs; ++i) {
    // Any two floats, or two of ordinary size, with powers from 2^-180 to 2^180.
    const uint32_t u = generator();
    const uint32_t v = generator();
    if (i % 2 == 0) {
      a[i] = std::bit_cast<float>(u);
      b[i] = std::bit_cast<float>(v);
    } else {
      a[i] = static_cast<float>(std::exp2(std::ldexp(u, -32) * 24 - 12));
      b[i] = static_cast<float>(std::ldexp(v, -32) * 30 - 15);
    }
  }
  for (const Case& c : cases) {
    CAPTURE(c.name);
    RunBinaryF32(*BinaryFunctionId(c.name), BinaryForm::kVectorVector, a.data(), b.data(), y.data(),
                 kPairs);
    Worst worst;
    for (size_t i = 0; i < kPairs; ++i)
      worst.Add(ErrorInUlp(c.want(static_cast<double>(a[i]), static_cast<double>(b[i])), y[i]),
                a[i]);
    CAPTURE(worst.where);
    CHECK(worst.error <= kOnce);
    std::cout << fmt::format("{}: {:.4f} ULP, {} pairs\n", c.name, worst.error, kPairs);
  }
}

TEST_CASE("ulp: the assumed properties hold") {
  // The exact values used in place of libm's differ from them by about 2^-20 ULP.
  for (const Exhaustive& e : kExhaustive) {
    CAPTURE(e.name);
    const auto f = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                [&](const auto& row) { return row.name == std::string(e.name); });
    double largest = 0;
    for (uint32_t first = 0; first < 255u << 23; first += 511 * kBlock) {
      float x[kBlock];
      double want[kBlock];
      for (uint32_t i = 0; i < kBlock; ++i) x[i] = std::bit_cast<float>(first + i);
      const auto known = e.known(x[0]);
      e.want(x, want, kBlock);
      for (size_t i = 0; i < kBlock; i += 255) {
        const double exact = f->want(static_cast<double>(x[i]));
        if (known && !std::isnan(*known)) {
          CHECK(ErrorInUlp(exact, *known) <= 0.5);
        } else if (e.identity(x[0])) {
          CHECK(ErrorInUlp(exact, x[i]) <= 0.5);
        } else {
          const double ulp = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
          if (exact != 0 && std::isfinite(exact))
            largest = std::max(largest, std::fabs(want[i] - exact) / ulp);
        }
      }
    }
    CHECK(largest < 1e-5);
  }
}

}  // namespace
}  // namespace nn::test::ulp_test

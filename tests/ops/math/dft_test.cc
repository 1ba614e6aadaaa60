#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "numeric/doubles.h"
#include "ops/math/fourier.h"
#include "support/run_graph.h"

namespace nn::test::dft_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("doubles: agree with the C library") {
  for (const int64_t n : {1, 2, 3, 4, 7, 8, 12, 40, 1000, 65536})
    for (int64_t k = 0; k < n; k += 1 + n / 97) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      const UnitRoot root = UnitRootOf(k, n);
      CHECK(std::fabs(root.cos - std::cos(angle)) < 1e-15);
      CHECK(std::fabs(root.sin - std::sin(angle)) < 1e-15);
    }
  for (double x = 1e-300; x < 1e300; x *= 1.7e3)
    CHECK(std::fabs(LogOf(x) - std::log(x)) <= 4e-16 * std::fabs(std::log(x)));
  for (double x = 0.5; x < 2; x += 0.001) CHECK(std::fabs(LogOf(x) - std::log(x)) < 4e-16);
  for (double x = -700; x < 700; x += 0.37)
    CHECK(std::fabs(ExpOf(x) - std::exp(x)) <= 1e-15 * std::exp(x));
  CHECK(ExpOf(0) == 1);
}

TEST_CASE("doubles: eighths of a circle are symmetric") {
  CHECK(UnitRootOf(0, 8).cos == 1);
  CHECK(UnitRootOf(2, 8).cos == 0);
  CHECK(UnitRootOf(2, 8).sin == 1);
  CHECK(UnitRootOf(4, 8).cos == -1);
  CHECK(UnitRootOf(4, 8).sin == 0);
  CHECK(UnitRootOf(6, 8).sin == -1);
  CHECK(UnitRootOf(1, 8).cos == UnitRootOf(1, 8).sin);
  CHECK(UnitRootOf(3, 8).cos == UnitRootOf(5, 8).sin);
  CHECK(UnitRootOf(5, 8).cos == UnitRootOf(5, 8).sin);
}

TEST_CASE("dft: by hand") {
  for (const OpCase& c : {
           OpCase{"an impulse",
                  OneOp("f32[1, 4, 1]", "dft(%x)"),
                  {{1, 0, 0, 0}},
                  {{1, 0, 1, 0, 1, 0, 1, 0}}},
           OpCase{"four real numbers",
                  OneOp("f32[1, 4, 1]", "dft(%x)"),
                  {{1, 2, 3, 4}},
                  {{10, 0, -2, 2, -2, 0, -2, -2}}},
           OpCase{"half of them",
                  OneOp("f32[1, 4, 1]", "dft(%x) {onesided = true}"),
                  {{1, 2, 3, 4}},
                  {{10, 0, -2, 2, -2, 0}}},
           OpCase{"complex numbers",
                  OneOp("f32[1, 2, 2]", "dft(%x)"),
                  {{1, 2, 3, -4}},
                  {{4, -2, -2, 6}}},
           OpCase{"inverse",
                  OneOp("f32[1, 4, 2]", "dft(%x) {inverse = true}"),
                  {{10, 0, -2, 2, -2, 0, -2, -2}},
                  {{1, 0, 2, 0, 3, 0, 4, 0}}},
           OpCase{"inverse from half",
                  OneOp("f32[1, 3, 2]", "dft(%x) {inverse = true, onesided = true}"),
                  {{10, 5, -2, 2, -2, 7}},
                  {{1, 2, 3, 4}}},
           OpCase{"the first axis",
                  OneOp("f32[2, 3, 1]", "dft(%x) {axis = 0}"),
                  {{1, 2, 3, 4, 5, 6}},
                  {{5, 0, 7, 0, 9, 0, -3, 0, -3, 0, -3, 0}}},
           OpCase{"zeros at the end",
                  R"(graph { in %x: f32[1, 2, 1]  const %n: i64[] = [4]
                     %y = dft(%x, %n)  out "y" = %y })",
                  {{1, 2}},
                  {{3, 0, 1, -2, -1, 0, 1, 2}}},
           OpCase{"without the last elements",
                  R"(graph { in %x: f32[1, 4, 1]  const %n: i64[] = [2]
                     %y = dft(%x, %n)  out "y" = %y })",
                  {{1, 2, 9, 9}},
                  {{3, 0, -1, 0}}},
           OpCase{"float16 results that are not finite",
                  OneOp("f16[1, 2, 1]", "dft(%x)"),
                  {{60000, 60000}},
                  {{kInfinity, 0, 0, 0}}},
       })
    CheckCase(c);
}

// Every size, against the definition in the C library's complex numbers.
TEST_CASE("dft: sizes") {
  std::vector<size_t> sizes = {25, 30, 35, 48, 49, 50, 53, 60, 64, 77, 94, 97, 106, 120, 125, 128};
  for (size_t n = 1; n <= 24; ++n) sizes.push_back(n);
  for (const size_t n : sizes) {
    std::vector<double> x;
    for (size_t i = 0; i < 2 * n; ++i) x.push_back(std::sin(static_cast<double>(i * i + 1)));
    std::vector<double> want;
    for (size_t k = 0; k < n; ++k) {
      std::complex<double> sum;
      for (size_t j = 0; j < n; ++j)
        sum += std::complex(x[2 * j], x[2 * j + 1]) *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                   static_cast<double>(n));
      want.push_back(sum.real());
      want.push_back(sum.imag());
    }
    CheckCase({std::to_string(n),
               OneOp("f64[" + std::to_string(n) + ", 2]", "dft(%x)"),
               {x},
               {want},
               1e-14});
  }
}

// The error of long transforms, relative to the root mean square of the results: the roundings of
// the steps, of which there are few.
TEST_CASE("dft: accuracy") {
  for (const size_t n : {400, 509, 512, 1000, 1021, 1023, 1024})
    for (const bool inverse : {false, true}) {
      CAPTURE(n);
      const FourierTransform transform(n, inverse);
      std::vector<double> room(4 * transform.room());
      double* const at = room.data();
      const size_t m = transform.room();
      const FourierArrays arrays = {at, at + m, at + 2 * m, at + 3 * m, 1};
      std::vector<std::complex<long double>> x, w;
      for (size_t i = 0; i < n; ++i) {
        arrays.x_re[i] = std::sin(static_cast<double>(i * i + 1));
        arrays.x_im[i] = std::cos(static_cast<double>(i * i * 3));
        x.emplace_back(arrays.x_re[i], arrays.x_im[i]);
        w.push_back(std::polar(1.0L, (inverse ? 2 : -2) * std::numbers::pi_v<long double> *
                                         static_cast<long double>(i) /
                                         static_cast<long double>(n)));
      }
      RunFourier(transform, arrays);
      long double error = 0, size = 0;
      for (size_t k = 0; k < n; ++k) {
        std::complex<long double> sum;
        for (size_t j = 0; j < n; ++j) sum += x[j] * w[j * k % n];
        if (inverse) sum /= static_cast<long double>(n);
        const std::complex<long double> y(arrays.x_re[k], arrays.x_im[k]);
        error += std::norm(y - sum);
        size += std::norm(sum);
      }
      CHECK(std::sqrt(error / size) < 5e-16L);
    }
}

TEST_CASE("dft: several sequences have the bits of one") {
  for (const size_t n : {6, 49, 106, 120}) {
    const FourierTransform transform(n, true);
    const size_t m = transform.room();
    std::vector<double> one(4 * m), three(12 * m);
    for (size_t lane = 0; lane < 3; ++lane) {
      for (size_t i = 0; i < 2 * m; ++i) one[i] = std::sin(static_cast<double>(i * i + lane));
      for (size_t i = 0; i < n; ++i) {
        three[3 * i + lane] = one[i];
        three[3 * (m + i) + lane] = one[m + i];
      }
    }
    const FourierArrays wide = {three.data(), three.data() + 3 * m, three.data() + 6 * m,
                                three.data() + 9 * m, 3};
    RunFourier(transform, wide);
    RunFourier(transform, {one.data(), one.data() + m, one.data() + 2 * m, one.data() + 3 * m, 1});
    for (size_t i = 0; i < n; ++i) {
      CHECK(wide.x_re[3 * i + 2] == one[i]);
      CHECK(wide.x_im[3 * i + 2] == one[m + i]);
    }
  }
}

TEST_CASE("dft: operands that do not fit") {
  CHECK(Fails(OneOp("f32[4, 3]", "dft(%x)"), "which must be 1 or 2"));
  CHECK(Fails(OneOp("f32[4, 2]", "dft(%x) {onesided = true}"), "which must be 1, of real"));
  CHECK(Fails(OneOp("f32[4, 1]", "dft(%x) {onesided = true, inverse = true}"), "must be 2"));
  CHECK(Fails(OneOp("f32[4, 2]", "dft(%x) {axis = 1}"), "axis 1 is the last one"));
  CHECK(Fails(OneOp("f32[0, 2]", "dft(%x)"), "has too few elements for a transform"));
  CHECK(Fails(OneOp("f32[2]", "dft(%x)"), "its rank must be at least 2"));
  CHECK(Fails(OneOp("i32[4, 2]", "dft(%x)"), "dft: i32[4, 2] is not supported"));
  CHECK(Fails(R"(graph { in %x: f32[4, 2]  const %n: i64[] = [0]
                 %y = dft(%x, %n)  out "y" = %y })",
              "the length is 0; must be positive"));
  CHECK(Fails(R"(graph { in %x: f32[4, 2]  in %n: i64[1]  %y = dft(%x, %n)  out "y" = %y })",
              "must be a scalar"));
  const Graph g = Parse(R"(graph { in %x: f32[4, 2]  in %n: i64[]
                           %y = dft(%x, %n)  out "y" = %y })");
  CheckSameError(g, InputsOf(g, {std::vector<double>(8, 1), {0}}));
}

TEST_CASE("stft: by hand") {
  const auto graph = [](const std::string& x, const std::string& call) {
    return "graph { in %x: " + x +
           "  const %s: i64[] = [2]  const %w: f32[2] = [1, 0.5]  const %l: i64[] = [2]  %y = " +
           call + "  out \"y\" = %y }";
  };
  for (const OpCase& c : {
           OpCase{"a window",
                  graph("f32[1, 5, 1]", "stft(%x, %s, %w)"),
                  {{1, 2, 3, 4, 5}},
                  {{2, 0, 0, 0, 5, 0, 1, 0}}},
           OpCase{"a length, both halves",
                  graph("f32[2, 2, 1]", "stft(%x, %s, _, %l) {onesided = false}"),
                  {{1, 2, 3, 5}},
                  {{3, 0, -1, 0, 8, 0, -2, 0}}},
           OpCase{"complex signals",
                  graph("f32[1, 2, 2]", "stft(%x, %s, %w) {onesided = false}"),
                  {{1, 2, 3, -4}},
                  {{2.5, 0, -0.5, 4}}},
           OpCase{"the whole signal",
                  graph("f32[1, 4, 1]", "stft(%x, %s)"),
                  {{1, 2, 3, 4}},
                  {{10, 0, -2, 2, -2, 0}}},
       })
    CheckCase(c);
  CHECK(Fails(graph("f32[1, 5, 2]", "stft(%x, %s, %w)"), "which must be 1, of real elements"));
  CHECK(Fails(graph("f32[1, 5]", "stft(%x, %s, %w)"), "its rank must be 3"));
  CHECK(Fails(R"(graph { in %x: f32[1, 5, 1]  in %w: f32[3]  const %s: i64[] = [1]
                 const %l: i64[] = [4]  %y = stft(%x, %s, %w, %l)  out "y" = %y })",
              "the window has 3 elements, but frames have 4"));
}

}  // namespace
}  // namespace nn::test::dft_test

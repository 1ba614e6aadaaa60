// Support vector machines of ai.onnx.ml.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "formats/onnx/ops/ml.h"
#include "support/files.h"
#include "support/run_graph.h"

namespace nn::test::onnx_svm_test {

using namespace onnx_ml;  // NOLINT(google-build-using-namespace)

namespace {

using Point = std::vector<double>;

double Kernel(std::string_view kernel, double gamma, double offset, double degree, const Point& a,
              const Point& b) {
  double dot = 0, distance = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += a[i] * b[i];
    distance += (a[i] - b[i]) * (a[i] - b[i]);
  }
  if (kernel == "RBF") return std::exp(-gamma * distance);
  if (kernel == "POLY") return std::pow(gamma * dot + offset, degree);
  if (kernel == "SIGMOID") return std::tanh(gamma * dot + offset);
  return dot;
}

std::string KernelOf(std::string_view kernel) {
  return Text("kernel_type", kernel) + Numbers("kernel_params", {0.5, 0.25, 3});
}

const std::vector<Point> kX = {{1, 2}, {-1, 0.5}, {0, -2}};
const std::vector<double> kFlat = {1, 2, -1, 0.5, 0, -2};
const std::vector<Point> kVectors = {{1, 0}, {0, 1}, {-1, 2}, {2, -1}, {0.5, 0.5}};
const std::string kVectorList = Numbers("support_vectors", {1, 0, 0, 1, -1, 2, 2, -1, 0.5, 0.5});

// The probabilities of LIBSVM from those of pairs, r[i][j].
Point Coupled(const std::vector<Point>& r) {
  const size_t k = r.size();
  std::vector<Point> q(k, Point(k));
  for (size_t t = 0; t < k; ++t)
    for (size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t][t] += r[j][t] * r[j][t];
      q[t][j] = -r[j][t] * r[t][j];
    }
  Point p(k, 1.0 / static_cast<double>(k));
  for (int iteration = 0; iteration < 100; ++iteration) {
    Point qp(k);
    double pqp = 0, error = 0;
    for (size_t t = 0; t < k; ++t)
      for (size_t j = 0; j < k; ++j) qp[t] += q[t][j] * p[j];
    for (size_t t = 0; t < k; ++t) pqp += p[t] * qp[t];
    for (size_t t = 0; t < k; ++t) error = std::max(error, std::abs(qp[t] - pqp));
    if (error < 0.005 / static_cast<double>(k)) break;
    for (size_t t = 0; t < k; ++t) {
      const double d = (pqp - qp[t]) / q[t][t];
      p[t] += d;
      pqp = (pqp + d * (d * q[t][t] + 2 * qp[t])) / (1 + d) / (1 + d);
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + d * q[t][j]) / (1 + d);
        p[j] /= 1 + d;
      }
    }
  }
  return p;
}

}  // namespace

TEST_CASE("ONNX ml: SVMRegressor") {
  const std::vector<double> weights = {1, -0.5, 0.25, 2, -1};
  for (const char* kernel : {"LINEAR", "POLY", "RBF", "SIGMOID"}) {
    const std::string attributes = KernelOf(kernel) + kVectorList + Int("n_supports", 5) +
                                   Numbers("coefficients", weights) + Numbers("rho", {0.125});
    std::vector<double> want, signs;
    for (const Point& x : kX) {
      double sum = 0.125;
      for (size_t i = 0; i < 5; ++i)
        sum += weights[i] * Kernel(kernel, 0.5, 0.25, 3, x, kVectors[i]);
      want.push_back(sum);
      signs.push_back(sum > 0 ? 1 : -1);
    }
    for (const int type : {kF32, kF64})
      Check({"SVMRegressor", attributes, {Rows(type, 3, 2)}}, {kFlat}, {want});
    Check({"SVMRegressor", attributes + Int("one_class", 1), {Rows(kF32, 3, 2)}}, {kFlat}, {signs});
  }
  // Without vectors: 1 + 2 x0 - x1.
  const std::string linear = Numbers("coefficients", {2, -1}) + Numbers("rho", {1});
  Check({"SVMRegressor", linear, {Rows(kI32, 2, 2)}}, {{1, 2, -1, 5}}, {{1, -6}});
  Check({"SVMRegressor", linear, {onnx_text::TypeOf(kF32, {"2"})}}, {{1, 2}}, {{1}});
  CHECK(Refused({"SVMRegressor", linear + Int("n_supports", 5) + kVectorList, {Rows(kF32, 3, 2)}},
                "coefficients has 2 entries for 5 vectors"));
  CHECK(Refused({"SVMRegressor", Numbers("coefficients", {2, -1}), {Rows(kF32, 3, 2)}},
                "attribute rho is missing"));
  CHECK(Refused({"SVMRegressor",
                 Numbers("coefficients", {1, 1, 1, 1, 1}) + Numbers("rho", {0}) + kVectorList +
                     Int("n_supports", 5) + Text("kernel_type", "COSINE"),
                 {Rows(kF32, 3, 2)}},
                "kernel_type is \"COSINE\", which is unknown"));
}

namespace {

// Three classes, with 2, 1 and 2 vectors.
const std::vector<double> kThree = {1, -0.5, 0.25, 2, -1, 0.5, 1.5, -2, 0.75, 1};
const std::vector<size_t> kOfVector = {0, 0, 1, 2, 2};
const std::vector<double> kRho = {0.125, -0.25, 0.5};

// The scores of the pairs (0, 1), (0, 2) and (1, 2).
Point PairScores(std::string_view kernel, const Point& x) {
  Point scores;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = i + 1; j < 3; ++j) {
      double sum = kRho[scores.size()];
      for (size_t v = 0; v < 5; ++v) {
        const double k = Kernel(kernel, 0.5, 0.25, 3, x, kVectors[v]);
        if (kOfVector[v] == i) sum += kThree[(j - 1) * 5 + v] * k;
        if (kOfVector[v] == j) sum += kThree[i * 5 + v] * k;
      }
      scores.push_back(sum);
    }
  return scores;
}

double Winner(const Point& scores) {
  Point votes(3);
  for (size_t i = 0, pair = 0; i < 3; ++i)
    for (size_t j = i + 1; j < 3; ++j, ++pair) votes[scores[pair] > 0 ? i : j] += 1;
  return 10 * static_cast<double>(std::ranges::max_element(votes) - votes.begin() + 1);
}

}  // namespace

TEST_CASE("ONNX ml: SVMClassifier of three classes") {
  for (const char* kernel : {"LINEAR", "POLY", "RBF", "SIGMOID"}) {
    const std::string attributes = KernelOf(kernel) + kVectorList +
                                   Ints("vectors_per_class", {2, 1, 2}) +
                                   Numbers("coefficients", kThree) + Numbers("rho", kRho) +
                                   Ints("classlabels_ints", {10, 20, 30});
    const std::vector<double> a = {-1, -2, -0.5}, b = {0.25, 0, -0.125};
    std::vector<double> labels, scores, logistic, probabilities;
    for (const Point& x : kX) {
      const Point of_pairs = PairScores(kernel, x);
      labels.push_back(Winner(of_pairs));
      std::vector<Point> r(3, Point(3));
      for (size_t i = 0, pair = 0; i < 3; ++i)
        for (size_t j = i + 1; j < 3; ++j, ++pair) {
          scores.push_back(of_pairs[pair]);
          logistic.push_back(Sigmoid(of_pairs[pair]));
          r[i][j] = std::clamp(Sigmoid(-(of_pairs[pair] * a[pair] + b[pair])), 1e-7, 1 - 1e-7);
          r[j][i] = 1 - r[i][j];
        }
      for (const double p : Coupled(r)) probabilities.push_back(p);
    }
    Check({"SVMClassifier", attributes, {Rows(kF32, 3, 2)}, 2}, {kFlat}, {labels, scores}, 5e-6);
    Check({"SVMClassifier", attributes + Text("post_transform", "LOGISTIC"), {Rows(kF64, 3, 2)}, 2},
          {kFlat}, {labels, logistic});
    Check({"SVMClassifier",
           attributes + Numbers("prob_a", a) + Numbers("prob_b", b),
           {Rows(kF32, 3, 2)},
           2},
          {kFlat}, {labels, probabilities}, 2e-5);
  }
}

TEST_CASE("ONNX ml: SVMClassifier of two classes") {
  const std::string vectors = Numbers("support_vectors", {1, 0, 0, 1, -1, 2}) +
                              Ints("vectors_per_class", {2, 1}) + Numbers("rho", {0.5}) +
                              Ints("classlabels_ints", {10, 20});
  // x0 - x1 - 0.25 (2 x1 - x0) + 0.5
  const std::string mixed = vectors + Numbers("coefficients", {1, -1, -0.25});
  const std::vector<double> scores = {-1.25, -1.5, 3.5};
  const auto pairs = [&](auto first, auto second) {
    std::vector<double> out;
    for (const double s : scores) out.insert(out.end(), {first(s), second(s)});
    return out;
  };
  const std::vector<double> labels = {20, 20, 10};
  const auto minus = [](double s) { return -s; };
  const auto same = [](double s) { return s; };
  Check({"SVMClassifier", mixed, {Rows(kF32, 3, 2)}, 2}, {kFlat}, {labels, pairs(minus, same)});
  Check({"SVMClassifier", mixed + Text("post_transform", "LOGISTIC"), {Rows(kF32, 3, 2)}, 2},
        {kFlat}, {labels, pairs([](double s) { return Sigmoid(-s); }, Sigmoid)});
  Check({"SVMClassifier", mixed + Text("post_transform", "SOFTMAX"), {Rows(kF32, 3, 2)}, 2},
        {kFlat},
        {labels,
         pairs([](double s) { return Sigmoid(-2 * s); }, [](double s) { return Sigmoid(2 * s); })});
  std::vector<double> probabilities;
  for (const double s : scores) {
    const double r = Sigmoid(2 * s - 0.5);
    for (const double p : Coupled({{0, r}, {1 - r, 0}})) probabilities.push_back(p);
  }
  Check({"SVMClassifier",
         mixed + Numbers("prob_a", {-2}) + Numbers("prob_b", {0.5}),
         {Rows(kF32, 3, 2)},
         2},
        {kFlat}, {labels, probabilities}, 2e-5);
  CHECK(LabelsOf(
            {"SVMClassifier",
             Numbers("support_vectors", {1, 0, 0, 1, -1, 2}) + Ints("vectors_per_class", {2, 1}) +
                 Numbers("rho", {0.5}) + Numbers("coefficients", {1, -1, -0.25}) +
                 Texts("classlabels_strings", {"a", "b"}),
             {Rows(kF32, 3, 2)},
             2},
            {kFlat}) == std::vector<std::string>{"b", "b", "a"});
  // Without a negative coefficient, the second label.
  Check({"SVMClassifier", vectors + Numbers("coefficients", {1, 1, 0.25}), {Rows(kF32, 1, 2)}, 2},
        {{1, 2}}, {{20}, {-4.25, 4.25}});
  CHECK(Refused({"SVMClassifier", vectors + Numbers("coefficients", {1, 1}), {Rows(kF32, 1, 2)}, 2},
                "coefficients has 2 entries for 3 vectors of 2 classes"));
  CHECK(Refused({"SVMClassifier", mixed + Numbers("prob_a", {1}), {Rows(kF32, 1, 2)}, 2},
                "prob_a has 1 entries and prob_b 0; expected 1"));
}

TEST_CASE("ONNX ml: a run decides about the iterations for more than two classes") {
  const auto why = [](int64_t classes) {
    const auto count = static_cast<size_t>(classes);
    const std::vector<double> pairs(count * (count - 1) / 2, 1);
    const std::vector<int64_t> each(count, 1);
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < classes; ++i) labels.push_back(i);
    const Model model = {"SVMClassifier",
                         Numbers("support_vectors", std::vector<double>(2 * count, 1)) +
                             Ints("vectors_per_class", each) + Numbers("rho", pairs) +
                             Numbers("coefficients", std::vector<double>((count - 1) * count, 1)) +
                             Numbers("prob_a", pairs) + Numbers("prob_b", pairs) +
                             Ints("classlabels_ints", labels),
                         {Rows(kF32, 3, 2)},
                         2};
    const auto graph = ImportText(model.text());
    REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
    return WhyOpen(*graph);
  };
  CHECK(why(2).empty());
  CHECK(onnx_text::Contains(why(3), "the probabilities determine the number of iterations"));
}

TEST_CASE("ONNX ml: SVMClassifier without vectors") {
  // Scores x0 + 1, x1 + 1 and -x0 + 1.
  const std::string three =
      Numbers("coefficients", {1, 0, 0, 1, -1, 0}) + Ints("classlabels_ints", {10, 20, 30});
  Check({"SVMClassifier", three + Numbers("rho", {1, 2, 3}), {Rows(kF32, 3, 2)}, 2}, {kFlat},
        {{20, 30, 10}, {2, 3, 0, 0, 1.5, 2, 1, -1, 1}});
  // A single rho: whether a score is positive.
  Check({"SVMClassifier", three + Numbers("rho", {-2}), {Rows(kF32, 2, 2)}, 2}, {{1, 2, 3, 0}},
        {{0, 1}, {-1, 0, -3, 1, -2, -5}});
  CHECK(Refused({"SVMClassifier",
                 Numbers("coefficients", {1, 0, 0, 1, -1, 0}) + Numbers("rho", {-2}) +
                     Texts("classlabels_strings", {"a", "b", "c"}),
                 {Rows(kF32, 2, 2)},
                 2},
                "classlabels_strings with a single rho"));
  // Two classes without negative coefficients: the second one from 0.5 on.
  const std::string two = Numbers("coefficients", {1, 0, 0, 1}) + Numbers("rho", {0}) +
                          Ints("classlabels_ints", {10, 20});
  Check({"SVMClassifier", two, {Rows(kF32, 2, 2)}, 2}, {{0.25, 0.125, 0.5, 0}},
        {{10, 20}, {0.25, 0.125, 0.5, 0}});
}

}  // namespace nn::test::onnx_svm_test

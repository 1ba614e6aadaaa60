#include "convert/inputs/fit_array.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "convert/edits/port_finder.h"
#include "ir/text/text.h"
#include "tensorio/literal.h"

namespace nn::test::fit_array_test {
namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Type TypeOf(const std::string& text) {
  return *ParseType(text);
}

// The values of a literal, as elements of a type.
Tensor Literal(const std::string& text, const std::string& type) {
  auto t = ParseLiteral(text, TypeOf(type + "[*]"));
  REQUIRE_MESSAGE(t.has_value(), t.error().message());
  return *std::move(t);
}

constexpr std::string_view kNumbers[] = {"bool",   "i4",  "u4",  "i8",  "u8",  "i16",
                                         "u16",    "i32", "u32", "i64", "u64", "bf16",
                                         "f8e5m2", "f16", "f32", "f64"};

TEST_CASE("arrays: 0 and 1 are converted between all numeric types, in every mode") {
  for (const std::string_view from : kNumbers)
    for (const std::string_view to : kNumbers)
      for (const Casting casting : {Casting::kExact, Casting::kReals, Casting::kNearest}) {
        CAPTURE(std::string(from));
        CAPTURE(std::string(to));
        const Tensor array = Literal("[1, 0, 1]", std::string(from));
        const auto t = FitType(array, TypeOf(std::string(to) + "[3]"), casting);
        REQUIRE_MESSAGE(t.has_value(), t.error().message());
        CHECK(t->Identical(Literal("[1, 0, 1]", std::string(to))));
      }
}

TEST_CASE("arrays: values that a type does not have are named, and converted on request") {
  struct Row {
    const char* from;
    const char* values;
    const char* to;
    const char* error;  // "": exact
    const char* nearest;
  };
  for (const Row& r : {
           Row{"f64", "[0.5, -0.0, inf, nan]", "f32", "", "[0.5, -0.0, inf, nan]"},
           Row{"f64", "[0.5, 0.1]", "f32",
               "element [1] of the f64 array is 0.1, which is not a value of f32; --cast-inputs "
               "makes it 0.10000000149011612",
               "[0.5, 0.1]"},
           Row{"f64", "[1e300, -1e300]", "f32", "makes it inf", "[inf, -inf]"},
           // Halfway between 1 and its successor but for the last digit: rounded once, not twice.
           Row{"f64", "[1.00048828125000022]", "f16", "makes it 1.0009765625", "[1.0009765625]"},
           Row{"f64", "[1.00048828125]", "f16", "cast-inputs makes it 1", "[1]"},
           Row{"f32", "[70000]", "f16", "makes it inf", "[inf]"},
           Row{"f32", "[1e9]", "f8e5m2", "makes it 57344", "[57344]"},
           Row{"f32", "[2, -3]", "i32", "", "[2, -3]"},
           Row{"f32", "[0.5, 1.5, 2.5, -2.5]", "i32", "element [0] of the f32 array is 0.5",
               "[0, 2, 2, -2]"},
           Row{"f32", "[300, -300]", "i8", "makes it 127", "[127, -128]"},
           Row{"f64", "[-1, 1e30]", "u64", "makes it 0", "[0, 18446744073709551615]"},
           Row{"f64", "[9223372036854775808, inf, -inf]", "i64", "makes it 9223372036854775807",
               "[9223372036854775807, 9223372036854775807, -9223372036854775808]"},
           Row{"f64", "[9223372036854775808]", "u64", "", "[9223372036854775808]"},
           Row{"i64", "[16777216, 16777218, -16777216]", "f32", "",
               "[16777216, 16777218, -16777216]"},
           Row{"i64", "[16777217]", "f32", "makes it 16777216", "[16777216]"},
           Row{"i64", "[9223372036854775807]", "f64", "is 9223372036854775807, which is not",
               "[9223372036854775808]"},
           Row{"u64", "[18446744073709551615]", "f64", "is 18446744073709551615, which is not",
               "[18446744073709551616]"},
           Row{"u64", "[18446744073709551615]", "i64", "makes it 9223372036854775807",
               "[9223372036854775807]"},
           // Above halfway by an amount that float64 does not have.
           Row{"i64", "[1157425104234217473]", "bf16", "is 1157425104234217473, which is not",
               "[1161928703861587968]"},
           Row{"i64", "[4294967296]", "i32", "makes it 2147483647", "[2147483647]"},
           Row{"i32", "[-1]", "u8", "makes it 0", "[0]"},
           Row{"i16", "[9, -9]", "i4", "makes it 7", "[7, -8]"},
           Row{"i32", "[2]", "bool", "makes it true", "[1]"},
           Row{"f32", "[0.25]", "bool", "makes it true", "[1]"},
       }) {
    const std::string from = r.from, to = r.to;
    CAPTURE(from);
    CAPTURE(to);
    CAPTURE(std::string(r.values));
    const Tensor array = Literal(r.values, from);
    const Type type(ParseDType(to).value_or(DType::kUnknown), ToDims(array.dims()));
    const auto exact = FitType(array, type, Casting::kExact);
    CHECK(exact.has_value() == (r.error[0] == '\0'));
    if (!exact) {
      CHECK(exact.error().code() == ErrorCode::kUsage);
      CHECK_MESSAGE(Contains(exact.error().message(), r.error), exact.error().message());
    }
    const Tensor nearest = Literal(r.nearest, to);
    const auto cast = FitType(array, type, Casting::kNearest);
    REQUIRE_MESSAGE(cast.has_value(), cast.error().message());
    for (int64_t i = 0; i < nearest.elements(); ++i)
      if (std::isnan(nearest.GetDouble(i)))
        CHECK(std::isnan(cast->GetDouble(i)));
      else
        CHECK(cast->GetDouble(i) == nearest.GetDouble(i));
    // Reals are rounded, integers must be exact.
    const auto reals = FitType(array, type, Casting::kReals);
    CHECK(reals.has_value() == (exact.has_value() || IsFloat(type.dtype)));
    if (reals && !exact) CHECK(reals->Identical(*cast));
  }
}

TEST_CASE("arrays: what no option converts") {
  struct Row {
    Tensor array;
    const char* type;
    const char* error;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Row& r : {
           Row{Tensor::Of<double>({1, 2}, {1, nan}), "i32[1, 2]",
               "element [0, 1] of the f64 array is nan, which i32 does not have"},
           Row{Tensor::Of<double>({1}, {nan}), "bool[1]", "is nan, which bool does not have"},
           Row{Tensor::Of<float>({1}, {2}), "i8[1]{scale=0.5, zp=1}",
               "the array has real numbers (f32), but the model requires quantized integers "
               "(i8[1]{scale=0.5, zp=1})"},
           Row{Tensor({1}, {"a"}), "f32[1]", "the array is str, but the model requires f32"},
           Row{Tensor::Of<float>({1}, {2}), "c64[1]",
               "the array is f32, but the model requires c64"},
       }) {
    const auto t = FitType(r.array, TypeOf(r.type), Casting::kNearest);
    REQUIRE(!t.has_value());
    CHECK(t.error().code() == ErrorCode::kUsage);
    CHECK_MESSAGE(Contains(t.error().message(), r.error), t.error().message());
  }
  // The integers of quantized inputs are those of the file.
  const auto stored =
      FitType(Tensor::Ints({-7}), TypeOf("i8[1]{scale=0.5, zp=1}"), Casting::kExact);
  REQUIRE(stored.has_value());
  CHECK(stored->ToInts() == std::vector<int64_t>{-7});
}

TEST_CASE("arrays: axes of size 1 are added and removed") {
  struct Row {
    std::vector<int64_t> given;
    const char* type;
    std::vector<int64_t> shape;  // that of --reshape-inputs
    const char* error;           // without it; "": none
  };
  using Shape = std::vector<int64_t>;
  for (const Row& r : {
           Row{{3, 8}, "f32[3, 8]", {3, 8}, ""},
           Row{{3, 8}, "f32[n, m]", {3, 8}, ""},
           Row{{3, 8}, "f32[*]", {3, 8}, ""},
           Row{{3, 8},
               "f32[1, 3, 8]",
               {1, 3, 8},
               "a tensor of shape [3, 8] does not fit f32[1, 3, 8]: axis 0 of size 1 is missing; "
               "--reshape-inputs makes it [1, 3, 8]"},
           Row{{3, 8}, "f32[n, 3, 8]", {1, 3, 8}, "axis 0 of size 1 is missing"},
           Row{{3, 8, 1}, "f32[3, 8]", {3, 8}, "axis 2 of size 1 is extra"},
           Row{{1, 1, 3}, "f32[3]", {3}, "axes 0, 1 of size 1 are extra"},
           Row{{1, 5},
               "f32[5, 1]",
               {5, 1},
               "axis 1 of size 1 is missing, axis 0 of size 1 is extra"},
           Row{{}, "f32[1]", {1}, "axis 0 of size 1 is missing"},
           Row{{1}, "f32[]", {}, "axis 0 of size 1 is extra"},
           Row{{1, 1}, "f32[n]", {1}, "axis 1 of size 1 is extra"},
           Row{{5}, "f32[n, 1]", {5, 1}, "axis 1 of size 1 is missing"},
           Row{{0}, "f32[1, n, 1]", {1, 0, 1}, "axes 0, 2 of size 1 are missing"},
           Row{{3, 5}, "f32[n, 3, m]", {1, 3, 5}, "axis 0 of size 1 is missing"},
           // Not only axes of size 1: the graph refuses the array as it is.
           Row{{8, 3}, "f32[1, 3, 8]", {8, 3}, ""},
           Row{{2, 2}, "f32[4]", {2, 2}, ""},
           Row{{2, 3, 8}, "f32[3, 8]", {2, 3, 8}, ""},
       }) {
    CAPTURE(std::string(r.type));
    int64_t n = 1;
    for (const int64_t d : r.given) n *= d;
    const Tensor array = Tensor::Of(r.given, std::vector<float>(static_cast<size_t>(n), 1));
    const auto reshaped = FitAxes(array, TypeOf(r.type), true);
    REQUIRE(reshaped.has_value());
    CHECK(reshaped->dims() == r.shape);
    const auto strict = FitAxes(array, TypeOf(r.type), false);
    CHECK(strict.has_value() == (r.error[0] == '\0'));
    if (!strict)
      CHECK_MESSAGE(Contains(strict.error().message(), r.error), strict.error().message());
  }
  for (const bool reshape : {false, true}) {
    const auto open = FitAxes(Tensor::Of<float>({2}, {1, 2}), TypeOf("f32[n, m]"), reshape);
    REQUIRE(!open.has_value());
    CHECK(Contains(open.error().message(),
                   "it could be [1, 2] or [2, 1]; set the shape with --input-shape"));
  }
  // Many ways, none of which fits.
  std::string type = "f32[";
  for (int i = 0; i < 60; ++i) type += fmt::format("a{}, ", i);
  Shape shape(30, 2);
  shape[0] = 0;
  const auto none = FitAxes(Tensor::Of<float>(shape, {}), TypeOf(type + "7]"), true);
  REQUIRE(none.has_value());
  CHECK(none->dims() == shape);
}

TEST_CASE("names: exact ones, forms of TensorFlow and of files, positions") {
  const PortFinder finder(
      {"x", "serving_default_ids:0", "a/b.c", "s:0", "s:1", "in_1:0", "import/t", "y=z:0"}, {"in"});
  const auto find = [&](std::string_view name) -> int {
    const auto port = finder.Find(name);
    if (!port) return -2;
    return *port ? static_cast<int>(**port) : -1;
  };
  struct Row {
    const char* name;
    int port;  // -1: none, -2: several
  };
  for (const Row& r : {
           Row{"x", 0},
           Row{"x:0", 0},
           Row{"serving_default_x", 0},
           Row{"serving_default_x:0", 0},
           Row{"import/x:0", 0},
           Row{"import_x", -1},
           Row{"x:1", -1},
           Row{"X", -1},
           Row{"ids", 1},
           Row{"ids:0", 1},
           Row{"ids_0", 1},
           Row{"serving_default_ids", 1},
           Row{"serving_default_ids_0", 1},
           Row{"a_b_c", 2},
           Row{"a/b_c", 2},
           Row{"a/b.c:0", 2},
           Row{"s", 3},
           Row{"s_1", 4},
           Row{"t", 6},
           Row{"in_0", 0},
           Row{"in_2", 2},
           Row{"in_02", -1},
           Row{"in_8", -1},
           Row{"in_1:0", 5},  // exact
           Row{"in_1", -2},   // by position 1, by name 5
           Row{"", -1},
           Row{":0", -1},
       }) {
    CAPTURE(std::string(r.name));
    CHECK(find(r.name) == r.port);
  }
  CHECK(finder.Find("in_1").error().message() ==
        "\"in_1\" could be any of \"serving_default_ids:0\", \"in_1:0\"");
  const auto split = [&](const std::string& text) { return finder.Split(text); };
  CHECK(split("x=1")->port == 0);
  CHECK(split("ids=a=b")->value == "a=b");
  CHECK(split("y=z=1")->port == 7);
  CHECK(split("y=z=1")->value == "1");
  CHECK(split("in_3=2")->port == 3);
  CHECK(Contains(split("q=1").error().message(), "unknown name; expected one of \"x\""));
  CHECK(Contains(split("in_1=1").error().message(), "could be any of"));
  CHECK(Contains(split("x").error().message(), "expected NAME=VALUE"));
  // Names that differ only in what is ignored.
  const PortFinder twins(std::vector<std::string>{"u:0", "serving_default_u"}, {"out"});
  CHECK(*twins.Find("u:0").value() == 0);
  CHECK(!twins.Find("u").has_value());
}

// The pixels 0, 1, 2, ... of an array.
Tensor Counting(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (const int64_t n : shape) elements *= n;
  std::vector<float> values(static_cast<size_t>(elements));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::Of(shape, values);
}

TEST_CASE("arrays: pictures become images of the declared layout and order") {
  struct Row {
    std::vector<int64_t> shape;
    const char* input;
    ImageColors colors;
    std::vector<int64_t> fitted;
    std::vector<double> values;  // {}: those of the array
  };
  constexpr auto kGray = ImageColors::kGray, kRgb = ImageColors::kRgb, kBgr = ImageColors::kBgr;
  for (const Row& r : {
           Row{{1, 2, 3}, "f32[1, 3, 1, 2]", kRgb, {1, 3, 1, 2}, {0, 3, 1, 4, 2, 5}},
           Row{{1, 2, 3}, "f32[1, 3, 1, 2]", kBgr, {1, 3, 1, 2}, {2, 5, 1, 4, 0, 3}},
           Row{{1, 1, 2, 3}, "f32[1, 3, h, w]", kRgb, {1, 3, 1, 2}, {0, 3, 1, 4, 2, 5}},
           Row{{2, 1}, "f32[1, 1, 2, 1]", kGray, {1, 1, 2, 1}, {}},
           Row{{2, 1, 1}, "f32[1, 1, 2, 1]", kGray, {1, 1, 2, 1}, {}},
           Row{{1, 2, 2, 1}, "f32[1, 1, h, w]", kGray, {1, 1, 2, 2}, {}},
           // Arrays that have the declared layout.
           Row{{1, 3, 1, 2}, "f32[1, 3, 1, 2]", kBgr, {1, 3, 1, 2}, {}},
           Row{{1, 3, 2, 3}, "f32[1, 3, h, w]", kBgr, {1, 3, 2, 3}, {}},
           Row{{1, 1, 3, 1}, "f32[1, 1, h, w]", kGray, {1, 1, 3, 1}, {}},
           // [H, W, C] before [C, H, W].
           Row{{3, 1, 3}, "f32[1, 3, h, w]", kRgb, {1, 3, 3, 1}, {0, 3, 6, 1, 4, 7, 2, 5, 8}},
           // Arrays that are not pictures, or have other sizes.
           Row{{3, 1, 2}, "f32[1, 3, 1, 2]", kRgb, {3, 1, 2}, {}},
           Row{{2, 2, 3}, "f32[1, 3, 1, 2]", kRgb, {2, 2, 3}, {}},
           Row{{1, 2, 4}, "f32[1, 3, 1, 2]", kRgb, {1, 2, 4}, {}},
           Row{{1, 2}, "f32[1, 3, 1, 2]", kRgb, {1, 2}, {}},
           Row{{1, 2, 3}, "f32[1, 1, 1, 2]", kGray, {1, 2, 3}, {}},
           Row{{2, 1, 2, 3}, "f32[1, 3, 1, 2]", kRgb, {2, 1, 2, 3}, {}},
       }) {
    CAPTURE(r.input);
    CAPTURE(ToString(ToDims(r.shape)));
    const Tensor array = Counting(r.shape);
    const auto t = FitImage(array, TypeOf(r.input), r.colors);
    REQUIRE_MESSAGE(t.has_value(), t.error().message());
    CHECK(t->dims() == r.fitted);
    CHECK(t->ToDoubles() == (r.values.empty() ? array.ToDoubles() : r.values));
  }
}

}  // namespace
}  // namespace nn::test::fit_array_test

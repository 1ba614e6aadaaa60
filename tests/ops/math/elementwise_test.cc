#include <doctest/doctest.h>

#include <limits>

#include "support/run_graph.h"

namespace nn::test::elementwise_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::string UnaryGraph(std::string_view type, std::string_view op, std::string_view attrs,
                       std::string_view result = {}) {
  return fmt::format("graph {{ in %x: {} %y = {}(%x) {}{} out \"y\" = %y }}", type, op, attrs,
                     result.empty() ? std::string() : fmt::format(" : {}", result));
}

std::string BinaryGraph(std::string_view a, std::string_view b, std::string_view op,
                        std::string_view attrs = {}, std::string_view result = {}) {
  return fmt::format("graph {{ in %a: {} in %b: {} %y = {}(%a, %b) {}{} out \"y\" = %y }}", a, b,
                     op, attrs, result.empty() ? std::string() : fmt::format(" : {}", result));
}

// ---- Reals and integers

TEST_CASE("elementwise: functions of one operand") {
  struct Row {
    const char* op;
    const char* type;
    const char* attrs;
    std::vector<double> x, y;
    double tolerance = 0;
  };
  for (const Row& r : std::vector<Row>{
           {"abs", "f32[4]", "", {-1.5, -0.0, kInf, kNan}, {1.5, 0, kInf, kNan}},
           {"abs", "i8[3]", "", {-128, -1, 5}, {-128, 1, 5}},
           {"neg", "i32[2]", "", {-2147483648.0, 7}, {-2147483648.0, -7}},
           {"neg", "f64[2]", "", {1.5, -2}, {-1.5, 2}},
           {"sign", "f32[4]", "", {-3, 0, 4, kNan}, {-1, 0, 1, kNan}},
           {"floor", "f32[3]", "", {-1.5, 1.5, 2}, {-2, 1, 2}},
           {"ceil", "f32[3]", "", {-1.5, 1.5, 2}, {-1, 2, 2}},
           {"round", "f32[5]", "", {0.5, 1.5, 2.5, -0.5, -1.5}, {0, 2, 2, 0, -2}},
           {"sqrt", "f32[3]", "", {4, 2, -1}, {2, 1.41421356237, kNan}, 1e-7},
           {"rsqrt", "f32[2]", "", {4, 0}, {0.5, kInf}},
           {"reciprocal", "f32[3]", "", {4, 0, -0.0}, {0.25, kInf, -kInf}},
           {"relu", "f32[4]", "", {-1, 2, kNan, -kInf}, {0, 2, kNan, 0}},
           {"relu", "i16[2]", "", {-5, 5}, {0, 5}},
           {"clip",
            "f32[5]",
            "{min = -1.0, max = 2.0}",
            {-3, 0.5, 7, kNan, -kInf},
            {-1, 0.5, 2, kNan, -1}},
           {"clip", "i32[3]", "{min = -1.0, max = 2.0}", {-3, 1, 7}, {-1, 1, 2}},
           {"leaky_relu", "f32[2]", "{alpha = 0.25}", {-4, 4}, {-1, 4}},
           {"thresholded_relu", "f32[3]", "{alpha = 1.0}", {1, 1.5, kNan}, {0, 1.5, 0}},
           {"hard_sigmoid", "f32[3]", "{alpha = 0.25, beta = 0.5}", {-4, 1, 9}, {0, 0.75, 1}},
           {"hard_swish", "f32[3]", "", {-4, 3, 9}, {0, 3, 9}},
           {"shrink",
            "f32[5]",
            "{bias = 0.5, lambd = 1.0}",
            {-2, 0.5, 2, kNan, kInf},
            {-1.5, 0, 1.5, 0, kInf}},
           {"shrink", "f64[2]", "{bias = 0.5, lambd = 1.0}", {kNan, 2}, {0, 1.5}},
           {"softsign", "f32[3]", "", {1, -3, kInf}, {0.5, -0.75, 1}},
           {"exp", "f32[4]", "", {0, 1, -kInf, 1000}, {1, 2.718281828459045, 0, kInf}, 1e-7},
           {"exp2", "f32[3]", "", {3, -1, 0.5}, {8, 0.5, 1.4142135623730951}, 1e-7},
           {"expm1", "f32[2]", "", {1e-6, 1}, {1.0000005e-6, 1.718281828459045}, 1e-7},
           {"log", "f32[4]", "", {1, 10, 0, -1}, {0, 2.302585092994046, -kInf, kNan}, 1e-7},
           {"log1p", "f32[2]", "", {1e-6, 1}, {9.999995e-7, 0.6931471805599453}, 1e-7},
           {"sigmoid", "f32[3]", "", {0, 2, -200}, {0.5, 0.8807970779778823, 0}, 1e-7},
           {"silu", "f32[2]", "", {0, 2}, {0, 1.7615941559557649}, 1e-7},
           {"softplus", "f32[3]", "", {0, 100, -100}, {0.6931471805599453, 100, 0}, 1e-7},
           {"mish", "f32[2]", "", {0, 1}, {0, 0.8650983882673103}, 1e-7},
           {"elu", "f32[2]", "{alpha = 2.0}", {-1, 3}, {-1.2642411176571153, 3}, 1e-7},
           {"selu", "f32[1]", "{alpha = 2.0, gamma = 3.0}", {-1}, {-3.792723352971346}, 1e-7},
           {"celu", "f32[2]", "{alpha = 2.0}", {-2, 3}, {-1.2642411176571153, 3}, 1e-7},
           {"sin", "f32[2]", "", {1, 100000}, {0.8414709848078965, 0.03574879797201651}, 1e-7},
           {"cos", "f32[2]", "", {1, 100000}, {0.5403023058681398, -0.9993608074376452}, 1e-7},
           {"tan", "f32[1]", "", {1}, {1.5574077246549022}, 1e-7},
           {"asin", "f32[2]", "", {0.5, 2}, {0.5235987755982989, kNan}, 1e-7},
           {"acos", "f32[1]", "", {0.5}, {1.0471975511965979}, 1e-7},
           {"atan", "f32[2]", "", {1, kInf}, {0.7853981633974483, 1.5707963267948966}, 1e-7},
           {"sinh", "f32[1]", "", {1}, {1.1752011936438014}, 1e-7},
           {"cosh", "f32[1]", "", {1}, {1.5430806348152437}, 1e-7},
           {"tanh", "f32[2]", "", {0.5, -50}, {0.46211715726000973, -1}, 1e-7},
           {"asinh", "f32[1]", "", {1}, {0.881373587019543}, 1e-7},
           {"acosh", "f32[2]", "", {2, 0.5}, {1.3169578969248166, kNan}, 1e-7},
           {"atanh", "f32[2]", "", {0.5, 1}, {0.5493061443340548, kInf}, 1e-7},
           {"erf", "f32[2]", "", {0.5, -9}, {0.5204998778130465, -1}, 1e-7},
           {"gelu", "f32[2]", "", {1, -1}, {0.8413447460685429, -0.15865525393145707}, 1e-7},
           {"gelu", "f32[1]", "{approximate = tanh}", {1}, {0.8411919906082768}, 1e-6},
           {"gelu", "f32[1]", "{approximate = sigmoid}", {1}, {0.8457957659328212}, 1e-6},
           {"relu", "f16[2]", "", {-1, 0.5}, {0, 0.5}},
           {"exp", "bf16[2]", "", {0, 1}, {1, 2.71875}},
           {"not", "bool[2]", "", {0, 1}, {1, 0}},
           {"bitwise_not", "u8[2]", "", {0, 15}, {255, 240}},
           {"is_nan", "f32[3]", "", {kNan, kInf, 0}, {1, 0, 0}},
           {"is_inf", "f32[3]", "{detect_negative = false}", {kInf, -kInf, 0}, {1, 0, 0}},
       }) {
    CheckCase({r.op, UnaryGraph(r.type, r.op, r.attrs), {r.x}, {r.y}, r.tolerance});
  }
}

TEST_CASE("elementwise: functions of two operands") {
  struct Row {
    const char* op;
    const char* type;
    std::vector<double> a, b, y;
    double tolerance = 0;
  };
  for (const Row& r : std::vector<Row>{
           {"add", "f32[2]", {1, kInf}, {2, -kInf}, {3, kNan}},
           {"add", "i8[2]", {127, -128}, {1, -1}, {-128, 127}},
           {"add", "u32[1]", {4294967295.0}, {2}, {1}},
           {"sub", "u8[1]", {1}, {2}, {255}},
           {"mul", "i32[1]", {65536}, {65536}, {0}},
           {"div", "f32[3]", {1, -1, 0}, {0, 0, 0}, {kInf, -kInf, kNan}},
           {"div", "i32[4]", {7, -7, 5, -2147483648.0}, {2, 2, 0, -1}, {3, -3, 0, -2147483648.0}},
           {"floor_div", "i32[3]", {7, -7, 7}, {2, 2, -2}, {3, -4, -4}},
           {"floor_div", "f32[2]", {7, -7}, {2, 2}, {3, -4}},
           {"mod", "i32[4]", {7, -7, 7, 5}, {3, 3, -3, 0}, {1, 2, -2, 0}},
           {"mod", "f32[3]", {7.5, -7.5, 7.5}, {3, 3, -3}, {1.5, 1.5, -1.5}},
           {"fmod", "f32[3]", {7.5, -7.5, 7.5}, {3, 3, -3}, {1.5, -1.5, 1.5}},
           {"fmod", "i32[2]", {7, -7}, {3, 3}, {1, -1}},
           {"pow", "f32[5]", {2, 4, -2, 0, -2}, {10, 0.5, 3, 0, 0.5}, {1024, 2, -8, 1, kNan}, 1e-7},
           {"pow", "i32[3]", {3, 2, -1}, {4, -1, -3}, {81, 0, -1}},
           {"minimum", "f32[3]", {1, kNan, 1}, {2, 2, kNan}, {1, kNan, kNan}},
           {"maximum", "f32[3]", {1, kNan, 1}, {2, 2, kNan}, {2, kNan, kNan}},
           {"maximum", "u64[1]", {3}, {5}, {5}},
           {"atan2",
            "f32[3]",
            {1, -1, 0},
            {1, -1, -1},
            {0.7853981633974483, -2.356194490192345, 3.141592653589793},
            1e-7},
           {"squared_difference", "f32[1]", {3}, {5}, {4}},
           {"prelu", "f32[2]", {-2, 2}, {0.5, 0.5}, {-1, 2}},
           {"equal", "f32[3]", {1, kNan, 0}, {1, kNan, -0.0}, {1, 0, 1}},
           {"not_equal", "i64[2]", {1, 2}, {1, 3}, {0, 1}},
           {"less", "f32[3]", {1, kNan, 2}, {2, 1, 2}, {1, 0, 0}},
           {"less_equal", "u8[2]", {200, 3}, {100, 3}, {0, 1}},
           {"greater", "i8[2]", {-1, 1}, {1, -1}, {0, 1}},
           {"greater_equal", "f32[2]", {2, kNan}, {2, 0}, {1, 0}},
           {"and", "bool[4]", {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1}},
           {"or", "bool[4]", {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}},
           {"xor", "bool[4]", {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}},
           {"bitwise_and", "u8[1]", {12}, {10}, {8}},
           {"bitwise_or", "i8[1]", {12}, {-16}, {-4}},
           {"bitwise_xor", "i32[1]", {12}, {10}, {6}},
           {"shift_left", "u8[3]", {1, 255, 1}, {3, 4, 8}, {8, 240, 0}},
           {"shift_right", "i8[2]", {-8, 64}, {1, 9}, {-4, 0}},
       }) {
    CheckCase({r.op, BinaryGraph(r.type, r.type, r.op), {r.a, r.b}, {r.y}, r.tolerance});
  }
}

// An operand of ones, broadcast, must give the same as an operand of the full shape.
TEST_CASE("elementwise: every broadcast gives what the full operand gives") {
  struct Row {
    const char* a;
    const char* b;
    std::vector<int64_t> b_dims;
  };
  const std::vector<int64_t> full = {2, 3, 4, 21};
  for (const Row& r : std::vector<Row>{
           {"f32[2, 3, 4, 21]", "f32[2, 3, 4, 21]", {2, 3, 4, 21}},
           {"f32[2, 3, 4, 21]", "f32[2, 3, 1, 1]", {2, 3, 1, 1}},
           {"f32[2, 3, 4, 21]", "f32[21]", {21}},
           {"f32[2, 3, 4, 21]", "f32[1, 1, 1, 21]", {1, 1, 1, 21}},
           {"f32[2, 3, 4, 21]", "f32[]", {}},
           {"f32[2, 3, 4, 21]", "f32[3, 1, 21]", {3, 1, 21}},
           {"f32[2, 3, 4, 21]", "f32[2, 1, 4, 1]", {2, 1, 4, 1}},
           {"f32[2, 3, 4, 21]", "f32[4, 1]", {4, 1}},
       }) {
    for (const char* op : {"sub", "div", "pow", "maximum"}) {
      for (const bool swapped : {false, true}) {
        CAPTURE(r.b);
        CAPTURE(op);
        CAPTURE(swapped);
        const Graph g = Parse(swapped ? BinaryGraph(r.b, r.a, op) : BinaryGraph(r.a, r.b, op));
        const auto inputs = InputsOf(g, {});
        const Tensor& a = inputs[swapped ? 1 : 0];
        const Tensor& b = inputs[swapped ? 0 : 1];
        auto expanded = TensorBuilder::Create(DType::kF32, full);
        REQUIRE(expanded.has_value());
        std::vector<int64_t> dims(4 - r.b_dims.size(), 1);
        dims.insert(dims.end(), r.b_dims.begin(), r.b_dims.end());
        for (int64_t i = 0; i < expanded->elements(); ++i) {
          int64_t rest = i, at = 0, step = 1;
          for (size_t d = 4; d-- > 0;) {
            if (dims[d] != 1) at += rest % full[d] * step;
            rest /= full[d];
            step *= dims[d];
          }
          expanded->SetDouble(i, b.GetDouble(at));
        }
        const Tensor other = expanded->Finish();
        const Graph whole = Parse(BinaryGraph(r.a, r.a, op));
        const auto want = RunEverywhere(
            whole, swapped ? std::vector<Tensor>{other, a} : std::vector<Tensor>{a, other});
        CHECK(RunEverywhere(g, inputs)[0].Identical(want[0]));
      }
    }
  }
}

TEST_CASE("elementwise: shapes that grow on both sides") {
  CheckCase({"outer",
             BinaryGraph("f32[2, 1]", "f32[3]", "add"),
             {{10, 20}, {1, 2, 3}},
             {{11, 12, 13, 21, 22, 23}}});
  CheckCase({"empty", BinaryGraph("f32[0, 3]", "f32[3]", "add"), {{}, {1, 2, 3}}, {{}}});
}

TEST_CASE("elementwise: select and cast") {
  CheckCase({"select",
             R"(graph { in %c: bool[2, 1] in %a: f32[3] in %b: f32[]
                                  %y = select(%c, %a, %b) out "y" = %y })",
             {{1, 0}, {1, 2, 3}, {9}},
             {{1, 2, 3, 9, 9, 9}}});
  struct Row {
    const char* type;
    const char* to;
    std::vector<double> x, y;
  };
  for (const Row& r : std::vector<Row>{
           {"f32[4]", "i32", {-1.7, 1.7, 3e9, kNan}, {-1, 1, 2147483647.0, 0}},
           {"f32[3]", "bool", {0, -0.5, kNan}, {0, 1, 1}},
           {"i32[3]", "u8", {-1, 256, 7}, {255, 0, 7}},
           {"i64[1]", "f32", {16777217}, {16777216}},
           {"f64[1]", "f32", {1e300}, {kInf}},
           {"f32[2]", "f16", {70000, 1.0009765625}, {kInf, 1.0009765625}},
           {"bool[2]", "f32", {0, 1}, {0, 1}},
           // Integers of 2 and 4 bits wrap.
           {"f32[8]", "i4", {-9, -8, 7, 8, 15.9, -1.9, kInf, kNan}, {7, -8, 7, -8, -1, -1, 0, 0}},
           {"f16[6]", "u4", {-9, -1.5, 15, 16, 300, -kInf}, {7, 15, 15, 0, 12, 0}},
           {"f64[5]", "i2", {-3, -2, 1.9, 2, 1e18}, {1, -2, 1, -2, 0}},
           {"bf16[4]", "u2", {-3, 3, 4, 5}, {1, 3, 0, 1}},
           {"i32[3]", "i4", {8, -9, 300}, {-8, 7, -4}},
       })
    CheckCase({r.to, UnaryGraph(r.type, "cast", fmt::format("{{to = {}}}", r.to)), {r.x}, {r.y}});
}

TEST_CASE("elementwise: casts of complex numbers") {
  for (const OpCase& c : {
           OpCase{"real parts",
                  R"(graph { in %x: f32[2, 2] %c = bit_cast(%x) {to = c64} : c64[2]
                       %y = cast(%c) {to = i8} out "y" = %y })",
                  {{1.5, 2, -3, 4}},
                  {{1, -3}}},
           OpCase{"no imaginary part",
                  R"(graph { in %x: i64[2] %c = cast(%x) {to = c64}
                       %y = bit_cast(%c) {to = f32} : f32[2, 2] out "y" = %y })",
                  {{-5, 16777217}},
                  {{-5, 0, 16777216, 0}}},
           OpCase{"both parts",
                  R"(graph { in %x: f32[1, 2] %c = bit_cast(%x) {to = c64} : c64[1]
                       %d = cast(%c) {to = c128}
                       %y = bit_cast(%d) {to = f64} : f64[1, 2] out "y" = %y })",
                  {{1.5, -2}},
                  {{1.5, -2}}},
       })
    CheckCase(c);
}

// Expected values are those of 60 digits, rounded.
TEST_CASE("elementwise: functions of float64") {
  struct Row {
    const char* op;
    const char* attrs;
    std::vector<double> x, y;
  };
  for (const Row& r : std::vector<Row>{
           {"exp",
            "",
            {-740.0, -1.0, 0.25, 700.0, kInf, -kInf, kNan},
            {4.2e-322, 0.36787944117144233, 1.2840254166877414, 1.0142320547350045e+304, kInf, 0,
             kNan}},
           {"exp2",
            "",
            {-3.5, 0.125, 1000.0},
            {0.08838834764831845, 1.0905077326652577, 1.0715086071862673e+301}},
           {"expm1",
            "",
            {1e-20, -0.3, 2.0, -40.0, -kInf},
            {1e-20, -0.2591817793182821, 6.38905609893065, -1.0, -1}},
           {"log",
            "",
            {5e-324, 0.99, 1.5, 1e+300, 0, -1, kInf},
            {-744.4400719213812, -0.01005033585350145, 0.4054651081081644, 690.7755278982137, -kInf,
             kNan, kInf}},
           {"log1p",
            "",
            {1e-20, -0.5, 3.0, 1e+18, -1, -2},
            {1e-20, -0.6931471805599453, 1.3862943611198906, 41.44653167389282, -kInf, kNan}},
           {"sigmoid",
            "",
            {-700.0, -1.0, 2.0, -kInf, kInf},
            {9.85967654375977e-305, 0.2689414213699951, 0.8807970779778824, 0, 1}},
           {"silu", "", {-30.0, 2.0, -kInf}, {-2.8072868906517896e-12, 1.7615941559557649, 0}},
           {"softplus",
            "",
            {-100.0, 0.5, 800.0, kInf, kNan},
            {3.720075976020836e-44, 0.9740769841801067, 800.0, kInf, kNan}},
           {"mish",
            "",
            {-20.0, 1.5, -kInf, kNan},
            {-4.122307240628761e-08, 1.4033782663958025, 0, kNan}},
           {"sin",
            "",
            {0.5, 3.0, -100000.0, 1e+22, 1.7976931348623157e+308, kInf},
            {0.479425538604203, 0.1411200080598672, -0.03574879797201651, -0.8522008497671888,
             0.004961954789184062, kNan}},
           {"cos",
            "",
            {0.5, 3.0, -100000.0, 1e+22, 1.5707963267948966, -kInf},
            {0.8775825618903728, -0.9899924966004454, -0.9993608074382124, 0.523214785395139,
             6.123233995736766e-17, kNan}},
           {"tan",
            "",
            {0.5, 2.0, 1e+22},
            {0.5463024898437905, -2.185039863261519, -1.6287782256068988}},
           {"asin",
            "",
            {1e-10, 0.75, -1.0, 1.5},
            {1e-10, 0.848062078981481, -1.5707963267948966, kNan}},
           {"acos",
            "",
            {0.9999999, 0.25, -1.0},
            {0.00044721359910904126, 1.318116071652818, 3.141592653589793}},
           {"atan",
            "",
            {0.3, -1.5, 1e+20, kInf},
            {0.2914567944778671, -0.982793723247329, 1.5707963267948966, 1.5707963267948966}},
           {"sinh",
            "",
            {1e-10, -2.0, 710.0},
            {1e-10, -3.6268604078470186, 1.1169973830808555e+308}},
           {"cosh", "", {0.5, -710.0}, {1.1276259652063807, 1.1169973830808555e+308}},
           {"tanh",
            "",
            {1e-10, -0.7, 5.0, kInf, -kInf},
            {1e-10, -0.6043677771171635, 0.9999092042625951, 1, -1}},
           {"asinh", "", {1e-10, 2.0, -1e+200}, {1e-10, 1.4436354751788103, -461.2101657793691}},
           {"acosh",
            "",
            {1.0000001, 2.0, 1e+200, 0.5},
            {0.0004472135919037347, 1.3169578969248168, 461.2101657793691, kNan}},
           {"atanh",
            "",
            {1e-10, -0.5, 0.999, 1, 2},
            {1e-10, -0.5493061443340549, 3.8002011672501994, kInf, kNan}},
           {"erf",
            "",
            {1e-10, 0.7, -2.0, 3.0, -kInf, kNan},
            {1.1283791670955126e-10, 0.6778011938374184, -0.9953222650189527, 0.9999779095030014,
             -1, kNan}},
           {"gelu",
            "",
            {-8.0, -1.0, 2.0, -kInf, kInf},
            {-4.976768459417427e-15, -0.15865525393145705, 1.9544997361036416, 0, kInf}},
           {"elu", "{alpha = 0.5}", {-1.0, 2.0, -kInf}, {-0.31606027941427883, 2.0, -0.5}},
           {"celu", "{alpha = 2.0}", {-1.0, 2.0, kNan}, {-0.7869386805747332, 2.0, kNan}},
           {"gelu", "{approximate = tanh}", {-1.0, 2.0}, {-0.1588080093917233, 1.954597694087775}},
       }) {
    const std::string type = fmt::format("f64[{}]", r.x.size());
    CheckCase({r.op, UnaryGraph(type, r.op, r.attrs), {r.x}, {r.y}, 1e-14});
  }
}

TEST_CASE("elementwise: powers of float64") {
  CheckCase({"pow",
             BinaryGraph("f64[14]", "f64[14]", "pow"),
             {{2, 10, -3, -8, 0, -0.0, 0, kInf, -kInf, 1, -1, 2, 1.0000001, 0.5},
              {0.5, -300, 3, 0.5, 0, -3, 2.5, -1, 3, kNan, kInf, 1100, 1e9, kInf}},
             {{1.4142135623730951, 1e-300, -27, kNan, 1, -kInf, 0, 0, -kInf, 1, 1, kInf,
               2.688103858214465e+43, 0}},
             1e-12});
  CheckCase({"pow of integers",
             R"(graph { in %a: f64[3] in %b: i64[3] %y = pow(%a, %b) out "y" = %y })",
             {{-2, -2, 3}, {3, -2, 0}},
             {{-8, 0.25, 1}}});
}

TEST_CASE("elementwise: real powers of integers") {
  CheckCase({"i32",
             BinaryGraph("i32[8]", "f32[8]", "pow"),
             {{4, 27, 10, -2, -2, 100, 3, 2}, {0.5, 0.33333334, 0.5, 0.5, 3, 20.5, -0.5, 2.5}},
             {{2, 3, 3, 0, -8, 2147483647.0, 0, 5}}});
  CheckCase({"u8 and f64",
             BinaryGraph("u8[3]", "f64[3]", "pow"),
             {{9, 200, 16}, {1.5, 1.5, 0.25}},
             {{27, 255, 2}}});
}

TEST_CASE("elementwise: errors name what does not fit") {
  CHECK(ErrorOf(BinaryGraph("f32[3]", "f32[4]", "add"))
            .find("shapes [3] and [4] do not broadcast: 3 and 4 on axis 0") != std::string::npos);
  CHECK(ErrorOf(BinaryGraph("f32[3]", "i32[3]", "add"))
            .find("inputs have different element types, f32 and i32") != std::string::npos);
  CHECK(ErrorOf(BinaryGraph("f32[3]", "f32[2, 3]", "prelu"))
            .find("the slope f32[2, 3] has more axes than the input f32[3]") != std::string::npos);
  CHECK(ErrorOf(BinaryGraph("f32[3]", "f32[3]", "and")).find("and of f32") != std::string::npos);
  CHECK(ErrorOf(UnaryGraph("i32[3]", "is_nan", "")).find("is_nan of i32") != std::string::npos);
  CHECK(ErrorOf(UnaryGraph("u8[3]", "dequantize", ""))
            .find("dequantize of u8[3], which is not quantized") != std::string::npos);
}

// ---- Quantized types

const std::vector<double> kU8 = {0, 1, 50, 99, 100, 101, 128, 200, 254, 255};
const std::vector<double> kU8b = {255, 3, 77, 0, 128, 127, 129, 64, 1, 200};
const std::vector<double> kI8 = {-128, -127, -50, -1, 0, 1, 28, 100, 126, 127};
const std::vector<double> kI8b = {127, -128, -77, 0, 5, -6, 100, 64, -1, 3};
const std::vector<double> kI16 = {-32768, -32767, -5000, -1, 0, 1, 1234, 30000, 32766, 32767};
const std::vector<double> kI16b = {32767, -32768, 77, 0, -500, 6, -10000, 640, -1, 3};

// Expected integers come from a model of the reference kernels in Python integers.
TEST_CASE("elementwise: quantized functions of one operand") {
  struct Row {
    const char* op;
    const char* attrs;
    const char* x_type;
    const char* y_type;
    const std::vector<double>& x;
    std::vector<double> y;
  };
  for (const Row& r : std::vector<Row>{
           {"relu",
            "",
            "u8[10]{scale=0.1, zp=100}",
            "u8[10]{scale=0.07, zp=20}",
            kU8,
            {20, 20, 20, 20, 20, 21, 60, 163, 240, 241}},
           {"clip",
            "{min = 0.0, max = 6.0}",
            "i8[10]{scale=0.1, zp=3}",
            "i8[10]{scale=0.03, zp=-120}",
            kI8,
            {-120, -120, -120, -120, -120, -120, -37, 80, 80, 80}},
           {"clip",
            "{min = -1.0, max = 1.0}",
            "u8[10]{scale=0.1, zp=100}",
            "u8[10]{scale=0.1, zp=100}",
            kU8,
            {90, 90, 90, 99, 100, 101, 110, 110, 110, 110}},
           {"leaky_relu",
            "{alpha = 0.25}",
            "i8[10]{scale=0.1, zp=3}",
            "i8[10]{scale=0.08, zp=-10}",
            kI8,
            {-51, -51, -27, -11, -11, -11, 21, 111, 127, 127}},
           {"leaky_relu",
            "{alpha = -0.5}",
            "u8[10]{scale=0.1, zp=100}",
            "u8[10]{scale=0.08, zp=60}",
            kU8,
            {122, 122, 91, 61, 60, 61, 95, 185, 253, 254}},
           {"sigmoid",
            "",
            "u8[10]{scale=0.05, zp=128}",
            "u8[10]{scale=0.00390625, zp=0}",
            kU8,
            {0, 0, 5, 49, 51, 53, 128, 249, 255, 255}},
           {"sigmoid",
            "",
            "i8[10]{scale=0.05, zp=3}",
            "i8[10]{scale=0.00390625, zp=-128}",
            kI8,
            {-128, -128, -111, -13, -10, -6, 71, 126, 127, 127}},
           {"tanh",
            "",
            "i8[10]{scale=0.03, zp=3}",
            "i8[10]{scale=0.0078125, zp=0}",
            kI8,
            {-128, -128, -118, -15, -11, -8, 81, 127, 127, 127}},
           {"hard_swish",
            "",
            "u8[10]{scale=0.05, zp=100}",
            "u8[10]{scale=0.04, zp=20}",
            kU8,
            {20, 20, 15, 19, 20, 21, 46, 145, 212, 214}},
           {"hard_swish",
            "",
            "i8[10]{scale=0.05, zp=3}",
            "i8[10]{scale=0.03, zp=-100}",
            kI8,
            {-100, -100, -105, -103, -102, -102, -70, 62, 105, 107}},
           {"sigmoid",
            "",
            "i16[10]{scale=0.000244140625, zp=0}",
            "i16[10]{scale=0.000030517578125, zp=0}",
            kI16,
            {11, 11, 7465, 16382, 16384, 16386, 18833, 32746, 32757, 32757}},
           {"sigmoid",
            "",
            "i16[10]{scale=0.0003, zp=0}",
            "i16[10]{scale=0.000030517578125, zp=0}",
            kI16,
            {2, 2, 5978, 16381, 16384, 16387, 19382, 32764, 32766, 32766}},
           {"tanh",
            "",
            "i16[10]{scale=0.00048828125, zp=0}",
            "i16[10]{scale=0.000030517578125, zp=0}",
            kI16,
            {-32767, -32767, -32275, -16, 0, 16, 17658, 32767, 32767, 32767}},
           {"tanh",
            "",
            "i16[10]{scale=0.0001, zp=0}",
            "i16[10]{scale=0.000030517578125, zp=0}",
            kI16,
            {-32675, -32675, -15143, -3, 0, 3, 4022, 32606, 32675, 32675}},
           {"quantize",
            "",
            "u8[10]{scale=0.1, zp=100}",
            "i8[10]{scale=0.13, zp=-5}",
            kU8,
            {-82, -81, -43, -6, -5, -4, 17, 72, 113, 114}},
           {"quantize",
            "",
            "i8[10]{scale=0.1, zp=3}",
            "i16[10]{scale=0.0007, zp=0}",
            kI8,
            {-18714, -18571, -7571, -571, -429, -286, 3571, 13857, 17571, 17714}},
       }) {
    CAPTURE(r.x_type);
    CheckCase({r.op,
               UnaryGraph(r.x_type, r.op, fmt::format("{} @tflite", r.attrs), r.y_type),
               {r.x},
               {r.y}});
  }
}

TEST_CASE("elementwise: quantized functions of two operands") {
  struct Row {
    const char* op;
    const char* a_type;
    const char* b_type;
    const char* y_type;
    const std::vector<double>&a, &b;
    std::vector<double> y;
  };
  const char* u1 = "u8[10]{scale=0.1, zp=100}";
  const char* u2 = "u8[10]{scale=0.07, zp=128}";
  const char* i1 = "i8[10]{scale=0.1, zp=3}";
  const char* i2 = "i8[10]{scale=0.03, zp=-5}";
  const char* i3 = "i8[10]{scale=0.11, zp=-7}";
  const char* w1 = "i16[10]{scale=0.001, zp=0}";
  const char* w2 = "i16[10]{scale=0.0007, zp=0}";
  for (const Row& r : std::vector<Row>{
           {"add",
            u1,
            u2,
            "u8[10]{scale=0.15, zp=90}",
            kU8,
            kU8b,
            {83, 0, 33, 30, 90, 90, 109, 127, 133, 227}},
           {"add", i1, i2, i3, kI8, kI8b, {-90, -128, -75, -9, -7, -9, 44, 100, 106, 108}},
           {"add",
            w1,
            w2,
            "i16[10]{scale=0.0015, zp=0}",
            kI16,
            kI16b,
            {-6554, -32768, -3297, -1, -233, 3, -3844, 20299, 21844, 21846}},
           {"sub",
            u1,
            u2,
            "u8[10]{scale=0.15, zp=90}",
            kU8,
            kU8b,
            {0, 82, 80, 149, 90, 91, 108, 187, 252, 160}},
           {"sub",
            w1,
            w2,
            "i16[10]{scale=0.0015, zp=0}",
            kI16,
            kI16b,
            {-32768, -6553, -3369, -1, 233, -2, 5489, 19701, 21844, 21843}},
           {"mul",
            u1,
            u2,
            "u8[10]{scale=0.6, zp=90}",
            kU8,
            kU8b,
            {0, 234, 120, 92, 90, 90, 90, 15, 0, 220}},
           {"mul", i1, i2, i3, kI8, kI8b, {-128, 127, 97, -8, -8, -7, 65, 127, 6, 20}},
           {"mul",
            w1,
            w2,
            "i16[10]{scale=0.01, zp=0}",
            kI16,
            kI16b,
            {-32768, 32767, -27, 0, 0, 0, -864, 1344, -2, 7}},
           {"maximum", i1, i1, i1, kI8, kI8b, {127, -127, -50, 0, 5, 1, 100, 100, 126, 127}},
           {"minimum", u1, u1, u1, kU8, kU8b, {0, 1, 50, 0, 100, 101, 128, 64, 1, 200}},
       }) {
    CAPTURE(r.a_type);
    CheckCase(
        {r.op, BinaryGraph(r.a_type, r.b_type, r.op, "@tflite", r.y_type), {r.a, r.b}, {r.y}});
  }
}

TEST_CASE("elementwise: quantize and dequantize") {
  const std::vector<double> x = {-100, -0.75, -0.25, 0.25, 0.75, 1.25, 100, kNan};
  CheckCase({"half to even",
             UnaryGraph("f32[8]", "quantize", "", "u8[8]{scale=0.5, zp=3}"),
             {x},
             {{0, 1, 3, 3, 5, 5, 203, 3}}});
  CheckCase({"half away",
             UnaryGraph("f32[8]", "quantize", "{rounding = half_away}", "i8[8]{scale=0.5, zp=-3}"),
             {x},
             {{-128, -5, -4, -2, -1, 0, 127, -3}}});
  CheckCase(
      {"per axis",
       UnaryGraph("f32[2, 2]", "quantize", "", "i8[2, 2]{axis=1, scale=[0.5, 0.25], zp=[0, 10]}"),
       {{1, 1, -2, -2}},
       {{2, 14, -4, 2}}});
  CheckCase({"dequantize",
             UnaryGraph("u8[3]{scale=0.5, zp=3}", "dequantize", ""),
             {{0, 3, 255}},
             {{-1.5, 0, 126}}});
  CheckCase({"dequantize per axis",
             UnaryGraph("i8[2, 2]{axis=0, scale=[0.5, 0.25], zp=[0, 10]}", "dequantize", ""),
             {{2, -4, 2, 14}},
             {{1, -2, -2, 1}}});
  CheckCase({"dequantize i32",
             UnaryGraph("i32[2]{scale=0.25}", "dequantize", ""),
             {{7, -8}},
             {{1.75, -2}}});
  CHECK(ErrorOf(UnaryGraph("i8[2, 3]{axis=1, scale=[0.5, 0.25]}", "dequantize", ""))
            .find("2 scales along axis 1") != std::string::npos);
}

}  // namespace
}  // namespace nn::test::elementwise_test

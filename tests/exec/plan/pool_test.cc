#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

#include "support/run_graph.h"

namespace nn::test::pool_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("pool kernels: float32 of every rank, layout and number of channels") {
  struct Row {
    const char* name;
    const char* shape;
    const char* attrs;
  };
  for (const Row& r : {
           Row{"1-D", "[2, 40, 5]", "kernel = [3], strides = [2], layout = nxc"},
           Row{"1-D ncx", "[2, 5, 40]", "kernel = [3], strides = [2], pads = [1, 1]"},
           Row{"2-D", "[1, 9, 8, 64]", "kernel = [2, 2], strides = [2, 2], layout = nxc"},
           Row{"2-D ncx", "[2, 19, 9, 8]",
               "kernel = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]"},
           Row{"ceil", "[1, 3, 10, 10]", "kernel = [3, 3], strides = [2, 2], ceil_mode = true"},
           Row{"dilated", "[1, 130, 11, 12]",
               "kernel = [3, 2], dilations = [2, 3], padding = same_upper"},
           Row{"global", "[1, 9, 8, 70]", "kernel = [9, 8], layout = nxc"},
           Row{"3-D", "[2, 6, 7, 8, 33]",
               "kernel = [2, 3, 2], strides = [1, 2, 1], padding = same_lower, layout = nxc"},
           Row{"long line", "[1, 1, 100, 17]", "kernel = [1, 3], layout = nxc"},
       }) {
    CAPTURE(r.name);
    for (const char* op : {"max_pool", "average_pool"})
      RunOnKernels(
          fmt::format("graph {{ in %x: f32{}  %y = {}(%x) {{{}}}  %z = relu(%y)  "
                      "out \"z\" = %z }}",
                      r.shape, op, r.attrs));
    RunOnKernels(fmt::format(
        "graph {{ in %x: f32{}  %y = average_pool(%x) {{{}, count_include_pad = true}}  "
        "out \"y\" = %y }}",
        r.shape, r.attrs));
    for (const char* attrs :
         {"p = 1", "p = 2", "p = 3.5", "p = 2, average = true", "p = 0.75, average = true"})
      RunOnKernels(fmt::format(
          "graph {{ in %x: f32{}  %y = lp_pool(%x) {{{}, {}}}  %z = relu(%y)  out \"z\" = %z }}",
          r.shape, r.attrs, attrs));
  }
}

TEST_CASE("pool kernels: a NaN wins, infinities count, windows in padding hold nothing") {
  const std::string max = R"(graph { in %x: f32[1, 6, 1]
      %y = max_pool(%x) {kernel = [2], layout = nxc}  out "y" = %y })";
  CheckHasKernels(Parse(max));
  CheckCase({"max", max, {{1, kNan, 3, -kInf, -kInf, 2}}, {{kNan, kNan, 3, -kInf, 2}}});
  CheckCase({"empty windows",
             R"(graph { in %x: f32[1, 2, 1]
                %y = max_pool(%x) {kernel = [1], pads = [1, 1], layout = nxc}
                %z = average_pool(%x) {kernel = [1], pads = [1, 1], layout = nxc}
                out "y" = %y  out "z" = %z })",
             {{5, 7}},
             {{-kInf, 5, 7, -kInf}, {kNan, 5, 7, kNan}}});
  CheckCase({"average",
             R"(graph { in %x: f32[1, 3, 2]
                %y = average_pool(%x) {kernel = [3], pads = [1, 1], layout = nxc}
                %z = average_pool(%x) {kernel = [3], pads = [1, 1], layout = nxc,
                                       count_include_pad = true}
                out "y" = %y  out "z" = %z })",
             {{1, 10, 3, 30, 8, 80}},
             {{2, 20, 4, 40, 5.5, 55}, {4.0 / 3, 40.0 / 3, 4, 40, 11.0 / 3, 110.0 / 3}},
             1e-6});
}

TEST_CASE("pool kernels: 8-bit integers") {
  for (const char* type : {"u8", "i8"})
    for (const char* channels : {"3", "16", "100", "300"})
      for (const char* op : {"max_pool", "average_pool"}) {
        CAPTURE(type);
        CAPTURE(channels);
        CAPTURE(op);
        RunOnKernels(fmt::format(R"(graph {{ in %x: {0}[2, 7, 9, {1}]{{scale=0.5, zp=3}}
            %y = {2}(%x) {{kernel = [3, 2], strides = [2, 1], padding = same_upper, layout = nxc}}
                @tflite : {0}[2, 4, 9, {1}]{{scale=0.5, zp=3}}
            out "y" = %y }})",
                                 type, channels, op));
      }
  CheckCase({"halves away from zero",
             R"(graph { in %x: i8[1, 4, 1]{scale=1, zp=0}
                %y = average_pool(%x) {kernel = [2], layout = nxc} @tflite
                    : i8[1, 3, 1]{scale=1, zp=0}
                out "y" = %y })",
             {{1, 2, -3, -4}},
             {{2, -1, -4}}});
}

TEST_CASE("pool kernels: no batch, no channels") {
  for (const char* shape : {"[0, 4, 4, 3]", "[1, 4, 4, 0]"})
    for (const char* op : {"max_pool", "average_pool"})
      RunOnKernels(fmt::format(
          "graph {{ in %x: f32{}  %y = {}(%x) {{kernel = [2, 2], layout = nxc}}  out \"y\" = %y }}",
          shape, op));
}

}  // namespace
}  // namespace nn::test::pool_test

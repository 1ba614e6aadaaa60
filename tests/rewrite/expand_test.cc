#include "rewrite/expand.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "rewrite/expansion.h"

namespace nn::test::expand_test {
namespace {

using Row = ExpansionRow;

std::string GridSample(std::string_view x, std::string_view grid, std::string_view attrs) {
  return fmt::format(
      "graph {{ in %x: {} in %g: {} %y = grid_sample(%x, %g) {{{}}} out \"y\" = %y }}", x, grid,
      attrs);
}

void AddScatters(std::vector<Row>& rows) {
  const double nan = std::nan(""), inf = INFINITY;
  for (const char* reduction : {"none", "add", "mul", "min", "max"}) {
    const auto scatter = [&](std::string_view indices) {
      return fmt::format(
          "graph {{ in %x: f32[4, 2] {} in %u: f32[5, 2] "
          "%y = scatter_nd(%x, %i, %u) {{reduction = {}}} out \"y\" = %y }}",
          indices, reduction);
    };
    // Products and sums at computed indices may round differently; these do not.
    rows.push_back({"scatter_nd",
                    ExpandScatterNd,
                    scatter("in %i: i64[5, 1]"),
                    {{nan, 2, 3, 4, inf, 6, 7, -inf},
                     {1, -1, 1, 1, 0},
                     {1, 2, 0.5, 4, 5, 6, 2, -8, 1, -inf}}});
    rows.push_back(
        {"constant indices",
         ExpandScatterNd,
         scatter("const %i: i64[5, 1] = [1, -1, 1, 1, 0]"),
         {{nan, 2, -0.0, 4, inf, 6, 7, -0.0}, {1, 2, nan, -0.0, 5, 6.1, 2.3, -inf, 1, 3}}});
    rows.push_back(
        {"scatter_elements",
         ExpandScatterElements,
         fmt::format("graph {{ in %x: i32[2, 3] in %i: i32[2, 2] in %u: i32[2, 2] "
                     "%y = scatter_elements(%x, %i, %u) {{axis = -1, reduction = {}}} "
                     "out \"y\" = %y }}",
                     reduction),
         {{-2147483648, 2147483647, 3, 4, 5, -6}, {0, -1, 1, 1}, {-1, 2, 3, 2147483647}}});
  }
  rows.push_back({"index vectors of two entries",
                  ExpandScatterNd,
                  "graph { in %x: bool[2, 3] in %i: i64[3, 2] in %u: bool[3] "
                  "%y = scatter_nd(%x, %i, %u) out \"y\" = %y }",
                  {{0, 0, 0, 1, 1, 1}, {0, 2, -1, -3, 0, 2}, {1, 0, 0}}});
}

void AddPools(std::vector<Row>& rows) {
  const auto pool = [](std::string_view op, std::string_view attrs) {
    return OnX("f32[2, 5, 4, 5, 3]",
               fmt::format("{}(%x) {{layout = nxc, kernel = [2, 3, 2], {}}}", op, attrs));
  };
  for (const char* attrs : {"strides = [2, 1, 2], ceil_mode = true", "pads = [1, 0, 1, 0, 2, 0]",
                            "padding = same_lower, strides = [2, 2, 1]", "dilations = [2, 1, 3]"}) {
    rows.push_back({"max_pool of volumes", ExpandSolidPool, pool("max_pool", attrs)});
    rows.push_back({"means of volumes", ExpandSolidPool, pool("average_pool", attrs), {}, 1e-6});
  }
  for (const char* attrs : {"pads = [1, 2, 0, 1], dilations = [2, 3]",
                            "pads = [0, 1, 0, 1], dilations = [3, 1], ceil_mode = true",
                            "padding = same_upper, strides = [2, 3], dilations = [1, 2]"})
    rows.push_back(
        {"dilated pool with padding", ExpandDilatedPool,
         OnX("f32[1, 2, 9, 8]", fmt::format("max_pool(%x) {{kernel = [3, 2], {}}}", attrs))});
  for (const char* op : {"max_pool", "average_pool"})
    for (const char* attrs : {"dilations = [2, 1]", "dilations = [2, 3], strides = [3, 1]"})
      rows.push_back({"dilated pool", ExpandDilatedPool,
                      OnX("f32[2, 3, 8, 9]", fmt::format("{}(%x) {{kernel = [3, 2], padding = "
                                                         "valid, {}}}",
                                                         op, attrs))});
  for (const char* p : {"1", "2", "3"})
    for (const char* attrs : {"pads = [1, 0, 0, 1]", "strides = [2, 2], ceil_mode = true"})
      rows.push_back({"lp_pool",
                      ExpandLpPool,
                      OnX("f32[1, 2, 6, 5]",
                          fmt::format("lp_pool(%x) {{kernel = [3, 2], p = {}, {}}}", p, attrs)),
                      {},
                      2e-6});
  for (const char* attrs : {"pads = [1, 0, 0, 1]", "layout = nxc, strides = [2, 1]",
                            "storage_order = 1, dilations = [2, 2], padding = same_upper"})
    rows.push_back({"indices of max_pool", ExpandMaxPoolIndices,
                    fmt::format("graph {{ in %x: f32[2, 5, 4, 5] %y, %i = max_pool(%x) "
                                "{{kernel = [2, 3], {}}} out \"y\" = %y out \"i\" = %i }}",
                                attrs)});
  for (const char* layout : {"ncx", "nxc"})
    for (const char* size : {"", ", output_shape = [5, 4]", ", output_shape = [4, 7]"})
      rows.push_back({"max_unpool",
                      ExpandMaxUnpool,
                      fmt::format("graph {{ in %x: f32[1, 2, 2, 2] in %i: i64[1, 2, 2, 2] "
                                  "%y = max_unpool(%x, %i) {{layout = {}, kernel = [2, 2], strides "
                                  "= [2, 2]{}}} out \"y\" = %y }}",
                                  layout, size),
                      {{1, 2, 3, 4, 5, 6, 7, 8}, {5, 7, 13, 15, 16, 27, 24, 5}}});
  for (const char* attrs : {"size = 4", "size = 3, layout = nxc, alpha = 0.5, beta = 0.5"})
    rows.push_back(
        {"lrn", ExpandLrn, OnX("f32[2, 5, 3]", fmt::format("lrn(%x) {{{}}}", attrs)), {}, 1e-6});
  for (const char* attrs :
       {"mode = nearest, scales = [1.5, 0.7], rounding = floor",
        "mode = linear, sizes = [7, 2], coordinates = align_corners",
        "mode = cubic, scales = [0.6, 2.0], exclude_outside = true",
        "mode = linear, scales = [0.5, 0.4], antialias = true",
        "mode = linear, sizes = [3, 4], coordinates = crop, roi = [-0.5, 0.2, 1.5, 0.7]"})
    rows.push_back({"resize",
                    ExpandResize,
                    OnX("f32[1, 2, 4, 5]", fmt::format("resize(%x) {{{}}}", attrs)),
                    {},
                    2e-6});
}

// An operator on %x of the given contents, and on operands that a run passes.
Row Computed(const char* name, Expand expand, std::string_view operands, std::string_view op,
             std::vector<std::vector<double>> inputs, double tolerance = 0) {
  return {name, expand,
          fmt::format("graph {{ in %x: f32[1, 1, 3, 4] {} %y = {} out \"y\" = %y }}", operands, op),
          std::move(inputs), tolerance};
}

const std::vector<double> kTwelve = {3, -1, 4, 1, -5, 9, 2, -6, 5, 3.5, -8, 9.75};

void AddComputedResizes(std::vector<Row>& rows) {
  for (const char* c : {"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners",
                        "asymmetric", "tf_half_pixel_for_nn"}) {
    for (const char* rounding :
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"})
      for (const std::vector<double>& scales : {std::vector{2.0, 0.5}, std::vector{0.7, 1.6}})
        rows.push_back(Computed(
            "nearest by scales", ExpandComputedResize, "in %s: f32[2]",
            fmt::format("resize(%x, _, %s) {{coordinates = {}, rounding = {}}}", c, rounding),
            {kTwelve, scales}, 2e-6));
    for (const char* mode :
         {"linear", "cubic", "cubic, exclude_outside = true", "cubic, cubic_coeff_a = -0.5"})
      for (const std::vector<double>& sizes : {std::vector{7.0, 3.0}, std::vector{1.0, 5.0}})
        rows.push_back(
            Computed("interpolated by sizes", ExpandComputedResize, "in %s: i64[2]",
                     fmt::format("resize(%x, _, _, %s) {{mode = {}, coordinates = {}}}", mode, c),
                     {kTwelve, sizes}, 2e-6));
  }
  for (const std::vector<double>& scales : {std::vector{2.0, 0.5}, std::vector{0.7, 1.6}})
    rows.push_back(Computed("region by scales", ExpandComputedResize, "in %r: f32[4] in %s: f32[2]",
                            "resize(%x, %r, %s) {mode = linear, coordinates = crop, "
                            "extrapolation_value = 0.5}",
                            {kTwelve, {-0.5, 0.25, 1, 0.75}, scales}, 2e-6));
  rows.push_back(Computed("region by fixed sizes", ExpandComputedResize, "in %r: f32[4]",
                          "resize(%x, %r) {sizes = [1, 3], coordinates = crop}",
                          {kTwelve, {0, 0.25, 1, 1.5}}, 2e-6));
  rows.push_back({"all axes",
                  ExpandComputedResize,
                  "graph { in %x: f32[1, 1, 2, 1, 3, 2] in %s: f32[4] %y = resize(%x, _, %s) "
                  "{mode = linear} out \"y\" = %y }",
                  {kTwelve, {2, 1, 0.5, 1.5}},
                  2e-6});
}

void AddComputedPlaces(std::vector<Row>& rows) {
  const char* const kBounds = "in %s: i64[2] in %e: i64[2] in %a: i64[2] in %t: i64[2]";
  const double far = 1e6;
  struct Bounds {
    std::vector<double> starts, ends, axes, steps;
  };
  for (const Bounds& b : std::initializer_list<Bounds>{{{0, 1}, {3, 2}, {3, 2}, {1, 1}},
                                                       {{-1, -1}, {-far, 0}, {2, -1}, {-1, -2}},
                                                       {{-3, -far}, {-1, far}, {-1, 2}, {1, 2}},
                                                       {{far, 2}, {-far, far}, {3, 1}, {-3, 5}}})
    rows.push_back(Computed("slice", ExpandComputedSteps, kBounds, "slice(%x, %s, %e, %a, %t)",
                            {kTwelve, b.starts, b.ends, b.axes, b.steps}));
  rows.push_back(Computed("slice of the first axes", ExpandComputedSteps,
                          "in %s: i32[3] in %e: i32[3]", "slice(%x, %s, %e)",
                          {kTwelve, {0, 0, 1}, {1, 1, 3}}));
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap"})
    for (const std::vector<double>& pads :
         {std::vector<double>{0, 0, 1, 2, 0, 0, 2, 1}, {0, 0, 5, -1, 1, 0, -1, 9}})
      rows.push_back(Computed("pad", ExpandComputedPad, "in %v: f32[1] in %p: i64[8]",
                              fmt::format("pad(%x, %v, %p) {{mode = {}}}", mode),
                              {kTwelve, {0.25}, pads}));
  rows.push_back(Computed("padding value", ExpandComputedPad, "in %v: f32[]",
                          "pad(%x, %v) {pads = [0, 0, 1, 0, 0, 0, 0, -1]}", {kTwelve, {0.25}}));
}

void AddShifts(std::vector<Row>& rows) {
  for (const char* op : {"shift_left", "shift_right"})
    for (const auto& [type, largest] : {std::pair("u8", 255.0), std::pair("u16", 65535.0)})
      rows.push_back({"shift",
                      ExpandShift,
                      fmt::format("graph {{ in %x: {0}[6] in %k: {0}[6] %y = {1}(%x, %k) out "
                                  "\"y\" = %y }}",
                                  type, op),
                      {{1, largest, largest, largest, 1, 77}, {0, 1, 7, 8, 15, 200}}});
}

void AddShapes(std::vector<Row>& rows) {
  const double nan = std::nan(""), inf = INFINITY;
  for (const char* type : {"f32", "i32", "i64", "i8", "u8"}) {
    const bool real = std::string_view(type) == "f32";
    const std::vector<double> x = real ? std::vector<double>{1, nan, -inf, -0.0, 0, inf, nan, 1}
                                       : std::vector<double>{1, 0, 100, 7, 1, 0, 127, 100};
    rows.push_back(
        {"smallest elements",
         ExpandTopK,
         fmt::format("graph {{ in %x: {}[2, 4] const %k: i64[1] = [3] %y, %i = top_k(%x, "
                     "%k) {{largest = false}} out \"y\" = %y out \"i\" = %i }}",
                     type),
         {x}});
  }
  rows.push_back({"lowest integers",
                  ExpandTopK,
                  "graph { in %x: i32[4] const %k: i64[1] = [4] %y, %i = top_k(%x, %k) {largest = "
                  "false} out \"y\" = %y out \"i\" = %i }",
                  {{-2147483648, 2147483647, 0, -2147483648}}});
  rows.push_back({"first axis", ExpandTopK,
                  "graph { in %x: f32[4, 3] const %k: i64[1] = [2] %y, %i = top_k(%x, %k) {axis = "
                  "0} out \"y\" = %y out \"i\" = %i }"});
  for (const char* mode : {"edge", "wrap", "reflect", "symmetric"})
    rows.push_back(
        {mode, ExpandPad,
         OnX("f32[3, 4]", fmt::format("pad(%x) {{pads = [4, -1, 0, 5], mode = {}}}", mode))});
  rows.push_back(
      {"eye_like", ExpandEyeLike, OnX("f32[3, 4]", "eye_like(%x) {k = -1, dtype = i64}")});
  rows.push_back(
      {"one_hot",
       ExpandOneHot,
       "graph { in %i: i64[2, 2] in %d: i64[1] in %v: f32[2] %y = one_hot(%i, %d, %v) {axis "
       "= 1} out \"y\" = %y }",
       {{0, -1, 2, 5}, {3}, {nan, -0.0}}});
  rows.push_back({"compress",
                  ExpandCompress,
                  "graph { in %x: f32[3, 2] in %c: bool[2] %y = compress(%x, %c) {flatten = false, "
                  "axis = 0} out \"y\" = %y }",
                  {{1, 2, 3, 4, 5, 6}, {0, 1}}});
  rows.push_back({"compress all",
                  ExpandCompress,
                  "graph { in %x: f32[3, 2] in %c: bool[5] %y = compress(%x, %c) out \"y\" = %y }",
                  {{1, 2, 3, 4, 5, 6}, {0, 1, 0, 0, 1}}});
  rows.push_back(
      {"gather_nd",
       ExpandGatherBatches,
       "graph { in %x: f32[2, 3, 4] in %i: i64[2, 2, 1] %y = gather_nd(%x, %i) {batch_dims "
       "= 1} out \"y\" = %y }",
       {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23},
        {0, 2, 1, -1}}});
  rows.push_back({"copied sizes",
                  ExpandCopiedSizes,
                  "graph { in %x: f32[2, 3, 4] in %s: i64[2] %y = reshape(%x, %s) {zero_copies = "
                  "true} out \"y\" = %y }",
                  {std::vector<double>(24, 1.5), {0, -1}}});
  for (const char* dims : {"[3]", "[1, 3]", "[2, 1, 1, 3]"})
    rows.push_back(
        {"expand",
         ExpandAsTile,
         fmt::format("graph {{ in %x: f32{} in %s: i64[3] %y = expand(%x, %s) out \"y\" = "
                     "%y }}",
                     dims),
         {std::vector<double>(std::string_view(dims).size() > 10 ? 6 : 3, 2.5), {4, 1, 3}}});
  rows.push_back({"slice",
                  ExpandComputedBounds,
                  "graph { in %x: f32[3, 4] in %s: i64[1] in %e: i64[1] const %a: i64[1] = [-1] "
                  "%y = slice(%x, %s, %e, %a) out \"y\" = %y }",
                  {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {-3}, {9}}});
}

std::vector<Row> Rows() {
  const double nan = std::nan(""), inf = INFINITY;
  std::vector<Row> rows = {
      {"hardmax", ExpandHardmax, OnX("f32[2, 3, 4]", "hardmax(%x) {axis = 1}")},
      {"hardmax of equal elements",
       ExpandHardmax,
       OnX("f32[2, 3]", "hardmax(%x) {axis = -1}"),
       {{1, 1, 0, -1, -1, -1}}},
      {"last of equal elements",
       ExpandLastIndex,
       OnX("f32[2, 4]", "arg_max(%x) {axis = -1, select_last_index = true}"),
       {{1, 2, 2, 0, 3, 3, 3, 3}}},
      {"last of the least",
       ExpandLastIndex,
       OnX("i32[3, 2]",
           "arg_min(%x) {axis = 0, select_last_index = true, keep_dims = false, output_type = "
           "i32}"),
       {{5, 1, 5, 1, 6, 2}}},
      {"upper triangle", ExpandTrilu, OnX("f32[2, 3, 4]", "trilu(%x) {upper = true, k = 1}")},
      {"lower triangle", ExpandTrilu,
       OnX("i64[4, 3]", "trilu(%x) {upper = false, k = -9223372036854775808}")},
      {"triangle of NaN",
       ExpandTrilu,
       OnX("f32[2, 2]", "trilu(%x) {upper = true}"),
       {{nan, 1, inf, nan}}},
      {"diagonal of a run",
       ExpandTrilu,
       "graph { in %x: f32[3, 3] in %k: i64[] %y = trilu(%x, %k) {upper = false} out \"y\" = %y }",
       {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {-1}}},
      {"gather_elements",
       ExpandGatherElements,
       "graph { in %x: f32[2, 3, 2] in %i: i64[2, 2, 2] "
       "%y = gather_elements(%x, %i) {axis = 1} out \"y\" = %y }",
       {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {0, -1, 2, 1, -3, 0, 1, 1}}},
      {"fewer indices",
       ExpandGatherElements,
       "graph { in %x: i32[3, 4] in %i: i32[2, 3] "
       "%y = gather_elements(%x, %i) {axis = 0} out \"y\" = %y }",
       {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 0, -1, -3, 1, 1}}},
      {"logarithm of sums",
       ExpandLogSumExp,
       OnX("f32[2, 3, 4]", "reduce_log_sum_exp(%x) {axes = [0, 2], keep_dims = false}"),
       {},
       1e-6},
      {"infinite elements",
       ExpandLogSumExp,
       OnX("f32[4, 2]", "reduce_log_sum_exp(%x) {axes = [1]}"),
       {{-inf, -inf, inf, 1, -inf, 2, 800, 800}},
       1e-6},
      {"layer_norm",
       ExpandNorm,
       "graph { in %x: f32[2, 3, 4] in %s: f32[4] in %b: f32[4] "
       "%y, %m, %d = layer_norm(%x, %s, %b) {axis = -1, epsilon = 0.01} "
       "out \"y\" = %y out \"m\" = %m out \"d\" = %d }",
       {},
       2e-6},
      {"instance_norm",
       ExpandNorm,
       "graph { in %x: f32[2, 3, 4, 2] in %s: f32[3] in %b: f32[3] "
       "%y = instance_norm(%x, %s, %b) {epsilon = 0.01} out \"y\" = %y }",
       {},
       2e-6},
      {"grid of volumes",
       ExpandGridSample,
       GridSample("f32[2, 2, 3, 2, 4]", "f32[2, 1, 2, 3, 3]", "padding = border"),
       {},
       1e-5},
      {"grid of sequences",
       ExpandGridSample,
       GridSample("f32[1, 2, 5]", "f32[1, 4, 1]", "padding = zeros"),
       {},
       1e-5},
      {"grid of channels last",
       ExpandGridSample,
       GridSample("f32[2, 3, 4, 2]", "f32[2, 3, 2, 2]", "layout = nxc"),
       {},
       1e-5},
      {"transposed convolution",
       ExpandConvTranspose,
       "graph { in %x: f32[2, 3, 4, 5] in %w: f32[3, 2, 3, 2] in %b: f32[2] "
       "%y = conv_transpose(%x, %w, %b) out \"y\" = %y }",
       {},
       2e-6},
  };
  AddScatters(rows);
  AddPools(rows);
  AddComputedResizes(rows);
  AddComputedPlaces(rows);
  AddShifts(rows);
  AddShapes(rows);
  for (const char* mode : {"edge", "reflect", "symmetric", "wrap"}) {
    rows.push_back({mode, PadAsSlices,
                    OnX("f32[2, 3, 4]",
                        fmt::format("pad(%x) {{pads = [0, 1, 2, 0, 2, 1], mode = {}}}", mode))});
    rows.push_back(
        {mode, PadAsSlices,
         OnX("f32[5, 4]", fmt::format("pad(%x) {{pads = [-2, 1, 1, -1], mode = {}}}", mode))});
  }
  rows.push_back({"elements removed and added", PadAsSlices,
                  "graph { in %x: f32[4, 3] const %v: f32[] = [7] "
                  "%y = pad(%x, %v) {pads = [-1, 2, 0, -1]} out \"y\" = %y }"});
  for (const char* attrs :
       {"strides = [2, 3]", "strides = [3, 2], pads = [1, 0, 2, 1]", "dilations = [2, 3]",
        "strides = [2, 2], output_padding = [1, 1], pads = [1, 1, 1, 1]", "groups = 2",
        "strides = [4, 5], padding = same_upper", "strides = [2, 2], output_shape = [8, 9]",
        "strides = [2, 2], pads = [3, 3, 0, 0]",
        "groups = 2, strides = [1, 4], dilations = [3, 1]"})
    rows.push_back({attrs,
                    ExpandConvTranspose,
                    fmt::format("graph {{ in %x: f32[2, 4, 4, 5] in %w: f32[4, 2, 3, 2] "
                                "%y = conv_transpose(%x, %w) {{{}}} out \"y\" = %y }}",
                                attrs),
                    {},
                    2e-6});
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const char* align : {"true", "false"})
        rows.push_back({"grid_sample",
                        ExpandGridSample,
                        GridSample("f32[2, 3, 4, 5]", "f32[2, 3, 4, 2]",
                                   fmt::format("mode = {}, padding = {}, align_corners = {}", mode,
                                               padding, align)),
                        {},
                        2e-5});
  return rows;
}

TEST_CASE("expand: the same results, to the bit unless it rounds differently") {
  for (const Row& r : Rows()) CheckExpansion(r);
}

TEST_CASE("expand: nodes to which an expansion does not apply are unchanged") {
  const std::vector<std::pair<Expand, std::string>> rows = {
      {ExpandLastIndex, OnX("f32[2, 4]", "arg_max(%x) {axis = 1}")},
      {ExpandLastIndex, OnX("f32[2, n]", "arg_max(%x) {axis = 1, select_last_index = true}")},
      {ExpandByRule, "graph { in %y: f64[2] in %x: f64[2] %z = atan2(%y, %x) out \"z\" = %z }"},
      {ExpandConvTranspose,
       "graph { in %x: f32[1, 2, n] in %w: f32[2, 2, 3] %y = conv_transpose(%x, %w) out \"y\" = %y "
       "}"},
      {PadAsSlices, OnX("f32[2]", "pad(%x) {pads = [3, 0], mode = wrap}")},
      {PadAsSlices, OnX("f32[2]", "pad(%x) {pads = [2, 0], mode = reflect}")},
      {ExpandPad, OnX("f32[n]", "pad(%x) {pads = [1, 0], mode = edge}")},
      {ExpandPad, OnX("f32[2]", "pad(%x) {pads = [1, 0]}")},
      {ExpandHardmax, OnX("f32[2, n]", "hardmax(%x)")},
      {ExpandTrilu, OnX("f32[n, 3]", "trilu(%x)")},
      {ExpandTrilu, OnX("f32[8192, 8192]", "trilu(%x)")},
      {ExpandLogSumExp, OnX("f64[2, 2]", "reduce_log_sum_exp(%x)")},
      {ExpandNorm,
       "graph { in %x: f64[2, 3] in %s: f64[3] %y = layer_norm(%x, %s) out \"y\" = %y }"},
      {ExpandGridSample, GridSample("f32[1, 1, h, 3]", "f32[1, 2, 2, 2]", "mode = linear")},
      {ExpandGridSample, GridSample("f32[1, 1, 8192, 8192]", "f32[1, 2, 2, 2]", "mode = linear")},
      {ExpandGatherElements,
       "graph { in %x: f32[n, 3] in %i: i64[2, 3] %y = gather_elements(%x, %i) out \"y\" = %y }"},
      {ExpandScatterNd,
       "graph { in %x: f32[n, 3] in %i: i64[2, 1] in %u: f32[2, 3] %y = scatter_nd(%x, %i, %u) out "
       "\"y\" = %y }"},
      {ExpandScatterNd,
       "graph { in %x: f32[3] const %i: i64[1, 1] = [3] in %u: f32[1] %y = scatter_nd(%x, %i, %u) "
       "out \"y\" = %y }"},
      {ExpandScatterNd,
       "graph { in %x: f32[4096] in %i: i64[4096, 1] in %u: f32[4096] %y = scatter_nd(%x, %i, %u) "
       "{reduction = max} out \"y\" = %y }"},
      {ExpandScatterElements,
       "graph { in %x: f32[3] const %i: i64[1] = [-4] in %u: f32[1] %y = scatter_elements(%x, %i, "
       "%u) out \"y\" = %y }"},
      {ExpandDilatedPool,
       OnX("f32[1, 1, 9, n]",
           "max_pool(%x) {kernel = [2, 2], dilations = [2, 2], padding = valid}")},
      {ExpandMaxUnpool,
       "graph { in %x: f32[1, n, 2, 2] in %i: i64[1, n, 2, 2] %y = max_unpool(%x, %i) {layout = "
       "nxc, kernel = [2, 2]} out \"y\" = %y }"},
      {ExpandResize, OnX("f32[1, 2, n, 4]", "resize(%x) {mode = cubic, scales = [2.0, 2.0]}")},
      {ExpandComputedResize,
       "graph { in %x: f32[1, 1, 4, 4] in %s: f32[2] %y = resize(%x, _, %s) {mode = linear, "
       "antialias = true} out \"y\" = %y }"},
      {ExpandComputedResize,
       "graph { in %x: i32[1, 1, 4, 4] in %s: f32[2] %y = resize(%x, _, %s) {mode = linear} out "
       "\"y\" = %y }"},
      {ExpandShift, OnX("i32[2]", "shift_left(%x, %x)")},
      {ExpandComputedSteps, OnX("f32[4]", "slice(%x) {axes = [0], starts = [1], ends = [3]}")},
      {ExpandComputedPad, OnX("f32[4]", "pad(%x) {pads = [1, 0]}")},
      {ExpandTopK,
       "graph { in %x: f32[4] const %k: i64[1] = [2] %y, %i = top_k(%x, %k) out \"y\" = %y out "
       "\"i\" = %i }"},
      {ExpandPad, OnX("f32[n, 2]", "pad(%x) {pads = [1, 0, 0, 0], mode = edge}")},
      {ExpandByRule, OnX("f64[2]", "sinh(%x)")},
  };
  for (const auto& [expand, graph] : rows) CheckNotExpanded(expand, graph);
}

}  // namespace
}  // namespace nn::test::expand_test

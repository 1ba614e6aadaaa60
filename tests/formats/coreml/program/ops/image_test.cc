// Resizing, cropping and sampling.
#include <doctest/doctest.h>

#include <numeric>

#include "formats/coreml/program/mil_operation.h"
#include "formats/coreml/program/program_roundtrip.h"

namespace nn::test::coreml_program_image_test {
namespace {

MilOperand Number(const std::string& name, double v) {
  return Const(name, "i32[]", {v});
}
MilOperand Flag(const std::string& name, bool v) {
  return Const(name, "bool[]", {v ? 1.0 : 0.0});
}

const MilOperand kPair = In("x", "f32[1, 1, 2]", {0, 1});

void CheckSampling(const std::string& mode, const std::vector<double>& five,
                   const std::vector<double>& one) {
  for (const bool is_one : {false, true}) {
    const int n = is_one ? 1 : 5;
    const std::string type = "f32[1, 1, " + std::to_string(n) + "]";
    CheckMil({"resize_bilinear",
              {kPair, Number("target_size_height", 1), Number("target_size_width", n),
               Text("sampling_mode", mode)},
              {type},
              {is_one ? one : five},
              "CoreML5",
              1e-6});
    for (const bool is_constant : {false, true}) {
      MilOperand shape = In("shape", "i32[2]", {1, static_cast<double>(n)});
      shape.is_constant = is_constant;
      CheckMil({"resize",
                {kPair, shape, Const("resized_dims", "u32[]", {1}), Text("sampling_mode", mode)},
                {is_constant ? type : "f32[1, 1, n]"},
                {is_one ? one : five},
                "CoreML7",
                1e-6});
    }
  }
}

TEST_CASE("coreml programs: sampling modes of resizes") {
  CheckSampling("STRICT_ALIGN_CORNERS", {0, 0.25, 0.5, 0.75, 1}, {0});
  CheckSampling("ALIGN_CORNERS", {0, 0.25, 0.5, 0.75, 1}, {0.5});
  CheckSampling("DEFAULT", {0, 0.4, 0.8, 1, 1}, {0});
  CheckSampling("OFFSET_CORNERS", {0.1, 0.3, 0.5, 0.7, 0.9}, {0.5});
  CheckSampling("UNALIGN_CORNERS", {0, 0.1, 0.5, 0.9, 1}, {0.5});
  CHECK(WhyNotMil({"resize_bilinear", {kPair, Text("sampling_mode", "NONE")}, {"f32[1, 1, 1]"}})
            .ends_with("sampling_mode NONE is unknown"));
}

TEST_CASE("coreml programs: resizes of any number of axes") {
  const MilOperand x = In("x", "f32[2, 1, 1, 2, 1]", {1, 2, 3, 4});
  CheckMil({"resize_nearest_neighbor",
            {x, Number("target_size_height", 3), Number("target_size_width", 2)},
            {"f32[2, 1, 1, 3, 2]"},
            {{1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4}}});
  CheckMil({"resize",
            {x, Const("shape", "i32[4]", {7, 0, 3, 0}), Const("resized_dims", "u32[]", {3}),
             Text("interpolation_mode", "NEAREST_NEIGHBOR")},
            {"f32[2, 1, 1, 3, 1]"},
            {{1, 2, 2, 3, 4, 4}},
            "CoreML7"});
  CheckMil({"resize",
            {In("x", "f32[2]", {1, 3}), In("shape", "i32[1]", {3}),
             Const("resized_dims", "u32[]", {1}), Text("sampling_mode", "ALIGN_CORNERS")},
            {"f32[n]"},
            {{1, 2, 3}},
            "CoreML7"});
  CHECK(WhyNotMil({"resize",
                   {kPair, Const("shape", "i32[1]", {3}), Const("resized_dims", "u32[]", {2})},
                   {"f32[1, 1, 2]"},
                   {},
                   "CoreML7"})
            .ends_with("input shape has 1 elements for 2 of 3 axes"));
}

TEST_CASE("coreml programs: upsampling by factors") {
  const auto factors = [](const std::string& type, double height, double width) {
    return std::vector{kPair, Const("scale_factor_height", type + "[]", {height}),
                       Const("scale_factor_width", type + "[]", {width})};
  };
  const auto with = [](std::vector<MilOperand> operands, const MilOperand& more) {
    operands.push_back(more);
    return operands;
  };
  CheckMil({"upsample_nearest_neighbor",
            factors("i32", 2, 2),
            {"f32[1, 2, 4]"},
            {{0, 0, 1, 1, 0, 0, 1, 1}}});
  CheckMil(
      {"upsample_nearest_neighbor",
       {In("x", "f32[1, 1, 1, 3]", {1.5, -2.5, 3.5}), Const("scale_factor_width", "f32[]", {0.67})},
       {"f32[1, 1, 1, 2]"},
       {{1.5, -2.5}}});
  const auto thrice = factors("i32", 1, 3);
  CheckMil({"upsample_bilinear",
            thrice,
            {"f32[1, 1, 6]"},
            {{0, 0.2, 0.4, 0.6, 0.8, 1}},
            "CoreML5",
            1e-6});
  CheckMil({"upsample_bilinear",
            with(factors("f32", 1, 2.6), Flag("align_corners", false)),
            {"f32[1, 1, 5]"},
            {{0, 0.1, 0.5, 0.9, 1}},
            "CoreML6",
            1e-6});
  CheckMil({"upsample_bilinear",
            with(with(thrice, Flag("align_corners", false)), Flag("half_pixel_centers", false)),
            {"f32[1, 1, 6]"},
            {{0, 1.0 / 3, 2.0 / 3, 1, 1, 1}},
            "CoreML6",
            1e-6});
  CHECK(WhyNotMil({"upsample_bilinear",
                   with(thrice, Flag("half_pixel_centers", true)),
                   {"f32[1, 1, 6]"},
                   {},
                   "CoreML6"}) == "align_corners with half_pixel_centers is unsupported");
  CHECK(WhyNotMil({"upsample_bilinear", factors("f32", 0, 1), {"f32[1, 0, 2]"}})
            .ends_with("the scale factors are 0 and 1; must be above 0"));
}

std::vector<double> From1(int n) {
  std::vector<double> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 1);
  return out;
}

const MilOperand kImage = In("x", "f32[1, 1, 4, 4]", From1(16));

TEST_CASE("coreml programs: crops") {
  CheckMil({"crop",
            {kImage, Const("crop_height", "i32[2]", {0, 1}), Const("crop_width", "i32[2]", {1, 1})},
            {"f32[1, 1, 3, 2]"},
            {{2, 3, 6, 7, 10, 11}}});
  CHECK(WhyNotMil(
            {"crop",
             {kImage, Const("crop_height", "i32[1]", {0}), Const("crop_width", "i32[2]", {1, 1})},
             {"f32[1, 1, 4, 2]"}})
            .ends_with("input crop_height has 1 elements; expected 2"));
}

// The value at row y and column x is 1 + 4 y + x.
void CheckCrop(const std::string& sampling, const MilOperand& roi, int size,
               const std::vector<MilOperand>& more, const std::vector<double>& expected) {
  const std::string n = std::to_string(size);
  std::vector<MilOperand> operands = {kImage, roi, Number("target_height", size),
                                      Number("target_width", size),
                                      Text("sampling_mode", sampling)};
  operands.insert(operands.end(), more.begin(), more.end());
  CheckMil({"crop_resize",
            operands,
            {"f32[1, 1, 1, " + n + ", " + n + "]"},
            {expected},
            "CoreML5",
            1e-6});
}

TEST_CASE("coreml programs: resized crops") {
  const MilOperand roi = Const("roi", "f32[1, 1, 4, 1, 1]", {1, 0, 2, 3});
  CheckCrop("ALIGN_CORNERS", roi, 2, {}, {5, 8, 9, 12});
  CheckCrop("ALIGN_CORNERS", roi, 1, {}, {8.5});
  CheckCrop("STRICT_ALIGN_CORNERS", roi, 1, {}, {5});
  // Rows 1 and 2, columns 0 and 2.
  CheckCrop("DEFAULT", roi, 2, {}, {5, 7, 9, 11});
  // Rows 1.25 and 1.75, columns 0.75 and 2.25.
  CheckCrop("OFFSET_CORNERS", roi, 2, {}, {6.75, 8.25, 8.75, 10.25});
  // Rows 1 and 2, columns 0.5 and 2.5.
  CheckCrop("UNALIGN_CORNERS", roi, 2, {}, {5.5, 7.5, 9.5, 11.5});
  // With the number of the image; half of the image's last position.
  CheckCrop("ALIGN_CORNERS", Const("roi", "f32[1, 1, 5, 1, 1]", {0, 0, 0, 0.5, 1}), 2,
            {Flag("normalized_coordinates", true)}, {1, 4, 7, 10});
  const auto boxes = [](const std::string& mode) { return Text("box_coordinate_mode", mode); };
  CheckCrop("ALIGN_CORNERS", Const("roi", "f32[1, 1, 4, 1, 1]", {0, 2, 6, 4}), 2,
            {boxes("CORNERS_WIDTH_FIRST"), Const("spatial_scale", "f32[]", {0.5})}, {5, 8, 9, 12});
  CheckCrop("ALIGN_CORNERS", Const("roi", "f32[1, 1, 4, 1, 1]", {1.5, 1.5, 1, 3}), 2,
            {boxes("CENTER_SIZE_HEIGHT_FIRST")}, {5, 8, 9, 12});
  CheckCrop("ALIGN_CORNERS", Const("roi", "f32[1, 1, 4, 1, 1]", {1.5, 1.5, 3, 1}), 2,
            {boxes("CENTER_SIZE_WIDTH_FIRST")}, {5, 8, 9, 12});
  // Positions outside are the nearest ones.
  CheckCrop("ALIGN_CORNERS", Const("roi", "f32[1, 1, 4, 1, 1]", {-2, 0, 9, 3}), 2, {},
            {1, 4, 13, 16});
  CHECK(
      WhyNotMil({"crop_resize", {kImage, roi, boxes("CORNERS_SIZE_FIRST")}, {"f32[1, 1, 1, 1, 1]"}})
          .ends_with("box_coordinate_mode CORNERS_SIZE_FIRST is unknown"));
}

TEST_CASE("coreml programs: since iOS16, positions outside of a crop's image have a value") {
  std::vector<MilOperand> operands = {kImage,
                                      Number("target_height", 2),
                                      Number("target_width", 2),
                                      Flag("normalized_coordinates", true),
                                      Text("sampling_mode", "ALIGN_CORNERS"),
                                      Const("pad_value", "f32[]", {10})};
  const std::vector<double> expected = {3.1, 5.2, 10, 10, 10, 7.9, 10, 13.9, 2.2, 3.1, 9.4, 10.3};
  operands.push_back(Const("roi", "f32[3, 1, 5, 1, 1]",
                           {0, 0.1, 0.3, 1.3, 1, 0, 0.5, 1.8, 1, 0.3, 0, 0, 0.4, 0.6, 0.7}));
  CheckMil({"crop_resize", operands, {"f32[3, 1, 1, 2, 2]"}, {expected}, "CoreML6", 1e-6});
  operands.back() =
      Const("boxes", "f32[3, 4]", {0.1, 0.3, 1.3, 1, 0.5, 1.8, 1, 0.3, 0, 0.4, 0.6, 0.7});
  operands.push_back(Const("box_indices", "u16[3]", {0, 0, 0}));
  CheckMil({"crop_resize", operands, {"f32[3, 1, 2, 2]"}, {expected}, "CoreML7", 1e-6});
}

TEST_CASE("coreml programs: since iOS17, a box without a number is of its own image") {
  CheckMil({"crop_resize",
            {In("x", "f16[2, 1, 1, 2]", {1, 2, 3, 4}),
             Const("boxes", "f16[2, 4]", {0, 0, 0, 1, 0, 1, 0, 0}), Number("target_width", 2),
             Text("sampling_mode", "ALIGN_CORNERS")},
            {"f16[2, 1, 1, 2]"},
            {{1, 2, 4, 3}},
            "CoreML7"});
}

// Of the image 11 22 / 33 44 at four positions.
void CheckResample(const std::string& sampling, const std::string& padding, double value,
                   const std::string& coordinates, bool aligns, const std::vector<double>& at,
                   const std::vector<double>& expected) {
  CheckMil({"resample",
            {In("x", "f32[1, 1, 2, 2]", {11, 22, 33, 44}), In("coordinates", "f32[1, 2, 2, 2]", at),
             Text("sampling_mode", sampling), Text("padding_mode", padding),
             Const("padding_value", "f32[]", {value}), Text("coordinates_mode", coordinates),
             Flag("align_corners", aligns)},
            {"f32[1, 1, 2, 2]"},
            {expected},
            "CoreML5",
            1e-5});
}

TEST_CASE("coreml programs: samples at coordinates") {
  const std::vector<double> at = {-1, -2, -3.7, -1, 0, 0, 3.5, 1.2};
  CheckResample("bilinear", "constant", 6.17, "normalized_minus_one_to_one", true, at,
                {8.585, 6.17, 27.5, 6.17});
  CheckResample("nearest", "border", -1, "unnormalized", false, at, {11, 11, 11, 44});
  CheckResample("bilinear", "reflection", -1, "normalized_zero_to_one", true, at,
                {22, 36.3, 11, 34.1});
  CheckResample("nearest", "symmetric", -1, "normalized_zero_to_one", false, at, {22, 33, 11, 33});
  // Columns -0.5, 0.5, 1.5 and 2.5, of row 0.
  const std::vector<double> columns = {-0.5, 0, 0.5, 0, 1.5, 0, 2.5, 0};
  CheckResample("bilinear", "constant", 0, "unnormalized", true, columns, {5.5, 16.5, 11, 0});
  CheckResample("bilinear", "symmetric", 0, "unnormalized", true, columns, {11, 16.5, 22, 16.5});
  CheckResample("bilinear", "reflection", 0, "unnormalized", true, columns,
                {16.5, 16.5, 16.5, 16.5});
  // Columns 0 and 1 of row 0, by their edges.
  CheckResample("bilinear", "border", 0, "normalized_minus_one_to_one", false,
                {-0.5, -0.5, 0.5, -0.5, -1, -1, 0, -0.5}, {11, 22, 11, 16.5});
}

TEST_CASE("coreml programs: affine maps") {
  const auto operands = [](const std::string& sampling, double value) {
    return std::vector{In("x", "f32[1, 1, 2, 2]", {11, 22, 33, 44}),
                       In("transform_matrix", "f32[1, 6]", {-1, -2, -3.7, -1, 3.5, 1.2}),
                       Number("output_height", 2),
                       Number("output_width", 5),
                       Text("sampling_mode", sampling),
                       Text("padding_mode", "constant"),
                       Const("padding_value", "f32[]", {value}),
                       Text("coordinates_mode", "Normalized_minus_one_to_one"),
                       Flag("align_corners", true)};
  };
  CheckMil({"affine",
            operands("bilinear", 0),
            {"f32[1, 1, 2, 5]"},
            {{10.7525, 5.94, 2.5025, 0.44, 0, 0, 0, 0, 0, 0}},
            "CoreML5",
            1e-5});
  CHECK(WhyNotMil({"affine", operands("nearest", 0), {"f32[1, 1, 2, 5]"}}) ==
        "sampling_mode nearest is unsupported; expected bilinear");
  CHECK(WhyNotMil({"affine", operands("bilinear", 1), {"f32[1, 1, 2, 5]"}}) ==
        "padding_value 1 is unsupported; expected 0");
}

// A resize of two axes.
std::string Resized(const std::string& attributes, const std::string& type = "f32[1, 2, 4, 5]") {
  return "graph { in %x: " + type + "  %y = resize(%x) {" + attributes + "}  out \"y\" = %y }";
}

TEST_CASE("coreml programs: export of resizes") {
  const std::string linear = "mode = linear, sizes = [7, 9], coordinates = ";
  const std::string nearest = "mode = nearest, sizes = [7, 9], coordinates = ";
  const ProgramCase cases[] = {
      {Resized(nearest + "asymmetric, rounding = floor"), "resize_nearest_neighbor"},
      {Resized(nearest + "half_pixel"), "resize", {}, 0, "CoreML7"},
      {Resized(nearest + "align_corners"), "resize_nearest_neighbor"},
      {Resized(nearest + "crop, roi = [0, 0, 1, 1]"), "resize_nearest_neighbor"},
      {Resized(linear + "asymmetric"), "resize_bilinear", {}, 1e-5, "CoreML5"},
      {Resized(linear + "half_pixel"), "resize_bilinear", {}, 1e-5, "CoreML5"},
      {Resized(linear + "align_corners"), "resize_bilinear", {}, 1e-5, "CoreML5"},
      {Resized("mode = linear, sizes = [1, 9], coordinates = crop, roi = [0, 0, 1, 1]"),
       "resize_bilinear",
       {},
       1e-5},
      {Resized("mode = linear, sizes = [5, 10], coordinates = crop, roi = [0.1, 0.05, 0.9, 0.95]"),
       "resize_bilinear",
       {},
       1e-5},
      {Resized("mode = nearest, scales = [2, 3], rounding = floor, coordinates = asymmetric"),
       "resize_nearest_neighbor"},
      {Resized("mode = nearest, sizes = [6, 8, 10]", "f32[1, 2, 3, 4, 5]"), "resize"},
      {Resized("mode = linear, sizes = [6, 8, 9]", "f32[1, 2, 3, 4, 5]"), "resize", {}, 1e-5},
      {"graph { in %x: f32[1, 2, 4, 5]  const %s: f32[] = [2.5]  %z = shape_of(%x) {start = 2}"
       "  %f = cast(%z) {to = f32}  %g = mul(%f, %s)  %t = cast(%g) {to = i64}"
       "  %y = resize(%x, _, _, %t) {mode = linear}  out \"y\" = %y }",
       {},
       {},
       1e-5},
  };
  for (const ProgramCase& c : cases) CheckProgram(c);
}

TEST_CASE("coreml programs: export of samples") {
  for (const std::string padding : {"zeros", "border", "reflection"})
    for (const std::string align : {"true", "false"})
      CheckProgram(
          {"graph { in %x: f32[1, 2, 4, 5]  in %g: f32[1, 3, 3, 2]  %y = grid_sample(%x, %g) "
           "{padding = " +
               padding + ", align_corners = " + align + "}  out \"y\" = %y }",
           "resample",
           {},
           1e-5});
}

}  // namespace
}  // namespace nn::test::coreml_program_image_test

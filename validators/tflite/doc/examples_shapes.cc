// Examples of TensorFlow Lite rules: operators that move elements.
#include "validators/tflite/doc/example_models.h"

namespace nn::tflite {
namespace {

constexpr const char* kAdd = R"(ADD AddOptions {}
a f32[2,3]
b f32[1,3] =
> y f32[2,3]
)";

constexpr const char* kAddN = R"(ADD_N AddNOptions {}
a f32[2,3]
b f32[2,3]
c f32[2,3]
> y f32[2,3]
)";

constexpr const char* kConcatenation = R"(CONCATENATION ConcatenationOptions {"axis": 1}
a f32[2,3]
b f32[2,4]
> y f32[2,7]
)";

constexpr const char* kReshape = R"(RESHAPE ReshapeOptions {}
x f32[2,6]
shape i32[2] =3,4
> y f32[3,4]
)";

constexpr const char* kPad = R"(PAD PadOptions {}
x f32[2,3]
pads i32[2,2] =0,0,1,2
> y f32[2,6]
)";

constexpr const char* kSplit = R"(SPLIT SplitOptions {"num_splits": 2}
axis i32[] =1
x f32[2,6]
> y f32[2,3]
> z f32[2,3]
)";

constexpr const char* kPack = R"(PACK PackOptions {"values_count": 2, "axis": 1}
a f32[2,3]
b f32[2,3]
> y f32[2,2,3]
)";

constexpr const char* kBatches = R"(SPACE_TO_BATCH_ND SpaceToBatchNDOptions {}
x f32[1,4,6,2]
block i32[2] =2,3
pads i32[2,2] =0,0,0,0
> y f32[6,2,2,2]
)";

constexpr const char* kDepth = R"(SPACE_TO_DEPTH SpaceToDepthOptions {"block_size": 2}
x f32[1,4,6,2]
> y f32[1,2,3,8]
)";

constexpr const char* kTranspose = R"(TRANSPOSE TransposeOptions {}
x f32[2,3,4]
order i32[3] =2,0,1
> y f32[4,2,3]
)";

constexpr const char* kSqueeze = R"(SQUEEZE SqueezeOptions {"squeeze_dims": [0]}
x f32[1,3,1]
> y f32[3,1]
)";

constexpr const char* kSum = R"(SUM ReducerOptions {}
x f32[2,3,4]
axes i32[1] =1
> y f32[2,4]
)";

constexpr const char* kTile = R"(TILE TileOptions {}
x f32[2,3]
multiples i32[2] =2,1
> y f32[4,3]
)";

constexpr const char* kFill = R"(FILL FillOptions {}
shape i32[2] =2,3
value f32[]
> y f32[2,3]
)";

constexpr const char* kResize = R"(RESIZE_BILINEAR ResizeBilinearOptions {"align_corners": true}
x f32[1,4,4,2]
size i32[2] =6,8
> y f32[1,6,8,2]
)";

}  // namespace

std::vector<RuleExample> ShapeExamples() {
  return {
      {"TFLITE-SHAPE-001", kAdd, {{"a f32[2,3]", "a f32[2,4]"}}, {{"a f32[2,3]", "a f32[2,1]"}}},
      {"TFLITE-SHAPE-002", kAddN, {{"c f32[2,3]", "c f32[1,3]"}}, {{"c f32[2,3]", "c f32[2,3] ="}}},
      {"TFLITE-SHAPE-003",
       kConcatenation,
       {{"b f32[2,4]", "b f32[3,4]"}},
       {{"\"axis\": 1", "\"axis\": -1"}}},
      {"TFLITE-SHAPE-003",
       kConcatenation,
       {{"\"axis\": 1", "\"axis\": 2"}},
       {{"\"axis\": 1", "\"axis\": 0"},
        {"b f32[2,4]", "b f32[4,3]"},
        {"y f32[2,7]", "y f32[6,3]"}}},
      {"TFLITE-SHAPE-004", kReshape, {{"=3,4", "=3,5"}}, {{"=3,4", "=3,-1"}}},
      {"TFLITE-SHAPE-004", kReshape, {{"=3,4", "=-1,-1"}}, {{"=3,4", "=-1,4"}}},
      {"TFLITE-SHAPE-005", kPad, {{"=0,0,1,2", "=0,0,-1,2"}}, {{"=0,0,1,2", "=0,0,0,3"}}},
      {"TFLITE-SHAPE-005",
       R"(MIRROR_PAD MirrorPadOptions {"mode": "SYMMETRIC"}
x f32[2,3]
pads i32[2,2] =0,0,3,0
> y f32[2,6]
)",
       {{"SYMMETRIC", "REFLECT"}},
       {{"=0,0,3,0", "=0,0,0,3"}}},
      {"TFLITE-SHAPE-006", kSplit, {{"x f32[2,6]", "x f32[2,7]"}}, {{"=1", "=-1"}}},
      {"TFLITE-SHAPE-006",
       R"(SPLIT_V SplitVOptions {"num_splits": 2}
x f32[2,6]
sizes i32[2] =2,4
axis i32[] =1
> y f32[2,2]
> z f32[2,4]
)",
       {{"=2,4", "=2,5"}},
       {{"=2,4", "=2,-1"}}},
      {"TFLITE-SHAPE-007",
       kPack,
       {{"\"values_count\": 2", "\"values_count\": 3"}},
       {{"\"axis\": 1", "\"axis\": -2"}}},
      {"TFLITE-SHAPE-007",
       R"(UNPACK UnpackOptions {"num": 2, "axis": 0}
x f32[2,3]
> y f32[3]
> z f32[3]
)",
       {{"x f32[2,3]", "x f32[3,3]"}},
       {{"\"axis\": 0", "\"axis\": -2"}}},
      {"TFLITE-SHAPE-008",
       kBatches,
       {{"x f32[1,4,6,2]", "x f32[1,5,6,2]"}},
       {{"x f32[1,4,6,2]", "x f32[1,3,6,2]"}, {"=0,0,0,0", "=1,0,0,0"}}},
      {"TFLITE-SHAPE-009",
       kDepth,
       {{"x f32[1,4,6,2]", "x f32[1,5,6,2]"}},
       {{"x f32[1,4,6,2]", "x f32[1,6,6,2]"}, {"y f32[1,2", "y f32[1,3"}}},
      {"TFLITE-SHAPE-010", kTranspose, {{"=2,0,1", "=3,0,1"}}, {{"=2,0,1", "=-1,0,1"}}},
      {"TFLITE-SHAPE-011",
       kSqueeze,
       {{"[0]", "[1]"}},
       {{"[0]", "[2]"}, {"y f32[3,1]", "y f32[1,3]"}}},
      {"TFLITE-SHAPE-012", kSum, {{"=1", "=3"}}, {{"=1", "=-2"}}},
      {"TFLITE-SHAPE-013",
       kTile,
       {{"multiples i32[2] =2,1", "multiples i32[3] =2,1,1"}},
       {{"i32[2] =2,1", "i64[2] =2,1"}}},
      {"TFLITE-SHAPE-014", kFill, {{"=2,3", "=-2,3"}}, {{"=2,3", "=0,3"}, {"y f32[2", "y f32[0"}}},
      {"TFLITE-SHAPE-014",
       R"(BROADCAST_TO/2 BroadcastToOptions {}
x f32[3]
shape i32[2] =2,3
> y f32[2,3]
)",
       {{"x f32[3]", "x f32[2]"}},
       {{"x f32[3]", "x f32[2,1]"}}},
      {"TFLITE-SHAPE-015",
       kResize,
       {{"=6,8", "=0,8"}, {"y f32[1,6", "y f32[1,0"}},
       {{"=6,8", "=1,8"}, {"y f32[1,6", "y f32[1,1"}}},
      {"TFLITE-SHAPE-015",
       kResize,
       {{"\"align_corners\"", "\"half_pixel_centers\": true, \"align_corners\""}},
       {{"\"align_corners\"", "\"half_pixel_centers\""}}},
  };
}

}  // namespace nn::tflite

// Examples of TensorFlow Lite rules: slices, indices, tables.
#include "validators/tflite/doc/example_models.h"

namespace nn::tflite {
namespace {

constexpr const char* kSlice = R"(SLICE SliceOptions {}
x f32[4,6]
begin i32[2] =1,2
size i32[2] =2,4
> y f32[2,4]
)";

constexpr const char* kStrided = R"(STRIDED_SLICE StridedSliceOptions {}
x f32[4,6]
begin i32[2] =0,5
end i32[2] =2,0
strides i32[2] =1,-2
> y f32[2,3]
)";

constexpr const char* kUpdate = R"(DYNAMIC_UPDATE_SLICE DynamicUpdateSliceOptions {}
x f32[4,6]
update f32[2,6]
start i32[2]
> y f32[4,6]
)";

constexpr const char* kGather = R"(GATHER GatherOptions {"axis": 1}
x f32[4,6]
positions i32[3]
> y f32[4,3]
)";

constexpr const char* kScatter = R"(SCATTER_ND ScatterNdOptions {}
indices i32[3,1]
updates f32[3,5]
shape i32[2] =8,5
> y f32[8,5]
)";

constexpr const char* kOneHot = R"(ONE_HOT OneHotOptions {"axis": -1}
indices i32[3]
depth i32[] =4
on f32[] =1
off f32[] =0
> y f32[3,4]
)";

constexpr const char* kTopK = R"(TOPK_V2 TopKV2Options {}
x f32[2,6]
k i32[] =3
> values f32[2,3]
> indices i32[2,3]
)";

constexpr const char* kSegments = R"(UNSORTED_SEGMENT_SUM UnsortedSegmentSumOptions {}
x f32[3,2]
ids i32[3] =0,2,1
segments i32[] =3
> y f32[3,2]
)";

constexpr const char* kLookup = R"(HASHTABLE_LOOKUP
lookup i32[5]
keys i32[3] =1,4,6
values f32[3,2] =
> y f32[5,2]
> hits u8[5]
)";

constexpr const char* kRange = R"(RANGE RangeOptions {}
start i32[] =0
limit i32[] =9
delta i32[] =2
> y i32[5]
)";

constexpr const char* kSelect = R"(SELECT SelectOptions {}
condition bool[2]
a f32[2,3]
b f32[2,3]
> y f32[2,3]
)";

constexpr const char* kBoxes = R"(NON_MAX_SUPPRESSION_V4 NonMaxSuppressionV4Options {}
boxes f32[9,4]
scores f32[9]
most i32[] =5
iou f32[]
threshold f32[]
> indices i32[5]
> count i32[]
)";

constexpr const char* kFourier = R"(RFFT2D Rfft2dOptions {}
x f32[4,8]
length i32[2] =4,8
> y c64[4,5]
)";

constexpr const char* kBitcast = R"(BITCAST BitcastOptions {}
x i16[3,2]
> y f32[3]
)";

constexpr const char* kStableGather =
    R"(STABLEHLO_GATHER StablehloGatherOptions {"offset_dims": [1], "collapsed_slice_dims": [0], "start_index_map": [0], "index_vector_dim": 1, "slice_sizes": [1, 3]}
x f32[4,3]
start i32[2,1]
> y f32[2,3]
)";

}  // namespace

std::vector<RuleExample> IndexExamples() {
  return {
      {"TFLITE-SHAPE-016",
       kSlice,
       {{"size i32[2] =2,4", "size i32[1] =2"}},
       {{"size i32[2] =2,4", "size i64[2] =2,-1"}}},
      {"TFLITE-SHAPE-017",
       kStrided,
       {{"=1,-2", "=1,0"}},
       {{"=1,-2", "=1,-3"}, {"y f32[2,3]", "y f32[2,2]"}}},
      {"TFLITE-SHAPE-018",
       kUpdate,
       {{"update f32[2,6]", "update f32[5,6]"}},
       {{"update f32[2,6]", "update f32[4,6]"}}},
      {"TFLITE-SHAPE-019",
       kGather,
       {{"\"axis\": 1", "\"axis\": 2"}},
       {{"\"axis\": 1", "\"axis\": -1"}}},
      {"TFLITE-SHAPE-019",
       R"(GATHER_ND GatherNdOptions {}
x f32[4,6]
indices i32[3,2]
> y f32[3]
)",
       {{"x f32[4,6]", "x f32[4]"}},
       {{"x f32[4,6]", "x f32[4,6,5]"}, {"y f32[3]", "y f32[3,5]"}}},
      {"TFLITE-SHAPE-020",
       kScatter,
       {{"=8,5", "=8,6"}, {"y f32[8,5]", "y f32[8,6]"}},
       {{"=8,5", "=9,5"}, {"y f32[8,5]", "y f32[9,5]"}}},
      {"TFLITE-SHAPE-021",
       kOneHot,
       {{"\"axis\": -1", "\"axis\": 2"}},
       {{"\"axis\": -1", "\"axis\": 0"}, {"y f32[3,4]", "y f32[4,3]"}}},
      {"TFLITE-SHAPE-022", kTopK, {{"x f32[2,6]", "x f32[2,2]"}}, {{"x f32[2,6]", "x f32[2,3]"}}},
      {"TFLITE-SHAPE-023", kSegments, {{"=0,2,1", "=0,3,1"}}, {{"=0,2,1", "=0,-1,1"}}},
      {"TFLITE-SHAPE-024",
       kLookup,
       {{"values f32[3,2]", "values f32[4,2]"}},
       {{"values f32[3,2]", "values f32[3,1]"}, {"y f32[5,2]", "y f32[5,1]"}}},
      {"TFLITE-SHAPE-025",
       kRange,
       {{"delta i32[] =2", "delta i32[] =-2"}},
       {{"delta i32[] =2", "delta i32[] =9"}, {"y i32[5]", "y i32[1]"}}},
      {"TFLITE-SHAPE-026",
       kSelect,
       {{"condition bool[2]", "condition bool[3]"}},
       {{"condition bool[2]", "condition bool[2,3]"}}},
      {"TFLITE-SHAPE-027",
       kBoxes,
       {{"scores f32[9]", "scores f32[8]"}},
       {{"=5", "=9"}, {"indices i32[5]", "indices i32[9]"}}},
      {"TFLITE-SHAPE-028",
       kFourier,
       {{"=4,8", "=4,6"}},
       {{"=4,8", "=4,16"}, {"y c64[4,5]", "y c64[4,9]"}}},
      {"TFLITE-SHAPE-029", kBitcast, {{"x i16[3,2]", "x i16[3,4]"}}, {{"x i16[3,2]", "x i8[3,4]"}}},
      {"TFLITE-SHAPE-030", kStableGather, {{"[1, 3]", "[1, 3, 1]"}}, {{"[1, 3]", "[1, 2]"}}},
  };
}

}  // namespace nn::tflite

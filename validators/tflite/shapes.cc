// Rules about shapes: what the preparation of operators that move elements rejects.
#include "validators/tflite/rules.h"

namespace nn::tflite {
namespace {

constexpr Rule kShapeRules[] = {
    {.info = {.id = "TFLITE-SHAPE-001",
              .statement = "The dimensions of broadcast inputs, aligned at the last axis, are "
                           "equal or 1, and alpha of PRELU does not enlarge its input.",
              .clause = "CalculateShapeForBroadcast",
              .vendor = true,
              .hint = "Reshape the inputs so that corresponding dimensions, from the last one on, "
                      "are equal or 1."},
     .check = Replay<Check::kBroadcast>},
    {.info = {.id = "TFLITE-SHAPE-002",
              .statement = "The inputs of ADD_N, PACK and StableHLO arithmetic have the same "
                           "shape, the inputs of ATAN2 have the same rank, and both states of "
                           "STABLEHLO_RNG_BIT_GENERATOR have the same shape.",
              .clause = "Prepare of ADD_N, ATAN2, PACK and StableHLO's arithmetic",
              .vendor = true,
              .hint = "Reshape or broadcast the tensors to a common shape before the operator."},
     .check = Replay<Check::kSameShapes>},
    {.info = {.id = "TFLITE-SHAPE-003",
              .statement = "The axis of CONCATENATION is an axis of its inputs, whose other "
                           "dimensions are equal.",
              .clause = "schema.fbs, ConcatenationOptions.axis; Prepare of CONCATENATION",
              .vendor = true,
              .hint = "Set axis to an axis of the inputs, and make all other dimensions equal."},
     .check = Replay<Check::kConcatenation>},
    {.info =
         {.id = "TFLITE-SHAPE-004",
          .statement = "The new shape of RESHAPE has the number of elements of the input, at most "
                       "one -1, and no other negative dimension.",
          .clause = "schema.fbs, ReshapeOptions.new_shape; Prepare of RESHAPE",
          .vendor = true,
          .hint =
              "Choose a shape with the same number of elements; at most one dimension may be -1."},
     .check = Replay<Check::kReshape>},
    {.info = {.id = "TFLITE-SHAPE-005",
              .statement = "The padding of PAD, PADV2 and MIRROR_PAD is a pair of nonnegative "
                           "amounts for each axis, and mirrored padding fits into the axis.",
              .clause = "Prepare of PAD, PADV2, MIRROR_PAD",
              .vendor = true,
              .hint = "Write two nonnegative amounts for each axis. In MIRROR_PAD, an amount is "
                      "below the dimension (REFLECT) or at most the dimension (SYMMETRIC)."},
     .check = Replay<Check::kPads>},
    {.info = {.id = "TFLITE-SHAPE-006",
              .statement = "In SPLIT and SPLIT_V, num_splits is the number of outputs, the axis is "
                           "an axis of the input, and the parts add up to its size.",
              .clause = "schema.fbs, SplitOptions.num_splits; Prepare of SPLIT, SPLIT_V",
              .vendor = true,
              .hint = "Set num_splits to the number of outputs, and choose parts that add up to "
                      "the size of the axis."},
     .check = Replay<Check::kSplit>},
    {.info =
         {.id = "TFLITE-SHAPE-007",
          .statement = "The values_count of PACK is the number of inputs, num of UNPACK is the "
                       "number of outputs and the size of the axis, the axis exists, and the input "
                       "of UNPACK is not empty.",
          .clause = "schema.fbs, PackOptions, UnpackOptions; Prepare of PACK, UNPACK",
          .vendor = true,
          .hint =
              "Set values_count or num to the number of tensors, and axis to an existing axis."},
     .check = Replay<Check::kPack>},
    {.info = {.id = "TFLITE-SHAPE-008",
              .statement = "In SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, block_shape and the "
                           "paddings or crops have an entry for each spatial axis, and the blocks "
                           "divide the padded axes or the batch.",
              .clause = "Prepare of SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND",
              .vendor = true,
              .hint = "Choose positive block sizes that divide the padded axes (SPACE_TO_BATCH_ND) "
                      "or the batch (BATCH_TO_SPACE_ND), and crops that are not negative."},
     .check = Replay<Check::kBlocks>},
    {.info = {.id = "TFLITE-SHAPE-009",
              .statement = "The block_size of SPACE_TO_DEPTH divides height and width, and the "
                           "square of the block_size of DEPTH_TO_SPACE divides the channels.",
              .clause = "schema.fbs, SpaceToDepthOptions.block_size; Prepare of SPACE_TO_DEPTH, "
                        "DEPTH_TO_SPACE",
              .vendor = true,
              .hint = "Choose a block_size that divides height and width (SPACE_TO_DEPTH) or whose "
                      "square divides the channels (DEPTH_TO_SPACE)."},
     .check = Replay<Check::kBlockSize>},
    {.info = {.id = "TFLITE-SHAPE-010",
              .statement = "The permutation of TRANSPOSE has one entry for each axis of the input, "
                           "and each entry is such an axis.",
              .clause = "Prepare of TRANSPOSE",
              .vendor = true,
              .hint = "List each axis of the input exactly once in the permutation."},
     .check = Replay<Check::kTranspose>},
    {.info =
         {.id = "TFLITE-SHAPE-011",
          .statement =
              "Every entry in squeeze_dims of SQUEEZE is an axis of the input with dimension 1.",
          .clause = "schema.fbs, SqueezeOptions.squeeze_dims; Prepare of SQUEEZE",
          .vendor = true,
          .hint = "Remove axes with other dimensions from squeeze_dims, or use RESHAPE."},
     .check = Replay<Check::kSqueeze>},
    {.info =
         {.id = "TFLITE-SHAPE-012",
          .statement = "The axes of reductions, ARG_MAX, ARG_MIN and EXPAND_DIMS are in range, "
                       "ARG_MAX and ARG_MIN reduce a nonempty axis, and REVERSE_V2 has at most as "
                       "many axes as its input.",
          .clause = "Prepare of the reductions, ARG_MAX, ARG_MIN, EXPAND_DIMS, REVERSE_V2",
          .vendor = true,
          .hint =
              "Use axes from -rank to rank - 1 of the input, or of the output for EXPAND_DIMS."},
     .check = Replay<Check::kAxes>},
    {.info = {.id = "TFLITE-SHAPE-013",
              .statement =
                  "The multiples of TILE have one nonnegative entry for each axis of the input.",
              .clause = "Prepare of TILE",
              .vendor = true,
              .hint = "Write one multiple of at least 0 for each axis of the input; 1 leaves the "
                      "axis as it is."},
     .check = Replay<Check::kTile>},
    {.info = {.id = "TFLITE-SHAPE-014",
              .statement = "The shape operand of BROADCAST_TO and FILL has no negative dimension, "
                           "and the input of BROADCAST_TO can be broadcast to it.",
              .clause = "Prepare of BROADCAST_TO, FILL",
              .vendor = true,
              .hint = "Use a shape without negative dimensions. BROADCAST_TO can change only input "
                      "dimensions of 1."},
     .check = Replay<Check::kTargetShape>},
    {.info = {.id = "TFLITE-SHAPE-015",
              .statement = "The size of RESIZE_BILINEAR is positive, the size of "
                           "RESIZE_NEAREST_NEIGHBOR is not negative, and RESIZE_BILINEAR does not "
                           "set both align_corners and half_pixel_centers.",
              .clause = "schema.fbs, ResizeBilinearOptions; Prepare of RESIZE_BILINEAR",
              .vendor = true,
              .hint = "Set a positive output size, and set at most one of align_corners and "
                      "half_pixel_centers."},
     .check = Replay<Check::kResize>},
    {.info = {.id = "TFLITE-SHAPE-016",
              .statement = "The begin and size operands of SLICE have the same number of entries.",
              .clause = "Prepare of SLICE",
              .vendor = true,
              .hint = "Write one begin and one size for each axis of the input."},
     .check = Replay<Check::kSlice>},
    {.info = {.id = "TFLITE-SHAPE-017",
              .statement = "The begin, end and strides operands of STRIDED_SLICE have the same "
                           "number of entries, at most 31, and no stride is 0.",
              .clause = "schema.fbs, StridedSliceOptions; Prepare of STRIDED_SLICE",
              .vendor = true,
              .hint = "Write one begin, one end and one nonzero stride for each sliced axis."},
     .check = Replay<Check::kStridedSlice>},
    {.info = {.id = "TFLITE-SHAPE-018",
              .statement = "The update of DYNAMIC_UPDATE_SLICE has the rank of the input and no "
                           "larger dimension, and the start has an entry for each axis.",
              .clause = "Prepare of DYNAMIC_UPDATE_SLICE",
              .vendor = true,
              .hint = "Use an update of the input's rank that fits into the input, and one start "
                      "index for each axis."},
     .check = Replay<Check::kUpdateSlice>},
    {.info = {.id = "TFLITE-SHAPE-019",
              .statement = "The axis and batch_dims of GATHER fit its input and positions, a "
                           "STRING input of GATHER has rank 1, and the indices of GATHER_ND have "
                           "at most one entry for each axis of its input.",
              .clause = "schema.fbs, GatherOptions; Prepare of GATHER, GATHER_ND",
              .vendor = true,
              .hint = "Set axis to an axis of the input and batch_dims to at most axis; shorten "
                      "the last axis of the GATHER_ND indices."},
     .check = Replay<Check::kGather>},
    {.info = {.id = "TFLITE-SHAPE-020",
              .statement = "The shapes of the indices, the updates or values, and the output shape "
                           "operand of SCATTER_ND and SPARSE_TO_DENSE match.",
              .clause = "Prepare of SCATTER_ND, SPARSE_TO_DENSE",
              .vendor = true,
              .hint = "Provide one update or value for each index; the last dimension of the "
                      "indices is the number of output axes that they address."},
     .check = Replay<Check::kScatter>},
    {.info =
         {.id = "TFLITE-SHAPE-021",
          .statement =
              "The axis of ONE_HOT is -1 or an axis of its output, and the depth is not negative.",
          .clause = "schema.fbs, OneHotOptions.axis; Prepare of ONE_HOT",
          .vendor = true,
          .hint =
              "Set axis to -1 or to an axis of the output, and depth to the number of classes."},
     .check = Replay<Check::kOneHot>},
    {.info = {.id = "TFLITE-SHAPE-022",
              .statement = "The k of TOPK_V2 is at most the last dimension of the input.",
              .clause = "Prepare of TOPK_V2",
              .vendor = true,
              .hint = "Reduce k to at most the last dimension of the input."},
     .check = Replay<Check::kTopK>},
    {.info = {.id = "TFLITE-SHAPE-023",
              .statement = "The segment ids of SEGMENT_SUM start at 0 and ascend without gaps, one "
                           "for each row, and those of UNSORTED_SEGMENT_* match the leading axes "
                           "of the input and are below the number of segments.",
              .clause = "Prepare of SEGMENT_SUM, UNSORTED_SEGMENT_*",
              .vendor = true,
              .hint = "Number the segments of SEGMENT_SUM 0, 1, 2 and so on, in order. Keep the "
                      "ids of UNSORTED_SEGMENT_* below a nonnegative number of segments."},
     .check = Replay<Check::kSegments>},
    {.info = {.id = "TFLITE-SHAPE-024",
              .statement = "The ids, keys, weights and quantization parameters of "
                           "EMBEDDING_LOOKUP, EMBEDDING_LOOKUP_SPARSE, HASHTABLE_LOOKUP and "
                           "LSH_PROJECTION match the tensors that they belong to.",
              .clause = "Prepare of EMBEDDING_LOOKUP, EMBEDDING_LOOKUP_SPARSE, HASHTABLE_LOOKUP, "
                        "LSH_PROJECTION",
              .vendor = true,
              .hint = "Provide one value or weight for each key or id, and quantize an embedding "
                      "table with zero point 0 and one scale for all rows or one for each."},
     .check = Replay<Check::kLookup>},
    {.info =
         {.id = "TFLITE-SHAPE-025",
          .statement = "The delta of RANGE is not 0 and leads from start to limit.",
          .clause = "Prepare of RANGE",
          .vendor = true,
          .hint =
              "Use a positive delta if limit is above start, and a negative one if it is below."},
     .check = Replay<Check::kRange>},
    {.info = {.id = "TFLITE-SHAPE-026",
              .statement = "The values a and b of SELECT have the same shape, and its condition "
                           "has that shape, one element for each row, or is a scalar.",
              .clause = "Prepare of SELECT",
              .vendor = true,
              .hint = "Use SELECT_V2, which broadcasts its inputs, or reshape the condition."},
     .check = Replay<Check::kSelect>},
    {.info =
         {.id = "TFLITE-SHAPE-027",
          .statement =
              "The boxes of NON_MAX_SUPPRESSION_V4 and NON_MAX_SUPPRESSION_V5 have four "
              "coordinates and one score each, and the number of selected boxes is not negative.",
          .clause = "Prepare of NON_MAX_SUPPRESSION_V4, NON_MAX_SUPPRESSION_V5",
          .vendor = true,
          .hint =
              "Use boxes of shape [n, 4], scores of shape [n], and a nonnegative max_output_size."},
     .check = Replay<Check::kBoxes>},
    {.info = {.id = "TFLITE-SHAPE-028",
              .statement = "The transform lengths of RFFT2D are powers of two.",
              .clause = "Prepare of RFFT2D",
              .vendor = true,
              .hint =
                  "Use the next power of two as the length; the kernel pads the input with zeros."},
     .check = Replay<Check::kFourier>},
    {.info = {.id = "TFLITE-SHAPE-029",
              .statement = "The last axis of the input of a BITCAST to a wider type has exactly "
                           "the elements that make up one output element.",
              .clause = "Prepare of BITCAST",
              .vendor = true,
              .hint =
                  "Reshape the input so that its last axis holds the parts of one output element."},
     .check = Replay<Check::kBitcast>},
    {.info = {.id = "TFLITE-SHAPE-030",
              .statement = "The lists in the options of STABLEHLO_GATHER, STABLEHLO_SCATTER, "
                           "STABLEHLO_PAD and STABLEHLO_REDUCE_WINDOW have the lengths that the "
                           "ranks require, and their sizes, strides and dilations are valid.",
              .clause = "schema.fbs, StablehloGatherOptions and others; Prepare of their kernels",
              .vendor = true,
              .hint = "Give the list that the message names the expected length, and use positive "
                      "sizes, strides and dilations."},
     .check = Replay<Check::kStableHlo>},
};

}  // namespace

std::span<const Rule> ShapeRules() {
  return kShapeRules;
}

}  // namespace nn::tflite

// The names of the constraints on operations of ML Programs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nn::coreml::program {

// What type inference of coremltools checks or computes beyond types, ranks and numbers of
// elements. The words of a row are those of the enumerators: "same_shape". Their arguments are the
// inputs that they are about, in the order of the rows.
enum class Label : uint8_t {
  // Of any operation.
  kBuilderOnly,          // no file has it
  kFileOnly,             // the builder does not have it
  kStoredAsAttributes,   // a file has the inputs as attributes
  kKnownValue,           // the strings are among the listed ones
  kAnyCase,              // the strings are compared in lower case
  kSameLowerSinceIos16,  // "same_lower" is of opset iOS16
  kPositive,             // all numbers are above 0
  kNotNegative,          // none is below 0
  kZero,                 // is 0
  kNonzero,              // are not all 0
  kTrue,                 // is true
  kLess,                 // a < b
  kSameLength,           // lists are of one length
  kSameType,             // the values have one element type
  kSameRank,             // the values have one rank
  kSameShape,            // shapes are equal
  kBroadcast,            // shapes are broadcast
  kKeepsShape,           // the results have the shape of the input
  kShapeIs,              // the result has the sizes that the input lists
  kAxisInRange,          // -rank <= axis < rank
  kAxesInRange,          // the same for each
  kAxisFromMinusOne,     // -1 <= axis < rank
  kNewAxisInRange,       // -rank - 1 <= axis <= rank
  kChannels,             // one element for each index of axis 1
  // Control flow, lists and states.
  kTypeOfValue,      // the result has the type of the value
  kBranchTypes,      // both blocks return the same number of values, of compatible types
  kConditionBlock,   // returns one boolean
  kLoopTypes,        // the body returns values of the types of the loop's variables
  kListOf,           // elements have the listed sizes, which are constants, and the type
  kElementType,      // the value has the type of the list's elements
  kKnownElement,     // the type of the list's elements is known
  kGathersElements,  // [indices, ...element]
  kOneValueEach,     // as many values as indices
  kStateOfTensor,    // the state contains a tensor
  kStateType,        // the value has the type of what the state contains
  kClassCount,       // as many classes as probabilities
  // Products.
  kInnerSizes,          // the last axes of x and weight are of one size
  kBiasLength,          // one element for each index of axis 0 of the weight
  kMatrixProduct,       // inner sizes agree and other axes are broadcast
  kNoTransposedVector,  // a vector is not transposed
  kTypeOfVariable,      // of a constant and a variable, the result has the type of the variable;
                        // two of a kind have one type
  kTwoValues,           // two operands
  kEinsumEquation,      // nchw,nwhu->nchu or chw,whr->chr, and the sizes fit it
  // Windows.
  kChannelsOfGroups,      // groups divide the channels of x; a group has those of the weight
  kWindowFits,            // at least one window along each axis
  kConstantIfDilated,     // dilations other than 1 need a constant weight
  kPadIfCustom,           // pad is given exactly for "custom"
  kBitsUpTo8,             // 1 to 8
  kTransposedBiasLength,  // the channels of the result
  kTransposedShape,       // follows the parameters; output_shape has the batch and the channels
  kTransposedGroups,      // groups divide the channels of x
  kPoolFits,              // at least one window along each axis
  kCeilModePadding,       // ceil_mode needs at most two axes, no "same", and symmetric padding
  kWindowsOfAxis,         // [..., windows, size, ...]
  // Normalization and activation.
  kNormalizedShape,      // the sizes of x along the axes
  kOneValueUnlessRank4,  // all elements are equal
  // Recurrent layers.
  kGruWeights,      // weight_hh is [3 H, H]
  kLstmWeights,     // [4 H, I] and [4 H, H]
  kGateBias,        // as long as axis 0 of weight_hh
  kPeepholes,       // 3 H
  kBothDirections,  // "bidirectional" needs the weights of the other direction
  kSequenceLength,  // all steps, or one
  // Reductions and indices.
  kReducedShape,       // without the axes, or with size 1 there
  kReducedAxis,        // the same for one axis
  kGatheredShape,      // the shape of the indices in place of the axis
  kBatchDimsFit,       // fewer than the rank of x, at most the rank of the indices
  kIndicesInRange,     // -size <= index < size
  kValidatedIndices,   // if they are constants and validate_indices: 0 <= index < size
  kIndexDepth,         // the last size of the indices is at most the number of the other axes
  kOtherSizes,         // sizes agree, except along the axis
  kScatteredUpdates,   // the shape of the indices in place of the axis
  kScatteredSlices,    // the slices of the indices
  kRowForEachElement,  // [elements that are not 0, rank]
  kKFits,              // k <= size; the results have k elements along the axis
  kIndicesIfReturned,  // the second result exists if return_indices
  kDtypeIfReturned,    // no type of indices without indices
  // Shapes.
  kRankMany,           // as many elements as the rank of the input
  kRangeLength,        // (end - start) / step, rounded up
  kTiledShape,         // sizes times repetitions
  kFlattenedShape,     // the sizes before the axis, and those from it on, multiplied
  kConcatenatedShape,  // the sum along the axis; other sizes agree; all, if interleaved
  kNumberOrSizes,      // at least one of them is given
  kSplitInto,          // that many results; a number alone divides the size
  kSizesAddUp,         // to the size of the axis
  kInsertedAxes,       // of size 1, at positions in the result
  kSqueezedAxes,       // those of the axes that have size 1
  kOneInferredSize,    // at most one -1
  kZerosNeedRank,      // a list with 0 has a size for each axis of x, which 0 copies
  kZerosFromTheEnd,    // 0 copies the size at the same distance from the end, or is 1
  kSameElements,       // as many elements as x
  kJoinedShape,        // the slices of shapes, joined, without unknown sizes; elements as in x
  kPermutation,        // each axis once
  kPermutedShape,      // the sizes in the order of perm
  kLengthsFit,         // one for each index of the batch axis, at most the size of the other
  kSlicedShape,        // what begin, end, stride and the masks select
  kOneForEachAxis,     // one element for each axis
  kUpdatesSlice,       // the update has the shape of what they select
  kSliceOfSize,        // -1: up to the end
  kPadsOfLastAxes,     // pairs for at most all axes, the last ones
  kAllAxesIfVariable,  // a variable list has a pair for each axis
  kReflectionsFit,     // "reflect" adds less than the size, "replicate" at most the size
  kLastSize,           // the size of the last axis
  kDepthToBlocks,      // [n, c / b^2, h b, w b]
  kBlocksToDepth,      // [n, c b^2, h / b, w / b]
  kDividesChannels,    // b^2 divides the channels
  kDividesSpace,       // b divides the spatial sizes
  kPairsForBlocks,     // one pair for each axis of a block
  kSpaceToBatches,     // padded sizes are multiples of the block
  kBatchesToSpace,     // the block divides the batch
  // Images and boxes.
  kTargetSizes,         // of the last two axes
  kScaledSizes,         // of the last two axes, rounded down
  kCrops,               // what remains of the last two axes
  kSixColumns,          // the last size is 6
  kSameBatch,           // axis 0 has one size
  kPairsOfCoordinates,  // the last size is 2
  kRegions,             // [n, 1, 4 or 5, 1, 1]; 5 with the index of an image first
  kBoxesOfFour,         // [n, 4]
  kIndexForEachBox,     // as many as boxes
  kBoxesInBatch,        // indices are below the batch; without indices, not more boxes than it
  kFloatsIfNormalized,  // normalized boxes are floats
  kResizedDimsFit,      // resized_dims <= elements of shape <= rank
  kSelectedBoxes,       // max_boxes of each image
  kBoxesAndScores,      // one list of scores for each box of four
  // Quantization and compression.
  kNamedType,          // has the named type
  kScalesOfAxis,       // both are scalars without an axis, or vectors as long as the axis
  kOneOrAxisMany,      // a scalar, or a vector as long as the axis
  kOffsetType,         // a float, or the type of the data
  kBlocks,             // each size divides that of the data
  kPaletteSize,        // 2, 4, 16, 64 or 256
  kPaletteBits,        // the palette has as many entries as the type of indices has values
  kPackedIndices,      // as many bytes as the elements need
  kPackedMask,         // one bit for each element
  kSetBits,            // as many as elements that are not 0
  kClearPadding,       // bits after the last element are 0
  kVectorAxisInRange,  // -rank <= axis < rank; required if vectors are longer than 1
  kVectorShape,        // the size along the axis, times the length of a vector
  // Attention.
  kAttentionSizes,  // batches agree, and the sizes of query and key, and of key and value
  kAttentionMask,   // broadcast to [..., queries, keys]
};
inline constexpr size_t kLabels = static_cast<size_t>(Label::kAttentionMask) + 1;

}  // namespace nn::coreml::program

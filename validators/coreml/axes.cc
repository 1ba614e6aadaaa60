// Rules about axes and about ranks that follow from the parameters of a layer.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

constexpr int kMaxRank = 5;

// Axis parameters that refer to the axes of the first input; negative ones count from the back.
struct Axes {
  std::vector<int64_t> values;
  int extra = 0;           // axes that the layer adds to its input
  bool is_checked = true;  // by the vendor's checker too
};

template <typename List>
Axes ListOf(const List& axes) {
  return {{axes.begin(), axes.end()}};
}

Axes ReductionAxes(const L& l) {
  switch (l.layer_case()) {
    case L::kReduceL1:
      return ListOf(l.reducel1().axes());
    case L::kReduceL2:
      return ListOf(l.reducel2().axes());
    case L::kReduceMax:
      return ListOf(l.reducemax().axes());
    case L::kReduceMin:
      return ListOf(l.reducemin().axes());
    case L::kReduceSum:
      return ListOf(l.reducesum().axes());
    case L::kReduceProd:
      return ListOf(l.reduceprod().axes());
    case L::kReduceMean:
      return ListOf(l.reducemean().axes());
    case L::kReduceLogSum:
      return ListOf(l.reducelogsum().axes());
    case L::kReduceSumSquare:
      return ListOf(l.reducesumsquare().axes());
    case L::kReduceLogSumExp:
      return ListOf(l.reducelogsumexp().axes());
    default:
      return {};
  }
}

Axes AxesOf(const L& l) {
  switch (l.layer_case()) {
    case L::kConcatND:
      return {{l.concatnd().axis()}};
    case L::kSoftmaxND:
      return {{l.softmaxnd().axis()}};
    case L::kFlattenTo2D:
      return {{l.flattento2d().axis()}};
    case L::kSplitND:
      return {{l.splitnd().axis()}};
    case L::kSlidingWindows:
      return {{l.slidingwindows().axis()}};
    case L::kTopK:
      return {{l.topk().axis()}};
    case L::kArgMax:
      return {{l.argmax().axis()}};
    case L::kArgMin:
      return {{l.argmin().axis()}};
    case L::kStack:
      return {{l.stack().axis()}, 1};
    case L::kGather:
      return {{l.gather().axis()}, 0, false};
    case L::kScatter:
      return {{l.scatter().axis()}, 0, false};
    case L::kGatherAlongAxis:
      return {{l.gatheralongaxis().axis()}, 0, false};
    case L::kScatterAlongAxis:
      return {{l.scatteralongaxis().axis()}, 0, false};
    case L::kCumSum:
      return {{l.cumsum().axis()}, 0, false};
    case L::kReverseSeq:
      return {{l.reverseseq().batchaxis(), l.reverseseq().sequenceaxis()}, 0, false};
    default:
      return ReductionAxes(l);
  }
}

void CheckAxes(const Subject& s, Findings& f, bool checked) {
  for (const LayerAt& at : s.layers()) {
    if (!at.ListsInputs()) continue;
    const Axes axes = AxesOf(*at.layer);
    if (axes.is_checked != checked) continue;
    const int rank = at.InputRank(0);
    for (const int64_t axis : axes.values)
      if (axis < -(rank + axes.extra) || axis >= rank + axes.extra)
        f.Add(Where(at), "{} has axis {}, which is out of range for an input of rank {}", Title(at),
              axis, rank);
  }
}

void AxesInRange(const Subject& s, Findings& f) {
  CheckAxes(s, f, true);
}

void OtherAxesInRange(const Subject& s, Findings& f) {
  CheckAxes(s, f, false);
}

void ArgSortAxis(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_argsort()) continue;
    const int64_t axis = at.layer->argsort().axis();
    if (axis < 0 || (at.ListsInputs() && axis >= at.InputRank(0)))
      f.Add(Where(at, "argSort.axis"), "{} has axis {}, which is {}", Title(at), axis,
            axis < 0 ? "negative" : "out of range for its input");
  }
}

// The axes of squeeze or expandDims; nullptr for other layers and for squeezeAll.
const google::protobuf::RepeatedField<int64_t>* OwnAxes(const L& l) {
  if (l.has_expanddims()) return &l.expanddims().axes();
  return l.has_squeeze() && !l.squeeze().squeezeall() ? &l.squeeze().axes() : nullptr;
}

void AxesPresent(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (const auto* axes = OwnAxes(*at.layer); axes != nullptr && axes->empty())
      f.Add(Where(at), "{} has no axes", Title(at));
}

// The rank that the axes of squeeze or expandDims refer to, if it is declared.
std::optional<int> CountedRank(const LayerAt& at) {
  if (!at.ListsInputs() || !at.ListsOutputs()) return std::nullopt;
  return at.layer->has_expanddims() ? at.OutputRank(0) : at.InputRank(0);
}

void AxesUnique(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto* axes = OwnAxes(*at.layer);
    if (axes == nullptr) continue;
    const int rank = CountedRank(at).value_or(0);
    std::set<int64_t> plain;
    std::set<int64_t> counted;
    for (const int64_t axis : *axes)
      if (!plain.insert(axis).second ||
          !counted.insert(axis < 0 && rank > 0 ? axis + rank : axis).second) {
        f.Add(Where(at), "{} lists axis {} twice", Title(at), axis);
        break;
      }
  }
}

void AxesWithin(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto* axes = OwnAxes(*at.layer);
    const auto rank = CountedRank(at);
    if (axes == nullptr || !rank) continue;
    for (const int64_t axis : *axes)
      if (axis < -*rank || axis >= *rank)
        f.Add(Where(at), "{} has axis {}, which is out of range for rank {}", Title(at), axis,
              *rank);
  }
}

void SqueezedRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto* axes = OwnAxes(*at.layer);
    if (axes == nullptr || !at.ListsInputs() || !at.ListsOutputs()) continue;
    const int in = at.InputRank(0);
    const int out = at.OutputRank(0);
    if (at.layer->has_expanddims() && in + axes->size() != out)
      f.Add(Where(at), "{} adds {} axes to an input of rank {}, but its output has rank {}",
            Title(at), axes->size(), in, out);
    // Squeezing an input of rank 1 leaves rank 1.
    if (at.layer->has_squeeze() && in != 1 && in - axes->size() != out)
      f.Add(Where(at), "{} removes {} axes from an input of rank {}, but its output has rank {}",
            Title(at), axes->size(), in, out);
  }
}

// The rank that the axes named by `reduce` or `slice` need; they count from the back.
int RankNeeded(const L& l) {
  if (l.has_reduce()) {
    using R = pb::ReduceLayerParams;
    switch (l.reduce().axis()) {
      case R::CHW:
        return 3;
      case R::HW:
        return 2;
      case R::C:
      case R::H:
      case R::W:
        return 1;
      default:
        return 0;
    }
  }
  using S = pb::SliceLayerParams;
  switch (l.slice().axis()) {
    case S::CHANNEL_AXIS:
      return 3;
    case S::HEIGHT_AXIS:
      return 2;
    case S::WIDTH_AXIS:
      return 1;
    default:
      return kMaxRank + 1;
  }
}

void NamedAxes(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if ((!at.layer->has_reduce() && !at.layer->has_slice()) || !at.ListsInputs() ||
        !at.network->exact_ranks())
      continue;
    if (const int need = RankNeeded(*at.layer); at.InputRank(0) < need)
      f.Add(Where(at), "{} has an input of rank {}; its axis needs rank {} or more", Title(at),
            at.InputRank(0), need);
  }
}

// Layers whose output has a fixed rank.
void GivenRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    int rank = -1;
    int need = -1;
    if (at.layer->has_loadconstant() && !at.output_ranks.empty()) {
      rank = at.output_ranks[0];
      need = 5;
    } else if ((at.layer->has_rangestatic() || at.layer->has_rangedynamic()) && at.ListsOutputs()) {
      rank = at.OutputRank(0);
      need = 1;
    }
    if (rank >= 0 && rank != need)
      f.Add(Where(at, "output[0]"), "{} has an output of rank {}; expected {}", Title(at), rank,
            need);
  }
}

void MatrixRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const int inputs = at.layer->input_size();
    if (!at.layer->has_batchedmatmul() || at.layer->inputtensor_size() != inputs ||
        at.layer->outputtensor_size() != 1)
      continue;
    const int out = at.OutputRank(0);
    const int want =
        inputs == 2 ? std::max({2, at.InputRank(0), at.InputRank(1)}) : at.InputRank(0);
    if ((inputs == 1 || inputs == 2) && out != want)
      f.Add(Where(at, "output[0]"), "{} has an output of rank {}; expected {}", Title(at), out,
            want);
  }
}

void ScatterRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_scatter() || at.layer->inputtensor_size() != 3) continue;
    if (at.InputRank(0) != at.InputRank(2) || at.InputRank(1) != 1)
      f.Add(Where(at),
            "{} has inputs of ranks {}, {} and {}; the second must be 1 and the others equal",
            Title(at), at.InputRank(0), at.InputRank(1), at.InputRank(2));
    if (at.ListsOutputs() && at.OutputRank(0) != at.InputRank(0))
      f.Add(Where(at, "output[0]"), "{} has an output of rank {} for a container of rank {}",
            Title(at), at.OutputRank(0), at.InputRank(0));
  }
}

void StackedRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_stack() && at.layer->inputtensor_size() > 1 &&
        at.InputRank(0) != at.InputRank(1))
      f.Add(Where(at), "{} has inputs of different ranks: {} and {}", Title(at), at.InputRank(0),
            at.InputRank(1));
}

void AxisPerFlag(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_reverse() && at.ListsInputs() &&
        at.layer->reverse().reversedim_size() != at.InputRank(0))
      f.Add(Where(at, "reverse.reverseDim"),
            "{} has {} values in reverseDim for an input of rank {}", Title(at),
            at.layer->reverse().reversedim_size(), at.InputRank(0));
}

void PreservedRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_rankpreservingreshape()) continue;
    const int sizes = at.layer->rankpreservingreshape().targetshape_size();
    if (!at.ListsInputs() || !at.ListsOutputs())
      f.Add(Where(at), "{} does not declare the ranks of its input and output", Title(at));
    else if (at.InputRank(0) != at.OutputRank(0) || (sizes != 0 && at.InputRank(0) != sizes))
      f.Add(Where(at),
            "{} has an input of rank {} and an output of rank {} for {} sizes in targetShape",
            Title(at), at.InputRank(0), at.OutputRank(0), sizes);
  }
}

void Permutations(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_transpose()) continue;
    const auto& axes = at.layer->transpose().axes();
    std::vector<uint64_t> sorted(axes.begin(), axes.end());
    std::sort(sorted.begin(), sorted.end());
    bool good = axes.empty() || !at.ListsInputs() || axes.size() == at.InputRank(0);
    for (size_t i = 0; i < sorted.size(); ++i) good = good && sorted[i] == i;
    if (!good)
      f.Add(Where(at, "transpose.axes"),
            "the axes of {} are not a permutation of the axes of its input", Title(at));
  }
}

constexpr std::string_view kAxesClause = "NeuralNetwork.proto, NeuralNetworkLayer";

constexpr Rule kAxisRules[] = {
    {.info = {.id = "COREML-PARAM-001",
              .statement = "The axes of concatND, softmaxND, flattenTo2D, splitND, slidingWindows, "
                           "topK, argMax, argMin and the reduction layers are axes of the input, "
                           "and the axis of stack is an axis of the output.",
              .clause = kAxesClause,
              .vendor = true,
              .hint = "Set the axis to a value from -r to r - 1, where r is the rank of the input "
                      "(of the output for stack)."},
     .check = AxesInRange},
    {.info =
         {.id = "COREML-AXIS-001",
          .statement = "The axes of gather, scatter, gatherAlongAxis, scatterAlongAxis, cumSum and "
                       "reverseSeq are axes of the first input.",
          .clause = kAxesClause,
          .hint =
              "Set the axis to a value from -r to r - 1, where r is the rank of the first input."},
     .check = OtherAxesInRange},
    {.info =
         {.id = "COREML-AXIS-002",
          .statement =
              "A squeeze layer without squeezeAll and an expandDims layer have at least one axis.",
          .clause = "NeuralNetwork.proto, ExpandDimsLayerParams.axes",
          .vendor = true,
          .hint = "List the axes, or set squeezeAll."},
     .check = AxesPresent},
    {.info = {.id = "COREML-PARAM-002",
              .statement = "A squeeze or expandDims layer names each axis at most once.",
              .clause = "NeuralNetwork.proto, SqueezeLayerParams.axes",
              .vendor = true,
              .hint = "Remove the repeated axis; a negative axis counts from the back and can name "
                      "the same axis as a positive one."},
     .check = AxesUnique},
    {.info = {.id = "COREML-AXIS-003",
              .statement = "The axes of squeeze are axes of its input, and the axes of expandDims "
                           "are axes of its output.",
              .clause = "NeuralNetwork.proto, ExpandDimsLayerParams.axes",
              .vendor = true,
              .hint = "Set the axis to a value from -r to r - 1, where r is the rank of the input "
                      "of squeeze or of the output of expandDims."},
     .check = AxesWithin},
    {.info = {.id = "COREML-PARAM-003",
              .statement = "The ranks of the input and output of squeeze and expandDims differ by "
                           "the number of axes, unless squeeze has an input of rank 1.",
              .clause = "NeuralNetwork.proto, ExpandDimsLayerParams",
              .vendor = true,
              .hint = "Correct the declared ranks, or the list of axes."},
     .check = SqueezedRanks},
    {.info = {.id = "COREML-PARAM-004",
              .statement =
                  "The axis of argSort is not negative and is less than the rank of the input.",
              .clause = "NeuralNetwork.proto, ArgSortLayerParams",
              .vendor = true,
              .hint = "Set axis to a value from 0 to r - 1, where r is the rank of the input."},
     .check = ArgSortAxis},
    {.info = {.id = "COREML-PARAM-005",
              .statement = "The input of a reduce or slice layer has a rank that includes the axes "
                           "that the layer names.",
              .clause = "NeuralNetwork.proto, ReduceLayerParams",
              .vendor = true,
              .hint = "Choose an axis that the input has, or reshape the input to rank 3."},
     .check = NamedAxes},
    {.info = {.id = "COREML-AXIS-004",
              .statement = "The output of loadConstant has rank 5, and the output of rangeStatic "
                           "and rangeDynamic has rank 1.",
              .clause = "NeuralNetwork.proto, LoadConstantLayerParams",
              .vendor = true,
              .hint = "Correct the declared rank of the output, and use loadConstantND for a "
                      "constant of another rank."},
     .check = GivenRanks},
    {.info = {.id = "COREML-AXIS-005",
              .statement = "The output of batchedMatmul has the rank of its input, or with two "
                           "inputs the larger of their ranks and at least 2.",
              .clause = "NeuralNetwork.proto, BatchedMatMulLayerParams",
              .vendor = true,
              .hint = "Set the rank in outputTensor to the expected value."},
     .check = MatrixRanks},
    {.info = {.id = "COREML-AXIS-006",
              .statement = "The indices of scatter have rank 1, and its updates and its output "
                           "have the rank of its container.",
              .clause = "NeuralNetwork.proto, ScatterLayerParams",
              .vendor = true,
              .hint =
                  "Reshape the indices to rank 1 and the updates to the rank of the container."},
     .check = ScatterRanks},
    {.info = {.id = "COREML-AXIS-007",
              .statement = "The first two inputs of stack have the same rank.",
              .clause = "NeuralNetwork.proto, StackLayerParams",
              .vendor = true,
              .hint = "Reshape the inputs to the same rank, or correct the declared ranks."},
     .check = StackedRanks},
    {.info = {.id = "COREML-AXIS-008",
              .statement = "The reverseDim of reverse has one flag for each axis of the input.",
              .clause = "NeuralNetwork.proto, ReverseLayerParams.reverseDim",
              .vendor = true,
              .hint = "List one value in reverseDim for each axis of the input."},
     .check = AxisPerFlag},
    {.info = {.id = "COREML-AXIS-009",
              .statement = "A rankPreservingReshape layer declares the same rank for its input and "
                           "output, which is the number of sizes in targetShape.",
              .clause = "NeuralNetwork.proto, RankPreservingReshapeLayerParams",
              .vendor = true,
              .hint = "Declare both ranks in inputTensor and outputTensor, and give targetShape "
                      "one size for each axis."},
     .check = PreservedRanks},
    {.info = {.id = "COREML-AXIS-010",
              .statement = "The axes of transpose are a permutation of the axes of its input.",
              .clause = "NeuralNetwork.proto, TransposeLayerParams.axes",
              .hint = "List each axis of the input exactly once."},
     .check = Permutations},
};

}  // namespace

std::span<const Rule> AxisRules() {
  return kAxisRules;
}

}  // namespace nn::coreml

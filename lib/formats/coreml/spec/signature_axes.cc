// Rules about axes and about ranks that follow from the parameters of a layer.
#include <algorithm>
#include <optional>
#include <set>

#include "base/text/text.h"
#include "formats/coreml/spec/signature_constraints.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

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

void CheckAxes(const LayerView& at, Misfits& f, bool checked) {
  if (!at.ListsInputs()) return;
  const Axes axes = AxesOf(*at.layer);
  if (axes.is_checked != checked) return;
  const int rank = at.InputRank(0);
  for (const int64_t axis : axes.values)
    if (axis < -(rank + axes.extra) || axis >= rank + axes.extra)
      f.Add("", "{} has axis {}, which is out of range for an input of rank {}", Title(at), axis,
            rank);
}

void AxesInRange(const LayerView& at, Misfits& f) {
  CheckAxes(at, f, true);
}

void OtherAxesInRange(const LayerView& at, Misfits& f) {
  CheckAxes(at, f, false);
}

void ArgSortAxis(const LayerView& at, Misfits& f) {
  if (!at.layer->has_argsort()) return;
  const int64_t axis = at.layer->argsort().axis();
  if (axis < 0 || (at.ListsInputs() && axis >= at.InputRank(0)))
    f.Add("argSort.axis", "{} has axis {}, which is {}", Title(at), axis,
          axis < 0 ? "negative" : "out of range for its input");
}

// The axes of squeeze or expandDims; nullptr for other layers and for squeezeAll.
const google::protobuf::RepeatedField<int64_t>* OwnAxes(const L& l) {
  if (l.has_expanddims()) return &l.expanddims().axes();
  return l.has_squeeze() && !l.squeeze().squeezeall() ? &l.squeeze().axes() : nullptr;
}

void AxesPresent(const LayerView& at, Misfits& f) {
  if (const auto* axes = OwnAxes(*at.layer); axes != nullptr && axes->empty())
    f.Add("", "{} has no axes", Title(at));
}

// The rank that the axes of squeeze or expandDims refer to, if it is declared.
std::optional<int> CountedRank(const LayerView& at) {
  if (!at.ListsInputs() || !at.ListsOutputs()) return std::nullopt;
  return at.layer->has_expanddims() ? at.OutputRank(0) : at.InputRank(0);
}

void AxesUnique(const LayerView& at, Misfits& f) {
  const auto* axes = OwnAxes(*at.layer);
  if (axes == nullptr) return;
  const int rank = CountedRank(at).value_or(0);
  std::set<int64_t> plain;
  std::set<int64_t> counted;
  for (const int64_t axis : *axes)
    if (!plain.insert(axis).second ||
        !counted.insert(axis < 0 && rank > 0 ? axis + rank : axis).second) {
      f.Add("", "{} lists axis {} twice", Title(at), axis);
      break;
    }
}

void AxesWithin(const LayerView& at, Misfits& f) {
  const auto* axes = OwnAxes(*at.layer);
  const auto rank = CountedRank(at);
  if (axes == nullptr || !rank) return;
  for (const int64_t axis : *axes)
    if (axis < -*rank || axis >= *rank)
      f.Add("", "{} has axis {}, which is out of range for rank {}", Title(at), axis, *rank);
}

void SqueezedRanks(const LayerView& at, Misfits& f) {
  const auto* axes = OwnAxes(*at.layer);
  if (axes == nullptr || !at.ListsInputs() || !at.ListsOutputs()) return;
  const int in = at.InputRank(0);
  const int out = at.OutputRank(0);
  if (at.layer->has_expanddims() && in + axes->size() != out)
    f.Add("", "{} adds {} axes to an input of rank {}, but its output has rank {}", Title(at),
          axes->size(), in, out);
  // Squeezing an input of rank 1 leaves rank 1.
  if (at.layer->has_squeeze() && in != 1 && in - axes->size() != out)
    f.Add("", "{} removes {} axes from an input of rank {}, but its output has rank {}", Title(at),
          axes->size(), in, out);
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

void NamedAxes(const LayerView& at, Misfits& f) {
  if ((!at.layer->has_reduce() && !at.layer->has_slice()) || !at.ListsInputs() || !at.exact_ranks)
    return;
  if (const int need = RankNeeded(*at.layer); at.InputRank(0) < need)
    f.Add("", "{} has an input of rank {}; its axis needs rank {} or more", Title(at),
          at.InputRank(0), need);
}

// Layers whose output has a fixed rank.
void GivenRanks(const LayerView& at, Misfits& f) {
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
    f.Add("output[0]", "{} has an output of rank {}; expected {}", Title(at), rank, need);
}

void MatrixRanks(const LayerView& at, Misfits& f) {
  const int inputs = at.layer->input_size();
  if (!at.layer->has_batchedmatmul() || at.layer->inputtensor_size() != inputs ||
      at.layer->outputtensor_size() != 1)
    return;
  const int out = at.OutputRank(0);
  const int want = inputs == 2 ? std::max({2, at.InputRank(0), at.InputRank(1)}) : at.InputRank(0);
  if ((inputs == 1 || inputs == 2) && out != want)
    f.Add("output[0]", "{} has an output of rank {}; expected {}", Title(at), out, want);
}

void ScatterRanks(const LayerView& at, Misfits& f) {
  if (!at.layer->has_scatter() || at.layer->inputtensor_size() != 3) return;
  if (at.InputRank(0) != at.InputRank(2) || at.InputRank(1) != 1)
    f.Add("", "{} has inputs of ranks {}, {} and {}; the second must be 1 and the others equal",
          Title(at), at.InputRank(0), at.InputRank(1), at.InputRank(2));
  if (at.ListsOutputs() && at.OutputRank(0) != at.InputRank(0))
    f.Add("output[0]", "{} has an output of rank {} for a container of rank {}", Title(at),
          at.OutputRank(0), at.InputRank(0));
}

void StackedRanks(const LayerView& at, Misfits& f) {
  if (at.layer->has_stack() && at.layer->inputtensor_size() > 1 &&
      at.InputRank(0) != at.InputRank(1))
    f.Add("", "{} has inputs of different ranks: {} and {}", Title(at), at.InputRank(0),
          at.InputRank(1));
}

void AxisPerFlag(const LayerView& at, Misfits& f) {
  if (at.layer->has_reverse() && at.ListsInputs() &&
      at.layer->reverse().reversedim_size() != at.InputRank(0))
    f.Add("reverse.reverseDim", "{} has {} values in reverseDim for an input of rank {}", Title(at),
          at.layer->reverse().reversedim_size(), at.InputRank(0));
}

void PreservedRanks(const LayerView& at, Misfits& f) {
  if (!at.layer->has_rankpreservingreshape()) return;
  const int sizes = at.layer->rankpreservingreshape().targetshape_size();
  if (!at.ListsInputs() || !at.ListsOutputs())
    f.Add("", "{} does not declare the ranks of its input and output", Title(at));
  else if (at.InputRank(0) != at.OutputRank(0) || (sizes != 0 && at.InputRank(0) != sizes))
    f.Add("", "{} has an input of rank {} and an output of rank {} for {} sizes in targetShape",
          Title(at), at.InputRank(0), at.OutputRank(0), sizes);
}

void TransposePermutation(const LayerView& at, Misfits& f) {
  if (!at.layer->has_transpose()) return;
  const auto& axes = at.layer->transpose().axes();
  std::vector<uint64_t> sorted(axes.begin(), axes.end());
  std::sort(sorted.begin(), sorted.end());
  bool good = axes.empty() || !at.ListsInputs() || axes.size() == at.InputRank(0);
  for (size_t i = 0; i < sorted.size(); ++i) good = good && sorted[i] == i;
  if (!good)
    f.Add("transpose.axes", "the axes of {} are not a permutation of the axes of its input",
          Title(at));
}

constexpr Constraint kAxisConstraints[] = {
    {Label::kAxesInRange, AxesInRange},
    {Label::kOtherAxesInRange, OtherAxesInRange},
    {Label::kAxesPresent, AxesPresent},
    {Label::kAxesUnique, AxesUnique},
    {Label::kAxesWithin, AxesWithin},
    {Label::kSqueezedRanks, SqueezedRanks},
    {Label::kArgSortAxis, ArgSortAxis},
    {Label::kNamedAxes, NamedAxes},
    {Label::kGivenRanks, GivenRanks},
    {Label::kMatrixRanks, MatrixRanks},
    {Label::kScatterRanks, ScatterRanks},
    {Label::kStackedRanks, StackedRanks},
    {Label::kAxisPerFlag, AxisPerFlag},
    {Label::kPreservedRanks, PreservedRanks},
    {Label::kTransposePermutation, TransposePermutation},
};

}  // namespace

std::span<const Constraint> AxisConstraints() {
  return kAxisConstraints;
}

}  // namespace nn::coreml

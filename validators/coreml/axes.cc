// Rules of axes, and of ranks that follow from a layer's parameters.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

constexpr int kMaxRank = 5;

// Axes of a layer that count those of its first input, negative ones from the back.
struct Axes {
  std::vector<int64_t> values;
  int extra = 0;           // axes that the layer adds to those of its input
  bool is_checked = true;  // by the owner's checker too
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
        f.Add(Where(at), "{} has axis {} for an input of rank {}", Title(at), axis, rank);
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
      f.Add(Where(at, "argSort.axis"), "{} has axis {}", Title(at), axis);
  }
}

// The axes of squeeze and expandDims; nullptr if there are none to look at.
const google::protobuf::RepeatedField<int64_t>* OwnAxes(const L& l) {
  if (l.has_expanddims()) return &l.expanddims().axes();
  return l.has_squeeze() && !l.squeeze().squeezeall() ? &l.squeeze().axes() : nullptr;
}

void AxesPresent(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (const auto* axes = OwnAxes(*at.layer); axes != nullptr && axes->empty())
      f.Add(Where(at), "{} has no axes", Title(at));
}

// The rank that the axes of squeeze and expandDims count, if it is declared.
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
        f.Add(Where(at), "{} has axis {} twice", Title(at), axis);
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
        f.Add(Where(at), "{} has axis {} of rank {}", Title(at), axis, *rank);
  }
}

void SqueezedRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto* axes = OwnAxes(*at.layer);
    if (axes == nullptr || !at.ListsInputs() || !at.ListsOutputs()) continue;
    const int in = at.InputRank(0);
    const int out = at.OutputRank(0);
    if (at.layer->has_expanddims() && in + axes->size() != out)
      f.Add(Where(at), "{} adds {} axes to rank {} and gives rank {}", Title(at), axes->size(), in,
            out);
    // What is left of one axis is one axis.
    if (at.layer->has_squeeze() && in != 1 && in - axes->size() != out)
      f.Add(Where(at), "{} takes {} axes from rank {} and gives rank {}", Title(at), axes->size(),
            in, out);
  }
}

// Axes that `reduce` and `slice` count from the back need so many.
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
      f.Add(Where(at), "{} names an axis that an input of rank {} has not; it needs {}", Title(at),
            at.InputRank(0), need);
  }
}

// A rank that a layer gives whatever it takes; -1 if there is none.
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
      f.Add(Where(at, "output[0]"), "{} gives rank {} instead of {}", Title(at), rank, need);
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
      f.Add(Where(at, "output[0]"), "{} gives rank {} instead of {}", Title(at), out, want);
  }
}

void ScatterRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_scatter() || at.layer->inputtensor_size() != 3) continue;
    if (at.InputRank(0) != at.InputRank(2) || at.InputRank(1) != 1)
      f.Add(Where(at), "{} takes ranks {}, {} and {}; the second is to be 1, the others equal",
            Title(at), at.InputRank(0), at.InputRank(1), at.InputRank(2));
    if (at.ListsOutputs() && at.OutputRank(0) != at.InputRank(0))
      f.Add(Where(at, "output[0]"), "{} gives rank {} for a container of rank {}", Title(at),
            at.OutputRank(0), at.InputRank(0));
  }
}

void StackedRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_stack() && at.layer->inputtensor_size() > 1 &&
        at.InputRank(0) != at.InputRank(1))
      f.Add(Where(at), "{} takes ranks {} and {}", Title(at), at.InputRank(0), at.InputRank(1));
}

void AxisPerFlag(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_reverse() && at.ListsInputs() &&
        at.layer->reverse().reversedim_size() != at.InputRank(0))
      f.Add(Where(at, "reverse.reverseDim"), "{} has {} flags for an input of rank {}", Title(at),
            at.layer->reverse().reversedim_size(), at.InputRank(0));
}

void PreservedRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_rankpreservingreshape()) continue;
    const int sizes = at.layer->rankpreservingreshape().targetshape_size();
    if (!at.ListsInputs() || !at.ListsOutputs())
      f.Add(Where(at), "{} declares no ranks of its input and output", Title(at));
    else if (at.InputRank(0) != at.OutputRank(0) || (sizes != 0 && at.InputRank(0) != sizes))
      f.Add(Where(at), "{} takes rank {} and gives rank {}, with {} sizes", Title(at),
            at.InputRank(0), at.OutputRank(0), sizes);
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
      f.Add(Where(at, "transpose.axes"), "the axes of {} are no permutation of its input's",
            Title(at));
  }
}

constexpr std::string_view kClause = "NeuralNetwork.proto, NeuralNetworkLayer";

constexpr Rule kRules[] = {
    {{"COREML-PARAM-001", Severity::kError, "Axes are ones that the input has.", kClause, true, ""},
     AxesInRange},
    {{"COREML-AXIS-001", Severity::kError,
      "So are those of gather, scatter, cumSum and reverseSeq.", kClause, false, ""},
     OtherAxesInRange},
    {{"COREML-AXIS-002", Severity::kError, "squeeze and expandDims have axes.",
      "NeuralNetwork.proto, ExpandDimsLayerParams.axes", true, ""},
     AxesPresent},
    {{"COREML-PARAM-002", Severity::kError, "squeeze and expandDims name an axis once.",
      "NeuralNetwork.proto, SqueezeLayerParams.axes", true, ""},
     AxesUnique},
    {{"COREML-AXIS-003", Severity::kError,
      "squeeze takes axes of its input, expandDims gives axes of its output.",
      "NeuralNetwork.proto, ExpandDimsLayerParams.axes", true, ""},
     AxesWithin},
    {{"COREML-PARAM-003", Severity::kError,
      "Ranks of squeeze and expandDims differ by the number of axes.",
      "NeuralNetwork.proto, ExpandDimsLayerParams", true, ""},
     SqueezedRanks},
    {{"COREML-PARAM-004", Severity::kError, "The axis of argSort counts from the front.",
      "NeuralNetwork.proto, ArgSortLayerParams", true, ""},
     ArgSortAxis},
    {{"COREML-PARAM-005", Severity::kError,
      "reduce and slice have an input with the axes that they name.",
      "NeuralNetwork.proto, ReduceLayerParams", true, ""},
     NamedAxes},
    {{"COREML-AXIS-004", Severity::kError, "loadConstant gives rank 5, ranges give rank 1.",
      "NeuralNetwork.proto, LoadConstantLayerParams", true, ""},
     GivenRanks},
    {{"COREML-AXIS-005", Severity::kError,
      "batchedMatmul gives the rank of its largest input, 2 at least.",
      "NeuralNetwork.proto, BatchedMatMulLayerParams", true, ""},
     MatrixRanks},
    {{"COREML-AXIS-006", Severity::kError,
      "scatter takes indices of rank 1 and gives the rank of its container.",
      "NeuralNetwork.proto, ScatterLayerParams", true, ""},
     ScatterRanks},
    {{"COREML-AXIS-007", Severity::kError, "stack takes inputs of one rank.",
      "NeuralNetwork.proto, StackLayerParams", true, ""},
     StackedRanks},
    {{"COREML-AXIS-008", Severity::kError, "reverse has a flag for each axis.",
      "NeuralNetwork.proto, ReverseLayerParams.reverseDim", true, ""},
     AxisPerFlag},
    {{"COREML-AXIS-009", Severity::kError,
      "rankPreservingReshape declares ranks, which are the number of its sizes.",
      "NeuralNetwork.proto, RankPreservingReshapeLayerParams", true, ""},
     PreservedRanks},
    {{"COREML-AXIS-010", Severity::kError, "The axes of transpose are a permutation.",
      "NeuralNetwork.proto, TransposeLayerParams.axes", false, ""},
     Permutations},
};

}  // namespace

std::span<const Rule> AxisRules() {
  return kRules;
}

}  // namespace nn::coreml

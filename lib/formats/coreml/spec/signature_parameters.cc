// Rules about shapes, lists and numbers in layers without weights or windows.
#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "formats/coreml/spec/signature_constraints.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

// Layers with a parameter for a shape that must not be empty.
void LayerShapesPresent(const LayerView& at, Misfits& f) {
  const L& l = *at.layer;
  const bool empty =
      (l.has_fillstatic() && l.fillstatic().targetshape().empty()) ||
      (l.has_reshapestatic() && l.reshapestatic().targetshape().empty()) ||
      (l.has_rankpreservingreshape() && l.rankpreservingreshape().targetshape().empty()) ||
      (l.has_broadcasttostatic() && l.broadcasttostatic().targetshape().empty()) ||
      (l.has_randomnormalstatic() && l.randomnormalstatic().outputshape().empty()) ||
      (l.has_randomuniformstatic() && l.randomuniformstatic().outputshape().empty()) ||
      (l.has_randombernoullistatic() && l.randombernoullistatic().outputshape().empty()) ||
      (l.has_layernormalization() && l.layernormalization().normalizedshape().empty()) ||
      (l.has_loadconstantnd() && l.loadconstantnd().shape().empty()) ||
      (l.has_transpose() && l.transpose().axes().empty());
  if (empty) f.Add("", "{} has no shape or axes", Title(at));
}

bool IsOneOrThree(int n) {
  return n == 1 || n == 3;
}

void ShapeLengths(const LayerView& at, Misfits& f) {
  const L& l = *at.layer;
  const auto check = [&](bool good, std::string_view field, int n, std::string_view want) {
    if (!good) f.Add(field, "{} has {} values in {}; expected {}", Title(at), n, field, want);
  };
  if (l.has_scale()) {
    check(IsOneOrThree(l.scale().shapescale_size()), "scale.shapeScale",
          l.scale().shapescale_size(), "1 or 3");
    if (l.scale().hasbias())
      check(IsOneOrThree(l.scale().shapebias_size()), "scale.shapeBias", l.scale().shapebias_size(),
            "1 or 3");
  } else if (l.has_bias()) {
    check(IsOneOrThree(l.bias().shape_size()), "bias.shape", l.bias().shape_size(), "1 or 3");
  } else if (l.has_loadconstant()) {
    check(l.loadconstant().shape_size() == 3, "loadConstant.shape", l.loadconstant().shape_size(),
          "3");
  } else if (l.has_loadconstantnd()) {
    check(l.loadconstantnd().shape_size() <= 5, "loadConstantND.shape",
          l.loadconstantnd().shape_size(), "5 or less");
  } else if (l.has_reshape()) {
    const int n = l.reshape().targetshape_size();
    check(n == 3 || n == 4, "reshape.targetShape", n, "3 or 4");
  } else if (l.has_permute()) {
    check(l.permute().axis_size() == 4, "permute.axis", l.permute().axis_size(), "4");
  }
}

void ShapesPositive(const LayerView& at, Misfits& f) {
  const L& l = *at.layer;
  const auto check = [&](const auto& shape, std::string_view field) {
    if (std::find(shape.begin(), shape.end(), 0U) != shape.end())
      f.Add(field, "{} has a size of 0 in {}", Title(at), field);
  };
  if (l.has_fillstatic()) check(l.fillstatic().targetshape(), "fillStatic.targetShape");
  if (l.has_randomnormalstatic())
    check(l.randomnormalstatic().outputshape(), "randomNormalStatic.outputShape");
  if (l.has_randomuniformstatic())
    check(l.randomuniformstatic().outputshape(), "randomUniformStatic.outputShape");
  if (l.has_randombernoullistatic())
    check(l.randombernoullistatic().outputshape(), "randomBernoulliStatic.outputShape");
}

// At most one size of a reshape is inferred (-1); 0 keeps a size, and all others are positive.
void InferredSizes(const LayerView& at, Misfits& f) {
  const auto check = [&](const auto& shape, std::string_view field) {
    const auto inferred = std::count(shape.begin(), shape.end(), -1);
    const bool negative =
        std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < -1; });
    if (inferred > 1 || negative)
      f.Add(field, "{} has {} in {}", Title(at),
            negative ? "a size below -1" : fmt::format("{} sizes of -1", inferred), field);
  };
  if (at.layer->has_reshapestatic())
    check(at.layer->reshapestatic().targetshape(), "reshapeStatic.targetShape");
  if (at.layer->has_rankpreservingreshape())
    check(at.layer->rankpreservingreshape().targetshape(), "rankPreservingReshape.targetShape");
}

void PermutePermutation(const LayerView& at, Misfits& f) {
  if (!at.layer->has_permute() || at.layer->permute().axis_size() != 4) return;
  const auto& axes = at.layer->permute().axis();
  if (std::set<uint64_t>(axes.begin(), axes.end()) != std::set<uint64_t>{0, 1, 2, 3})
    f.Add("permute.axis", "the axes of {} are not a permutation of 0 to 3", Title(at));
}

void SliceBounds(const LayerView& at, Misfits& f) {
  if (!at.layer->has_slice()) return;
  const int64_t start = at.layer->slice().startindex();
  const int64_t end = at.layer->slice().endindex();
  if ((end > 0 && end < start) || (end < 0 && start < 0 && start > end))
    f.Add("slice", "{} has startIndex {} after endIndex {}", Title(at), start, end);
}

void SliceNotEmpty(const LayerView& at, Misfits& f) {
  if (at.layer->has_slice() && at.layer->slice().startindex() == at.layer->slice().endindex())
    f.Add("slice", "{} is empty: startIndex and endIndex are both {}", Title(at),
          at.layer->slice().startindex());
}

void SliceStrides(const LayerView& at, Misfits& f) {
  if (at.layer->has_slice() && static_cast<int32_t>(at.layer->slice().stride()) < 1)
    f.Add("slice.stride", "{} has stride {}; expected 1 or more", Title(at),
          at.layer->slice().stride());
}

void SliceListsPresent(const LayerView& at, Misfits& f) {
  if (!at.layer->has_slicestatic()) return;
  const auto& p = at.layer->slicestatic();
  for (const auto& [field, size] :
       {std::pair("beginIds", p.beginids_size()), std::pair("endIds", p.endids_size()),
        std::pair("strides", p.strides_size()), std::pair("beginMasks", p.beginmasks_size()),
        std::pair("endMasks", p.endmasks_size())})
    if (size == 0) f.Add("sliceStatic", "{} has no {}", Title(at), field);
}

void SliceListsFit(const LayerView& at, Misfits& f) {
  if (!at.layer->has_slicestatic()) return;
  const auto& p = at.layer->slicestatic();
  const int axes = at.ListsInputs() ? at.InputRank(0) : p.beginids_size();
  for (const int size : {p.beginids_size(), p.endids_size(), p.strides_size(), p.beginmasks_size(),
                         p.endmasks_size(), p.squeezemasks_size()})
    if (size != 0 && size != axes) {
      f.Add("sliceStatic", "{} has a list of {} values for {} axes", Title(at), size, axes);
      break;
    }
  if (std::find(p.strides().begin(), p.strides().end(), 0) != p.strides().end())
    f.Add("sliceStatic.strides", "{} has a stride of 0", Title(at));
}

// `min` and `max` of clip and of the uniform distributions.
template <typename Visit>
void EachInterval(const LayerView& at, const Visit& visit) {
  const auto with = [&](const auto& p) { visit(p.minval(), p.maxval()); };
  if (at.layer->has_clip()) with(at.layer->clip());
  if (at.layer->has_randomuniformlike()) with(at.layer->randomuniformlike());
  if (at.layer->has_randomuniformstatic()) with(at.layer->randomuniformstatic());
  if (at.layer->has_randomuniformdynamic()) with(at.layer->randomuniformdynamic());
}

void IntervalsOrdered(const LayerView& at, Misfits& f) {
  EachInterval(at, [&](float min, float max) {
    if (min > max)
      f.Add("", "{} has minVal {}, which is greater than maxVal {}", Title(at), min, max);
  });
}

void ProbabilitiesInRange(const LayerView& at, Misfits& f) {
  const auto check = [&](const auto& p) {
    if (p.prob() < 0 || p.prob() > 1)
      f.Add("", "{} has prob {}; expected 0 to 1", Title(at), p.prob());
  };
  if (at.layer->has_randombernoullilike()) check(at.layer->randombernoullilike());
  if (at.layer->has_randombernoullistatic()) check(at.layer->randombernoullistatic());
  if (at.layer->has_randombernoullidynamic()) check(at.layer->randombernoullidynamic());
}

void CopiesMove(const LayerView& at, Misfits& f) {
  if (at.layer->has_copy() && at.layer->input_size() == 1 && at.layer->output_size() == 1 &&
      at.layer->input(0) == at.layer->output(0))
    f.Add("", "{} copies {} to itself", Title(at), Quote(at.layer->input(0)));
}

void NumbersInRange(const LayerView& at, Misfits& f) {
  if (at.layer->has_lrn() && at.layer->lrn().k() < 0)
    f.Add("lrn.k", "{} has k {}; expected 0 or more", Title(at), at.layer->lrn().k());
  if (at.layer->has_reorganizedata() &&
      static_cast<int32_t>(at.layer->reorganizedata().blocksize()) < 2)
    f.Add("reorganizeData.blockSize", "{} has blockSize {}; expected 2 or more", Title(at),
          at.layer->reorganizedata().blocksize());
  if (at.layer->has_custom() && at.layer->custom().classname().empty())
    f.Add("custom.className", "{} has no className", Title(at));
}

void SplitCounts(const LayerView& at, Misfits& f) {
  if (!at.layer->has_splitnd()) return;
  const auto& p = at.layer->splitnd();
  const uint64_t parts =
      p.splitsizes().empty() ? p.numsplits() : static_cast<uint64_t>(p.splitsizes_size());
  if (parts == 0 || parts != static_cast<uint64_t>(at.layer->output_size()))
    f.Add("splitND", "{} splits its input into {} parts but has {} outputs", Title(at), parts,
          at.layer->output_size());
}

void OldSplitCounts(const LayerView& at, Misfits& f) {
  if (at.layer->has_split() &&
      at.layer->split().noutputs() != static_cast<uint64_t>(at.layer->output_size()))
    f.Add("split.nOutputs", "{} has nOutputs {} but {} outputs", Title(at),
          at.layer->split().noutputs(), at.layer->output_size());
}

void PadAmounts(const LayerView& at, Misfits& f) {
  if (!at.layer->has_constantpad() || at.layer->input_size() != 1) return;
  const auto& p = at.layer->constantpad();
  const int n = p.padamounts_size();
  if (n == 0 || n % 2 != 0)
    f.Add("constantPad.padAmounts", "{} has {} padAmounts; expected two for each axis", Title(at),
          n);
  for (int i = 0; p.padtogivenoutputsizemode() && i + 1 < n; i += 2)
    if (static_cast<int32_t>(p.padamounts(i)) > 0 && static_cast<int32_t>(p.padamounts(i + 1)) > 0)
      f.Add("constantPad.padAmounts",
            "{} has two positive padAmounts for axis {}; expected one with "
            "padToGivenOutputSizeMode",
            Title(at), i / 2);
}

void PadAmountsFit(const LayerView& at, Misfits& f) {
  if (!at.layer->has_constantpad() || at.layer->input_size() != 1 || !at.ListsInputs()) return;
  const int n = at.layer->constantpad().padamounts_size();
  if (n != 0 && n % 2 == 0 && n != 2 * at.InputRank(0))
    f.Add("constantPad.padAmounts", "{} has {} padAmounts; expected {}", Title(at), n,
          2 * at.InputRank(0));
}

void MatrixBiases(const LayerView& at, Misfits& f) {
  if (at.layer->has_batchedmatmul() && at.layer->input_size() > 1 &&
      at.layer->batchedmatmul().hasbias())
    f.Add("batchedMatmul.hasBias", "{} has two inputs but sets hasBias", Title(at));
}

void ActivationKinds(const LayerView& at, Misfits& f) {
  if (at.layer->has_activation() && at.layer->activation().NonlinearityType_case() ==
                                        pb::ActivationParams::NONLINEARITYTYPE_NOT_SET)
    f.Add("activation", "{} has no activation function", Title(at));
}

// Whether recurrent layers support the activation.
bool IsRecurrent(const pb::ActivationParams& p) {
  return p.has_linear() || p.has_sigmoid() || p.has_tanh() || p.has_scaledtanh() ||
         p.has_sigmoidhard() || p.has_relu();
}

// Calls visit(list, field, expected length) for the activation lists of recurrent layers.
template <typename Visit>
void EachActivations(const LayerView& at, const Visit& visit) {
  const L& l = *at.layer;
  if (l.has_gru()) visit(l.gru().activations(), "gru.activations", 2);
  if (l.has_unidirectionallstm())
    visit(l.unidirectionallstm().activations(), "uniDirectionalLSTM.activations", 3);
  if (!l.has_bidirectionallstm()) return;
  const auto& p = l.bidirectionallstm();
  visit(p.activationsforwardlstm(), "biDirectionalLSTM.activationsForwardLSTM", 3);
  visit(p.activationsbackwardlstm(), "biDirectionalLSTM.activationsBackwardLSTM", 3);
}

void RecurrentActivations(const LayerView& at, Misfits& f) {
  EachActivations(at, [&](const auto& list, std::string_view field, int) {
    for (int i = 0; i < list.size(); ++i)
      if (!IsRecurrent(list.Get(i)))
        f.Add(fmt::format("{}[{}]", field, i),
              "{} has an activation that recurrent layers do not support", Title(at));
  });
  if (at.layer->has_simplerecurrent() && !IsRecurrent(at.layer->simplerecurrent().activation()))
    f.Add("simpleRecurrent.activation", "{} has an activation that recurrent layers do not support",
          Title(at));
}

void CheckActivationCounts(const LayerView& at, Misfits& f, bool gru) {
  EachActivations(at, [&](const auto& list, std::string_view field, int want) {
    if (at.layer->has_gru() == gru && list.size() != want)
      f.Add(field, "{} has {} activations; expected {}", Title(at), list.size(), want);
  });
}

void LstmActivationCounts(const LayerView& at, Misfits& f) {
  CheckActivationCounts(at, f, false);
}

void GruActivationCounts(const LayerView& at, Misfits& f) {
  CheckActivationCounts(at, f, true);
}

void TwoDirections(const LayerView& at, Misfits& f) {
  if (at.layer->has_bidirectionallstm() && at.layer->bidirectionallstm().weightparams_size() < 2)
    f.Add("biDirectionalLSTM.weightParams", "{} has weights for {} of 2 directions", Title(at),
          at.layer->bidirectionallstm().weightparams_size());
}

constexpr Constraint kParameterConstraints[] = {
    {Label::kLayerShapesPresent, LayerShapesPresent},
    {Label::kShapeLengths, ShapeLengths},
    {Label::kShapesPositive, ShapesPositive},
    {Label::kInferredSizes, InferredSizes},
    {Label::kPermutePermutation, PermutePermutation},
    {Label::kSliceBounds, SliceBounds},
    {Label::kSliceNotEmpty, SliceNotEmpty},
    {Label::kSliceStrides, SliceStrides},
    {Label::kSliceListsPresent, SliceListsPresent},
    {Label::kSliceListsFit, SliceListsFit},
    {Label::kIntervalsOrdered, IntervalsOrdered},
    {Label::kProbabilitiesInRange, ProbabilitiesInRange},
    {Label::kCopiesMove, CopiesMove},
    {Label::kNumbersInRange, NumbersInRange},
    {Label::kSplitCounts, SplitCounts},
    {Label::kOldSplitCounts, OldSplitCounts},
    {Label::kPadAmounts, PadAmounts},
    {Label::kPadAmountsFit, PadAmountsFit},
    {Label::kMatrixBiases, MatrixBiases},
    {Label::kActivationKinds, ActivationKinds},
    {Label::kRecurrentActivations, RecurrentActivations},
    {Label::kLstmActivationCounts, LstmActivationCounts},
    {Label::kGruActivationCounts, GruActivationCounts},
    {Label::kTwoDirections, TwoDirections},
};

}  // namespace

std::span<const Constraint> ParameterConstraints() {
  return kParameterConstraints;
}

}  // namespace nn::coreml

// Rules of shapes, lists and numbers of layers without weights or windows.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

// Layers that give a shape, and so need one.
void ShapesPresent(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
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
    if (empty) f.Add(Where(at), "{} has no shape or axes", Title(at));
  }
}

bool IsRank1Or3(int n) {
  return n == 1 || n == 3;
}

void ShapeLengths(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const L& l = *at.layer;
    const auto check = [&](bool good, std::string_view field, int n) {
      if (!good) f.Add(Where(at, field), "{} has {} values in {}", Title(at), n, field);
    };
    if (l.has_scale()) {
      check(IsRank1Or3(l.scale().shapescale_size()), "scale.shapeScale",
            l.scale().shapescale_size());
      if (l.scale().hasbias())
        check(IsRank1Or3(l.scale().shapebias_size()), "scale.shapeBias",
              l.scale().shapebias_size());
    } else if (l.has_bias()) {
      check(IsRank1Or3(l.bias().shape_size()), "bias.shape", l.bias().shape_size());
    } else if (l.has_loadconstant()) {
      check(l.loadconstant().shape_size() == 3, "loadConstant.shape",
            l.loadconstant().shape_size());
    } else if (l.has_loadconstantnd()) {
      check(l.loadconstantnd().shape_size() <= 5, "loadConstantND.shape",
            l.loadconstantnd().shape_size());
    } else if (l.has_reshape()) {
      const int n = l.reshape().targetshape_size();
      check(n == 3 || n == 4, "reshape.targetShape", n);
    } else if (l.has_permute()) {
      check(l.permute().axis_size() == 4, "permute.axis", l.permute().axis_size());
    }
  }
}

void ShapesPositive(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const L& l = *at.layer;
    const auto check = [&](const auto& shape, std::string_view field) {
      if (std::find(shape.begin(), shape.end(), 0U) != shape.end())
        f.Add(Where(at, field), "{} has a size of 0 in {}", Title(at), field);
    };
    if (l.has_fillstatic()) check(l.fillstatic().targetshape(), "fillStatic.targetShape");
    if (l.has_randomnormalstatic())
      check(l.randomnormalstatic().outputshape(), "randomNormalStatic.outputShape");
    if (l.has_randomuniformstatic())
      check(l.randomuniformstatic().outputshape(), "randomUniformStatic.outputShape");
    if (l.has_randombernoullistatic())
      check(l.randombernoullistatic().outputshape(), "randomBernoulliStatic.outputShape");
  }
}

// At most one size of a reshaping is inferred (-1); 0 keeps one, and others are positive.
void InferredSizes(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](const auto& shape, std::string_view field) {
      const auto inferred = std::count(shape.begin(), shape.end(), -1);
      const bool negative =
          std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < -1; });
      if (inferred > 1 || negative)
        f.Add(Where(at, field), "{} has {} inferred sizes{}", Title(at), inferred,
              negative ? " and negative ones" : "");
    };
    if (at.layer->has_reshapestatic())
      check(at.layer->reshapestatic().targetshape(), "reshapeStatic.targetShape");
    if (at.layer->has_rankpreservingreshape())
      check(at.layer->rankpreservingreshape().targetshape(), "rankPreservingReshape.targetShape");
  }
}

void PermutationOfFour(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_permute() || at.layer->permute().axis_size() != 4) continue;
    const auto& axes = at.layer->permute().axis();
    if (std::set<uint64_t>(axes.begin(), axes.end()) != std::set<uint64_t>{0, 1, 2, 3})
      f.Add(Where(at, "permute.axis"), "the axes of {} are no permutation of 0 to 3", Title(at));
  }
}

void Slices(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_slice()) continue;
    const int64_t start = at.layer->slice().startindex();
    const int64_t end = at.layer->slice().endindex();
    if ((end > 0 && end < start) || (end < 0 && start < 0 && start > end))
      f.Add(Where(at, "slice"), "{} starts at {} and ends at {}", Title(at), start, end);
  }
}

void SlicesNotEmpty(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_slice() && at.layer->slice().startindex() == at.layer->slice().endindex())
      f.Add(Where(at, "slice"), "{} starts and ends at {}", Title(at),
            at.layer->slice().startindex());
}

void SliceStrides(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_slice() && static_cast<int32_t>(at.layer->slice().stride()) < 1)
      f.Add(Where(at, "slice.stride"), "{} has stride {}", Title(at), at.layer->slice().stride());
}

void SliceListsPresent(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_slicestatic()) continue;
    const auto& p = at.layer->slicestatic();
    for (const auto& [field, size] :
         {std::pair("beginIds", p.beginids_size()), std::pair("endIds", p.endids_size()),
          std::pair("strides", p.strides_size()), std::pair("beginMasks", p.beginmasks_size()),
          std::pair("endMasks", p.endmasks_size())})
      if (size == 0) f.Add(Where(at, "sliceStatic"), "{} has no {}", Title(at), field);
  }
}

void SliceListsFit(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_slicestatic()) continue;
    const auto& p = at.layer->slicestatic();
    const int axes = at.ListsInputs() ? at.InputRank(0) : p.beginids_size();
    for (const int size : {p.beginids_size(), p.endids_size(), p.strides_size(),
                           p.beginmasks_size(), p.endmasks_size(), p.squeezemasks_size()})
      if (size != 0 && size != axes) {
        f.Add(Where(at, "sliceStatic"), "{} has lists of {} and {} values", Title(at), axes, size);
        break;
      }
    if (std::find(p.strides().begin(), p.strides().end(), 0) != p.strides().end())
      f.Add(Where(at, "sliceStatic.strides"), "{} has a stride of 0", Title(at));
  }
}

// `min` and `max` of clip and of the uniform distributions.
template <typename Visit>
void EachInterval(const Subject& s, const Visit& visit) {
  for (const LayerAt& at : s.layers()) {
    const auto with = [&](const auto& p) { visit(at, p.minval(), p.maxval()); };
    if (at.layer->has_clip()) with(at.layer->clip());
    if (at.layer->has_randomuniformlike()) with(at.layer->randomuniformlike());
    if (at.layer->has_randomuniformstatic()) with(at.layer->randomuniformstatic());
    if (at.layer->has_randomuniformdynamic()) with(at.layer->randomuniformdynamic());
  }
}

void Intervals(const Subject& s, Findings& f) {
  EachInterval(s, [&](const LayerAt& at, float min, float max) {
    if (min > max) f.Add(Where(at), "{} has minVal {} and maxVal {}", Title(at), min, max);
  });
}

void Probabilities(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](const auto& p) {
      if (p.prob() < 0 || p.prob() > 1) f.Add(Where(at), "{} has prob {}", Title(at), p.prob());
    };
    if (at.layer->has_randombernoullilike()) check(at.layer->randombernoullilike());
    if (at.layer->has_randombernoullistatic()) check(at.layer->randombernoullistatic());
    if (at.layer->has_randombernoullidynamic()) check(at.layer->randombernoullidynamic());
  }
}

void CopiesMove(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_copy() && at.layer->input_size() == 1 && at.layer->output_size() == 1 &&
        at.layer->input(0) == at.layer->output(0))
      f.Add(Where(at), "{} copies {} to itself", Title(at), Quote(at.layer->input(0)));
}

void Numbers(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (at.layer->has_lrn() && at.layer->lrn().k() < 0)
      f.Add(Where(at, "lrn.k"), "{} has k {}", Title(at), at.layer->lrn().k());
    if (at.layer->has_reorganizedata() &&
        static_cast<int32_t>(at.layer->reorganizedata().blocksize()) < 2)
      f.Add(Where(at, "reorganizeData.blockSize"), "{} has block size {}", Title(at),
            at.layer->reorganizedata().blocksize());
    if (at.layer->has_custom() && at.layer->custom().classname().empty())
      f.Add(Where(at, "custom.className"), "{} has no class name", Title(at));
  }
}

void SplitCounts(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_splitnd()) continue;
    const auto& p = at.layer->splitnd();
    const uint64_t parts =
        p.splitsizes().empty() ? p.numsplits() : static_cast<uint64_t>(p.splitsizes_size());
    if (parts == 0 || parts != static_cast<uint64_t>(at.layer->output_size()))
      f.Add(Where(at, "splitND"), "{} splits into {} and has {} outputs", Title(at), parts,
            at.layer->output_size());
  }
}

void OldSplitCounts(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_split() &&
        at.layer->split().noutputs() != static_cast<uint64_t>(at.layer->output_size()))
      f.Add(Where(at, "split.nOutputs"), "{} has nOutputs {} and {} outputs", Title(at),
            at.layer->split().noutputs(), at.layer->output_size());
}

void PadAmounts(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_constantpad() || at.layer->input_size() != 1) continue;
    const auto& p = at.layer->constantpad();
    const int n = p.padamounts_size();
    if (n == 0 || n % 2 != 0)
      f.Add(Where(at, "constantPad.padAmounts"), "{} has {} amounts; two an axis are needed",
            Title(at), n);
    for (int i = 0; p.padtogivenoutputsizemode() && i + 1 < n; i += 2)
      if (static_cast<int32_t>(p.padamounts(i)) > 0 &&
          static_cast<int32_t>(p.padamounts(i + 1)) > 0)
        f.Add(Where(at, "constantPad.padAmounts"), "{} has two sizes for axis {}", Title(at),
              i / 2);
  }
}

void PadAmountsFit(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_constantpad() || at.layer->input_size() != 1 || !at.ListsInputs()) continue;
    const int n = at.layer->constantpad().padamounts_size();
    if (n != 0 && n % 2 == 0 && n != 2 * at.InputRank(0))
      f.Add(Where(at, "constantPad.padAmounts"), "{} has {} amounts for rank {}", Title(at), n,
            at.InputRank(0));
  }
}

void MatrixBiases(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_batchedmatmul() && at.layer->input_size() > 1 &&
        at.layer->batchedmatmul().hasbias())
      f.Add(Where(at, "batchedMatmul.hasBias"), "{} has two inputs and a bias", Title(at));
}

void ActivationKinds(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_activation() && at.layer->activation().NonlinearityType_case() ==
                                          pb::ActivationParams::NONLINEARITYTYPE_NOT_SET)
      f.Add(Where(at, "activation"), "{} is of no kind", Title(at));
}

// Activations that recurrent layers have.
bool IsRecurrent(const pb::ActivationParams& p) {
  return p.has_linear() || p.has_sigmoid() || p.has_tanh() || p.has_scaledtanh() ||
         p.has_sigmoidhard() || p.has_relu();
}

// Calls visit(at, list, field, number wanted) for the activations of recurrent layers.
template <typename Visit>
void EachActivations(const Subject& s, const Visit& visit) {
  for (const LayerAt& at : s.layers()) {
    const L& l = *at.layer;
    if (l.has_gru()) visit(at, l.gru().activations(), "gru.activations", 2);
    if (l.has_unidirectionallstm())
      visit(at, l.unidirectionallstm().activations(), "uniDirectionalLSTM.activations", 3);
    if (!l.has_bidirectionallstm()) continue;
    const auto& p = l.bidirectionallstm();
    visit(at, p.activationsforwardlstm(), "biDirectionalLSTM.activationsForwardLSTM", 3);
    visit(at, p.activationsbackwardlstm(), "biDirectionalLSTM.activationsBackwardLSTM", 3);
  }
}

void RecurrentActivations(const Subject& s, Findings& f) {
  EachActivations(s, [&](const LayerAt& at, const auto& list, std::string_view field, int) {
    for (int i = 0; i < list.size(); ++i)
      if (!IsRecurrent(list.Get(i)))
        f.Add(Where(at, fmt::format("{}[{}]", field, i)),
              "{} has an activation that recurrent layers have not", Title(at));
  });
  for (const LayerAt& at : s.layers())
    if (at.layer->has_simplerecurrent() && !IsRecurrent(at.layer->simplerecurrent().activation()))
      f.Add(Where(at, "simpleRecurrent.activation"),
            "{} has an activation that recurrent layers have not", Title(at));
}

void CheckActivationCounts(const Subject& s, Findings& f, bool gru) {
  EachActivations(s, [&](const LayerAt& at, const auto& list, std::string_view field, int want) {
    if (at.layer->has_gru() == gru && list.size() != want)
      f.Add(Where(at, field), "{} has {} activations instead of {}", Title(at), list.size(), want);
  });
}

void LstmActivationCounts(const Subject& s, Findings& f) {
  CheckActivationCounts(s, f, false);
}

void GruActivationCounts(const Subject& s, Findings& f) {
  CheckActivationCounts(s, f, true);
}

void TwoDirections(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_bidirectionallstm() && at.layer->bidirectionallstm().weightparams_size() < 2)
      f.Add(Where(at, "biDirectionalLSTM.weightParams"), "{} has weights for {} of 2 directions",
            Title(at), at.layer->bidirectionallstm().weightparams_size());
}

constexpr std::string_view kClause = "NeuralNetwork.proto, NeuralNetworkLayer";
constexpr std::string_view kLstm = "NeuralNetwork.proto, UniDirectionalLSTMLayerParams.activations";
constexpr std::string_view kSlice = "NeuralNetwork.proto, SliceLayerParams";

constexpr Rule kRules[] = {
    {{"COREML-PARAM-006", Severity::kError, "Layers that give a shape have one.", kClause, true,
      ""},
     ShapesPresent},
    {{"COREML-PARAM-007", Severity::kError,
      "Shapes of scale, bias, constants, reshape and permute have the length that they must.",
      "NeuralNetwork.proto, ScaleLayerParams", true, ""},
     ShapeLengths},
    {{"COREML-PARAM-012", Severity::kError, "Sizes of filled and random tensors are positive.",
      "NeuralNetwork.proto, FillStaticLayerParams", false, ""},
     ShapesPositive},
    {{"COREML-PARAM-013", Severity::kError, "A reshaping infers one size at most.",
      "NeuralNetwork.proto, ReshapeStaticLayerParams", false, ""},
     InferredSizes},
    {{"COREML-PARAM-014", Severity::kError, "The axes of permute are 0 to 3 in some order.",
      "NeuralNetwork.proto, PermuteLayerParams", false, ""},
     PermutationOfFour},
    {{"COREML-PARAM-008", Severity::kError, "slice does not end before its start.", kSlice, true,
      ""},
     Slices},
    {{"COREML-PARAM-015", Severity::kError, "slice takes one element at least.", kSlice, false, ""},
     SlicesNotEmpty},
    {{"COREML-PARAM-016", Severity::kError, "The stride of slice is positive.", kSlice, true, ""},
     SliceStrides},
    {{"COREML-PARAM-017", Severity::kError, "sliceStatic has indices, strides and masks.",
      "NeuralNetwork.proto, SliceStaticLayerParams", true, ""},
     SliceListsPresent},
    {{"COREML-PARAM-018", Severity::kError,
      "Indices, strides and masks of sliceStatic have a value an axis; strides are not 0.",
      "NeuralNetwork.proto, SliceStaticLayerParams", false, ""},
     SliceListsFit},
    {{"COREML-PARAM-009", Severity::kError,
      "clip and uniform distributions have a minVal that is not above maxVal.",
      "NeuralNetwork.proto, ClipLayerParams", true, ""},
     Intervals},
    {{"COREML-PARAM-019", Severity::kError, "Probabilities are between 0 and 1.",
      "NeuralNetwork.proto, RandomBernoulliStaticLayerParams.prob", true, ""},
     Probabilities},
    {{"COREML-PARAM-010", Severity::kError, "copy has an output other than its input.",
      "NeuralNetwork.proto, CopyLayerParams", true, ""},
     CopiesMove},
    {{"COREML-PARAM-011", Severity::kError,
      "k of lrn is not negative, blocks are 2 or more, custom layers name their class.", kClause,
      true, ""},
     Numbers},
    {{"COREML-PARAM-020", Severity::kError, "splitND has an output for each part.",
      "NeuralNetwork.proto, SplitNDLayerParams", true, ""},
     SplitCounts},
    {{"COREML-PARAM-021", Severity::kError, "split has nOutputs outputs.",
      "NeuralNetwork.proto, SplitLayerParams.nOutputs", false, ""},
     OldSplitCounts},
    {{"COREML-PARAM-022", Severity::kError,
      "constantPad has two amounts an axis; one of them where it pads to a size.",
      "NeuralNetwork.proto, ConstantPaddingLayerParams.padAmounts", true, ""},
     PadAmounts},
    {{"COREML-PARAM-023", Severity::kError, "constantPad has amounts for each axis of its input.",
      "NeuralNetwork.proto, ConstantPaddingLayerParams.padAmounts", false, ""},
     PadAmountsFit},
    {{"COREML-PARAM-024", Severity::kError, "batchedMatmul of two inputs has no bias.",
      "NeuralNetwork.proto, BatchedMatMulLayerParams.hasBias", true, ""},
     MatrixBiases},
    {{"COREML-PARAM-025", Severity::kError, "Activations are of some kind.",
      "NeuralNetwork.proto, ActivationParams", true, ""},
     ActivationKinds},
    {{"COREML-PARAM-026", Severity::kError,
      "Recurrent layers use linear, sigmoid, tanh, scaledTanh, sigmoidHard or ReLU.",
      "NeuralNetwork.proto, SimpleRecurrentLayerParams.activation", true, ""},
     RecurrentActivations},
    {{"COREML-PARAM-027", Severity::kError, "An LSTM has three activations for each direction.",
      kLstm, true, ""},
     LstmActivationCounts},
    {{"COREML-PARAM-028", Severity::kError, "A GRU has two activations.",
      "NeuralNetwork.proto, GRULayerParams.activations", false, ""},
     GruActivationCounts},
    {{"COREML-PARAM-029", Severity::kError, "biDirectionalLSTM has weights for both directions.",
      "NeuralNetwork.proto, BiDirectionalLSTMLayerParams.weightParams", true, ""},
     TwoDirections},
};

}  // namespace

std::span<const Rule> ParameterRules() {
  return kRules;
}

}  // namespace nn::coreml

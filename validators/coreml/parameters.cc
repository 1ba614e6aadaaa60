// Rules about shapes, lists and numbers in layers without weights or windows.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

// Layers with a parameter for a shape that must not be empty.
void LayerShapesPresent(const Subject& s, Findings& f) {
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

bool IsOneOrThree(int n) {
  return n == 1 || n == 3;
}

void ShapeLengths(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const L& l = *at.layer;
    const auto check = [&](bool good, std::string_view field, int n, std::string_view want) {
      if (!good)
        f.Add(Where(at, field), "{} has {} values in {}; expected {}", Title(at), n, field, want);
    };
    if (l.has_scale()) {
      check(IsOneOrThree(l.scale().shapescale_size()), "scale.shapeScale",
            l.scale().shapescale_size(), "1 or 3");
      if (l.scale().hasbias())
        check(IsOneOrThree(l.scale().shapebias_size()), "scale.shapeBias",
              l.scale().shapebias_size(), "1 or 3");
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

// At most one size of a reshape is inferred (-1); 0 keeps a size, and all others are positive.
void InferredSizes(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](const auto& shape, std::string_view field) {
      const auto inferred = std::count(shape.begin(), shape.end(), -1);
      const bool negative =
          std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < -1; });
      if (inferred > 1 || negative)
        f.Add(Where(at, field), "{} has {} in {}", Title(at),
              negative ? "a size below -1" : fmt::format("{} sizes of -1", inferred), field);
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
      f.Add(Where(at, "permute.axis"), "the axes of {} are not a permutation of 0 to 3", Title(at));
  }
}

void Slices(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_slice()) continue;
    const int64_t start = at.layer->slice().startindex();
    const int64_t end = at.layer->slice().endindex();
    if ((end > 0 && end < start) || (end < 0 && start < 0 && start > end))
      f.Add(Where(at, "slice"), "{} has startIndex {} after endIndex {}", Title(at), start, end);
  }
}

void SlicesNotEmpty(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_slice() && at.layer->slice().startindex() == at.layer->slice().endindex())
      f.Add(Where(at, "slice"), "{} is empty: startIndex and endIndex are both {}", Title(at),
            at.layer->slice().startindex());
}

void SliceStrides(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_slice() && static_cast<int32_t>(at.layer->slice().stride()) < 1)
      f.Add(Where(at, "slice.stride"), "{} has stride {}; expected 1 or more", Title(at),
            at.layer->slice().stride());
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
        f.Add(Where(at, "sliceStatic"), "{} has a list of {} values for {} axes", Title(at), size,
              axes);
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
    if (min > max)
      f.Add(Where(at), "{} has minVal {}, which is greater than maxVal {}", Title(at), min, max);
  });
}

void ProbabilitiesInRange(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](const auto& p) {
      if (p.prob() < 0 || p.prob() > 1)
        f.Add(Where(at), "{} has prob {}; expected 0 to 1", Title(at), p.prob());
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
      f.Add(Where(at, "lrn.k"), "{} has k {}; expected 0 or more", Title(at), at.layer->lrn().k());
    if (at.layer->has_reorganizedata() &&
        static_cast<int32_t>(at.layer->reorganizedata().blocksize()) < 2)
      f.Add(Where(at, "reorganizeData.blockSize"), "{} has blockSize {}; expected 2 or more",
            Title(at), at.layer->reorganizedata().blocksize());
    if (at.layer->has_custom() && at.layer->custom().classname().empty())
      f.Add(Where(at, "custom.className"), "{} has no className", Title(at));
  }
}

void SplitCounts(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_splitnd()) continue;
    const auto& p = at.layer->splitnd();
    const uint64_t parts =
        p.splitsizes().empty() ? p.numsplits() : static_cast<uint64_t>(p.splitsizes_size());
    if (parts == 0 || parts != static_cast<uint64_t>(at.layer->output_size()))
      f.Add(Where(at, "splitND"), "{} splits its input into {} parts but has {} outputs", Title(at),
            parts, at.layer->output_size());
  }
}

void OldSplitCounts(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_split() &&
        at.layer->split().noutputs() != static_cast<uint64_t>(at.layer->output_size()))
      f.Add(Where(at, "split.nOutputs"), "{} has nOutputs {} but {} outputs", Title(at),
            at.layer->split().noutputs(), at.layer->output_size());
}

void PadAmounts(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_constantpad() || at.layer->input_size() != 1) continue;
    const auto& p = at.layer->constantpad();
    const int n = p.padamounts_size();
    if (n == 0 || n % 2 != 0)
      f.Add(Where(at, "constantPad.padAmounts"), "{} has {} padAmounts; expected two for each axis",
            Title(at), n);
    for (int i = 0; p.padtogivenoutputsizemode() && i + 1 < n; i += 2)
      if (static_cast<int32_t>(p.padamounts(i)) > 0 &&
          static_cast<int32_t>(p.padamounts(i + 1)) > 0)
        f.Add(Where(at, "constantPad.padAmounts"),
              "{} has two positive padAmounts for axis {}; expected one with "
              "padToGivenOutputSizeMode",
              Title(at), i / 2);
  }
}

void PadAmountsFit(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_constantpad() || at.layer->input_size() != 1 || !at.ListsInputs()) continue;
    const int n = at.layer->constantpad().padamounts_size();
    if (n != 0 && n % 2 == 0 && n != 2 * at.InputRank(0))
      f.Add(Where(at, "constantPad.padAmounts"), "{} has {} padAmounts; expected {}", Title(at), n,
            2 * at.InputRank(0));
  }
}

void MatrixBiases(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_batchedmatmul() && at.layer->input_size() > 1 &&
        at.layer->batchedmatmul().hasbias())
      f.Add(Where(at, "batchedMatmul.hasBias"), "{} has two inputs but sets hasBias", Title(at));
}

void ActivationKinds(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers())
    if (at.layer->has_activation() && at.layer->activation().NonlinearityType_case() ==
                                          pb::ActivationParams::NONLINEARITYTYPE_NOT_SET)
      f.Add(Where(at, "activation"), "{} has no activation function", Title(at));
}

// Whether recurrent layers support the activation.
bool IsRecurrent(const pb::ActivationParams& p) {
  return p.has_linear() || p.has_sigmoid() || p.has_tanh() || p.has_scaledtanh() ||
         p.has_sigmoidhard() || p.has_relu();
}

// Calls visit(at, list, field, expected length) for the activation lists of recurrent layers.
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
              "{} has an activation that recurrent layers do not support", Title(at));
  });
  for (const LayerAt& at : s.layers())
    if (at.layer->has_simplerecurrent() && !IsRecurrent(at.layer->simplerecurrent().activation()))
      f.Add(Where(at, "simpleRecurrent.activation"),
            "{} has an activation that recurrent layers do not support", Title(at));
}

void CheckActivationCounts(const Subject& s, Findings& f, bool gru) {
  EachActivations(s, [&](const LayerAt& at, const auto& list, std::string_view field, int want) {
    if (at.layer->has_gru() == gru && list.size() != want)
      f.Add(Where(at, field), "{} has {} activations; expected {}", Title(at), list.size(), want);
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

constexpr std::string_view kParametersClause = "NeuralNetwork.proto, NeuralNetworkLayer";
constexpr std::string_view kLstm = "NeuralNetwork.proto, UniDirectionalLSTMLayerParams.activations";
constexpr std::string_view kSlice = "NeuralNetwork.proto, SliceLayerParams";

constexpr Rule kParameterRules[] = {
    {.info = {.id = "COREML-PARAM-006",
              .statement =
                  "The layers fillStatic, reshapeStatic, rankPreservingReshape, broadcastToStatic, "
                  "randomNormalStatic, randomUniformStatic, randomBernoulliStatic, "
                  "layerNormalization and loadConstantND have a shape, and transpose has axes.",
              .clause = kParametersClause,
              .vendor = true,
              .hint = "Set targetShape, outputShape, normalizedShape, shape or axes of the layer."},
     .check = LayerShapesPresent},
    {.info = {.id = "COREML-PARAM-007",
              .statement = "The shapes of scale and bias have 1 or 3 sizes, that of loadConstant "
                           "has 3 and that of loadConstantND at most 5, the targetShape of reshape "
                           "has 3 or 4 sizes, and the axis list of permute has 4 values.",
              .clause = "NeuralNetwork.proto, ScaleLayerParams",
              .vendor = true,
              .hint = "Give the field the required number of values; add sizes of 1 to a shape "
                      "that is too short."},
     .check = ShapeLengths},
    {.info = {.id = "COREML-PARAM-012",
              .statement =
                  "The targetShape of fillStatic and the outputShape of randomNormalStatic, "
                  "randomUniformStatic and randomBernoulliStatic have no size 0.",
              .clause = "NeuralNetwork.proto, FillStaticLayerParams",
              .hint = "Set every size to 1 or more."},
     .check = ShapesPositive},
    {.info = {.id = "COREML-PARAM-013",
              .statement = "The targetShape of reshapeStatic and rankPreservingReshape has at most "
                           "one -1 and no size below -1.",
              .clause = "NeuralNetwork.proto, ReshapeStaticLayerParams",
              .hint = "Replace all but one -1 with the actual sizes."},
     .check = InferredSizes},
    {.info = {.id = "COREML-PARAM-014",
              .statement = "The axis list of permute is a permutation of 0, 1, 2 and 3.",
              .clause = "NeuralNetwork.proto, PermuteLayerParams",
              .hint = "List each of 0, 1, 2 and 3 exactly once."},
     .check = PermutationOfFour},
    {.info = {.id = "COREML-PARAM-008",
              .statement = "The endIndex of slice is not less than its startIndex if both are "
                           "positive or both are negative.",
              .clause = kSlice,
              .vendor = true,
              .hint = "Correct startIndex or endIndex, so that the slice ends after its start."},
     .check = Slices},
    {.info = {.id = "COREML-PARAM-015",
              .statement = "The startIndex and the endIndex of slice are different.",
              .clause = kSlice,
              .hint = "Set endIndex so that the slice has at least one element."},
     .check = SlicesNotEmpty},
    {.info = {.id = "COREML-PARAM-016",
              .statement = "The stride of slice is positive.",
              .clause = kSlice,
              .vendor = true,
              .hint = "Set stride to 1 or more."},
     .check = SliceStrides},
    {.info = {.id = "COREML-PARAM-017",
              .statement =
                  "A sliceStatic layer has beginIds, endIds, strides, beginMasks and endMasks.",
              .clause = "NeuralNetwork.proto, SliceStaticLayerParams",
              .vendor = true,
              .hint = "Set all five lists, with one value for each axis of the input."},
     .check = SliceListsPresent},
    {.info = {.id = "COREML-PARAM-018",
              .statement = "Each list of a sliceStatic layer has one value for each axis of the "
                           "input, and no stride is 0.",
              .clause = "NeuralNetwork.proto, SliceStaticLayerParams",
              .hint = "Give each list one value for each axis, and use strides other than 0."},
     .check = SliceListsFit},
    {.info = {.id = "COREML-PARAM-009",
              .statement = "In the layers clip, randomUniformLike, randomUniformStatic and "
                           "randomUniformDynamic, minVal is not greater than maxVal.",
              .clause = "NeuralNetwork.proto, ClipLayerParams",
              .vendor = true,
              .hint = "Swap minVal and maxVal, or correct one of them."},
     .check = Intervals},
    {.info = {.id = "COREML-PARAM-019",
              .statement = "The prob of randomBernoulliLike, randomBernoulliStatic and "
                           "randomBernoulliDynamic is between 0 and 1.",
              .clause = "NeuralNetwork.proto, RandomBernoulliStaticLayerParams.prob",
              .vendor = true,
              .hint = "Set prob to a value from 0 to 1."},
     .check = ProbabilitiesInRange},
    {.info = {.id = "COREML-PARAM-010",
              .statement = "The output of a copy layer has a different name than its input.",
              .clause = "NeuralNetwork.proto, CopyLayerParams",
              .vendor = true,
              .hint = "Rename the output, or remove the layer."},
     .check = CopiesMove},
    {.info = {.id = "COREML-PARAM-011",
              .statement = "The k of lrn is not negative, the blockSize of reorganizeData is at "
                           "least 2, and a custom layer has a className.",
              .clause = kParametersClause,
              .vendor = true,
              .hint = "Set k to 0 or more, blockSize to 2 or more, or className to the class that "
                      "implements the layer."},
     .check = Numbers},
    {.info = {.id = "COREML-PARAM-020",
              .statement = "A splitND layer has as many outputs as splitSizes, or as numSplits "
                           "says if splitSizes is empty.",
              .clause = "NeuralNetwork.proto, SplitNDLayerParams",
              .vendor = true,
              .hint = "Set numSplits, or the length of splitSizes, to the number of outputs."},
     .check = SplitCounts},
    {.info = {.id = "COREML-PARAM-021",
              .statement = "The nOutputs of split is the number of its outputs.",
              .clause = "NeuralNetwork.proto, SplitLayerParams.nOutputs",
              .hint = "Set nOutputs to the number of outputs."},
     .check = OldSplitCounts},
    {.info = {.id = "COREML-PARAM-022",
              .statement = "A constantPad layer with one input has a positive, even number of "
                           "padAmounts, and with padToGivenOutputSizeMode at most one of the two "
                           "amounts of an axis is positive.",
              .clause = "NeuralNetwork.proto, ConstantPaddingLayerParams.padAmounts",
              .vendor = true,
              .hint = "List two padAmounts for each axis; with padToGivenOutputSizeMode set one of "
                      "the two to 0."},
     .check = PadAmounts},
    {.info =
         {.id = "COREML-PARAM-023",
          .statement =
              "A constantPad layer with one input has two padAmounts for each axis of the input.",
          .clause = "NeuralNetwork.proto, ConstantPaddingLayerParams.padAmounts",
          .hint = "List two padAmounts for each axis of the input."},
     .check = PadAmountsFit},
    {.info = {.id = "COREML-PARAM-024",
              .statement = "A batchedMatmul layer with two inputs does not set hasBias.",
              .clause = "NeuralNetwork.proto, BatchedMatMulLayerParams.hasBias",
              .vendor = true,
              .hint = "Clear hasBias, and add the bias with an addBroadcastable layer."},
     .check = MatrixBiases},
    {.info = {.id = "COREML-PARAM-025",
              .statement = "An activation layer has an activation function.",
              .clause = "NeuralNetwork.proto, ActivationParams",
              .vendor = true,
              .hint = "Set one of the functions of ActivationParams, such as ReLU or sigmoid."},
     .check = ActivationKinds},
    {.info = {.id = "COREML-PARAM-026",
              .statement = "The activations of recurrent layers are linear, sigmoid, tanh, "
                           "scaledTanh, sigmoidHard or ReLU.",
              .clause = "NeuralNetwork.proto, SimpleRecurrentLayerParams.activation",
              .vendor = true,
              .hint = "Use one of the supported activations, or decompose the recurrent layer."},
     .check = RecurrentActivations},
    {.info = {.id = "COREML-PARAM-027",
              .statement = "A uniDirectionalLSTM layer has three activations, and a "
                           "biDirectionalLSTM layer has three for each direction.",
              .clause = kLstm,
              .vendor = true,
              .hint = "List three activations for each direction; usually they are sigmoid, tanh "
                      "and tanh."},
     .check = LstmActivationCounts},
    {.info = {.id = "COREML-PARAM-028",
              .statement = "A gru layer has two activations.",
              .clause = "NeuralNetwork.proto, GRULayerParams.activations",
              .hint = "List two activations; usually they are sigmoid and tanh."},
     .check = GruActivationCounts},
    {.info = {.id = "COREML-PARAM-029",
              .statement = "A biDirectionalLSTM layer has weightParams for both directions.",
              .clause = "NeuralNetwork.proto, BiDirectionalLSTMLayerParams.weightParams",
              .vendor = true,
              .hint = "List the weights of the forward direction and those of the backward "
                      "direction in weightParams."},
     .check = TwoDirections},
};

}  // namespace

std::span<const Rule> ParameterRules() {
  return kParameterRules;
}

}  // namespace nn::coreml

// Rules of axes, shapes and ranges of layers without weights or windows.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "validators/coreml/rules.h"

namespace nn::coreml {
namespace {

// The parameters of a layer, and a field of them by its name; nullptr if there is none.
const google::protobuf::Message* ParametersOf(const pb::NeuralNetworkLayer& layer) {
  const auto* field = pb::NeuralNetworkLayer::descriptor()->FindFieldByNumber(layer.layer_case());
  if (field == nullptr || field->message_type() == nullptr) return nullptr;
  return &layer.GetReflection()->GetMessage(layer, field);
}

const google::protobuf::FieldDescriptor* FindField(const google::protobuf::Message& m,
                                                   const char* name) {
  return m.GetDescriptor()->FindFieldByName(name);
}

// Layers whose `axis`, or `axes`, count the axes of their first input, negative ones from the back.
constexpr int kAxisLayers[] = {pb::NeuralNetworkLayer::kConcatND,
                               pb::NeuralNetworkLayer::kSoftmaxND,
                               pb::NeuralNetworkLayer::kFlattenTo2D,
                               pb::NeuralNetworkLayer::kSplitND,
                               pb::NeuralNetworkLayer::kGather,
                               pb::NeuralNetworkLayer::kGatherAlongAxis,
                               pb::NeuralNetworkLayer::kScatter,
                               pb::NeuralNetworkLayer::kScatterAlongAxis,
                               pb::NeuralNetworkLayer::kTopK,
                               pb::NeuralNetworkLayer::kArgMax,
                               pb::NeuralNetworkLayer::kArgMin,
                               pb::NeuralNetworkLayer::kCumSum,
                               pb::NeuralNetworkLayer::kSlidingWindows,
                               pb::NeuralNetworkLayer::kReduceL1,
                               pb::NeuralNetworkLayer::kReduceL2,
                               pb::NeuralNetworkLayer::kReduceMax,
                               pb::NeuralNetworkLayer::kReduceMin,
                               pb::NeuralNetworkLayer::kReduceSum,
                               pb::NeuralNetworkLayer::kReduceProd,
                               pb::NeuralNetworkLayer::kReduceMean,
                               pb::NeuralNetworkLayer::kReduceLogSum,
                               pb::NeuralNetworkLayer::kReduceSumSquare,
                               pb::NeuralNetworkLayer::kReduceLogSumExp,
                               pb::NeuralNetworkLayer::kSqueeze};

std::vector<int64_t> AxesOf(const google::protobuf::Message& p) {
  const auto* reflection = p.GetReflection();
  std::vector<int64_t> axes;
  if (const auto* axis = FindField(p, "axis");
      axis != nullptr && axis->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_INT64)
    axes.push_back(reflection->GetInt64(p, axis));
  if (const auto* list = FindField(p, "axes");
      list != nullptr && list->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_INT64)
    for (int i = 0; i < reflection->FieldSize(p, list); ++i)
      axes.push_back(reflection->GetRepeatedInt64(p, list, i));
  return axes;
}

void AxesInRange(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const int rank = at.InputRank(0);
    if (rank == 0 || std::find(std::begin(kAxisLayers), std::end(kAxisLayers),
                               static_cast<int>(at.layer->layer_case())) == std::end(kAxisLayers))
      continue;
    for (const int64_t axis : AxesOf(*ParametersOf(*at.layer)))
      if (axis < -rank || axis >= rank)
        f.Add(Where(at), "{} has axis {} for an input of rank {}", Title(at), axis, rank);
  }
}

void AxesUnique(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_squeeze() && !at.layer->has_expanddims()) continue;
    const auto axes = AxesOf(*ParametersOf(*at.layer));
    if (std::set<int64_t>(axes.begin(), axes.end()).size() != axes.size())
      f.Add(Where(at), "{} has an axis twice", Title(at));
  }
}

void SqueezedRanks(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const int in = at.InputRank(0);
    const int out = at.OutputRank(0);
    if (in == 0 || out == 0) continue;
    if (at.layer->has_expanddims()) {
      const auto& axes = at.layer->expanddims().axes();
      if (in + axes.size() != out)
        f.Add(Where(at), "{} adds {} axes to rank {} and gives rank {}", Title(at), axes.size(), in,
              out);
      for (const int64_t axis : axes)
        if (axis < -out || axis >= out)
          f.Add(Where(at), "{} has axis {} for an output of rank {}", Title(at), axis, out);
    }
    // What is left of a tensor of size one keeps one axis.
    if (at.layer->has_squeeze() && !at.layer->squeeze().squeezeall() &&
        std::max(in - at.layer->squeeze().axes_size(), 1) != out)
      f.Add(Where(at), "{} takes {} axes from rank {} and gives rank {}", Title(at),
            at.layer->squeeze().axes_size(), in, out);
  }
}

void ArgSortAxis(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_argsort()) continue;
    const int64_t axis = at.layer->argsort().axis();
    if (axis < 0 || (at.InputRank(0) != 0 && axis >= at.InputRank(0)))
      f.Add(Where(at, "argSort.axis"), "{} has axis {}", Title(at), axis);
  }
}

void ReduceRank(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_reduce() || at.InputRank(0) == 0) continue;
    using R = pb::ReduceLayerParams;
    const auto axis = at.layer->reduce().axis();
    const int need = axis == R::CHW || axis == R::C ? 3 : (axis == R::HW || axis == R::H ? 2 : 1);
    if (at.InputRank(0) < need)
      f.Add(Where(at, "reduce.axis"), "{} reduces {} of an input of rank {}", Title(at),
            R::ReduceAxis_Name(axis), at.InputRank(0));
  }
}

// Layers that give a shape, and so need one.
void ShapesPresent(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const pb::NeuralNetworkLayer& l = *at.layer;
    const bool empty =
        (l.has_fillstatic() && l.fillstatic().targetshape().empty()) ||
        (l.has_reshapestatic() && l.reshapestatic().targetshape().empty()) ||
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
    const pb::NeuralNetworkLayer& l = *at.layer;
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
    } else if (l.has_reshape()) {
      const int n = l.reshape().targetshape_size();
      check(n == 3 || n == 4, "reshape.targetShape", n);
    } else if (l.has_permute()) {
      check(l.permute().axis_size() == 4, "permute.axis", l.permute().axis_size());
    }
  }
}

void Slices(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    if (!at.layer->has_slice()) continue;
    const auto& p = at.layer->slice();
    if ((p.startindex() >= 0) == (p.endindex() >= 0) && p.endindex() <= p.startindex())
      f.Add(Where(at, "slice"), "{} starts at {} and ends at {}", Title(at), p.startindex(),
            p.endindex());
  }
}

void RandomRanges(const Subject& s, Findings& f) {
  for (const LayerAt& at : s.layers()) {
    const auto check = [&](const auto& p) {
      if (!(p.minval() < p.maxval()))
        f.Add(Where(at), "{} draws from {} to {}", Title(at), p.minval(), p.maxval());
    };
    if (at.layer->has_randomuniformlike()) check(at.layer->randomuniformlike());
    if (at.layer->has_randomuniformstatic()) check(at.layer->randomuniformstatic());
    if (at.layer->has_randomuniformdynamic()) check(at.layer->randomuniformdynamic());
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
    if (at.layer->has_reorganizedata() && at.layer->reorganizedata().blocksize() < 2)
      f.Add(Where(at, "reorganizeData.blockSize"), "{} has block size {}", Title(at),
            at.layer->reorganizedata().blocksize());
    if (at.layer->has_custom() && at.layer->custom().classname().empty())
      f.Add(Where(at, "custom.className"), "{} has no class name", Title(at));
  }
}

constexpr Rule kRules[] = {
    {{"COREML-PARAM-001", Severity::kError, "Axes are ones that the input has.",
      "NeuralNetwork.proto", true, ""},
     AxesInRange},
    {{"COREML-PARAM-002", Severity::kError, "squeeze and expandDims name an axis once.",
      "NeuralNetwork.proto, SqueezeLayerParams", true, ""},
     AxesUnique},
    {{"COREML-PARAM-003", Severity::kError,
      "Ranks of squeeze and expandDims differ by the number of axes.",
      "NeuralNetwork.proto, ExpandDimsLayerParams", true, ""},
     SqueezedRanks},
    {{"COREML-PARAM-004", Severity::kError, "The axis of argSort counts from the front.",
      "NeuralNetwork.proto, ArgSortLayerParams", true, ""},
     ArgSortAxis},
    {{"COREML-PARAM-005", Severity::kError, "reduce has an input with the axes that it reduces.",
      "NeuralNetwork.proto, ReduceLayerParams", true, ""},
     ReduceRank},
    {{"COREML-PARAM-006", Severity::kError, "Layers that give a shape have one.",
      "NeuralNetwork.proto", true, ""},
     ShapesPresent},
    {{"COREML-PARAM-007", Severity::kError,
      "Shapes of scale, bias, loadConstant, reshape and permute have the length that they must.",
      "NeuralNetwork.proto, ScaleLayerParams", true, ""},
     ShapeLengths},
    {{"COREML-PARAM-008", Severity::kError, "slice ends after its start.",
      "NeuralNetwork.proto, SliceLayerParams", true, ""},
     Slices},
    {{"COREML-PARAM-009", Severity::kError, "Uniform distributions have a range.",
      "NeuralNetwork.proto, RandomUniformStaticLayerParams", true, ""},
     RandomRanges},
    {{"COREML-PARAM-010", Severity::kError, "copy has an output other than its input.",
      "NeuralNetwork.proto, CopyLayerParams", true, ""},
     CopiesMove},
    {{"COREML-PARAM-011", Severity::kError,
      "k of lrn is not negative, blocks are 2 or more, custom layers name their class.",
      "NeuralNetwork.proto", true, ""},
     Numbers},
};

}  // namespace

std::span<const Rule> ParameterRules() {
  return kRules;
}

}  // namespace nn::coreml

#include "validators/coreml/signature.h"

#include <algorithm>
#include <iterator>

#include "coreml_neural_network.pb.h"

namespace nn::coreml {
namespace {

constexpr Signature kSignatures[] = {
    {100, 1, 2, 1, 1, true, 4, -1, true},     // convolution
    {120, 1, 1, 1, 1, true, 4, -1, true},     // pooling
    {130, 1, 1, 1, 1, false, 0, -1, true},    // activation
    {140, 1, 1, 1, 1, true, 1, 5, true},      // innerProduct
    {150, 1, 1, 1, 1, true, 4, -1, true},     // embedding
    {160, 1, 1, 1, 1, true, 3, -1, true},     // batchnorm
    {165, 1, 1, 1, 1, true, 3, -1, true},     // mvn
    {170, 1, 1, 1, 1, true, 3, -1, true},     // l2normalize
    {175, 1, 1, 1, 1, true, 3, -1, true},     // softmax
    {180, 1, 1, 1, 1, true, 3, -1, true},     // lrn
    {190, 1, 2, 1, 1, true, 3, -1, true},     // crop
    {200, 1, 1, 1, 1, true, 2, -1, true},     // padding
    {210, 1, 1, 1, 1, true, 3, -1, true},     // upsample
    {211, 1, 1, 1, 1, true, 3, -1, true},     // resizeBilinear
    {212, 2, 2, 1, 1, true, 5, -1, true},     // cropResize
    {220, 1, 1, 1, 1, true, 0, -1, true},     // unary
    {230, 1, -1, 1, 1, false, 0, -1, true},   // add
    {231, 1, -1, 1, 1, false, 0, -1, true},   // multiply
    {240, 1, -1, 1, 1, false, 0, -1, true},   // average
    {245, 1, 1, 1, 1, true, 3, -1, true},     // scale
    {250, 1, 1, 1, 1, true, 3, -1, true},     // bias
    {260, 1, -1, 1, 1, false, 0, -1, true},   // max
    {261, 1, -1, 1, 1, false, 0, -1, true},   // min
    {270, 2, 2, 1, 1, true, 3, -1, true},     // dot
    {280, 1, 1, 1, 1, true, 0, -1, true},     // reduce
    {290, 0, 0, 1, 1, false, 0, -1, true},    // loadConstant
    {300, 1, 1, 1, 1, true, 5, 5, true},      // reshape
    {301, 1, 1, 1, 1, true, 3, -1, true},     // flatten
    {310, 1, 1, 1, 1, true, 5, 5, true},      // permute
    {320, 2, -1, 1, 1, true, 3, -1, true},    // concat
    {330, 1, 1, 2, -1, true, 3, -1, true},    // split
    {340, 1, 1, 1, 1, true, 5, -1, true},     // sequenceRepeat
    {345, 1, 1, 1, 1, true, 3, -1, true},     // reorganizeData
    {350, 1, 1, 1, 1, true, 0, -1, true},     // slice
    {400, 2, 2, 2, 2, true, 5, 5, true},      // simpleRecurrent
    {410, 1, 2, 2, 2, true, 5, 5, true},      // gru
    {420, 1, 3, 3, 3, true, 5, 5, true},      // uniDirectionalLSTM
    {430, 1, 5, 5, 5, true, 5, 5, true},      // biDirectionalLSTM
    {500, 1, -1, 1, -1, false, 0, -1, true},  // custom
    {600, 1, 1, 1, 1, false, 0, -1, false},   // copy
    {605, 1, 1, 0, 0, false, 0, -1, false},   // branch
    {615, 0, 1, 0, 0, false, 0, -1, false},   // loop
    {620, 0, 0, 0, 0, false, 0, -1, false},   // loopBreak
    {625, 0, 0, 0, 0, false, 0, -1, false},   // loopContinue
    {635, 0, 0, 1, 1, false, 0, -1, false},   // rangeStatic
    {640, 0, 3, 1, 1, false, 0, -1, false},   // rangeDynamic
    {660, 1, 1, 1, 1, false, 0, -1, false},   // clip
    {665, 1, 1, 1, 1, false, 0, -1, false},   // ceil
    {670, 1, 1, 1, 1, false, 0, -1, false},   // floor
    {680, 1, 1, 1, 1, false, 0, -1, false},   // sign
    {685, 1, 1, 1, 1, false, 0, -1, false},   // round
    {700, 1, 1, 1, 1, false, 0, -1, false},   // exp2
    {710, 1, 1, 1, 1, false, 0, -1, false},   // sin
    {715, 1, 1, 1, 1, false, 0, -1, false},   // cos
    {720, 1, 1, 1, 1, false, 0, -1, false},   // tan
    {730, 1, 1, 1, 1, false, 0, -1, false},   // asin
    {735, 1, 1, 1, 1, false, 0, -1, false},   // acos
    {740, 1, 1, 1, 1, false, 0, -1, false},   // atan
    {750, 1, 1, 1, 1, false, 0, -1, false},   // sinh
    {755, 1, 1, 1, 1, false, 0, -1, false},   // cosh
    {760, 1, 1, 1, 1, false, 0, -1, false},   // tanh
    {770, 1, 1, 1, 1, false, 0, -1, false},   // asinh
    {775, 1, 1, 1, 1, false, 0, -1, false},   // acosh
    {780, 1, 1, 1, 1, false, 0, -1, false},   // atanh
    {790, 1, 1, 1, 1, false, 0, -1, false},   // erf
    {795, 1, 1, 1, 1, false, 0, -1, false},   // gelu
    {815, 1, 2, 1, 1, false, 0, -1, false},   // equal
    {820, 1, 2, 1, 1, false, 0, -1, false},   // notEqual
    {825, 1, 2, 1, 1, false, 0, -1, false},   // lessThan
    {827, 1, 2, 1, 1, false, 0, -1, false},   // lessEqual
    {830, 1, 2, 1, 1, false, 0, -1, false},   // greaterThan
    {832, 1, 2, 1, 1, false, 0, -1, false},   // greaterEqual
    {840, 2, 2, 1, 1, false, 0, -1, false},   // logicalOr
    {845, 2, 2, 1, 1, false, 0, -1, false},   // logicalXor
    {850, 1, 1, 1, 1, false, 0, -1, false},   // logicalNot
    {855, 2, 2, 1, 1, false, 0, -1, false},   // logicalAnd
    {865, 2, 2, 1, 1, false, 0, -1, false},   // modBroadcastable
    {870, 2, 2, 1, 1, false, 0, -1, false},   // minBroadcastable
    {875, 2, 2, 1, 1, false, 0, -1, false},   // maxBroadcastable
    {880, 2, 2, 1, 1, false, 0, -1, false},   // addBroadcastable
    {885, 2, 2, 1, 1, false, 0, -1, false},   // powBroadcastable
    {890, 2, 2, 1, 1, false, 0, -1, false},   // divideBroadcastable
    {895, 2, 2, 1, 1, false, 0, -1, false},   // floorDivBroadcastable
    {900, 2, 2, 1, 1, false, 0, -1, false},   // multiplyBroadcastable
    {905, 2, 2, 1, 1, false, 0, -1, false},   // subtractBroadcastable
    {920, 1, 2, 1, 1, false, 0, -1, false},   // tile
    {925, 2, -1, 1, 1, false, 0, -1, false},  // stack
    {930, 2, 2, 1, 1, false, 0, -1, false},   // gather
    {935, 3, 3, 1, 1, false, 0, -1, false},   // scatter
    {940, 2, 2, 1, 1, false, 0, -1, false},   // gatherND
    {945, 3, 3, 1, 1, false, 0, -1, false},   // scatterND
    {950, 1, 1, 1, 1, false, 0, -1, false},   // softmaxND
    {952, 2, 2, 1, 1, false, 0, -1, false},   // gatherAlongAxis
    {954, 3, 3, 1, 1, false, 0, -1, false},   // scatterAlongAxis
    {960, 1, 1, 1, 1, false, 0, -1, false},   // reverse
    {965, 2, 2, 1, 1, false, 0, -1, false},   // reverseSeq
    {975, 1, 1, 2, -1, false, 0, -1, false},  // splitND
    {980, 2, -1, 1, 1, false, 0, -1, false},  // concatND
    {985, 1, 1, 1, 1, false, 0, -1, false},   // transpose
    {995, 1, 1, 1, 1, false, 0, -1, false},   // sliceStatic
    {1000, 2, 7, 1, 1, false, 0, -1, false},  // sliceDynamic
    {1005, 1, 1, 1, 1, false, 0, -1, false},  // slidingWindows
    {1015, 1, 2, 2, 2, true, 0, -1, false},   // topK
    {1020, 1, 1, 1, 1, true, 0, -1, false},   // argMin
    {1025, 1, 1, 1, 1, true, 0, -1, false},   // argMax
    {1040, 1, 1, 1, 1, true, 2, 5, false},    // embeddingND
    {1045, 1, 2, 1, 1, false, 0, -1, false},  // batchedMatmul
    {1065, 1, 1, 1, 1, false, 0, -1, false},  // getShape
    {1070, 0, 0, 1, 1, false, 0, -1, false},  // loadConstantND
    {1080, 1, 1, 1, 1, false, 0, -1, false},  // fillLike
    {1085, 0, 0, 1, 1, false, 0, -1, false},  // fillStatic
    {1090, 1, 1, 1, 1, false, 0, -1, false},  // fillDynamic
    {1100, 2, 2, 1, 1, false, 0, -1, false},  // broadcastToLike
    {1105, 1, 1, 1, 1, false, 0, -1, false},  // broadcastToStatic
    {1110, 2, 2, 1, 1, false, 0, -1, false},  // broadcastToDynamic
    {1120, 1, 1, 1, 1, false, 0, -1, false},  // squeeze
    {1125, 1, 1, 1, 1, false, 0, -1, false},  // expandDims
    {1130, 1, 1, 1, 1, false, 0, -1, false},  // flattenTo2D
    {1135, 2, 2, 1, 1, false, 0, -1, false},  // reshapeLike
    {1140, 1, 1, 1, 1, false, 0, -1, false},  // reshapeStatic
    {1145, 2, 2, 1, 1, false, 0, -1, false},  // reshapeDynamic
    {1150, 1, 1, 1, 1, false, 0, -1, false},  // rankPreservingReshape
    {1155, 1, 2, 1, 1, true, 0, -1, false},   // constantPad
    {1170, 1, 1, 1, 1, false, 0, -1, false},  // randomNormalLike
    {1175, 0, 0, 1, 1, false, 0, -1, false},  // randomNormalStatic
    {1180, 1, 1, 1, 1, false, 0, -1, false},  // randomNormalDynamic
    {1190, 1, 1, 1, 1, false, 0, -1, false},  // randomUniformLike
    {1195, 0, 0, 1, 1, false, 0, -1, false},  // randomUniformStatic
    {1200, 1, 1, 1, 1, false, 0, -1, false},  // randomUniformDynamic
    {1210, 1, 1, 1, 1, false, 0, -1, false},  // randomBernoulliLike
    {1215, 0, 0, 1, 1, false, 0, -1, false},  // randomBernoulliStatic
    {1220, 1, 1, 1, 1, false, 0, -1, false},  // randomBernoulliDynamic
    {1230, 1, 1, 1, 1, false, 0, -1, false},  // categoricalDistribution
    {1250, 1, 1, 1, 1, false, 0, -1, false},  // reduceL1
    {1255, 1, 1, 1, 1, false, 0, -1, false},  // reduceL2
    {1260, 1, 1, 1, 1, false, 0, -1, false},  // reduceMax
    {1265, 1, 1, 1, 1, false, 0, -1, false},  // reduceMin
    {1270, 1, 1, 1, 1, false, 0, -1, false},  // reduceSum
    {1275, 1, 1, 1, 1, false, 0, -1, false},  // reduceProd
    {1280, 1, 1, 1, 1, false, 0, -1, false},  // reduceMean
    {1285, 1, 1, 1, 1, false, 0, -1, false},  // reduceLogSum
    {1290, 1, 1, 1, 1, false, 0, -1, false},  // reduceSumSquare
    {1295, 1, 1, 1, 1, false, 0, -1, false},  // reduceLogSumExp
    {1313, 1, 1, 1, 1, false, 0, -1, false},  // whereNonZero
    {1315, 1, 1, 1, 1, false, 0, -1, false},  // matrixBandPart
    {1320, 1, 1, 1, 1, false, 0, -1, false},  // lowerTriangular
    {1325, 1, 1, 1, 1, false, 0, -1, false},  // upperTriangular
    {1330, 3, 3, 1, 1, false, 0, -1, false},  // whereBroadcastable
    {1350, 1, 1, 1, 1, false, 0, -1, false},  // layerNormalization
    {1400, 2, 5, 4, 4, false, 0, -1, false},  // NonMaximumSuppression
    {1450, 1, 2, 1, 1, false, 0, -1, false},  // oneHot
    {1455, 1, 2, 1, 1, false, 0, -1, false},  // cumSum
    {1460, 1, 1, 1, 1, false, 0, -1, false},  // clampedReLU
    {1461, 1, 1, 1, 1, true, 0, -1, false},   // argSort
    {1465, 1, 1, 1, 1, true, 5, -1, false},   // pooling3d
    {1466, 1, 1, 1, 1, true, 5, -1, false},   // globalPooling3d
    {1470, 2, 2, 1, 1, false, 0, -1, false},  // sliceBySize
    {1471, 1, 1, 1, 1, true, 5, -1, false},   // convolution3d
};

}  // namespace

const Signature* FindSignature(int layer) {
  const auto* const found =
      std::lower_bound(std::begin(kSignatures), std::end(kSignatures), layer,
                       [](const Signature& s, int number) { return s.layer < number; });
  return found != std::end(kSignatures) && found->layer == layer ? found : nullptr;
}

RankRule RankRuleOf(const pb::NeuralNetworkLayer& layer, const Signature& signature,
                    bool ranks_listed) {
  RankRule rule{signature.same_rank, signature.min_rank, signature.max_rank};
  switch (layer.layer_case()) {
    case pb::NeuralNetworkLayer::kActivation:
      if (layer.activation().has_prelu() || layer.activation().has_parametricsoftplus())
        rule = {true, 3, -1};
      break;
    case pb::NeuralNetworkLayer::kConcat:
      if (layer.concat().sequenceconcat()) rule.min = 5;
      break;
    case pb::NeuralNetworkLayer::kReduce:
    case pb::NeuralNetworkLayer::kSlice:
      rule.same = ranks_listed;
      break;
    case pb::NeuralNetworkLayer::kArgMax:
      rule.same = !layer.argmax().removedim();
      break;
    case pb::NeuralNetworkLayer::kArgMin:
      rule.same = !layer.argmin().removedim();
      break;
    default:
      break;
  }
  return rule;
}

bool IsOfFirstVersions(const pb::NeuralNetworkLayer& layer, const Signature* signature) {
  if (signature == nullptr || !signature->first_versions) return false;
  switch (layer.layer_case()) {
    case pb::NeuralNetworkLayer::kConvolution:
      return layer.input_size() == 1;
    case pb::NeuralNetworkLayer::kInnerProduct:
      return !layer.innerproduct().int8dynamicquantize();
    case pb::NeuralNetworkLayer::kUpsample:
      return layer.upsample().linearupsamplemode() == pb::UpsampleLayerParams::DEFAULT &&
             layer.upsample().fractionalscalingfactor().empty();
    case pb::NeuralNetworkLayer::kReorganizeData:
      return layer.reorganizedata().mode() != pb::ReorganizeDataLayerParams::PIXEL_SHUFFLE;
    default:
      return true;
  }
}

}  // namespace nn::coreml

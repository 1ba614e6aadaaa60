#include "formats/coreml/spec/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "coreml_neural_network.pb.h"

namespace nn::coreml {
namespace {

using L = pb::NeuralNetworkLayer;

// One layer per line, by name:
//
//   NAME version inputs -> outputs
//
// then the ranks of the first input, and how other ranks follow:
//
//   @4  @4+  @1-5   ranks that the vendor's checker accepts
//   @@2+            ranks that only the published text restricts
//   same            the first output has the rank of the first input
//   =first          the outputs have the rank of the first input; =second, =largest of all inputs,
//                   =first+1, =1, =2
//   list1           input 1 is a list of numbers, of rank 1
//   alike alike?    all inputs have the same rank; "?": by the published text alone
//
// Source: NeuralNetwork.proto, and the layer validator of coremltools.
constexpr std::string_view kTable = R"(
convolution 1 1-2 -> 1 @4+ same
pooling 1 1 -> 1 @4+ same
activation 1 1 -> 1
innerProduct 1 1 -> 1 @1-5 same
embedding 1 1 -> 1 @4+ same
batchnorm 1 1 -> 1 @3+ same
mvn 1 1 -> 1 @3+ same
l2normalize 1 1 -> 1 @3+ same
softmax 1 1 -> 1 @3+ same
lrn 1 1 -> 1 @3+ same
crop 1 1-2 -> 1 @3+ same alike
padding 1 1 -> 1 @2+ same
upsample 1 1 -> 1 @3+ same
resizeBilinear 3 1 -> 1 @3+ same
cropResize 3 2 -> 1 @5+ same alike
unary 1 1 -> 1 same
add 1 1+ -> 1
multiply 1 1+ -> 1
average 1 1+ -> 1
scale 1 1 -> 1 @3+ same
bias 1 1 -> 1 @3+ same
max 1 1+ -> 1
min 1 1+ -> 1
dot 1 2 -> 1 @3+ same alike
reduce 1 1 -> 1 same
loadConstant 1 0 -> 1
reshape 1 1 -> 1 @5 same
flatten 1 1 -> 1 @3+ same
permute 1 1 -> 1 @5 same
concat 1 2+ -> 1 @3+ same alike
split 1 1 -> 2+ @3+ same
sequenceRepeat 1 1 -> 1 @5+ same
reorganizeData 1 1 -> 1 @3+ same
slice 1 1 -> 1 same
simpleRecurrent 1 2 -> 2 @5 same
gru 1 1-2 -> 2 @5 same
uniDirectionalLSTM 1 1-3 -> 3 @5 same
biDirectionalLSTM 1 1-5 -> 5 @5 same
custom 2 1+ -> 1+
copy 4 1 -> 1
branch 4 1 -> 0
loop 4 0-1 -> 0
loopBreak 4 0 -> 0
loopContinue 4 0 -> 0
rangeStatic 4 0 -> 1
rangeDynamic 4 0-3 -> 1
clip 4 1 -> 1 =first
ceil 4 1 -> 1 =first
floor 4 1 -> 1 =first
sign 4 1 -> 1 =first
round 4 1 -> 1 =first
exp2 4 1 -> 1 =first
sin 4 1 -> 1 =first
cos 4 1 -> 1 =first
tan 4 1 -> 1 =first
asin 4 1 -> 1 =first
acos 4 1 -> 1 =first
atan 4 1 -> 1 =first
sinh 4 1 -> 1 =first
cosh 4 1 -> 1 =first
tanh 4 1 -> 1 =first
asinh 4 1 -> 1 =first
acosh 4 1 -> 1 =first
atanh 4 1 -> 1 =first
erf 4 1 -> 1 =first
gelu 4 1 -> 1 =first
equal 4 1-2 -> 1 =largest
notEqual 4 1-2 -> 1 =largest
lessThan 4 1-2 -> 1 =largest
lessEqual 4 1-2 -> 1 =largest
greaterThan 4 1-2 -> 1 =largest
greaterEqual 4 1-2 -> 1 =largest
logicalOr 4 2 -> 1 =largest
logicalXor 4 2 -> 1 =largest
logicalNot 4 1 -> 1 =first
logicalAnd 4 2 -> 1 =largest
modBroadcastable 4 2 -> 1 =largest
minBroadcastable 4 2 -> 1 =largest
maxBroadcastable 4 2 -> 1 =largest
addBroadcastable 4 2 -> 1 =largest
powBroadcastable 4 2 -> 1 =largest
divideBroadcastable 4 2 -> 1 =largest
floorDivBroadcastable 4 2 -> 1 =largest
multiplyBroadcastable 4 2 -> 1 =largest
subtractBroadcastable 4 2 -> 1 =largest
tile 4 1-2 -> 1 =first
stack 4 2+ -> 1 =first+1 alike?
gather 4 2 -> 1
scatter 4 3 -> 1
gatherND 4 2 -> 1
scatterND 4 3 -> 1 =first
softmaxND 4 1 -> 1 =first
gatherAlongAxis 4 2 -> 1 =second alike?
scatterAlongAxis 4 3 -> 1 =first alike?
reverse 4 1 -> 1 =first
reverseSeq 4 2 -> 1 =first list1
splitND 4 1 -> 2+ =first
concatND 4 2+ -> 1 =first alike?
transpose 4 1 -> 1 =first
sliceStatic 4 1 -> 1
sliceDynamic 4 2-7 -> 1
slidingWindows 4 1 -> 1 =first+1
topK 4 1-2 -> 2 same list1
argMin 4 1 -> 1 same
argMax 4 1 -> 1 same
embeddingND 4 1 -> 1 @2-5 same
batchedMatmul 4 1-2 -> 1
getShape 4 1 -> 1 =1
loadConstantND 4 0 -> 1
fillLike 4 1 -> 1 =first
fillStatic 4 0 -> 1
fillDynamic 4 1 -> 1 list0
broadcastToLike 4 2 -> 1 =second
broadcastToStatic 4 1 -> 1
broadcastToDynamic 4 2 -> 1 list1
squeeze 4 1 -> 1
expandDims 4 1 -> 1
flattenTo2D 4 1 -> 1 =2
reshapeLike 4 2 -> 1 =second
reshapeStatic 4 1 -> 1
reshapeDynamic 4 2 -> 1 list1
rankPreservingReshape 4 1 -> 1
constantPad 4 1-2 -> 1 same
randomNormalLike 4 1 -> 1 =first
randomNormalStatic 4 0 -> 1
randomNormalDynamic 4 1 -> 1 list0
randomUniformLike 4 1 -> 1 =first
randomUniformStatic 4 0 -> 1
randomUniformDynamic 4 1 -> 1 list0
randomBernoulliLike 4 1 -> 1 =first
randomBernoulliStatic 4 0 -> 1
randomBernoulliDynamic 4 1 -> 1 list0
categoricalDistribution 4 1 -> 1 =first
reduceL1 4 1 -> 1
reduceL2 4 1 -> 1
reduceMax 4 1 -> 1
reduceMin 4 1 -> 1
reduceSum 4 1 -> 1
reduceProd 4 1 -> 1
reduceMean 4 1 -> 1
reduceLogSum 4 1 -> 1
reduceSumSquare 4 1 -> 1
reduceLogSumExp 4 1 -> 1
whereNonZero 4 1 -> 1 =2
matrixBandPart 4 1 -> 1 @@2+ =first
lowerTriangular 4 1 -> 1 @@2+ =first
upperTriangular 4 1 -> 1 @@2+ =first
whereBroadcastable 4 3 -> 1 =largest
layerNormalization 4 1 -> 1 =first
NonMaximumSuppression 4 2-5 -> 4
oneHot 5 1-2 -> 1
cumSum 5 1-2 -> 1 =first
clampedReLU 5 1 -> 1 =first
argSort 5 1 -> 1 same
pooling3d 5 1 -> 1 @5+ same
globalPooling3d 5 1 -> 1 @5+ same
sliceBySize 5 2 -> 1 =first
convolution3d 5 1 -> 1 @5+ same
)";

// Takes the text up to the next blank off `line`.
std::string_view NextWord(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

int NumberAt(std::string_view text) {
  int n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

// "3", "1-4", "2+".
Range RangeOf(std::string_view text) {
  if (text.ends_with('+')) return AtLeast(NumberAt(text));
  const size_t dash = text.find('-');
  return {NumberAt(text), NumberAt(dash == text.npos ? text : text.substr(dash + 1))};
}

OutputRank OutputRankOf(std::string_view text) {
  if (text == "first") return OutputRank::kFirst;
  if (text == "second") return OutputRank::kSecond;
  if (text == "largest") return OutputRank::kLargest;
  if (text == "first+1") return OutputRank::kFirstAnd1;
  return text == "1" ? OutputRank::kOne : OutputRank::kTwo;
}

Signature ParseLine(std::string_view line) {
  const auto* field = L::descriptor()->FindFieldByName(std::string(NextWord(line)));
  Signature s;
  s.layer = field == nullptr ? 0 : field->number();
  s.version = NumberAt(NextWord(line));
  s.inputs = RangeOf(NextWord(line));
  NextWord(line);
  s.outputs = RangeOf(NextWord(line));
  while (!line.empty()) {
    const std::string_view word = NextWord(line);
    if (word.starts_with("@@"))
      s.published_ranks = RangeOf(word.substr(2));
    else if (word.starts_with('@'))
      s.ranks = RangeOf(word.substr(1));
    else if (word.starts_with('='))
      s.output_rank = OutputRankOf(word.substr(1));
    else if (word.starts_with("list"))
      s.list_input = NumberAt(word.substr(4));
    else if (word == "same")
      s.same_rank = true;
    else if (word.starts_with("alike"))
      s.alike = word.ends_with('?') ? InputsAlike::kPublished : InputsAlike::kChecked;
  }
  return s;
}

// By layer number.
const std::vector<Signature>& Table() {
  static const std::vector<Signature> table = [] {
    std::vector<Signature> rows;
    for (std::string_view rest = kTable.substr(1); !rest.empty();) {
      const size_t end = rest.find('\n');
      rows.push_back(ParseLine(rest.substr(0, end)));
      rest.remove_prefix(end + 1);
    }
    std::sort(rows.begin(), rows.end(),
              [](const Signature& a, const Signature& b) { return a.layer < b.layer; });
    return rows;
  }();
  return table;
}

}  // namespace

std::string Range::ToString() const {
  if (high < 0) return fmt::format("{} or more", low);
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

const Signature* FindSignature(int layer) {
  const std::vector<Signature>& table = Table();
  const auto found =
      std::lower_bound(table.begin(), table.end(), layer,
                       [](const Signature& s, int number) { return s.layer < number; });
  return found != table.end() && found->layer == layer ? &*found : nullptr;
}

RankRule RankRuleOf(const pb::NeuralNetworkLayer& layer, const Signature& signature,
                    bool ranks_listed) {
  RankRule rule{signature.same_rank, signature.ranks};
  switch (layer.layer_case()) {
    case L::kActivation:
      if (layer.activation().has_prelu() || layer.activation().has_parametricsoftplus())
        rule = {true, AtLeast(3)};
      break;
    case L::kConcat:
      if (layer.concat().sequenceconcat()) rule.ranks.low = 5;
      break;
    case L::kReduce:
    case L::kSlice:
      rule.same = ranks_listed;
      break;
    case L::kArgMax:
      rule.same = !layer.argmax().removedim();
      break;
    case L::kArgMin:
      rule.same = !layer.argmin().removedim();
      break;
    default:
      break;
  }
  return rule;
}

bool IsOfFirstVersions(const pb::NeuralNetworkLayer& layer, const Signature* signature) {
  if (signature == nullptr || signature->version > 3) return false;
  switch (layer.layer_case()) {
    case L::kConvolution:
      return layer.input_size() == 1;
    case L::kInnerProduct:
      return !layer.innerproduct().int8dynamicquantize();
    case L::kUpsample:
      return layer.upsample().linearupsamplemode() == pb::UpsampleLayerParams::DEFAULT &&
             layer.upsample().fractionalscalingfactor().empty();
    case L::kReorganizeData:
      return layer.reorganizedata().mode() != pb::ReorganizeDataLayerParams::PIXEL_SHUFFLE;
    default:
      return true;
  }
}

int VersionOf(const pb::NeuralNetworkLayer& layer) {
  if (layer.has_upsample() &&
      layer.upsample().linearupsamplemode() != pb::UpsampleLayerParams::DEFAULT)
    return 5;
  if (layer.has_reorganizedata() &&
      layer.reorganizedata().mode() == pb::ReorganizeDataLayerParams::PIXEL_SHUFFLE)
    return 5;
  const Signature* signature = FindSignature(layer.layer_case());
  return signature == nullptr ? 1 : signature->version;
}

}  // namespace nn::coreml

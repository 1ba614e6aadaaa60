// Numbers of inputs and outputs of the operations of NNAPI 1.0, as types.hal lists them.
#include "formats/nnapi/spec/signature.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace nn::nnapi::nnapi_signature_test {
namespace {

using enum OperationType;

struct Counts {
  std::string inputs;  // explicit or implicit padding
  size_t outputs = 1;
};

const std::map<OperationType, Counts> kCounts = {
    {kAdd, {"3"}},
    {kAveragePool2d, {"10 or 7"}},
    {kConcatenation, {"2 or more"}},
    {kConv2d, {"10 or 7"}},
    {kDepthwiseConv2d, {"11 or 8"}},
    {kDepthToSpace, {"2"}},
    {kDequantize, {"1"}},
    {kEmbeddingLookup, {"2"}},
    {kFloor, {"1"}},
    {kFullyConnected, {"4"}},
    {kHashtableLookup, {"3", 2}},
    {kL2Normalization, {"1"}},
    {kL2Pool2d, {"10 or 7"}},
    {kLocalResponseNormalization, {"5"}},
    {kLogistic, {"1"}},
    {kLshProjection, {"4"}},
    {kLstm, {"23", 4}},
    {kMaxPool2d, {"10 or 7"}},
    {kMul, {"3"}},
    {kRelu, {"1"}},
    {kRelu1, {"1"}},
    {kRelu6, {"1"}},
    {kReshape, {"2"}},
    {kResizeBilinear, {"3"}},
    {kRnn, {"6", 2}},
    {kSoftmax, {"2"}},
    {kSpaceToDepth, {"2"}},
    {kSvdf, {"7", 2}},
    {kTanh, {"1"}},
};

TEST_CASE("nnapi signatures: every operation has its forms") {
  CHECK(kCounts.size() == 29);
  for (const OperationType type : AllOperations()) {
    CAPTURE(TextOf(type));
    if (type == kOemOperation) {
      CHECK(SignaturesOf(type).empty());
      continue;
    }
    REQUIRE(kCounts.contains(type));
    CHECK(InputCounts(type) == kCounts.at(type).inputs);
    for (const Signature* s : SignaturesOf(type)) {
      CHECK(s->outputs.size() == kCounts.at(type).outputs);
      CHECK(FindSignature(type, s->inputs.size()) == s);
      // Tensors specify their ranks; scalars have none.
      for (const auto& list : {s->inputs, s->outputs})
        for (const Argument& a : list) CHECK((a.ranks.low > 0) == a.is_tensor());
    }
    CHECK(FindSignature(type, 0) == nullptr);
    CHECK(FindSignature(type, 24) == (type == kConcatenation ? SignaturesOf(type)[0] : nullptr));
  }
}

TEST_CASE("nnapi signatures: arguments by position, and their ranks") {
  const Signature& joined = *FindSignature(kConcatenation, 5);
  CHECK(joined.InputAt(3, 5).kind == Argument::Kind::kData);
  CHECK(joined.InputAt(4, 5).kind == Argument::Kind::kInt);
  CHECK(FindSignature(kConv2d, 7)->inputs[3].kind == Argument::Kind::kScheme);
  CHECK(FindSignature(kConv2d, 10)->inputs[3].kind == Argument::Kind::kNatural);
  CHECK(FindSignature(kSvdf, 7)->inputs[3].optional);
  const Argument& softmax = FindSignature(kSoftmax, 2)->inputs[0];
  CHECK(softmax.ranks.ToString() == "2 or 4");
  for (const int rank : {1, 2, 3, 4, 5}) CHECK(softmax.ranks.Has(rank) == (rank % 2 == 0));
  const Argument& values = FindSignature(kEmbeddingLookup, 2)->inputs[1];
  CHECK(values.ranks.ToString() == "2 or more");
  CHECK(!values.ranks.Has(1));
  CHECK(values.ranks.Has(9));
  CHECK(joined.inputs[0].ranks.ToString() == "1 to 4");
}

}  // namespace
}  // namespace nn::nnapi::nnapi_signature_test

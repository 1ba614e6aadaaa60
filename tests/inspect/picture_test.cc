#include "inspect/picture/picture.h"

#include <doctest/doctest.h>

namespace nn::test::picture_test {
namespace {

TEST_CASE("pictures: kinds and attributes of operators in every format") {
  using inspect::BoxKind;
  struct Row {
    std::string op;
    BoxKind kind;
  };
  for (const Row& r : {
           Row{"Conv", BoxKind::kConvolution},
           Row{"DEPTHWISE_CONV_2D", BoxKind::kConvolution},
           Row{"convolution", BoxKind::kConvolution},
           Row{"FULLY_CONNECTED", BoxKind::kMatmul},
           Row{"activation.ReLU", BoxKind::kActivation},
           Row{"Softmax", BoxKind::kActivation},
           Row{"LayerNormalization", BoxKind::kNorm},
           Row{"AVERAGE_POOL_2D", BoxKind::kPool},
           Row{"MaxUnpool", BoxKind::kShape},
           Row{"DequantizeLinear", BoxKind::kQuantization},
           Row{"Transpose", BoxKind::kShape},
           Row{"Add", BoxKind::kArithmetic},
           Row{"Nonesuch", BoxKind::kOther},
       }) {
    CAPTURE(r.op);
    CHECK(inspect::KindOfOperator(r.op) == r.kind);
  }
  OperatorSummary op;
  op.attributes = {{"stride_w", "2"},          {"stride_h", "1"},
                   {"padding", "SAME"},        {"fused_activation_function", "NONE"},
                   {"kernel_shape", "[3, 3]"}, {"group", "1"}};
  CHECK(inspect::ShownAttributes(op) ==
        std::vector<std::string>{"kernel 3×3", "stride 1×2", "SAME"});
}

}  // namespace
}  // namespace nn::test::picture_test

#include <doctest/doctest.h>

#include "apps/program.h"
#include "support/files.h"

namespace nn::test {
namespace {

TEST_CASE("nnrun: models to keep for a look by hand") {
  WriteModel("/tmp/io_conv.onnx", ConvModel());
  WriteModel("/tmp/io_batch.onnx", BatchModel());
  WriteModel("/tmp/io_two.onnx", TwoOutputsModel());
}

}  // namespace
}  // namespace nn::test

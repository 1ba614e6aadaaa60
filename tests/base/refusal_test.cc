// The parts of refusals.
#include "base/text/refusal.h"

#include <doctest/doctest.h>

namespace nn::test::refusal_test {
namespace {

TEST_CASE("refusal: the remedy is the last part that begins with an imperative") {
  CHECK(RemedyOf("the batch must be constant; set it with --batch") == "set it with --batch");
  CHECK(RemedyOf("x is INT64; expected INT8; use --dequantize") == "use --dequantize");
  CHECK(RemedyOf("x is INT64; expected INT8").empty());
  CHECK(RemedyOf("used scales differ; used ones must be equal").empty());
  CHECK(RemedyOf("use --batch").empty());
  CHECK(RemedyOf("").empty());
}

TEST_CASE("refusal: two reasons have one remedy") {
  CHECK(BothReasons("it has no lengths", "it has no steps") ==
        "it has no lengths; it has no steps");
  CHECK(BothReasons("it has no lengths", "its steps are open; use --unroll") ==
        "it has no lengths; its steps are open; use --unroll");
  CHECK(BothReasons("its batch is open; use --batch", "its steps are open; use --unroll") ==
        "its batch is open; its steps are open; use --batch");
  CHECK(BothReasons("its batch is open; use --batch", "it has no steps") ==
        "its batch is open; it has no steps; use --batch");
}

}  // namespace
}  // namespace nn::test::refusal_test

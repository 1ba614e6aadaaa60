// Native edits of NNAPI models.
#include <doctest/doctest.h>

#include "formats/native_edits.h"
#include "support/files.h"

namespace nn::test::nnapi_edit_test {
namespace {

TEST_CASE("edit: NNAPI, every model, cut in two") {
  CHECK(CheckCutsOfAll("nnapi") > 200);
}

}  // namespace
}  // namespace nn::test::nnapi_edit_test

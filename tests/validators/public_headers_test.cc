// Includes all public headers in one file: names must not clash, and each header must be
// self-contained.
#include "exec/program.h"
#include "exec/target.h"
#include "formats/format.h"
#include "inspect/cost.h"
#include "inspect/diff.h"
#include "inspect/digests.h"
#include "inspect/layout.h"
#include "inspect/loaded.h"
#include "inspect/match.h"
#include "inspect/node.h"
#include "inspect/overview.h"
#include "inspect/picture.h"
#include "inspect/shape_text.h"
#include "inspect/statistics.h"
#include "inspect/tensors.h"
#include "inspect/tree.h"
#include "validators/clause.h"
#include "validators/example.h"
#include "validators/finding.h"
#include "validators/report.h"
#include "validators/runner.h"

#include <doctest/doctest.h>

namespace nn::public_headers_test {
namespace {

TEST_CASE("the public headers can be included together") {
  CHECK(!SimdTargets().empty());
  CHECK(!Formats().empty());
  CHECK(StorageName(Storage::kArena) == "arena");
  CHECK(Location().index == -1);
  CHECK(inspect::KindOfOperator("Conv") == inspect::BoxKind::kConvolution);
}

}  // namespace
}  // namespace nn::public_headers_test

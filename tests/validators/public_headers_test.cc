// Includes all public headers in one file: names must not clash, and each header must be
// self-contained.
#include "exec/program.h"
#include "exec/target.h"
#include "formats/format.h"
#include "inspect/diff/diff.h"
#include "inspect/diff/digests.h"
#include "inspect/diff/match.h"
#include "inspect/loaded.h"
#include "inspect/picture/layout.h"
#include "inspect/picture/picture.h"
#include "inspect/report/cost.h"
#include "inspect/report/node.h"
#include "inspect/report/overview.h"
#include "inspect/report/shape_text.h"
#include "inspect/report/statistics.h"
#include "inspect/report/tensors.h"
#include "inspect/report/tree.h"
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

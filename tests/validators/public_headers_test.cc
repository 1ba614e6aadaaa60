// What others include, all in one file: names must not clash, and each header brings what it needs.
#include "exec/program.h"
#include "exec/target.h"
#include "formats/format.h"
#include "validators/clause.h"
#include "validators/example.h"
#include "validators/finding.h"
#include "validators/report.h"
#include "validators/runner.h"

#include <doctest/doctest.h>

namespace nn {
namespace {

TEST_CASE("the public headers live together") {
  CHECK(!SimdTargets().empty());
  CHECK(!Formats().empty());
  CHECK(StorageName(Storage::kArena) == "arena");
  CHECK(Location().index == -1);
}

}  // namespace
}  // namespace nn

// The search for operators that must stay float32, with outputs compared by tolerances.
#pragma once

#include <string>
#include <vector>

#include "against/search_dtype.h"
#include "base/json/json.h"
#include "base/options.h"
#include "base/status.h"
#include "convert/outputs/expectation.h"
#include "exec/program.h"
#include "ir/graph.h"
#include "ir/tensor.h"
#include "nnsuite/search_dtype.h"

namespace nn::against {

using nnsuite::DtypeSearchOptions;

// What C and Python call the members of the options. Programs have --search-dtype and the
// tolerances of ExpectOptions.
// Design: docs/design/069-described-options.md.
OptionTable DtypeSearchTable();

struct DtypeReport {
  DtypeSearch found;
  Expectation expectation;  // of the outputs with the others in the type
};

// SearchDtype() with the tolerances of the options. kUsage without a relative one.
Result<DtypeReport> SearchByTolerance(Graph graph, const std::vector<Tensor>& inputs,
                                      const DtypeSearchOptions& options,
                                      const ProgramOptions& program);

std::string DtypeReportText(const DtypeSearchOptions& options, const DtypeReport& report);
// {"search_dtype"}. Takes what the expectation has of it.
Json DtypeReportJson(const DtypeSearchOptions& options, DtypeReport& report);

}  // namespace nn::against

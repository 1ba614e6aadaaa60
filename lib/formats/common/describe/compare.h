// Field-by-field comparison of two models.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "formats/format.h"

namespace nn {

struct FieldDifference {
  std::string place;  // a JSON pointer into the models' dumps: "/model/graph/node/3/name"
  std::string a, b;   // short texts of the values; "" for one that is not there
};

// The differences between two models of one format in their files: all fields, including those not
// in the schema, tensor data, and side files. If lists differ in length, their common elements are
// compared as well. Empty if the models are equal except for layout (order of fields, flatbuffer
// offsets). Returns at most `limit` differences. Needs several times the memory of the models
// without tensor data.
//
// kUnsupported for models that cannot be dumped.
Result<std::vector<FieldDifference>> CompareModels(const ReadModel& a, const ReadModel& b,
                                                   size_t limit = 100);

}  // namespace nn

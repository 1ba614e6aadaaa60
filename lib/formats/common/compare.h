// Whether two models say the same, field by field.
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

// What is different between two models of one format as their files have them: every field, those
// that the schema does not have too, data of tensors, and the files beside the models. Where a list
// is longer in one, what they have in common is compared as well. Empty: the models are equal, and
// differ in layout at most (order of fields, flatbuffer offsets). At most `limit` are found. Memory
// is needed for the models without data of tensors, several times.
//
// kUnsupported for what cannot be dumped.
Result<std::vector<FieldDifference>> CompareModels(const ReadModel& a, const ReadModel& b,
                                                   size_t limit = 100);

}  // namespace nn

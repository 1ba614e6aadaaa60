// Finds the options that make refused operators convertible.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "rewrite/legalize.h"

namespace nn {

// Whether RemedyOf() would try anything.
bool HasRemedies(const Graph& source, const ConvertJob& o);

// The first remedy that leaves the fewest unsupported nodes, with options of nnconvert; "" if none
// leaves fewer than `unsupported`. Each remedy is tried on a copy of the source: fixed shapes,
// other element types, and fixed contents of inputs, with the values that it names. `of_import`:
// the unsupported nodes of the import, which stay unless GraphSource::import_again can do better
// with the shapes and contents.
std::string RemedyOf(const Graph& source, const Format& format, size_t unsupported,
                     const std::vector<UnsupportedNode>& of_import, const GraphSource& from,
                     const ConvertJob& o);

}  // namespace nn

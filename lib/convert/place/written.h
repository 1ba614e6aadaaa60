// Checks of a model that a conversion has written. The functions may be called concurrently.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/status.h"
#include "formats/format.h"
#include "ir/graph.h"
#include "validators/finding.h"

namespace nn {

// The first error that nnvalidate finds in the model.
std::optional<Finding> FirstError(const ReadModel& model);

// The first error in the source model. Called only if the written model has a flaw, so the source
// need not stay in memory.
using SourceError = std::function<std::optional<Finding>()>;

// Checks that a written model can be read, passes the rules of its format and can be imported;
// returns the model, or its graph. A failure is kInternal, unless the source violates the rules of
// its own format (kModel): the model written for it may then violate rules as well.
Result<ReadModel> ReadWritten(Result<ReadModel> written, const Format& format,
                              const SourceError& source_error);
Status CheckWritten(const ReadModel& written, const SourceError& source_error);
Result<Graph> ImportWritten(const ReadModel& written, const SourceError& source_error);
// With the states of the model as ports.
Result<ImportedModel> ImportWrittenWith(const ReadModel& written, const SourceError& source_error,
                                        StatePorts states);

// The operators that a file lists, subgraphs included; 0 if it has no list.
uint64_t OperatorsOf(const ReadModel& model);

// ImportWritten() for the bytes of a model in one file that is written from a sound graph. The path
// need not exist; its extension is that of the format.
Result<Graph> ImportImage(const FileImage& image, const std::string& path, const Format& format);

}  // namespace nn

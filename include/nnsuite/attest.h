// Statements of how models were made, which CheckOptions::attestation checks.
#pragma once

#include <string>

#include "nnsuite/convert.h"
#include "nnsuite/error.h"

namespace nnsuite {

class Model;

// ConvertModel(), and a file with an in-toto statement (SLSA provenance) of the conversion, as
// nnconvert --attest writes it: digests of the files of both models, version, options and
// verification. Contents of tensors among the options are stated by their digests. The statement is
// written if the model was. Equal conversions give equal statements.
//
// Errors are those of ConvertModel(), kUsage for a dry run and for models without files whose
// digests can be stated, and those of writing the statement, after which the model is in place.
Result<Conversion> ConvertAndAttest(const Model& model, const std::string& output,
                                    const std::string& statement,
                                    const ConvertOptions& options = {});

}  // namespace nnsuite

// The form in which nnconvert attests how a model was made, and nnvalidate reads it: an in-toto
// Statement v1 whose predicate is SLSA Provenance v1. Subjects are the files of the output,
// resolved dependencies those of the source, each with its SHA-256 digest. What SLSA has no field
// for is in members that begin with "nnsuite_".
#pragma once

#include <optional>
#include <string>

#include "base/json/json.h"
#include "base/status.h"
#include "nnsuite/inspect.h"
#include "nnsuite/options.h"

namespace nn::provenance {

inline constexpr const char* kStatementType = "https://in-toto.io/Statement/v1";
inline constexpr const char* kPredicateType = "https://slsa.dev/provenance/v1";
// The media type of a statement in a signed envelope (DSSE).
inline constexpr const char* kPayloadType = "application/vnd.in-toto+json";
// What "buildType" says of a conversion: all subjects are the files of one model.
inline constexpr const char* kBuildType = NN_HOMEPAGE "/conversion/v1";

// Members of the predicate's "runDetails".
inline constexpr const char* kResult = "nnsuite_result";  // OutcomeName()
inline constexpr const char* kHashes = "nnsuite_hashes";  // those of nninspect --hash
inline constexpr const char* kVerification = "nnsuite_verification";
inline constexpr const char* kNativeEdits = "nnsuite_native_edits";  // with a "verification"
inline constexpr const char* kGraphEdits = "nnsuite_graph_edits";    // the same

// {"structure": ..., "weights": ...}
Json HashJson(const nnsuite::ModelDigests& digests);
std::optional<nnsuite::ModelDigests> HashFrom(const Json& json);

// The digests of the model at `path` that do not depend on how it is stored; nullopt if it cannot
// be imported.
std::optional<nnsuite::ModelDigests> HashOf(const std::string& path,
                                            const nnsuite::ReadLimits& limits);

// Reads a statement, or a signed envelope or Sigstore bundle around one. `is_signed`: whether there
// was an envelope, whose signatures are not checked. kUsage for other contents.
Result<Json> ReadStatement(const std::string& path, bool& is_signed);

}  // namespace nn::provenance

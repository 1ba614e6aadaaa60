// Hashes by name, for files of others that say which one they use.
#pragma once

#include <optional>
#include <string>

#include "base/file/blob.h"

namespace nn {

// Whether a digest of that kind stands for the contents: nobody can make other contents with the
// same digest.
bool IsSecureHash(const std::string& name);

// The digest as hexadecimal digits in lower case. `name` is that of a digest set of in-toto, such
// as "sha512"; nullopt for one that is not known here. Memory use does not grow with the blob.
std::optional<std::string> HashByName(const std::string& name, const Blob& blob);

}  // namespace nn

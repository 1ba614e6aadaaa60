// What readers, validators, importers and dumps do with any bytes at all: the one body of the
// mutation tests and of the fuzz targets.
#pragma once

#include <string>
#include <string_view>

namespace nn::test {

// Whether the bytes were read as a model. `broken` is empty, or says which promise was not kept:
//   - a model that was dumped is restored from its dump, and dumped again the same;
//   - a model that was saved is read again, and dumped the same;
//   - an imported graph passes the verifier.
struct Exercised {
  bool read = false;
  std::string broken;
};

// `path` tells where the bytes are said to come from; no file of that name is looked at. Copies are
// made only if `round_trip`.
Exercised Exercise(std::string_view bytes, const std::string& path, bool round_trip);

}  // namespace nn::test

#include "support/paths.h"

namespace nn::test {

std::string SourcePath(std::string_view path) {
  return path.empty() ? NN_SOURCE_DIR : NN_SOURCE_DIR "/" + std::string(path);
}

std::string BinDir() {
  return NN_BIN_DIR;
}

std::string LibraryFile() {
#ifdef NN_LIBRARY
  return NN_LIBRARY;
#else
  return "";
#endif
}

std::string FaultsFile() {
#ifdef NN_FAULTS
  return NN_FAULTS;
#else
  return "";
#endif
}

}  // namespace nn::test

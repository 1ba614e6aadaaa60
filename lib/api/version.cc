#include "nnsuite/version.h"

namespace nnsuite {

std::string_view Version() {
  return NN_VERSION;
}

}  // namespace nnsuite

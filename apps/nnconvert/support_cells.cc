// Written by scripts/update-grid; do not edit.
#include "apps/nnconvert/support.h"

namespace nn::app {

std::span<const SupportCell> SupportCells() {
  return {};
}

}  // namespace nn::app

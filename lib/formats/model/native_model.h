// Models in the terms of their own formats.
#pragma once

#include "formats/common/edit/side_files.h"

namespace nn {

// A model in the terms of its own format, safe to read even if it is invalid. Each format derives
// its own type.
class NativeModel {
 public:
  virtual ~NativeModel() = default;

  // The reader of the files that the model names, other than those of its folder. Copies know all
  // files that were read, without keeping the model in memory.
  SideFiles files;
};

}  // namespace nn

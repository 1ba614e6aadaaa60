// A libzip source that writes to an AtomicFile: libzip's own files are replaced under names of its
// choice, which a killed process leaves behind.
#pragma once

#include "base/file.h"

struct zip_error;
struct zip_source;

namespace nn {

// An empty archive to be filled; its bytes go to `file`, which must outlive the source and is not
// committed. nullptr, with `error` set, if there is no memory.
zip_source* NewZipSink(AtomicFile& file, zip_error* error);

}  // namespace nn

// A libzip source that writes to an AtomicFile. libzip's own temporary files have names of its
// choice and are left behind when the process is killed.
#pragma once

#include "base/file/file.h"

struct zip_error;
struct zip_source;

namespace nn {

// Creates an empty archive whose bytes are written to `file`, which must outlive the source; the
// caller commits the file. Returns nullptr and sets `error` if memory is exhausted.
zip_source* NewZipSink(AtomicFile& file, zip_error* error);

}  // namespace nn

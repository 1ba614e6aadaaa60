// Memory-mapped files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/file/blob.h"
#include "base/status.h"

namespace nn {

// Maps the first `size` bytes of an open file read-only; `shown` is the file's name in messages.
// kIo if the file cannot be mapped.
Result<Blob> MapFile(int fd, size_t size, const std::string& shown);

// Whether all bytes belong to a file mapped by MapFile(), which other processes may modify.
bool IsMapped(const Blob& blob);

// Copies bytes of a mapped file to the file `to` without touching their pages. Returns the number
// of bytes copied, which may be less than requested: 0 if the bytes are not part of a large mapped
// file or the system does not support the copy.
size_t CopyFromMapping(std::span<const std::byte> bytes, int to);

// Writes the null-terminated name of the file mapped at an address into `name`, for a SIGBUS
// handler. Returns false if no file is mapped there. Takes a lock that is never held while mapped
// bytes are read.
bool MappedFileAt(const void* address, std::span<char> name) noexcept;

}  // namespace nn

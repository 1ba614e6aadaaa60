// Files that are mapped into memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/blob.h"
#include "base/status.h"

namespace nn {

// The first `size` bytes of an open file, mapped read-only; `shown` is the file's name in messages.
// kIo where the file cannot be mapped.
Result<Blob> MapFile(int fd, size_t size, const std::string& shown);

// Whether all bytes are those of a file that MapFile() mapped, which other processes may change.
bool IsMapped(const Blob& blob);

// Copies bytes of a mapped file to another without touching their pages. Returns how many: none
// where the bytes are not those of a large file, or the system cannot do it.
size_t CopyFromMapping(std::span<const std::byte> bytes, int to);

// Writes the name of the file that is mapped at an address, ended by a zero, into `name`: for a
// handler of SIGBUS, which an access to that address raised. False if no file is mapped there.
bool MappedFileAt(const void* address, std::span<char> name) noexcept;

}  // namespace nn

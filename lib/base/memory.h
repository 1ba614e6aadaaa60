// Memory limits, and poisoning of fresh memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace nn {

// Bytes that this process can still allocate: the minimum of the system's available memory, the
// limits of its control groups (v1 and v2) and its RLIMIT_DATA. nullopt if none of these is known.
std::optional<uint64_t> AvailableMemory();

// The same, read from files with Linux's layout below `root` instead of "/". For tests.
std::optional<uint64_t> AvailableMemoryBelow(const std::string& root);

// A debugging aid: fills fresh tensor memory, and the executor's arena before each run, with a
// pattern that depends on `number`. An output that reads uninitialized memory then differs between
// two numbers. nullopt disables it. Applies to the whole process.
void PoisonMemory(std::optional<uint8_t> number);
// Calls PoisonMemory() with the environment variable NN_POISON if it is a number from 0 to 255.
void PoisonMemoryFromEnvironment();
// Fills the memory with the pattern, a signaling float32 NaN in every four bytes; does nothing if
// poisoning is off.
void Poison(std::span<std::byte> memory);

}  // namespace nn

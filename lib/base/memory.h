// How much memory a computation may take, and what fresh memory holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace nn {

// Bytes that this process can still take: the least of what the system has available, what its
// control groups (v1 and v2) allow and what its own limit on private memory (RLIMIT_DATA) leaves.
// nullopt where none of these can be told.
std::optional<uint64_t> AvailableMemory();

// The same for files that describe a system as Linux does; for tests. `root` stands for "/".
std::optional<uint64_t> AvailableMemoryBelow(const std::string& root);

// A debugging aid: from now on, fresh memory for tensors and the executor's arena before each run
// hold a pattern that depends on `number`. What an output takes from memory that nothing was
// written to then differs between two numbers. nullopt: off. For the whole process.
void PoisonMemory(std::optional<uint8_t> number);
// PoisonMemory() as the environment variable NN_POISON asks: a number of 0 to 255. Other values
// leave it off.
void PoisonMemoryAsAsked();
// Writes the pattern, a signalling float32 NaN in every four bytes; nothing when it is off.
void Poison(std::span<std::byte> memory);

}  // namespace nn

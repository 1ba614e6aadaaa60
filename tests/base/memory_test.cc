#include "base/memory.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file/blob.h"
#include "support/files.h"

namespace nn::test::memory_test {
namespace {

void Put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST_CASE("memory: the least of system and control groups") {
  const TempDir dir;
  const std::filesystem::path root(dir.path());
  CHECK(AvailableMemoryBelow(root.string()) == std::nullopt);
  Put(root / "proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:    1000 kB\n");
  CHECK(AvailableMemoryBelow(root.string()) == 1024000);
  // Version 2: the group and those above it.
  Put(root / "proc/self/cgroup", "0::/a/b\n");
  Put(root / "sys/fs/cgroup/a/b/memory.max", "max\n");
  Put(root / "sys/fs/cgroup/a/b/memory.current", "5\n");
  CHECK(AvailableMemoryBelow(root.string()) == 1024000);
  Put(root / "sys/fs/cgroup/a/memory.max", "500000\n");
  Put(root / "sys/fs/cgroup/a/memory.current", "300000\n");
  CHECK(AvailableMemoryBelow(root.string()) == 200000);
  Put(root / "sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 100000\n");
  CHECK(AvailableMemoryBelow(root.string()) == 300000);
  // Version 1, and a group that exceeds its limit.
  Put(root / "proc/self/cgroup", "3:cpu:/x\n2:pids,memory:/c\n");
  Put(root / "sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1000\n");
  Put(root / "sys/fs/cgroup/memory/c/memory.usage_in_bytes", "2000\n");
  CHECK(AvailableMemoryBelow(root.string()) == 0);
  CHECK(AvailableMemory().value_or(1) > 0);
}

TEST_CASE("memory: poison") {
  const auto word = [](const Buffer& buffer) {
    uint32_t bits = 0;
    std::memcpy(&bits, buffer.data(), 4);
    return bits;
  };
  PoisonMemory(uint8_t{1});
  const Buffer one(10);
  PoisonMemory(uint8_t{2});
  const Buffer two(10);
  std::array<std::byte, 6> odd{};
  Poison(odd);
  PoisonMemory(std::nullopt);
  CHECK(word(one) != word(two));
  for (const uint32_t bits : {word(one), word(two)}) {
    CHECK((bits & 0x7FC00000) == 0x7F800000);  // NaN, the quiet bit clear
    CHECK((bits & 0x003FFFFF) != 0);
  }
  CHECK(std::memcmp(odd.data(), odd.data() + 4, 2) == 0);
  CHECK(odd[0] != std::byte{0});
  std::array<std::byte, 4> off{};
  Poison(off);
  CHECK(off == std::array<std::byte, 4>{});
  // Restored for the tests that follow.
  PoisonMemoryFromEnvironment();
}

}  // namespace
}  // namespace nn::test::memory_test

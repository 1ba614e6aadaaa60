#include "base/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace nn {
namespace {

// The number after `key` in lines of the form "key value ...".
std::optional<uint64_t> NumberBehind(std::istream& in, std::string_view key) {
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    uint64_t value = 0;
    std::istringstream rest(line.substr(key.size()));
    if (rest >> value) return value;
  }
  return std::nullopt;
}

std::optional<uint64_t> NumberIn(const std::string& path) {
  std::ifstream in(path);
  uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;  // "max" included
}

uint64_t Difference(uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

// Lowers `least` to the memory left in a control group and its ancestors. The usage of a group
// includes file caches that the system can reclaim, which count as free. Paths are strings because
// libstdc++'s path frees memory it does not own when an allocation fails.
void LimitByGroups(const std::string& mount, const std::string& group,
                   const std::string& limit_file, const std::string& usage_file,
                   std::optional<uint64_t>& least) {
  for (std::string at = group;; at.resize(at.rfind('/'))) {
    const std::string folder = mount + at + "/";
    const auto limit = NumberIn(folder + limit_file);
    const auto usage = NumberIn(folder + usage_file);
    if (limit && usage) {
      std::ifstream stat(folder + "memory.stat");
      const uint64_t cache = NumberBehind(stat, "inactive_file ").value_or(0);
      const uint64_t left = Difference(*limit, Difference(*usage, cache));
      least = std::min(least.value_or(left), left);
    }
    if (at.find('/') == std::string::npos) return;
  }
}

// The four-byte pattern; 0 disables poisoning.
std::atomic<uint32_t> g_poison{0};

}  // namespace

std::optional<uint64_t> AvailableMemoryBelow(const std::string& root) {
  const std::string base = root + "/";
  std::optional<uint64_t> least;
  std::ifstream meminfo(base + "proc/meminfo");
  if (const auto kib = NumberBehind(meminfo, "MemAvailable:")) least = *kib * 1024;
  std::ifstream groups(base + "proc/self/cgroup");
  // Lines of the form "hierarchy:controllers:group"; version 2 has hierarchy 0 and no controllers.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,")
      LimitByGroups(base + "sys/fs/cgroup", group, "memory.max", "memory.current", least);
    else if (controllers.find(",memory,") != std::string::npos)
      LimitByGroups(base + "sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                    "memory.usage_in_bytes", least);
  }
  return least;
}

std::optional<uint64_t> AvailableMemory() {
  std::optional<uint64_t> least = AvailableMemoryBelow("/");
  rlimit own{};
  if (getrlimit(RLIMIT_DATA, &own) == 0 && own.rlim_cur != RLIM_INFINITY) {
    std::ifstream status("/proc/self/status");
    const uint64_t used = NumberBehind(status, "VmData:").value_or(0) * 1024;
    const uint64_t left = Difference(own.rlim_cur, used);
    least = std::min(least.value_or(left), left);
  }
  return least;
}

void PoisonMemory(std::optional<uint8_t> number) {
  constexpr uint32_t kSignalling = 0x7FA00000;
  g_poison = number ? kSignalling | 0x80 | uint32_t{*number} << 8 : 0;
}

void PoisonMemoryFromEnvironment() {
  const char* text = std::getenv("NN_POISON");
  if (text == nullptr) return;
  const std::string_view digits(text);
  uint8_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc() && end == digits.data() + digits.size()) PoisonMemory(number);
}

void Poison(std::span<std::byte> memory) {
  const uint32_t pattern = g_poison.load(std::memory_order_relaxed);
  if (pattern == 0 || memory.empty()) return;
  size_t at = 0;
  for (; at + sizeof(pattern) <= memory.size(); at += sizeof(pattern))
    std::memcpy(memory.data() + at, &pattern, sizeof(pattern));
  std::memcpy(memory.data() + at, &pattern, memory.size() - at);
}

}  // namespace nn

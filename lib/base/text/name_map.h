// A hash table by names. Models have millions of names, and most of the time of their tables is
// spent waiting for memory: this one reads one place per lookup, plus the entry if there is one,
// where std::unordered_map reads three or more.
//
// Design: docs/design/011-graph-memory.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace nn {

// The names are not owned. Entries are in order of insertion and cannot be removed; insertion
// invalidates iterators. Otherwise like std::unordered_map.
template <typename T>
class NameMap {
 public:
  using Entry = std::pair<std::string_view, T>;
  using iterator = typename std::vector<Entry>::iterator;
  using const_iterator = typename std::vector<Entry>::const_iterator;

  // Makes room for `count` names.
  void reserve(size_t count) {
    entries_.reserve(count);
    size_t slots = kMinSlots;
    while (slots < 2 * count) slots *= 2;
    if (slots > slots_.size()) Grow(slots);
  }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }

  iterator find(std::string_view name) { return begin() + IndexOf(name); }
  const_iterator find(std::string_view name) const { return begin() + IndexOf(name); }
  bool contains(std::string_view name) const { return find(name) != end(); }

  // The entry of the name, and whether it is new; a new one has the value T(args...).
  template <typename... Args>
  std::pair<iterator, bool> try_emplace(std::string_view name, Args&&... args) {
    if (2 * (entries_.size() + 1) > slots_.size())
      Grow(slots_.empty() ? kMinSlots : 2 * slots_.size());
    const uint32_t hash = HashOf(name);
    Slot& slot = slots_[SlotOf(name, hash)];
    if (slot.entry != 0) return {begin() + (slot.entry - 1), false};
    entries_.emplace_back(name, T(std::forward<Args>(args)...));
    slot = {hash, static_cast<uint32_t>(entries_.size())};
    return {end() - 1, true};
  }
  void insert_or_assign(std::string_view name, T value) {
    try_emplace(name).first->second = std::move(value);
  }
  T& operator[](std::string_view name) { return try_emplace(name).first->second; }

 private:
  static constexpr size_t kMinSlots = 16;
  struct Slot {
    uint32_t hash = 0;
    uint32_t entry = 0;  // index in entries_ plus 1; 0: free
  };

  static uint32_t HashOf(std::string_view name) {
    return static_cast<uint32_t>(std::hash<std::string_view>()(name));
  }
  // The slot of the name, or the free one that it would get. There are more slots than entries.
  size_t SlotOf(std::string_view name, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t i = hash & mask;
    while (slots_[i].entry != 0 &&
           !(slots_[i].hash == hash && entries_[slots_[i].entry - 1].first == name))
      i = (i + 1) & mask;
    return i;
  }
  std::ptrdiff_t IndexOf(std::string_view name) const {
    const uint32_t entry = slots_.empty() ? 0 : slots_[SlotOf(name, HashOf(name))].entry;
    return static_cast<std::ptrdiff_t>(entry == 0 ? entries_.size() : entry - 1);
  }
  void Grow(size_t slots) {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
    for (const Slot& slot : old) {
      if (slot.entry == 0) continue;
      size_t i = slot.hash & (slots - 1);
      while (slots_[i].entry != 0) i = (i + 1) & (slots - 1);
      slots_[i] = slot;
    }
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two
};

// The same without values.
class NameSet {
 public:
  void reserve(size_t count) { names_.reserve(count); }
  size_t size() const { return names_.size(); }
  bool contains(std::string_view name) const { return names_.contains(name); }
  // False if the name is in the set.
  bool insert(std::string_view name) { return names_.try_emplace(name).second; }

 private:
  struct Nothing {};
  NameMap<Nothing> names_;
};

}  // namespace nn

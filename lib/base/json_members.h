// What nlohmann's parser lets pass: members that occur twice.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace nn {

// Follows the events of a parser callback.
class MemberNames {
 public:
  // The name that the event is about, if its object has a member of that name already.
  const std::string* Repeated(nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) names_.emplace_back();
    if (event == Event::object_end) names_.pop_back();
    if (event != Event::key) return nullptr;
    const auto& name = parsed.get_ref<const std::string&>();
    return names_.back().insert(name).second ? nullptr : &name;
  }

 private:
  std::vector<std::set<std::string>> names_;  // of the objects that are open
};

}  // namespace nn

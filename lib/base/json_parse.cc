#include "base/json_parse.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace nn {
namespace {

using nlohmann::json;

class TreeBuilder : public json::json_sax_t {
 public:
  explicit TreeBuilder(const JsonHooks& hooks) : hooks_(hooks) {}

  bool null() override { return Scalar(nullptr); }
  bool boolean(bool v) override { return Scalar(v); }
  bool number_integer(number_integer_t v) override { return Scalar(v); }
  bool number_unsigned(number_unsigned_t v) override { return Scalar(v); }
  bool number_float(number_float_t v, const string_t&) override { return Scalar(v); }
  bool string(string_t& v) override { return Scalar(std::move(v)); }
  bool binary(binary_t& v) override { return Scalar(std::move(v)); }
  bool start_object(size_t) override { return Open(json::value_t::object); }
  bool start_array(size_t) override { return Open(json::value_t::array); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    auto [it, added] = open_.back()->get_ref<json::object_t&>().emplace(std::move(name), nullptr);
    if (!added) {
      error_ = hooks_.repeated ? hooks_.repeated(it->first)
                               : ParseError("duplicate object member {}", Quote(it->first)).value();
      return false;
    }
    member_ = &it->second;
    return true;
  }

  bool parse_error(size_t, const std::string&, const json::exception& e) override {
    error_ = ParseError("not JSON: {}", JsonErrorText(e.what())).value();
    return false;
  }

  Result<json> Finish(bool done) {
    if (error_) return tl::unexpected(std::move(*error_));
    if (!done) return ParseError("not JSON");
    return std::move(root_);
  }

 private:
  bool Check(const Status& status) {
    if (!status) error_ = status.error();
    return status.has_value();
  }

  // Stores the next value.
  json& Place(json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_array()) {
      auto& list = open_.back()->get_ref<json::array_t&>();
      list.push_back(std::move(value));
      return list.back();
    }
    return *member_ = std::move(value);
  }

  bool Scalar(json value) {
    if (hooks_.value && !Check(hooks_.value(value))) return false;
    Place(std::move(value));
    return true;
  }

  bool Open(json::value_t type) {
    if (hooks_.open && !Check(hooks_.open(static_cast<int>(open_.size())))) return false;
    open_.push_back(&Place(json(type)));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  const JsonHooks& hooks_;
  json root_;
  std::vector<json*> open_;
  json* member_ = nullptr;  // of the innermost object
  std::optional<Error> error_;
};

}  // namespace

std::string JsonErrorText(std::string_view what) {
  what.remove_prefix(std::min(what.find(' ') + 1, what.size()));  // "[json.exception...] "
  if (const size_t quote = what.find("; last read: "); quote != std::string_view::npos)
    what = what.substr(0, std::min(what.size(), quote + 100));
  return EscapeControls(what);
}

Result<json> ParseJson(std::string_view text, const JsonHooks& hooks) {
  TreeBuilder builder(hooks);
  const bool done = json::sax_parse(text, &builder);
  return builder.Finish(done);
}

}  // namespace nn

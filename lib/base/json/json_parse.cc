#include "base/json/json_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text/text.h"

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
    error_ = ParseError("not JSON: {}", JsonErrorText(e)).value();
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

// The text between the first `begin` and the last `end`; empty if there is none.
std::string_view Between(std::string_view text, std::string_view begin, std::string_view end) {
  const size_t first = text.find(begin), last = text.rfind(end);
  if (first == std::string_view::npos || last == std::string_view::npos ||
      last < first + begin.size())
    return {};
  return text.substr(first + begin.size(), last - first - begin.size());
}

// The library says "[...] parse error at LINE AND COLUMN: WHY; last read: 'TEXT'; expected ...".
// TEXT is shortened, because it may be a long string of weights.
std::string SyntaxErrorText(std::string_view what) {
  constexpr size_t kMaxShown = 60;
  std::string out = "parse error";
  std::string_view place = Between(what, " at ", ": ");
  place = place.substr(0, place.find(':'));
  if (!place.empty()) out += " at " + EscapeControls(place);
  if (what.find("unexpected end of input") != std::string_view::npos)
    return out + ": the text ends too early";
  std::string_view read = what.substr(std::min(what.find("; last read: '"), what.size()));
  read = Between(read, "'", "'");
  if (read.size() > kMaxShown) read = read.substr(read.size() - kMaxShown);
  return read.empty() ? out : out + ": unexpected text after " + Quote(read);
}

}  // namespace

std::string JsonErrorText(const json::exception& e) {
  const std::string_view what = e.what();
  switch (e.id) {
    case 101:
      return SyntaxErrorText(what);
    case 302:
    case 304:
    case 305:
    case 306:
      return "a value is of another type than expected";
    case 316:
      return "a text is not UTF-8";
    case 401:
      return "a list is too short";
    case 403:
      return "the member " + Quote(Between(what, "key '", "' not found")) + " is missing";
    case 406:
      return "a number is too large";
    default:
      return fmt::format("it has an unexpected form ({})", e.id);
  }
}

Result<json> ParseJson(std::string_view text, const JsonHooks& hooks) {
  TreeBuilder builder(hooks);
  const bool done = json::sax_parse(text, &builder);
  return builder.Finish(done);
}

}  // namespace nn

#include "validators/rule_cases.h"

#include <doctest/doctest.h>
#include <flatbuffers/idl.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include "base/json/json.h"
#include "formats/format.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/wire.h"
#include "validators/runner.h"

namespace nn::test {
namespace {

namespace pb = google::protobuf;

std::set<std::string> Words(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

// The rules of a profile with a prefix that a file breaks, with the messages.
std::set<std::string> BrokenRules(const std::string& path, Profile profile, std::string_view prefix,
                                  std::string& messages) {
  std::set<std::string> rules;
  const auto add = [&](const Finding& f) {
    if (!f.rule.starts_with(prefix)) return;
    rules.insert(f.rule);
    messages += "\n" + f.rule + ": " + f.message + " at " + f.location.element;
    CHECK(!f.message.empty());
  };
  if (const auto read = ReadModelFile(path); read) {
    for (const Finding& f : Validate(*read->model, *read->format, {profile})) add(f);
  } else {
    add(UnreadableFile(read.error(), FormatOfPath(path)));
  }
  return rules;
}

class ErrorList : public pb::io::ErrorCollector {
 public:
  std::string text;
  void AddError(int line, pb::io::ColumnNumber, const std::string& message) override {
    text += "line " + std::to_string(line) + ": " + message + "\n";
  }
};

}  // namespace

void CheckRuleCases(const RuleCases& cases) {
  const TempDir folder;
  const std::string path = folder / cases.file;
  if (cases.prepare != nullptr) cases.prepare(folder.path());
  const auto check = [&](const std::string& bytes, std::string_view rules,
                         Profile profile = Profile::kStrict) {
    WriteText(path, bytes);
    std::string messages;
    const std::set<std::string> found = BrokenRules(path, profile, cases.prefix, messages);
    CHECK_MESSAGE(found == Words(rules), "found " << Json(found).dump() << messages);
  };
  const auto encode = [&](const std::string& base, const std::vector<Edit>& edits) {
    const auto text = ExampleText(cases.examples, base, edits);
    REQUIRE_MESSAGE(text.has_value(), text.error().message());
    return cases.encode(*text);
  };
  std::set<std::string_view> covered(cases.elsewhere.begin(), cases.elsewhere.end());
  std::set<std::string> bases;
  for (const RuleExample& e : cases.examples.list) {
    INFO("example of ", std::string(e.rules));
    covered.insert(e.rule());
    const auto rule = FindRule(e.rule());
    REQUIRE(rule.has_value());
    const Profile profile = rule->safety ? Profile::kSafety : Profile::kStrict;
    if (bases.insert(e.base).second) {
      INFO("base");
      check(encode(e.base, {}), "", profile);
    }
    {
      INFO("broken");
      check(encode(e.base, e.broken), e.rules, profile);
    }
    INFO("near miss");
    check(encode(e.base, e.near), "", profile);
  }
  if (const std::string unreadable = std::string(cases.prefix) + "FILE-001"; FindRule(unreadable)) {
    const std::string whole = encode(cases.examples.list.front().base, {});
    check(whole.substr(0, whole.size() * 2 / 3), unreadable);
    covered.insert(FindRule(unreadable)->id);
  }
  for (const RuleInfo& rule : AllRules())
    if (rule.id.starts_with(cases.prefix))
      CHECK_MESSAGE(covered.contains(rule.id), rule.id << " has no example");
}

std::string EncodeProto(const std::string& message, const std::string& text) {
  // The library's own messages, accessed by name, because tests cannot include their headers.
  const auto* type = pb::DescriptorPool::generated_pool()->FindMessageTypeByName(message);
  REQUIRE(type != nullptr);
  const std::unique_ptr<pb::Message> model(
      pb::MessageFactory::generated_factory()->GetPrototype(type)->New());
  ErrorList errors;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  REQUIRE_MESSAGE(parser.ParseFromString(text, model.get()), errors.text);
  std::string bytes = model->SerializeAsString();
  static const std::regex kField("# field ([0-9]+) ?([0-9a-f]*)");
  for (std::sregex_iterator at(text.begin(), text.end(), kField), end; at != end; ++at) {
    std::string payload;
    for (size_t i = 0; i + 1 < (*at)[2].str().size(); i += 2)
      payload += static_cast<char>(std::stoi((*at)[2].str().substr(i, 2), nullptr, 16));
    bytes += Bytes(std::stoi((*at)[1]), payload);
  }
  return bytes;
}

std::string EncodeFlatbuffer(const std::string& file, const std::string& text) {
  flatbuffers::Parser parser;
  REQUIRE_MESSAGE(parser.Parse(ReadText(SourcePath("schemas/") + file).c_str()), parser.error_);
  REQUIRE_MESSAGE(parser.Parse(text.c_str()), parser.error_);
  return {reinterpret_cast<const char*>(parser.builder_.GetBufferPointer()),
          parser.builder_.GetSize()};
}

}  // namespace nn::test

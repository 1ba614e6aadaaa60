#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "api/c/options.h"
#include "apps/program.h"
#include "base/options.h"
#include "convert/convert_options.h"
#include "nnsuite/nnsuite.h"
#include "support/files.h"
#include "support/paths.h"

// Each row of the tables of options is an option of nnconvert, of C and of Python. The comments of
// nnsuite.h, the types of the Python package and the tables of the reference are those of the
// tables: scripts/update-options writes them, with NN_OPTIONS_UPDATE.
namespace nn::test::option_surfaces_test {
namespace {

std::vector<OptionField> BindingsOf(const api::OptionUser& user) {
  std::vector<OptionField> fields;
  for (const OptionField& field : user.table)
    if (field.IsOn(kInBindings)) fields.push_back(field);
  return fields;
}

// ---- nnsuite.h

std::string Listed(const std::vector<OptionField>& fields, std::set<OptionKind> kinds) {
  std::vector<std::string> names;
  for (const OptionField& field : fields) {
    if (!kinds.contains(field.kind)) continue;
    names.emplace_back(field.name);
    if (!field.choices.empty())
      names.back() += fmt::format(" (\"{}\")", fmt::join(field.choices, "\", \""));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// "Texts: a, b; repeatable: c. Flags: d. Integers: e. Reals: f. Shapes."
std::string Sentences(const api::OptionUser& user) {
  const std::vector<OptionField> fields = BindingsOf(user);
  std::vector<std::string> sentences;
  const auto add = [&](std::string_view kind, const std::string& names) {
    if (!names.empty()) sentences.push_back(fmt::format("{}: {}", kind, names));
  };
  add("Texts", Listed(fields, {OptionKind::kText}));
  add("Repeatable texts", Listed(fields, {OptionKind::kTexts}));
  add("Flags", Listed(fields, {OptionKind::kFlag}));
  add("Integers", Listed(fields, {OptionKind::kInteger, OptionKind::kCount}));
  add("Reals", Listed(fields, {OptionKind::kReal}));
  add("Repeatable reals", Listed(fields, {OptionKind::kReals}));
  std::vector<std::string_view> others;
  if (user.shapes) others.emplace_back("shapes");
  if (user.inputs) others.emplace_back("inputs");
  if (user.tensors)
    for (const char* kind : {"samples", "inputs of the verification", "fixed inputs"})
      others.emplace_back(kind);
  if (user.progress) others.emplace_back("progress");
  if (!others.empty()) {
    sentences.push_back(fmt::format("{}", fmt::join(others, ", ")));
    sentences.back()[0] = static_cast<char>(std::toupper(sentences.back()[0]));
  }
  return fmt::format("{}.", fmt::join(sentences, ". "));
}

std::string AsComment(const std::string& text) {
  constexpr size_t kColumns = 100;
  std::string out, line = "//";
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line = "//";
    }
    line += " " + word;
  }
  return out + line + "\n";
}

// The header, in which the last paragraph of each function's comment lists its options.
std::string WithOptions(std::string header) {
  for (const api::OptionUser& user : api::OptionUsers()) {
    const size_t at = header.find(fmt::format("\nint nnsuite_{}(", user.name)) + 1;
    REQUIRE(at != 0);
    const size_t begin = header.rfind("\n//\n", at) + 4;
    header.replace(begin, at - begin, AsComment(Sentences(user)));
  }
  return header;
}

// ---- Python

std::string PythonType(const OptionField& field) {
  switch (field.kind) {
    case OptionKind::kFlag:
      return "bool";
    case OptionKind::kInteger:
    case OptionKind::kCount:
      return "int";
    case OptionKind::kReal:
      return "float";
    case OptionKind::kText:
      if (field.value == "FILE") return "Union[str, \"os.PathLike[str]\"]";
      return field.choices.empty()
                 ? "str"
                 : fmt::format("Literal[\"{}\"]", fmt::join(field.choices, "\", \""));
    case OptionKind::kReals:
      return "Union[float, Sequence[float]]";
    case OptionKind::kTexts:
      break;
  }
  return "Union[str, Sequence[str]]";
}

// Keys whose values are no texts.
constexpr std::string_view kShapeKey = "input_shape";

std::string PythonTypes() {
  std::string out =
      "\"\"\"The options of each method, written by scripts/update-options.\"\"\"\n\n"
      "import os\n"
      "from typing import Any, Callable, Literal, Mapping, Optional, Sequence, TypedDict, Union\n";
  for (const api::OptionUser& user : api::OptionUsers()) {
    std::string name = "_" + std::string(user.name);  // "convert_folder" is ConvertFolder
    for (size_t at = name.find('_'); at != std::string::npos; at = name.find('_')) {
      name.erase(at, 1);
      name[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[at])));
    }
    out += fmt::format("\n\nclass {}Options(TypedDict, total=False):\n", name);
    if (user.shapes)
      out += fmt::format("    {}: Optional[Mapping[str, Sequence[Union[int, str]]]]\n", kShapeKey);
    if (user.inputs) out += "    arrays: Optional[Mapping[str, Any]]\n";
    if (user.tensors)
      out +=
          "    fix_input: Optional[Mapping[str, Any]]\n"
          "    verify_inputs: Optional[Sequence[Sequence[Any]]]\n";
    if (user.progress) out += "    progress: Optional[Callable[[str, int, int], Optional[bool]]]\n";
    for (const OptionField& field : BindingsOf(user)) {
      std::string key = std::regex_replace(std::string(field.name), std::regex("-"), "_");
      if (key == "for") key += "_";  // a word of Python
      if (key != kShapeKey) out += fmt::format("    {}: Optional[{}]\n", key, PythonType(field));
    }
  }
  return out;
}

// ---- Pages

constexpr const char* kPrograms[] = {"nninspect", "nnvalidate", "nnconvert", "nnrun"};
const std::string kReference = SourcePath("docs/pages/reference");

// The tables of --option-tables by their headings.
std::map<std::string, std::string> OptionTablesOf(const std::string& program) {
  std::map<std::string, std::string> tables;
  const std::string text = "\n" + RunProgram(program + " --option-tables").out + "\n## ";
  const std::string heading = "\n## ";
  for (size_t at = text.find(heading), end = 0; at + heading.size() < text.size(); at = end) {
    const size_t line = text.find('\n', at + heading.size());
    end = text.find(heading, line);
    tables[text.substr(at + heading.size(), line - at - heading.size())] =
        text.substr(line + 2, end - line - 2);
  }
  return tables;
}

// Where a page has a table: between "<!-- options of PROGRAM: GROUP -->" and
// "<!-- end of options -->".
struct PageTable {
  std::string program, group;
  size_t begin = 0, end = 0;
};

std::vector<PageTable> TablesIn(const std::string& page) {
  static const std::regex kBegin("<!-- options of (\\w+): ([^\n]+) -->\n\n");
  std::vector<PageTable> out;
  for (std::sregex_iterator at(page.begin(), page.end(), kBegin), none; at != none; ++at) {
    const auto begin = static_cast<size_t>(at->position() + at->length());
    out.push_back({(*at)[1], (*at)[2], begin, page.find("\n<!-- end of options -->", begin)});
    REQUIRE(out.back().end != std::string::npos);
  }
  return out;
}

// ---- Tests

void CheckGenerated(const std::string& path, const std::string& expected) {
  const std::string file = SourcePath(path);
  if (std::getenv("NN_OPTIONS_UPDATE") != nullptr) WriteText(file, expected);
  CHECK_MESSAGE(ReadText(file) == expected, path, " differs: run scripts/update-options");
}

TEST_CASE("options: the tables name each option once, and no other") {
  for (const api::OptionUser& user : api::OptionUsers()) {
    const Status sound = CheckOptionTable(user.table);
    CHECK_MESSAGE(sound.has_value(), user.name, ": ", sound.error().message());
  }
}

TEST_CASE("options: one name has one kind in all functions of C") {
  std::map<std::string, OptionKind, std::less<>> kinds;
  for (const api::OptionUser& user : api::OptionUsers())
    for (const OptionField& field : BindingsOf(user)) {
      const auto kind_of = [](OptionKind kind) {
        return kind == OptionKind::kCount ? OptionKind::kInteger : kind;
      };
      const auto [it, is_new] = kinds.emplace(field.name, kind_of(field.kind));
      CHECK_MESSAGE(it->second == kind_of(field.kind), user.name, " ", field.name);
    }
}

TEST_CASE("options: nnsuite.h lists the options of each function") {
  const std::string path = "include/nnsuite/nnsuite.h";
  CheckGenerated(path, WithOptions(ReadText(SourcePath(path))));
}

TEST_CASE("options: the Python package has the type of each option") {
  CheckGenerated("apps/python/nnsuite/_options.py", PythonTypes());
}

TEST_CASE("options: the reference has the tables of the options of all programs") {
  std::map<std::string, std::map<std::string, std::string>> tables;
  std::set<std::string> missing;
  for (const char* program : kPrograms) {
    tables[program] = OptionTablesOf(program);
    for (const auto& [group, table] : tables[program])
      if (group != "All programs" && group != "Limits")
        missing.insert(fmt::format("{}: {}", program, group));
  }
  missing.insert({"nnrun: All programs", "nnrun: Limits"});
  for (const auto& entry : std::filesystem::directory_iterator(kReference)) {
    const std::string name = "docs/pages/reference/" + entry.path().filename().string();
    const std::string page = ReadText(entry.path().string());
    std::string expected = page;
    std::vector<PageTable> places = TablesIn(page);
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      CAPTURE(place->group);
      REQUIRE(tables[place->program].contains(place->group));
      missing.erase(fmt::format("{}: {}", place->program, place->group));
      expected.replace(place->begin, place->end - place->begin,
                       tables[place->program][place->group]);
    }
    CheckGenerated(name, expected);
  }
  CHECK_MESSAGE(missing.empty(), fmt::format("no page has the options of {}", missing));
}

TEST_CASE("options: nnconvert has each option of a conversion, with its text") {
  const ProgramResult r = RunProgram("nnconvert --man-page");
  REQUIRE(r.code == 0);
  for (const OptionField& field : ConvertOptionTable()) {
    CAPTURE(field.name);
    const std::string dashed =
        std::regex_replace(fmt::format("--{}", field.name), std::regex("-"), "\\-");
    // What only the bindings have may be an option of another kind there, as --fix-input is.
    if (!field.IsOn(kOnCommandLine)) continue;
    CHECK(Contains(r.out, fmt::format("\\fB{}\\fR", dashed)));
    CHECK_FALSE(field.help.empty());
  }
}

TEST_CASE("options: C takes each option of a conversion") {
  for (const OptionField& field : ConvertOptionTable()) {
    CAPTURE(field.name);
    nnsuite_options* options = nullptr;
    REQUIRE(nnsuite_options_create(&options, nullptr) == NNSUITE_OK);
    const std::string name(field.name);
    int code = NNSUITE_OK;
    if (field.kind == OptionKind::kText || field.kind == OptionKind::kTexts)
      code = nnsuite_options_set_text(options, name.c_str(), "1", nullptr);
    else if (field.kind == OptionKind::kReal)
      code = nnsuite_options_set_real(options, name.c_str(), 1, nullptr);
    else
      code = nnsuite_options_set_integer(options, name.c_str(), 1, nullptr);
    CHECK(code == (field.IsOn(kInBindings) ? NNSUITE_OK : NNSUITE_USAGE));
    nnsuite_options_free(options);
  }
}

TEST_CASE("options: an option of a conversion has one effect at least, or says what needs it") {
  // These change only how the verification runs, or where files are read and written.
  const std::set<std::string_view> others = {"to",           "connect", "external-threshold",
                                             "no-verify",    "seed",    "verify-runs",
                                             "verify-shape", "atol",    "rtol"};
  for (const OptionField& field : ConvertOptionTable())
    CHECK_MESSAGE((field.effects != 0 || !field.needs.empty()) != others.contains(field.name),
                  field.name);
}

}  // namespace
}  // namespace nn::test::option_surfaces_test

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/program.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/skip.h"

// Every command in the documentation is run, and prints what the documentation shows.
//
// A block "```console" has commands, each in a line that begins with "$ ", and the lines that they
// print on standard output and standard error. A line "..." matches any number of lines. The
// commands of a page run in order in one folder, in which golden/ has the models of the project.
//
// README.md and the pages of docs/pages/reference also show models that the project does not
// contain, so only their blocks that begin with a model of golden/ run.
namespace nn::test::docs_test {
namespace {

namespace fs = std::filesystem;

struct Command {
  std::string text;
  std::vector<std::string> expected;  // lines
  size_t line = 0;                    // in the page, from 1
};
using Block = std::vector<Command>;

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Blocks are listed even if they do not begin with a command; they have no commands then.
std::vector<Block> BlocksOf(const std::string& page) {
  std::vector<Block> blocks;
  bool is_inside = false;
  size_t number = 0;
  for (const std::string& line : LinesOf(page)) {
    ++number;
    if (!is_inside && line == "```console") {
      is_inside = true;
      blocks.emplace_back();
    } else if (is_inside && line == "```") {
      is_inside = false;
    } else if (is_inside && line.starts_with("$ ")) {
      blocks.back().push_back({line.substr(2), {}, number});
    } else if (is_inside && !blocks.back().empty()) {
      blocks.back().back().expected.push_back(line);
    }
  }
  CHECK(!is_inside);
  return blocks;
}

bool Matches(std::span<const std::string> expected, std::span<const std::string> lines) {
  if (expected.empty()) return lines.empty();
  if (expected[0] == "...") {
    for (size_t n = 0; n <= lines.size(); ++n)
      if (Matches(expected.subspan(1), lines.subspan(n))) return true;
    return false;
  }
  return !lines.empty() && lines[0] == expected[0] &&
         Matches(expected.subspan(1), lines.subspan(1));
}

// Runs the commands of the blocks in a new folder.
void RunBlocks(const std::string& path, std::span<const Block> blocks) {
  const TempDir dir;
  fs::create_directory_symlink(SourcePath("golden"), dir / "golden");
  for (const Block& block : blocks) {
    for (const Command& command : block) {
      const std::string out = RunScript(dir.path(), "{ " + command.text + "\n} 2>&1").out;
      CHECK_MESSAGE(Matches(command.expected, LinesOf(out)), path, ":", command.line, ": $ ",
                    command.text, "\nprints\n", out);
    }
  }
}

std::string ReadSource(const std::string& path) {
  return ReadText(SourcePath(path));
}

// The paths of the pages in a folder, without its subfolders, sorted; relative to the source tree,
// like `folder`.
std::vector<std::string> PagesIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(SourcePath(folder)))
    if (entry.path().extension() == ".md")
      paths.push_back(folder + "/" + entry.path().filename().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> ReferencePages() {
  std::vector<std::string> paths = PagesIn("docs/pages/reference");
  paths.emplace_back("README.md");
  return paths;
}

// Whether scripts/docs writes the page.
bool IsGenerated(const std::string& path) {
  static const char* const kGenerated[] = {"formats.md", "rules/index.md", "operators/index.md",
                                           "design/index.md"};
  return std::any_of(std::begin(kGenerated), std::end(kGenerated),
                     [&](const char* name) { return path == std::string("docs/pages/") + name; });
}

// The file that a page links to, relative to the source tree. scripts/docs puts docs/spec and
// docs/design into the folder of docs/pages.
std::string LinkedFile(const std::string& page, const std::string& file) {
  const std::string path = (fs::path(page).parent_path() / file).lexically_normal().string();
  for (const std::string folder : {"spec/", "design/"})
    if (path.starts_with("docs/pages/" + folder) && !IsGenerated(path))
      return "docs/" + path.substr(std::string("docs/pages/").size());
  return path;
}

// The anchors of the headings of a page.
std::vector<std::string> AnchorsOf(const std::string& page) {
  std::vector<std::string> anchors;
  bool is_code = false;
  for (const std::string& line : LinesOf(page)) {
    if (line.starts_with("```")) is_code = !is_code;
    if (is_code || !line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(line.find(' ') + 1)) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      else if (c == ' ')
        anchor += '-';
    }
    anchors.push_back(anchor);
  }
  return anchors;
}

TEST_CASE("docs: lines that may be anything") {
  using Lines = std::vector<std::string>;
  const Lines text = {"a", "b", "c"};
  for (const Lines& same : {text, Lines{"..."}, Lines{"a", "..."}, Lines{"...", "c"},
                            Lines{"a", "...", "c"}, Lines{"a", "...", "b", "c"}})
    CHECK(Matches(same, text));
  for (const Lines& other : {Lines{}, Lines{"a", "b"}, Lines{"a", "...", "b"}, Lines{"...", "d"},
                             Lines{"a", "b", "c", "d"}})
    CHECK_FALSE(Matches(other, text));
  const std::vector<Block> blocks = BlocksOf("x\n```console\n$ one\n1\n2\n$ two\n```\n$ three\n");
  REQUIRE(blocks.size() == 1);
  REQUIRE(blocks[0].size() == 2);
  CHECK(blocks[0][0].text == "one");
  CHECK(blocks[0][0].expected == Lines{"1", "2"});
  CHECK(blocks[0][1].line == 6);
}

TEST_CASE("docs: the commands of the pages") {
  size_t commands = 0;
  for (const std::string& path : PagesIn("docs/pages")) {
    const std::string page = ReadSource(path);
    if (Contains(page, "$ git ") && !HasCommand("git")) {
      MESSAGE(path << " is not checked: git is not installed");
      continue;
    }
    const std::vector<Block> blocks = BlocksOf(page);
    for (const Block& block : blocks) {
      CHECK_MESSAGE(!block.empty(), path, ": a block without a command");
      commands += block.size();
    }
    RunBlocks(path, blocks);
  }
  CHECK(commands > 50);
}

TEST_CASE("docs: the commands of README.md and of the reference on models of golden/") {
  size_t count = 0;
  for (const std::string& path : ReferencePages()) {
    std::vector<Block> blocks = BlocksOf(ReadSource(path));
    // The other examples show larger models.
    std::erase_if(blocks, [](const Block& block) {
      return block.empty() || !Contains(block[0].text, "golden/");
    });
    // Examples with files of the reader, and with NumPy.
    std::erase_if(blocks, [](const Block& block) {
      return std::any_of(block.begin(), block.end(), [](const Command& command) {
        return Contains(command.text, "images.npz") || Contains(command.text, "image.npy") ||
               Contains(command.text, "python3");
      });
    });
    count += blocks.size();
    RunBlocks(path, blocks);
  }
  CHECK(count >= 15);
}

TEST_CASE("docs: pages of the reference are short") {
  for (const std::string& path : ReferencePages()) {
    CAPTURE(path);
    CHECK(LinesOf(ReadSource(path)).size() <= (path == "README.md" ? 200U : 400U));
  }
}

TEST_CASE("docs: links lead to pages and headings") {
  std::vector<std::string> paths = ReferencePages();
  paths.emplace_back("ARCHITECTURE.md");
  for (const char* folder : {"docs/pages", "docs/spec", "docs/design"})
    for (const std::string& path : PagesIn(folder)) paths.push_back(path);
  for (const std::string& path : paths) {
    const std::string page = ReadSource(path);
    for (size_t at = page.find("]("); at != std::string::npos; at = page.find("](", at + 1)) {
      const std::string link = page.substr(at + 2, page.find(')', at) - at - 2);
      if (link.starts_with("https://")) continue;
      CAPTURE(path);
      CAPTURE(link);
      const size_t hash = std::min(link.find('#'), link.size());
      const std::string file = hash == 0 ? path : LinkedFile(path, link.substr(0, hash));
      if (IsGenerated(file)) continue;
      // The site contains docs/ only.
      CHECK((!path.starts_with("docs/") || file.starts_with("docs/")));
      REQUIRE(Exists(SourcePath(file)));
      if (hash < link.size()) {
        const std::vector<std::string> anchors = AnchorsOf(ReadSource(file));
        CHECK(std::count(anchors.begin(), anchors.end(), link.substr(hash + 1)) != 0);
      }
    }
  }
}

TEST_CASE("docs: design notes have one form and are listed") {
  const std::string architecture = ReadText(SourcePath("ARCHITECTURE.md"));
  CHECK(LinesOf(architecture).size() <= 300);
  for (const fs::directory_entry& entry : fs::directory_iterator(SourcePath("docs/design"))) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const std::string note = ReadText(entry.path().string());
    CHECK(LinesOf(note).size() <= 120);
    CHECK(note.starts_with("# " + name.substr(0, 3) + ". "));
    size_t at = 0;
    for (const char* section : {"Context", "Decision", "Alternatives", "Consequences"}) {
      at = note.find(fmt::format("\n## {}\n\n", section), at);
      CHECK_MESSAGE(at != std::string::npos, section);
    }
    CHECK(Contains(architecture, "(docs/design/" + name + ")"));
  }
}

TEST_CASE("docs: sources name the design notes that they embody") {
  static constexpr std::string_view kMark = " Design: docs/design/";
  std::set<std::string> named;
  for (const char* folder :
       {"lib", "validators", "apps", "cmake", "scripts/zoo", "tests/cross", "tests/fuzz"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(SourcePath(folder))) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cc" && extension != ".cmake" && extension != ".py")
        continue;
      const std::string text = ReadText(entry.path().string());
      for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
        const size_t begin = at + kMark.size();
        const std::string name = text.substr(begin, text.find(".md.\n", begin) + 3 - begin);
        CHECK_MESSAGE(Exists(SourcePath("docs/design/") + name), entry.path().string());
        named.insert(name);
      }
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(SourcePath("docs/design")))
    CHECK_MESSAGE(named.contains(entry.path().filename().string()), entry.path().string());
}

TEST_CASE("docs: pages of rules, operators and formats are generated") {
  if (!HasCommand("python3")) return Skip("python3 is not installed");
  // Of a copy of what the script reads; it writes to build/.
  const TempDir dir;
  for (const char* name : {"docs", "scripts"}) fs::create_directory(dir / name);
  fs::copy(SourcePath("docs"), dir / "docs", fs::copy_options::recursive);
  for (const char* name : {"scripts/docs", "ARCHITECTURE.md"})
    fs::copy_file(SourcePath(name), dir / name);
  fs::create_directory(dir / "given");
  fs::create_directory_symlink(BinDir(), dir / "given/bin");
  const ProgramResult r = RunScript(dir.path(), "scripts/docs --pages-only --build given");
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const std::string pages = dir / "build/docs-pages/";
  const std::string rule = ReadText(pages + "rules/ONNX-NODE-004.md");
  CHECK(rule.starts_with("# ONNX-NODE-004\n\nEvery operator of a standard domain exists in "));
  for (const char* part :
       {"\n| severity | error |\n", "\n| source | Operators.md |\n",
        "\nWritten as protobuf text of a ModelProto:\n", "  Breaks it:\n", "  Keeps it:\n"})
    CHECK_MESSAGE(Contains(rule, part), rule);
  const std::string rules = ReadText(pages + "rules/index.md");
  CHECK(Contains(rules, "\n| [ONNX-NODE-004](ONNX-NODE-004.md) | error | yes |"));
  const std::string op = ReadText(pages + "operators/conv.md");
  CHECK(op.starts_with("# conv\n"));
  CHECK(Contains(op, "\n| TensorFlow Lite | yes"));
  CHECK(Contains(ReadText(pages + "operators/index.md"), "\n| [conv](conv.md) |"));
  CHECK(Contains(ReadText(pages + "formats.md"), "\n## Core ML\n"));
  CHECK(Contains(ReadText(pages + "spec/arithmetic.md"), "Normative for the reference evaluation"));
  CHECK(Contains(ReadText(pages + "design/index.md"), "](053-elementary-functions.md)"));
}

}  // namespace
}  // namespace nn::test::docs_test

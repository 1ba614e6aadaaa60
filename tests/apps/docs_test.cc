#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/program.h"
#include "support/files.h"
#include "support/skip.h"

// Every command in the documentation is run, and prints what the documentation shows.
//
// A block "```console" has commands, each in a line that begins with "$ ", and the lines that they
// print on standard output and standard error. A line "..." stands for any number of lines. The
// commands of a page run in order in one folder, in which golden/ has the models of the project.
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
  fs::create_directory_symlink(NN_SOURCE_DIR "/golden", dir / "golden");
  for (const Block& block : blocks) {
    for (const Command& command : block) {
      const std::string out = RunScript(dir.path(), "{ " + command.text + "\n} 2>&1").out;
      CHECK_MESSAGE(Matches(command.expected, LinesOf(out)), path, ":", command.line, ": $ ",
                    command.text, "\nprints\n", out);
    }
  }
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
  for (const fs::directory_entry& entry : fs::directory_iterator(NN_SOURCE_DIR "/docs/pages")) {
    const std::string path = entry.path().string();
    const std::string page = ReadText(path);
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

TEST_CASE("docs: the commands of README.md on models of golden/") {
  std::vector<Block> blocks = BlocksOf(ReadText(NN_SOURCE_DIR "/README.md"));
  // The other examples show larger models, which the project does not contain.
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
  CHECK(blocks.size() >= 12);
  RunBlocks("README.md", blocks);
}

// The files that the links of a page name, other than addresses.
std::vector<std::string> LinkedFiles(const std::string& path) {
  const std::string page = ReadText(path);
  std::vector<std::string> files;
  for (size_t at = page.find("]("); at != std::string::npos; at = page.find("](", at + 1)) {
    const std::string link = page.substr(at + 2, page.find(')', at) - at - 2);
    const std::string file = link.substr(0, link.find('#'));
    if (!link.starts_with("https://") && !file.empty()) files.push_back(file);
  }
  return files;
}

TEST_CASE("docs: links lead to pages") {
  const std::string docs = NN_SOURCE_DIR "/docs/";
  for (const fs::directory_entry& entry : fs::directory_iterator(docs + "pages")) {
    for (const std::string& file : LinkedFiles(entry.path().string())) {
      CAPTURE(file);
      // scripts/docs puts docs/spec and docs/design beside these pages, and generates the others.
      static const char* const kGenerated[] = {"formats.md", "rules/index.md", "operators/index.md",
                                               "design/index.md"};
      CHECK((std::count(std::begin(kGenerated), std::end(kGenerated), file) != 0 ||
             Exists(docs + "pages/" + file) || Exists(docs + file)));
    }
  }
  for (const char* folder : {"spec", "design"})
    for (const fs::directory_entry& entry : fs::directory_iterator(docs + folder))
      for (const std::string& file : LinkedFiles(entry.path().string()))
        CHECK_MESSAGE(Exists(docs + folder + "/" + file), entry.path().string(), ": ", file);
  for (const std::string& file : LinkedFiles(NN_SOURCE_DIR "/ARCHITECTURE.md"))
    CHECK_MESSAGE(Exists(NN_SOURCE_DIR "/" + file), file);
}

TEST_CASE("docs: design notes have one form and are listed") {
  const std::string architecture = ReadText(NN_SOURCE_DIR "/ARCHITECTURE.md");
  CHECK(LinesOf(architecture).size() <= 300);
  for (const fs::directory_entry& entry : fs::directory_iterator(NN_SOURCE_DIR "/docs/design")) {
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
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(std::string(NN_SOURCE_DIR "/") + folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cc" && extension != ".cmake" && extension != ".py")
        continue;
      const std::string text = ReadText(entry.path().string());
      for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at + 1)) {
        const size_t begin = at + kMark.size();
        const std::string name = text.substr(begin, text.find(".md.\n", begin) + 3 - begin);
        CHECK_MESSAGE(Exists(NN_SOURCE_DIR "/docs/design/" + name), entry.path().string());
        named.insert(name);
      }
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(NN_SOURCE_DIR "/docs/design"))
    CHECK_MESSAGE(named.contains(entry.path().filename().string()), entry.path().string());
}

TEST_CASE("docs: pages of rules, operators and formats are generated") {
  if (!HasCommand("python3")) return Skip("python3 is not installed");
  // Of a copy of what the script reads; it writes to build/.
  const TempDir dir;
  for (const char* name : {"docs", "scripts"}) fs::create_directory(dir / name);
  fs::copy(NN_SOURCE_DIR "/docs", dir / "docs", fs::copy_options::recursive);
  for (const char* name : {"scripts/docs", "ARCHITECTURE.md"})
    fs::copy_file(std::string(NN_SOURCE_DIR) + "/" + name, dir / name);
  fs::create_directory(dir / "given");
  fs::create_directory_symlink(NN_BIN_DIR, dir / "given/bin");
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

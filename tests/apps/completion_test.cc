// --completion, --man-page and the reference have every option, and Bash completes by them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "apps/program.h"
#include "support/files.h"
#include "support/paths.h"

namespace nn::test::completion_test {
namespace {

constexpr const char* kPrograms[] = {"nninspect", "nnvalidate", "nnconvert", "nnrun"};

std::string Generated(const std::string& program, const std::string& option) {
  const ProgramResult r = RunProgram(program + " " + option);
  CHECK(r.code == 0);
  CHECK(r.err.empty());
  return r.out;
}

// The long options that the help lists, without the dashes.
std::set<std::string> OptionsOf(const std::string& program) {
  const std::string help = Generated(program, "--help");
  static const std::regex kOption("\n +(-[a-zA-Z],)?--([a-z0-9-]+)");
  std::set<std::string> names;
  for (std::sregex_iterator at(help.begin(), help.end(), kOption), end; at != end; ++at)
    names.insert((*at)[2]);
  CHECK(names.size() > 15);
  return names;
}

// What Bash proposes for the last of the words.
std::string Proposals(const std::string& program, const std::string& words) {
  const TempDir dir;
  WriteText(dir / "model.onnx", "");
  WriteText(dir / "complete", Generated(program, "--completion bash"));
  WriteText(dir / "run",
            fmt::format("cd '{}'; source complete; COMP_WORDS=({} {}); "
                        "COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _{}; echo \"${{COMPREPLY[*]}}\"",
                        dir.path(), program, words, program));
  CHECK(std::system(fmt::format("bash '{0}/run' >'{0}/out' 2>&1", dir.path()).c_str()) == 0);
  const std::string out = ReadText(dir / "out");
  return out.substr(0, out.find('\n'));
}

TEST_CASE("completion: scripts and manual pages have all options") {
  for (const char* program : kPrograms) {
    CAPTURE(program);
    const std::string bash = Generated(program, "--completion bash");
    const std::string zsh = Generated(program, "--completion zsh");
    const std::string fish = Generated(program, "--completion fish");
    const std::string page = Generated(program, "--man-page");
    for (const std::string& name : OptionsOf(program)) {
      CAPTURE(name);
      CHECK(std::regex_search(bash, std::regex("[ ']--" + name + "[ ']")));
      CHECK(std::regex_search(zsh, std::regex("'\\*--" + name + "=?\\[")));
      CHECK(std::regex_search(fish, std::regex(" -l " + name + " ")));
      const std::string dashed = std::regex_replace("--" + name, std::regex("-"), "\\-");
      CHECK(Contains(page, "\\fB" + dashed + "\\fR"));
    }
    CHECK(page.starts_with(".TH NN"));
    for (const char* section : {".SH NAME\n", ".SH SYNOPSIS\n", ".SH \"ARGUMENTS\"\n",
                                ".SH \"OPTIONS\"\n", ".SH \"LIMITS\"\n"})
      CHECK(Contains(page, section));
    CHECK(RunProgram(fmt::format("{} --completion tcsh", program)).code == 2);
  }
}

TEST_CASE("reference: all options are described") {
  std::string pages;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("docs/pages/reference")))
    pages += ReadText(entry.path().string());
  static const std::regex kOption("--([a-z0-9-]+)");
  std::set<std::string> described;
  for (std::sregex_iterator at(pages.begin(), pages.end(), kOption), end; at != end; ++at)
    described.insert((*at)[1]);
  for (const char* program : kPrograms) {
    CAPTURE(program);
    for (const std::string& name : OptionsOf(program)) {
      CAPTURE(name);
      CHECK(described.contains(name));
    }
  }
}

TEST_CASE("completion: Bash proposes options, values and files") {
  CHECK(Proposals("nnvalidate", "--fo") == "--format --for");
  CHECK(Proposals("nnvalidate", "--profile s") == "spec strict safety");
  CHECK(Proposals("nnvalidate", "--profile = sa") == "safety");
  CHECK(Proposals("nnvalidate", "mod") == "model.onnx");
  CHECK(Proposals("nnvalidate", "--max-per-rule 1") == "");
  CHECK(Proposals("nnrun", "model.onnx --backend ''") == "simd reference");
  CHECK(Proposals("nnrun", "--inputs m") == "model.onnx");
  CHECK(Proposals("nnconvert", "--repo") == "--report");
  CHECK(Proposals("nninspect", "--color a") == "auto always");
}

}  // namespace
}  // namespace nn::test::completion_test

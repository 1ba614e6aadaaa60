#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/json/json.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/skip.h"

// What the project has for other tools: the action for GitHub, the hook for pre-commit, and the
// files of docs/ci. Each test plays the other tool.
namespace nn::test::integrations_test {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = SourcePath("");
const std::string kCases = kRoot + "/tests/cases/onnx/";

// models/good.onnx and models/sub/bad one.onnx, which breaks two rules, in four places.
class Project {
 public:
  Project() {
    fs::create_directories(dir_ / "models/sub");
    fs::copy_file(kCases + "good.onnx", dir_ / "models/good.onnx");
    fs::copy_file(kCases + "opset_missing.onnx", dir_ / "models/sub/bad one.onnx");
  }
  ProgramResult Run(const std::string& script) const { return RunScript(dir_.path(), script); }
  std::string operator/(std::string_view name) const { return dir_ / name; }

 private:
  TempDir dir_;
};

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The rest of the only line that begins with `start` after spaces.
std::string LineOf(const std::string& text, const std::string& start) {
  std::string found;
  for (const std::string& line : LinesOf(text)) {
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || !line.substr(begin).starts_with(start)) continue;
    CHECK(found.empty());
    found = line.substr(begin + start.size());
  }
  REQUIRE(!found.empty());
  return found;
}

// What a matcher finds in each line that it matches: "SEVERITY FILE CODE MESSAGE".
std::vector<std::string> Matches(const Json& pattern, const std::string& output) {
  const std::regex regex(pattern["regexp"].get<std::string>());
  std::vector<std::string> found;
  for (const std::string& line : LinesOf(output)) {
    std::smatch match;
    if (!std::regex_search(line, match, regex)) continue;
    std::string text;
    for (const char* part : {"severity", "file", "code", "message"})
      if (pattern.contains(part)) text += match[pattern[part].get<size_t>()].str() + "|";
    found.push_back(text);
  }
  return found;
}

TEST_CASE("GitHub: the step of the action") {
  const std::string action = ReadText(kRoot + "/action.yml");
  CHECK(LineOf(action, "MODELS: ") == "${{ inputs.models }}");
  CHECK(LineOf(action, "ARGUMENTS: ") == "${{ inputs.arguments }}");
  const Project p;
  // The runner writes the script to a file and runs bash on it with these options.
  WriteText(p / "step.sh", LineOf(action, "run: ") + "\n");
  const auto step = [&](const std::string& models, const std::string& arguments) {
    return p.Run(
        fmt::format("MODELS='{}' ARGUMENTS='{}' bash --noprofile --norc -e -o pipefail step.sh",
                    models, arguments));
  };
  const ProgramResult failed = step("models/**/*.onnx", "");
  CHECK(failed.code == 1);
  const std::vector<std::string> lines = LinesOf(failed.out);
  REQUIRE(lines.size() == 4);
  const std::regex command(
      "::(error|warning|notice) file=models/sub/bad one.onnx,"
      "title=ONNX-(MODEL|NODE)-003::.+");
  for (const std::string& line : lines) CHECK_MESSAGE(std::regex_match(line, command), line);
  const ProgramResult chosen = step("models", "--disable ONNX-MODEL-003,ONNX-NODE-003");
  CHECK(chosen.code == 0);
  CHECK(chosen.out.empty());
  CHECK(step("models/none/*.onnx", "").code == 2);
}

TEST_CASE("GitHub and VS Code: matchers of problems match the text of findings") {
  const Project p;
  const ProgramResult r = p.Run("nnvalidate models missing.onnx 2>&1");
  REQUIRE(r.code == 2);
  const Json github = Json::parse(ReadText(kRoot + "/docs/ci/github-matcher.json"));
  const Json vscode = Json::parse(ReadText(kRoot + "/docs/ci/vscode-tasks.json"));
  const Json& findings = github["problemMatcher"][0]["pattern"][0];
  const Json& task = vscode["tasks"][0]["problemMatcher"][0]["pattern"];
  const std::vector<std::string> found = Matches(findings, r.out);
  REQUIRE_MESSAGE(found.size() == 4, r.out);
  CHECK(found[0].starts_with("error|models/sub/bad one.onnx|ONNX-MODEL-003|"));
  CHECK(found[1].starts_with("error|models/sub/bad one.onnx|ONNX-NODE-003|"));
  CHECK(Matches(task, r.out) == found);
  const std::vector<std::string> files = Matches(github["problemMatcher"][1]["pattern"][0], r.out);
  REQUIRE(files.size() == 1);
  CHECK(files[0] == "error|missing.onnx|No such file or directory|");
  // Warnings and notes; the place of a finding belongs to neither file nor message.
  const std::string text =
      "m.onnx:graph.node[3], byte 12: warning: two: names [T-001]\n    hint: Rename one.\n"
      "m.onnx: note: a [b] c [T-2]\nm.onnx: 2 errors\n";
  CHECK(Matches(findings, text) == std::vector<std::string>{"warning|m.onnx|T-001|two: names|"});
  CHECK(Matches(task, text) ==
        std::vector<std::string>{"warning|m.onnx|T-001|two: names|", "note|m.onnx|T-2|a [b] c|"});
  // The command of the task, as the editor runs it.
  std::string command = vscode["tasks"][0]["command"];
  for (const Json& argument : vscode["tasks"][0]["args"])
    command += " '" + argument.get<std::string>() + "'";
  CHECK(Matches(task, p.Run(command).out) == found);
}

TEST_CASE("GitLab: the job writes a Code Quality report") {
  const std::string job = ReadText(kRoot + "/docs/ci/gitlab-ci.yml");
  const Project p;
  const ProgramResult r = p.Run(LineOf(job, "- "));
  CHECK(r.code == 1);
  const std::string report = ReadText(p / LineOf(job, "codequality: "));
  const Json list = Json::parse(report);
  REQUIRE(list.size() == 4);
  std::set<std::string> fingerprints;
  for (const Json& entry : list) {
    for (const char* member : {"description", "check_name", "fingerprint", "severity"})
      CHECK(!entry[member].get<std::string>().empty());
    CHECK(entry["severity"] == "major");
    CHECK(entry["location"]["path"] == "models/sub/bad one.onnx");
    CHECK(entry["location"]["lines"]["begin"] == 1);
    fingerprints.insert(entry["fingerprint"].get<std::string>());
  }
  CHECK(fingerprints.size() == 4);
  // The same findings in another run, and with other arguments.
  CHECK(p.Run("nnvalidate --format gitlab ./models/sub models/good.onnx").out == report);
}

TEST_CASE("Jenkins: findings are test results, errors end the build") {
  const std::string file = ReadText(kRoot + "/docs/ci/Jenkinsfile");
  const std::string quoted = LineOf(file, "sh ");
  REQUIRE((quoted.starts_with("'") && quoted.ends_with("'")));
  const std::string step = quoted.substr(1, quoted.size() - 2);
  const Project p;
  CHECK(p.Run(step).code == 0);
  const std::string report = ReadText(p / "models.xml");
  CHECK(Contains(report, "<testsuite name=\"models/sub/bad one.onnx\" tests=\"4\" failures=\"4\""));
  CHECK(LineOf(file, "junit ") == "'models.xml'");
  fs::remove_all(p / "models");
  CHECK(p.Run(step).code != 0);
}

TEST_CASE("pre-commit: the hook checks the models of a commit") {
  if (!HasCommand("pre-commit") || !HasCommand("git"))
    return Skip("pre-commit or git is not installed");
  const Project p;
  const std::string git = "git -c user.name=Test -c user.email=test@example.com -C ";
  // The repository of the hook, and one that uses it.
  fs::create_directory(p / "hook");
  fs::copy_file(kRoot + "/.pre-commit-hooks.yaml", p / "hook/.pre-commit-hooks.yaml");
  const ProgramResult made = p.Run("git init -q hook && git -C hook add -A && " + git +
                                   "hook commit -q -m hook && git -C hook rev-parse HEAD && "
                                   "git init -q .");
  REQUIRE_MESSAGE(made.code == 0, made.err);
  const std::string commit = made.out.substr(0, made.out.find('\n'));
  WriteText(p / ".pre-commit-config.yaml",
            fmt::format("repos:\n  - repo: {}\n    rev: {}\n    hooks:\n      - id: nnvalidate\n",
                        p / "hook", commit));
  WriteText(p / "notes.txt", "not a model");
  const auto run = [&](const std::string& files) {
    return p.Run("git add .pre-commit-config.yaml " + files +
                 " && PRE_COMMIT_HOME=\"$PWD/cache\" pre-commit run --color never");
  };
  const ProgramResult none = run("notes.txt");
  CHECK_MESSAGE(none.code == 0, none.out, none.err);
  CHECK(Contains(none.out, "Skipped"));
  const ProgramResult good = run("models/good.onnx");
  CHECK_MESSAGE(good.code == 0, good.out, good.err);
  CHECK(Contains(good.out, "Passed"));
  const ProgramResult bad = run("models");
  CHECK(bad.code == 1);
  CHECK_MESSAGE(Contains(bad.out, "models/sub/bad one.onnx:"), bad.out);
  CHECK(Contains(bad.out, "[ONNX-MODEL-003]"));
  CHECK(!Contains(bad.out, "notes.txt"));
}

}  // namespace
}  // namespace nn::test::integrations_test

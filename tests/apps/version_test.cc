// --version, and the description of the commit that it contains (cmake/description.cmake).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <regex>

#include "apps/common/program.h"
#include "apps/program.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/skip.h"

namespace nn::test::version_test {
namespace {

TEST_CASE("version: every program prints its name, the version and the commit, if it is known") {
  const std::string commit =
      app::Description().empty() ? std::string() : fmt::format(" ({})", app::Description());
  for (const char* program : {"nninspect", "nnvalidate", "nnconvert", "nnrun"}) {
    CAPTURE(program);
    const ProgramResult r = RunProgram(fmt::format("{} --version", program));
    CHECK(r.code == 0);
    CHECK(r.out == fmt::format("{} {}{}\n", program, app::Version(), commit));
    CHECK(std::regex_match(
        r.out, std::regex(R"(nn[a-z]+ [0-9]+\.[0-9]+\.[0-9]+( \(v?[0-9a-z.-]+\))?\n)")));
  }
}

// The source that the build generates for the sources in `folder`.
std::string Describe(const std::string& folder) {
  const TempDir dir;
  const std::string output = dir / "description.cc";
  const std::string command = fmt::format("cmake -D SOURCE_DIR='{}' -D OUTPUT='{}' -P '{}'", folder,
                                          output, SourcePath("cmake/description.cmake"));
  REQUIRE(std::system(command.c_str()) == 0);
  return ReadText(output);
}

TEST_CASE("version: the description is that of git, from the newest tag of a release") {
  if (std::system("git --version >/dev/null 2>&1") != 0) return Skip("git is not installed");
  const TempDir dir;
  const auto git = [&](const std::string& arguments) {
    const std::string command =
        fmt::format("git -C '{}' -c user.name=a -c user.email=a@example.org {} >/dev/null",
                    dir.path(), arguments);
    REQUIRE(std::system(command.c_str()) == 0);
  };
  CHECK(Contains(Describe(dir.path()), "return \"\";"));  // no repository
  git("init -q");
  git("commit -q --allow-empty -m first");
  const std::regex only_commit("return \"[0-9a-f]{7,}\";");
  CHECK(std::regex_search(Describe(dir.path()), only_commit));
  git("tag -a v1.2.3 -m release");
  git("tag other");
  CHECK(Contains(Describe(dir.path()), "return \"v1.2.3\";"));
  git("commit -q --allow-empty -m second");
  CHECK(std::regex_search(Describe(dir.path()),
                          std::regex("return \"v1\\.2\\.3-1-g[0-9a-f]{7,}\";")));
}

}  // namespace
}  // namespace nn::test::version_test

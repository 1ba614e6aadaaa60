#include "apps/program.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/wait.h>

#include <cstdlib>

#include "support/files.h"
#include "support/paths.h"

namespace nn::test {

namespace {

ProgramResult RunShell(const std::string& command, std::string_view input) {
  const TempDir dir;
  WriteText(dir / "in", input);
  const std::string line =
      fmt::format("{} <'{}' >'{}' 2>'{}'", command, dir / "in", dir / "out", dir / "err");
  const int status = std::system(line.c_str());
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), ReadText(dir / "out"), ReadText(dir / "err")};
}

}  // namespace

ProgramResult RunProgram(const std::string& command, std::string_view input) {
  return RunShell(fmt::format("'{}'/{}", BinDir(), command), input);
}

ProgramResult RunScript(const std::string& folder, const std::string& script) {
  const TempDir dir;
  WriteText(dir / "script", fmt::format("cd '{}'\n{}", folder, script));
  return RunShell(
      fmt::format(
          "env PATH='{}':\"$PATH\" HOME='{}' GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null "
          "GIT_PAGER=cat LC_ALL=C.UTF-8 bash '{}'",
          BinDir(), dir.path(), dir / "script"),
      {});
}

bool HasCommand(const std::string& name) {
  return std::system(fmt::format("command -v '{}' >/dev/null 2>&1", name).c_str()) == 0;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string ConvModel() {
  return R"(graph "small" {
    in %x: f32[1, 3, 8, 8]
    const %w: f32[4, 3, 3, 3] = seeded(1, 0.3)
    const %b: f32[4] = seeded(2)
    %hidden = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} "conv1"
    %y = relu(%hidden) "relu1"
    out "y" = %y
  })";
}

std::string BatchModel() {
  return R"(graph "small" {
    in %x: f32[batch, 3, 8, 8]
    const %w: f32[4, 3, 3, 3] = seeded(1, 0.3)
    %hidden = conv(%x, %w) {pads = [1, 1, 1, 1]} "conv1"
    %y = relu(%hidden) "relu1"
    out "y" = %y
  })";
}

std::string TwoOutputsModel() {
  return R"(graph {
    in %a: f32[4]
    in %b: f32[4]
    %sum = add(%a, %b)
    %product = mul(%a, %b)
    out "sum" = %sum
    out "product" = %product
  })";
}

std::string NormModel() {
  return R"(graph {
    in %x: f32[1, 3, 4, 4]
    const %w: f32[4, 3, 1, 1] = seeded(1, 0.3)
    const %v: f32[4] = seeded(2, 0.3)
    const %p: f32[4] = splat(1.7)
    %c = conv(%x, %w)
    %y = batch_norm(%c, %p, %v, %v, %p)
    out "y" = %y
  })";
}

std::string SequenceModel() {
  return R"(graph {
    in %x: f32[length, 1, 3]
    const %w: f32[1, 12, 3] = seeded(1)
    const %r: f32[1, 12, 4] = seeded(2)
    %y, %h = gru(%x, %w, %r)
    out "y" = %y
  })";
}

}  // namespace nn::test

#include "inspect/picture/repeats.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>

namespace nn::test::repeats_test {
namespace {

using inspect::Repeat;
using inspect::Repeatable;

// Operators by letter, each reading the result of the previous one.
std::vector<Repeatable> Chain(const std::string& letters) {
  std::vector<Repeatable> out;
  for (size_t i = 0; i < letters.size(); ++i) {
    Repeatable r{.token = static_cast<uint64_t>(letters[i]), .inputs = {}, .outside = {}};
    r.inputs.push_back(static_cast<int64_t>(i) - 1);
    if (i == 0) r.outside.push_back(1);
    out.push_back(r);
  }
  return out;
}

std::string RepeatsOf(const std::vector<Repeatable>& operators, size_t result = SIZE_MAX) {
  std::vector<bool> results(operators.size(), false);
  results.back() = true;
  if (result < operators.size()) results[result] = true;
  std::string out;
  for (const Repeat& r : inspect::FindRepeats(operators, results))
    out += fmt::format("{}:{}x{} ", r.start, r.period, r.times);
  return out;
}

TEST_CASE("repeats: the successions that save most") {
  CHECK(RepeatsOf(Chain("xabcabcabcy")) == "1:3x3 ");
  CHECK(RepeatsOf(Chain("xabcdy")).empty());
  CHECK(RepeatsOf(Chain("ababababxcdecdecde")) == "1:2x3 9:3x3 ");
  // A result in the middle must be seen.
  CHECK(RepeatsOf(Chain("xabcabcabcy"), 3).empty());
}

TEST_CASE("repeats: begin where scopes begin") {
  std::vector<Repeatable> ops = Chain("xabcabcabcab");
  CHECK(RepeatsOf(ops) == "1:3x3 ");
  for (size_t i = 1; i < ops.size(); ++i) ops[i].shared = i % 3 == 2 ? 1 : 2;
  CHECK(RepeatsOf(ops) == "2:3x3 ");
  // At the price of one repetition.
  ops.pop_back();
  CHECK(RepeatsOf(ops) == "2:3x3 ");
  ops.pop_back();
  CHECK(RepeatsOf(ops) == "2:3x2 ");
}

TEST_CASE("repeats: what is taken from outside must be the same, from inside the counterpart") {
  // Blocks of two; the second operator also reads the block's input.
  const auto blocks = [](int64_t skip) {
    std::vector<Repeatable> ops = Chain("xabababab");
    for (size_t i = 2; i < ops.size(); i += 2) ops[i].inputs.push_back(static_cast<int64_t>(i) - 2);
    if (skip >= 0) ops[8].inputs[1] = skip;
    return ops;
  };
  CHECK(RepeatsOf(blocks(-1)) == "1:2x4 ");
  CHECK(RepeatsOf(blocks(0)) == "1:2x3 ");
  // The same value for all of them, computed before.
  std::vector<Repeatable> ops = Chain("xabababab");
  for (size_t i = 2; i < ops.size(); i += 2) ops[i].inputs.push_back(0);
  CHECK(RepeatsOf(ops) == "1:2x4 ");
  // From within the first block, which therefore differs from the others, for which the value is
  // computed before.
  for (size_t i = 4; i < ops.size(); i += 2) ops[i].inputs.back() = 1;
  CHECK(RepeatsOf(ops) == "3:2x3 ");
}

}  // namespace
}  // namespace nn::test::repeats_test

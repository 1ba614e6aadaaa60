#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "numeric/fingerprint.h"
#include "support/run_graph.h"

namespace nn::test::lsh_projection_test {
namespace {

TEST_CASE("fingerprint: texts of every length class") {
  // By FarmHash's own code. The multiples of 64 are the ends of its loop.
  for (const auto& [bytes, hash] : std::vector<std::pair<size_t, uint64_t>>{
           {0, 11160318154034397263u},   {1, 11212813301397324751u},  {3, 4237981211716197537u},
           {4, 4233546591410155541u},    {7, 6551785722678735258u},   {8, 7915752876838883097u},
           {12, 5468997520936619690u},   {16, 18333973410635060187u}, {17, 8536514735502420444u},
           {24, 5127303713164501081u},   {32, 1223824075018933067u},  {33, 10254800104240941140u},
           {48, 8708744716548051901u},   {64, 15554329476635958950u}, {65, 380928859194357957u},
           {100, 9388138580570532510u},  {127, 4135663286830732640u}, {128, 12063898143672451864u},
           {129, 11674217886923573552u}, {200, 901587556987897603u},  {300, 8926194741198510818u},
       }) {
    const size_t size = bytes;
    CAPTURE(size);
    std::string text;
    for (size_t i = 0; i < size; ++i) text += static_cast<char>(33 + (i * 7 + 3) % 90);
    CHECK(Fingerprint64(std::as_bytes(std::span<const char>(text))) == hash);
  }
}

// The bits of the seeds 0.5, -1, 2, ..., as one function or as two.
std::string Projection(const std::string& type, const char* form, bool weights = false,
                       const char* shape = "2, 4") {
  return fmt::format(
      "graph {{ in %x: {}  const %h: f32[{}] = [0.5, -1, 2, 7, -0.25, 3, 0, 1]  "
      "const %w: f32[3] = [1, -2, 0.25]  %y = lsh_projection(%h, %x{}) {{form = {}}}  out \"y\" = "
      "%y }}",
      type, shape, weights ? ", %w" : "", form);
}

TEST_CASE("lsh_projection: forms, types and weights") {
  const std::vector<std::vector<double>> reals = {{1, 2, 3, 4, -5, 6.5}};
  std::vector<double> numbers;
  for (int i = 0; i < 20; ++i) numbers.push_back(i - 10);
  for (const OpCase& c : {
           OpCase{"f32", Projection("f32[3, 2]", "dense"), reals, {{0, 0, 0, 0, 0, 1, 0, 1}}},
           OpCase{"weights",
                  Projection("f32[3, 2]", "dense", true),
                  reals,
                  {{0, 0, 1, 1, 1, 0, 0, 1}}},
           OpCase{"sparse", Projection("f32[3, 2]", "sparse", true), reals, {{0b0011, 0b1001}}},
           OpCase{
               "offset", Projection("f32[3, 2]", "offset", true), reals, {{0b0011, 16 + 0b1001}}},
           OpCase{"one function",
                  Projection("f32[3, 2]", "offset", true, "1, 8"),
                  reals,
                  {{0b00111001}}},
           OpCase{"u8",
                  Projection("u8[2, 3]", "dense"),
                  {{1, 2, 3, 4, 5, 6}},
                  {{0, 1, 1, 1, 0, 1, 1, 1}}},
           // The stored integers, whatever they represent.
           OpCase{"quantized",
                  Projection("u8[2, 3]{scale=0.5, zp=7}", "dense"),
                  {{1, 2, 3, 4, 5, 6}},
                  {{0, 1, 1, 1, 0, 1, 1, 1}}},
           OpCase{
               "i32", Projection("i32[4]", "dense"), {{1, -2, 3, 4}}, {{1, 0, 1, 1, 0, 0, 1, 1}}},
           OpCase{"long rows",
                  Projection("i32[1, 4, 5]", "dense"),
                  {numbers},
                  {{0, 1, 1, 1, 0, 1, 0, 0}}},
           OpCase{"no rows", Projection("i32[0, 4]", "dense"), {{}}, {{0, 0, 0, 0, 0, 0, 0, 0}}},
       })
    CheckCase(c);
}

TEST_CASE("lsh_projection: operands that are wrong") {
  const std::string dense = "{form = dense}", sparse = "{form = sparse}";
  const auto graph = [](const std::string& hash, const std::string& x, const std::string& w,
                        const std::string& attrs) {
    return "graph { in %h: " + hash + "  in %x: " + x + "  in %w: " + w +
           "  %y = lsh_projection(%h, %x, %w) " + attrs + "  out \"y\" = %y }";
  };
  CHECK(ErrorOf(graph("f32[2, 33]", "f32[3]", "f32[3]", dense)).empty());
  CHECK(Fails(graph("f32[2, 33]", "f32[3]", "f32[3]", sparse),
              "the hash has 33 bits; at most 32 fit in a number"));
  CHECK(Fails(graph("f64[2, 3]", "f32[3]", "f32[3]", dense), "hash is f64[2, 3]; must be f32"));
  CHECK(Fails(graph("f32[2, 3]", "f32[3]", "i32[3]", dense), "weights is i32[3]; must be f32"));
  CHECK(
      Fails(graph("f32[2, 3]", "f32[3]", "f32[4]", dense), "there are 4 weights for 3 rows of x"));
  CHECK(Fails(graph("f32[2, 3]", "i4[3]", "f32[3]", dense), "elements of whole bytes"));
  CHECK(!ErrorOf(graph("f32[2]", "f32[3]", "f32[3]", dense)).empty());
  CHECK(!ErrorOf(graph("f32[2, 3]", "f32[]", "f32[3]", dense)).empty());
}

}  // namespace
}  // namespace nn::test::lsh_projection_test

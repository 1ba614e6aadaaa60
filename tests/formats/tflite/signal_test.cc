// The custom operators of tflite-micro's signal library, in files of one operator.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "formats/given_inputs.h"
#include "formats/tflite/file.h"
#include "support/run_graph.h"

namespace nn::test::tflite_signal_test {
namespace {

namespace fb = tflite::fb;

std::vector<double> OutputOf(const std::string& file, const std::vector<double>& x) {
  const auto graph = ImportFile(file);
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  return RunEverywhere(*graph, InputsOf(*graph, {x}))[0].ToDoubles();
}

using Numbers = std::vector<std::vector<double>>;

constexpr fb::TensorType kInt16 = fb::TensorType::INT16;

CustomTensor Samples(std::vector<int32_t> shape) {
  return {std::move(shape), {}, kInt16};
}

// The outputs of runs on one input after the other, each with the states that the last one left.
std::vector<Numbers> RunsOf(const std::string& file, const Numbers& inputs) {
  auto read = ReadModelBytes(Blob::Copy(std::as_bytes(std::span(file))), "m.tflite");
  REQUIRE(read.has_value());
  const auto m = ImportModel(*read, "m.tflite", {.states = StatePorts::kAll});
  REQUIRE_MESSAGE(m.has_value(), m.error().message());
  const Graph& graph = m->graph;
  Numbers values(graph.inputs().size());
  for (size_t i = 1; i < values.size(); ++i)
    values[i].assign(
        static_cast<size_t>(*CheckedElements(*graph.inputs()[i].value->type().const_dims())), 0);
  std::vector<Numbers> out;
  const size_t own = graph.outputs().size() - m->states.size();
  for (const auto& x : inputs) {
    values[0] = x;
    Numbers outputs;
    for (const Tensor& t : RunEverywhere(graph, InputsOf(graph, values)))
      outputs.push_back(t.ToDoubles());
    for (size_t i = 0; i < m->states.size(); ++i) values[1 + i] = outputs[own + i];
    outputs.resize(own);
    out.push_back(std::move(outputs));
  }
  return out;
}

TEST_CASE("tflite signals: windows, energies, scales") {
  const auto window = ImportFile(FileOfCustom("SignalWindow", IntOptions({{"shift", 1}}),
                                              {Samples({2, 2}), Samples({2})}, {Samples({2, 2})}));
  REQUIRE_MESSAGE(window.has_value(), window.error().message());
  const Numbers x = {{100, -100, 30000, 7}, {3, 20000}};
  CHECK(RunEverywhere(*window, InputsOf(*window, x))[0].ToDoubles() ==
        std::vector<double>{150, -32768, 32767, 32767});
  CHECK(OutputOf(FileOfCustom("SignalEnergy", IntOptions({{"end_index", 3}, {"start_index", 1}}),
                              {Samples({8})}, {{{4}, {}, fb::TensorType::UINT32}}),
                 {1, 2, -3, 4, -32768, -32768, 5, 5}) ==
        std::vector<double>{0, 25, 2147483648.0, 0});
  const std::string scale = FileOfCustom("SignalFftAutoScale", {}, {Samples({3})},
                                         {Samples({3}), {{}, {}, fb::TensorType::INT32}});
  CHECK(RunsOf(scale, {{1, -5, 3}, {0, 0, 0}, {-32768, 1, 1}}) ==
        std::vector<Numbers>{
            {{4096, -20480, 12288}, {12}}, {{0, 0, 0}, {15}}, {{-32768, 1, 1}, {0}}});
}

TEST_CASE("tflite signals: buffers that keep samples") {
  CHECK(RunsOf(FileOfCustom("SignalDelay", IntOptions({{"delay_length", 3}}), {Samples({2})},
                            {Samples({2})}),
               {{1, 2}, {3, 4}, {5, 6}}) == std::vector<Numbers>{{{0, 0}}, {{0, 1}}, {{2, 3}}});
  const auto framer = [](int64_t prefill) {
    return FileOfCustom("SignalFramer",
                        IntOptions({{"frame_size", 4}, {"frame_step", 2}, {"prefill", prefill}}),
                        {Samples({4})}, {Samples({2, 4}), {{}, {}, fb::TensorType::BOOL}});
  };
  const Numbers rising = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  CHECK(RunsOf(framer(0), rising) ==
        std::vector<Numbers>{{{0, 0, 1, 2, 1, 2, 3, 4}, {0}}, {{3, 4, 5, 6, 5, 6, 7, 8}, {1}}});
  CHECK(RunsOf(framer(1), rising) ==
        std::vector<Numbers>{{{0, 0, 1, 2, 1, 2, 3, 4}, {1}}, {{3, 4, 5, 6, 5, 6, 7, 8}, {1}}});
  CHECK(RunsOf(FileOfCustom("SignalOverlapAdd", IntOptions({{"frame_step", 1}}), {Samples({2, 3})},
                            {Samples({2})}),
               {{1, 2, 3, 10, 20, 30}, {32767, 0, 0, 0, 0, 0}}) ==
        std::vector<Numbers>{{{1, 12}}, {{32767, 30}}});
  CHECK(
      RunsOf(FileOfCustom("SignalStacker",
                          IntOptions({{"num_channels", 1},
                                      {"stacker_left_context", 1},
                                      {"stacker_right_context", 1},
                                      {"stacker_step", 2}}),
                          {Samples({1})}, {Samples({3}), {{}, {}, fb::TensorType::BOOL}}),
             {{1}, {2}, {3}, {4}}) ==
      std::vector<Numbers>{{{0, 1, 1}, {0}}, {{1, 1, 2}, {1}}, {{1, 2, 3}, {0}}, {{2, 3, 4}, {1}}});
}

TEST_CASE("tflite signals: transforms of float32") {
  const auto transform = [](const char* name, int32_t from, int32_t to) {
    return FileOfCustom(name, IntOptions({{"T", 0}, {"fft_length", 4}}), {{{2, from}}},
                        {{{2, to}}});
  };
  const std::vector<double> x = {1, 2, 3, 4, 0, 1, 0, -1};
  const std::vector<double> spectrum = {10, 0, -2, 2, -2, 0, 0, 0, 0, -2, 0, 0};
  CHECK(OutputOf(transform("SignalRfft", 4, 6), x) == spectrum);
  CHECK(OutputOf(transform("SignalIrfft", 6, 4), spectrum) == x);
  // Zeros are added.
  CHECK(OutputOf(transform("SignalRfft", 3, 6), {1, 2, 3, 0, 1, 0}) ==
        std::vector<double>{6, 0, -2, -2, 2, 0, 1, 0, 0, -1, -1, 0});
  const auto refused = [](const std::string& file, std::string_view text) {
    const auto graph = ImportFile(file);
    REQUIRE(!graph.has_value());
    CHECK_MESSAGE(graph.error().message().ends_with(text), graph.error().message());
  };
  refused(transform("SignalRfft", 5, 6), "the input has 5 elements; fft_length is 4");
  refused(transform("SignalIrfft", 5, 4), "the input has 5 elements; expected 6");
  refused(FileOfCustom("SignalRfft", IntOptions({{"T", 9}, {"fft_length", 4}}),
                       {{{4}, {}, fb::TensorType::INT8}}, {{{6}, {}, fb::TensorType::INT8}}),
          "a transform of i8[4] is unsupported; must be f32, i16 or i32");
  refused(FileOfCustom("SignalRfft", IntOptions({{"fft_length", 5}}), {{{5}}}, {{{6}}}),
          "an odd fft_length, 5, is unsupported");
}

TEST_CASE("tflite signals: transforms of fixed-point numbers") {
  for (const fb::TensorType type : {kInt16, fb::TensorType::INT32}) {
    const auto transform = [&](const char* name, int32_t from, int32_t to) {
      return FileOfCustom(name, IntOptions({{"T", 7}, {"fft_length", 4}}), {{{2, from}, {}, type}},
                          {{{2, to}, {}, type}});
    };
    // Both directions divide by the length.
    const std::vector<double> spectrum = {64, 0, 64, 0, 64, 0, 128, 0, 64, -64, 0, 0};
    CHECK(OutputOf(transform("SignalRfft", 4, 6), {256, 0, 0, 0, 256, 256, 0, 0}) == spectrum);
    CHECK(OutputOf(transform("SignalIrfft", 6, 4), spectrum) ==
          std::vector<double>{64, 0, 0, 0, 64, 64, 0, 0});
    CHECK(OutputOf(transform("SignalRfft", 1, 6), {256, -512}) ==
          std::vector<double>{64, 0, 64, 0, 64, 0, -128, 0, -128, 0, -128, 0});
  }
}

// ---- Filter banks. Numbers of the kernels' own tests, and at the limits of the integers.

constexpr fb::TensorType kUint32 = fb::TensorType::UINT32;
constexpr fb::TensorType kUint64 = fb::TensorType::UINT64;

CustomTensor Unsigned(int32_t size) {
  return {{size}, {}, kUint32};
}
CustomTensor Shorts(std::vector<int16_t> contents) {
  const auto size = static_cast<int32_t>(contents.size());
  return {{size}, {}, kInt16, 0, std::move(contents)};
}

std::string BankFile(int32_t channels, const std::vector<int16_t>& widths) {
  return FileOfCustom("SignalFilterBank", IntOptions({{"num_channels", channels}}),
                      {Unsigned(6), Shorts({10, 20, 30, -1}), Shorts({7, 6, 5, 4}),
                       Shorts({0, 1, 3}), Shorts({0, 1, 3}), Shorts(widths)},
                      {{{channels}, {}, kUint64}});
}

TEST_CASE("tflite signals: filter banks") {
  // Channel 0: the first band without weight 10, and the second one; channel 1: the second and the
  // third one.
  const std::vector<double> x = {1, 2, 3, 4294967295.0, 5, 6};
  CHECK(OutputOf(BankFile(2, {1, 2, 0}), x) == std::vector<double>{7 + 40 + 90, 12 + 15});
  // Weights below zero wrap.
  CHECK(OutputOf(BankFile(2, {0, 0, 1}), {1, 2, 3, 1, 5, 6})[1] == 18446744073709551615.0);
  const auto refused = ImportFile(BankFile(2, {1, 2, 2}));
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message().ends_with("band 2 exceeds the 6 elements or the 4 weights"));
}

TEST_CASE("tflite signals: square roots of filter banks") {
  const auto roots = [](int32_t shift, const std::vector<double>& x) {
    return OutputOf(FileOfCustom("SignalFilterBankSquareRoot", {},
                                 {{{static_cast<int32_t>(x.size())}, {}, kUint64},
                                  {{}, {std::bit_cast<float>(shift)}, fb::TensorType::INT32}},
                                 {Unsigned(static_cast<int32_t>(x.size()))}),
                    x);
  };
  CHECK(roots(7, {10528000193, 28362909357, 47577133750, 8466055850, 276394561, 55815334, 12428673,
                  22521722}) == std::vector<double>{801, 1315, 1704, 718, 129, 58, 27, 37});
  CHECK(roots(5, {13051415151, 1372112200, 4710443222}) == std::vector<double>{3570, 1157, 2144});
  // 65535.99 is 65535 in 32 bits and 65536 in 64 bits.
  CHECK(roots(0, {0, 1, 2, 3, 6, 7, 4294967295.0, 4294967296.0, 1e18}) ==
        std::vector<double>{0, 1, 1, 2, 2, 3, 65535, 65536, 1e9});
  // The largest number, the largest square, the number before it, and 2^62.
  constexpr uint64_t kRoot = 4294967295;
  const auto graph = ImportFile(FileOfCustom("SignalFilterBankSquareRoot", {},
                                             {{{4}, {}, kUint64}, {{}, {0}, fb::TensorType::INT32}},
                                             {Unsigned(4)}));
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  const Tensor x = Tensor::Of<uint64_t>(
      {4}, {~uint64_t{0}, kRoot * kRoot, kRoot * kRoot - 1, uint64_t{1} << 62});
  CHECK(RunEverywhere(*graph, {x})[0].ToDoubles() ==
        std::vector<double>{4294967295.0, 4294967295.0, 4294967295.0, 2147483648.0});
}

TEST_CASE("tflite signals: spectral subtraction keeps its noise") {
  const auto file = [](int64_t clamping, int64_t bits) {
    return FileOfCustom("SignalFilterBankSpectralSubtraction",
                        IntOptions({{"num_channels", 4},
                                    {"smoothing", 655},
                                    {"one_minus_smoothing", 15729},
                                    {"alternate_smoothing", 655},
                                    {"alternate_one_minus_smoothing", 15729},
                                    {"smoothing_bits", bits},
                                    {"min_signal_remaining", 819},
                                    {"clamping", clamping},
                                    {"spectral_subtraction_bits", 14}}),
                        {Unsigned(4)}, {Unsigned(4), Unsigned(4)});
  };
  // (12 15729 + 0) / 2^14 = 11, of a signal of 1.
  CHECK(RunsOf(file(0, 0), {{322, 308, 210, 479}, {1, 308, 0, 100}}) ==
        std::vector<Numbers>{{{310, 296, 202, 460}, {12, 12, 8, 19}},
                             {{0, 285, 0, 78}, {11, 23, 7, 22}}});
  CHECK(RunsOf(file(1, 0), {{322, 308, 210, 479}, {1, 308, 0, 100}}) ==
        std::vector<Numbers>{{{310, 296, 202, 460}, {12, 12, 8, 19}},
                             {{0, 285, 0, 78}, {1, 23, 0, 22}}});
  // 322 16 655 / 2^14 = 205; (5152 - 205) / 16 = 309
  CHECK(RunsOf(file(0, 4), {{322, 0, 0, 0}})[0] == Numbers{{309, 0, 0, 0}, {205, 0, 0, 0}});
}

TEST_CASE("tflite signals: logarithms of filter banks") {
  const auto logs = [](int64_t scale, int64_t bits, const std::vector<double>& x) {
    const auto size = static_cast<int32_t>(x.size());
    return OutputOf(
        FileOfCustom("SignalFilterBankLog",
                     IntOptions({{"output_scale", scale}, {"input_correction_bits", bits}}),
                     {Unsigned(size)}, {Samples({size})}),
        x);
  };
  CHECK(logs(1600, 3, {29, 21, 40, 19, 11, 5, 4, 46, 2}) ==
        std::vector<double>{8715, 8198, 9229, 8038, 7164, 5902, 5545, 9453, 4436});
  CHECK(logs(32768, 5, {48, 20, 19, 24, 14, 18}) ==
        std::vector<double>{32767, 15121, 13440, 21095, 3434, 11669});
  // 1600 ln(2^32) = 35489 exceeds the type. 1000 ln(2^32) is 22180.7, but 22182 in the kernel's
  // fractions, and with a scale of 32768 the product exceeds 32 bits.
  CHECK(logs(1600, 0, {0, 1, 4294967295.0}) == std::vector<double>{0, 0, 32767});
  CHECK(logs(1000, 0, {4294967295.0, 2147483648.0, 1000003}) ==
        std::vector<double>{22182, 21488, 13816});
  CHECK(logs(32768, 0, {4294967295.0}) == std::vector<double>{5968});
}

TEST_CASE("tflite signals: automatic gain") {
  std::vector<double> table = {32636, 32633, 32630};
  const std::vector<std::vector<double>> parts = {
      {-6, 0},       {-12, 0},      {-23, -2},     {-48, 0},      {-96, 0},     {-190, 0},
      {-378, 4},     {-739, 18},    {-1409, 62},   {-2567, 202},  {-4301, 562}, {-6265, 1230},
      {-7458, 1952}, {-7030, 2212}, {-5342, 1868}, {-3459, 1282}, {-2025, 774}, {-1120, 436},
      {-596, 232},   {-313, 122},   {-164, 64},    {-85, 34},     {-45, 18},    {-22, 8},
      {-13, 6},      {-8, 4},       {-2, 0},       {-3, 2},       {0, 0},       {-3, 2},
      {0, 0}};
  const std::vector<double> starts = {32624, 32612, 32587, 32539, 32443, 32253, 31879, 31158,
                                      29811, 27446, 23707, 18672, 13166, 8348,  4874,  2697,
                                      1446,  762,   398,   207,   107,   56,    29,    15,
                                      8,     4,     2,     1,     1,     0};
  for (size_t i = 0; i < parts.size(); ++i) {
    table.insert(table.end(), parts[i].begin(), parts[i].end());
    if (i < starts.size()) table.insert(table.end(), {-21589, starts[i]});
  }
  REQUIRE(table.size() == 125);
  const auto file = FileOfCustom("SignalPCAN", IntOptions({{"snr_shift", 6}}),
                                 {Unsigned(8), Unsigned(8), Samples({125})}, {Unsigned(8)});
  const auto graph = ImportFile(file);
  REQUIRE_MESSAGE(graph.has_value(), graph.error().message());
  const Numbers x = {
      {286, 298, 305, 135, 64, 171, 1, 2}, {7310, 18308, 7796, 8294, 1636, 4371, 0, 2}, table};
  // 32636 / 64 = 509; 509^2 / 2^20 = 0. 2 32630 / 64 = 1019; 1019^2 / 2^20 = 0
  CHECK(RunEverywhere(*graph, InputsOf(*graph, x))[0].ToDoubles() ==
        std::vector<double>{1301, 836, 1354, 548, 378, 908, 0, 0});
}

}  // namespace
}  // namespace nn::test::tflite_signal_test

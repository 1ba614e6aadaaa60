// Concurrent calls. The preset tsan runs them under ThreadSanitizer.
#include <nnsuite/convert.h>
#include <nnsuite/graph.h>
#include <nnsuite/inspect.h>
#include <nnsuite/model.h>
#include <nnsuite/program.h>
#include <nnsuite/validate.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

namespace nnsuite::test::threads_test {
namespace {

// Runs `work` with 0, 1, ... on as many threads, which start together; returns the sum of the
// results.
int OnThreads(int threads, const std::function<int(int)>& work) {
  std::atomic<int> ready = 0;
  std::atomic<int> sum = 0;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      sum += work(t);
    });
  for (std::thread& t : all) t.join();
  return sum;
}

std::string DigestOf(const std::vector<Tensor>& tensors) {
  std::vector<NamedTensor> named;
  for (const Tensor& t : tensors) named.push_back({"", t});
  return Digest(named);
}

}  // namespace

TEST_CASE("threads: one program runs on several threads at a time") {
  for (const std::string name : {"cnn.onnx", "mobile_quant.tflite"})
    for (const size_t threads : {size_t{1}, size_t{2}})
      for (const Backend backend : {Backend::kSimd, Backend::kReference}) {
        CAPTURE(name);
        CAPTURE(threads);
        Graph graph = Take(Take(Model::Read(Golden(name))).Import());
        if (name == "cnn.onnx") REQUIRE(graph.SetBatch(2).has_value());
        const Program program =
            Take(Program::Compile(graph, {.backend = backend, .threads = threads}));
        // The result of each seed without concurrency.
        std::vector<std::string> expected;
        for (uint64_t seed = 0; seed < 4; ++seed)
          expected.push_back(DigestOf(Take(program.Run(Take(program.SeededInputs(seed))))));
        CHECK(expected[0] != expected[1]);
        const int wrong = OnThreads(4, [&](int t) {
          const auto seed = static_cast<uint64_t>(t);
          int bad = 0;
          for (int run = 0; run < 3; ++run) {
            const auto inputs = program.SeededInputs(seed);
            const auto outputs = inputs ? program.Run(*inputs) : inputs;
            bad += !outputs || DigestOf(*outputs) != expected[seed];
          }
          return bad;
        });
        CHECK(wrong == 0);
      }
}

TEST_CASE("threads: the error of a run is its own") {
  const Program program = Take(Program::Compile(Take(Graph::Parse(R"(graph {
    in %i "i": i64[300]
    const %w: f32[8, 64] = seeded(1)
    %y = gather(%w, %i) {axis = 0}
    out "y" = %y
  })"))));
  const int wrong = OnThreads(4, [&](int t) {
    // Odd threads have indices out of range.
    const int64_t last = t % 2 == 0 ? 7 : 8 + t;
    std::vector<int64_t> indices(300, 1);
    indices[200 + static_cast<size_t>(t)] = last;
    const std::vector<Tensor> inputs = {*Tensor::Of<int64_t>({300}, indices)};
    int bad = 0;
    for (int run = 0; run < 20; ++run) {
      const auto outputs = program.Run(inputs);
      if (outputs.has_value() != (t % 2 == 0)) ++bad;
      if (!outputs &&
          outputs.error().message().find("index " + std::to_string(last)) == std::string::npos)
        ++bad;
    }
    return bad;
  });
  CHECK(wrong == 0);
}

TEST_CASE("threads: one model is described, validated, imported and compiled on several threads") {
  for (const std::string name :
       {"cnn.onnx", "mobile_quant.tflite", "superres.mlmodel", "squeeze.nnapi"}) {
    CAPTURE(name);
    const Model model = Take(Model::Read(Golden(name)));
    const std::string structure = Take(DigestsOf(model)).structure;
    const int wrong = OnThreads(4, [&](int t) {
      int bad = 0;
      bad += !Validate(model, {.profile = Profile::kStrict}).empty() &&
             !Validate(model, {.profile = Profile::kVendor}).empty();
      const auto digests = DigestsOf(model);
      bad += !digests || digests->structure != structure;
      const auto tensors = model.Tensors();
      bad += !tensors || !tensors->front().Read();
      bad += !DrawSvg(model) || !model.Summarize();
      auto graph = model.Import();
      if (graph && name == "cnn.onnx") bad += !graph->SetBatch(1);
      bad += !graph || !Program::Compile(*graph, {.threads = 1 + static_cast<size_t>(t % 2)});
      return bad;
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("threads: conversions at the same time, also to one target") {
  const TestFolder folder;
  const Model model = Take(Model::Read(Golden("cnn.onnx")));
  const std::vector<std::string> targets = {"a.tflite", "a.mlmodel", "b.onnx", "b.onnx"};
  const int wrong = OnThreads(4, [&](int t) {
    const auto done = ConvertModel(model, folder / targets[static_cast<size_t>(t)]);
    return !done || !done->written;
  });
  CHECK(wrong == 0);
  for (const std::string& name : targets) CHECK(Validate(Take(Model::Read(folder / name))).empty());
}

}  // namespace nnsuite::test::threads_test

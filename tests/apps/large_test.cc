#include <doctest/doctest.h>

#include "apps/program.h"
#include "support/files.h"
#include "support/hang.h"
#include "support/large_models.h"
#include "support/sanitizer.h"

// Every program on large models, and on models in which few bytes declare much: each ends with the
// expected output. Work that once took minutes at these sizes, or did not end, takes at most a
// second or two.
namespace nn::test::large_test {
namespace {

struct Row {
  std::string model;
  size_t n;
  bool runs = true;  // its shapes are known
};

TEST_CASE("large models: work in proportion to their size, in every program") {
  const TempDir dir;
  // The address sanitizer needs more memory, and ten times as long.
  const std::string memory = NN_ADDRESS_SANITIZER ? "" : " --max-memory 2GB";
  for (const Row& r : {
           Row{"relu_chain", 20'000},
           Row{"reversed_chain", 20'000},
           Row{"add_chain", 10'000},
           Row{"sum_initializers", 10'000},
           Row{"concat_equal", 50'000},
           Row{"wide_interface", 10'000},
           Row{"fan_out", 10'000},
           Row{"fan_in", 10'000},
           Row{"long_lived", 10'000},
           Row{"symbolic_pools", 500, false},
           Row{"products", 100, false},
           Row{"shape_products", 500, false},
           Row{"symbol_sums", 1'000, false},
       }) {
    const std::string model = dir / "m.onnx";
    WriteText(model, MakeLargeModel(r.model, NN_ADDRESS_SANITIZER ? r.n / 4 : r.n));
    for (const std::string& command :
         {"nninspect " + model, "nninspect --nodes --tensors --tree --cost --hash " + model,
          "nnvalidate --profile strict " + model, "nnconvert " + model + " " + dir / "copy.onnx",
          "nnconvert --rewrite --no-verify " + model + " " + dir / "new.onnx",
          "nnconvert --no-verify " + model + " " + dir / "new.tflite", "nnrun " + model}) {
      INFO(r.model, ": ", command);
      CheckEnds([&] {
        const ProgramResult result = RunProgram(command + memory);
        CHECK_MESSAGE(result.code <= 3, result.err);
        if (r.runs && command.starts_with("nnrun")) CHECK_MESSAGE(result.code == 0, result.err);
        CHECK_MESSAGE(!Contains(result.err, "internal error"), result.err);
      });
    }
  }
}

}  // namespace
}  // namespace nn::test::large_test

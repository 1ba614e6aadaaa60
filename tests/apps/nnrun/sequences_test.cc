// Sequences and optionals as inputs and outputs of models, in all programs.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "apps/program.h"
#include "base/file/file.h"
#include "formats/onnx/file/tensor_file.h"
#include "support/files.h"
#include "support/wire.h"
#include "tensorio/tensor_archive.h"

namespace nn::test::nnrun_sequences_test {
namespace {

// y is s with t inserted at position p; z is the value of o, or t if there is none.
constexpr const char* kModel = R"(ir_version: 8
  opset_import { version: 17 }
  graph {
    name: "g"
    node { op_type: "SequenceInsert" input: "s" input: "t" input: "p" output: "y" }
    node { op_type: "OptionalHasElement" input: "o" output: "has" }
    node { op_type: "If" input: "has" output: "z"
      attribute { name: "then_branch" type: GRAPH g {
        name: "yes"
        node { op_type: "OptionalGetElement" input: "o" output: "of_o" }
        output { name: "of_o" type { tensor_type { elem_type: 1 } } }
      } }
      attribute { name: "else_branch" type: GRAPH g {
        name: "no"
        node { op_type: "Identity" input: "t" output: "of_t" }
        output { name: "of_t" type { tensor_type { elem_type: 1 } } }
      } }
    }
    input { name: "s" type { sequence_type { elem_type { tensor_type { elem_type: 1
      shape { dim { dim_param: "N" } } } } } } }
    input { name: "t" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    input { name: "p" type { tensor_type { elem_type: 7 shape { } } } }
    input { name: "o" type { optional_type { elem_type { tensor_type { elem_type: 1
      shape { dim { dim_value: 1 } } } } } } }
    output { name: "y" type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } }
    output { name: "z" type { tensor_type { elem_type: 1 } } }
  })";

std::string Proto(const Tensor& t) {
  const auto image = onnx::TensorProtoImage(t, "t");
  std::string bytes;
  for (const Blob& part : *image)
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  return bytes;
}

// SequenceProto: name, elem_type TENSOR, tensor_values.
std::string Sequence(const std::vector<Tensor>& elements) {
  std::string bytes = Bytes(1, "s") + Int(2, 1);
  for (const Tensor& t : elements) bytes += Bytes(3, Proto(t));
  return bytes;
}

Tensor F(const std::vector<float>& v) {
  return Tensor::Of<float>({static_cast<int64_t>(v.size())}, v);
}

void WriteSet(const TempDir& dir, int64_t position, const std::string& optional,
              const std::vector<Tensor>& y, const Tensor& z) {
  WriteText(dir / "input_0.pb", Sequence({F({1}), F({2, 3, 4})}));
  WriteText(dir / "input_1.pb", Proto(F({5, 6})));
  WriteText(dir / "input_2.pb", Proto(Tensor::Scalar<int64_t>(position)));
  WriteText(dir / "input_3.pb", optional);
  WriteText(dir / "output_0.pb", Sequence(y));
  WriteText(dir / "output_1.pb", Proto(z));
}

TEST_CASE("nnrun --test-data: sequences and optionals") {
  const TempDir dir;
  WriteText(dir / "m.textproto", kModel);
  const std::string run = "nnrun " + dir / "m.textproto --test-data " + dir.path();
  const std::string some = Bytes(1, "o") + Int(2, 1) + Bytes(3, Proto(F({7})));
  const std::string none = Bytes(1, "o") + Int(2, 0);

  WriteSet(dir, 1, some, {F({1}), F({5, 6}), F({2, 3, 4})}, F({7}));
  const ProgramResult first = RunProgram(run);
  CHECK(first.code == 0);
  CHECK(Contains(first.out, "y[1]  "));
  CHECK(Contains(first.out, "y     3 elements"));
  WriteSet(dir, -2, none, {F({5, 6}), F({1}), F({2, 3, 4})}, F({5, 6}));
  CHECK(RunProgram(run).code == 0);

  // An element that differs, and one that is missing.
  WriteSet(dir, 1, some, {F({1}), F({5, 6}), F({2, 3, 5})}, F({7}));
  CHECK(RunProgram(run).code == 1);
  WriteSet(dir, 1, some, {F({1}), F({5, 6})}, F({7}));
  const ProgramResult fewer = RunProgram(run);
  CHECK(fewer.code == 1);
  CHECK(Contains(fewer.out, "has 3 elements, but 2 are expected"));
  // Elements that are no tensors.
  WriteText(dir / "input_0.pb", Int(2, 3) + Bytes(5, Sequence({})));
  const ProgramResult nested = RunProgram(run);
  CHECK(nested.code == 3);
  CHECK(Contains(nested.err, "input_0.pb: the elements of the sequence are not tensors"));
}

TEST_CASE("--length: the elements of a sequence are inputs") {
  const TempDir dir;
  WriteText(dir / "m.textproto", R"(ir_version: 8
    opset_import { version: 17 }
    graph {
      name: "g"
      node { op_type: "ConcatFromSequence" input: "s" output: "c"
             attribute { name: "axis" type: INT i: 0 } }
      node { op_type: "SplitToSequence" input: "c" output: "y" }
      input { name: "s" type { sequence_type { elem_type { tensor_type { elem_type: 1
        shape { dim { dim_value: 1 } dim { dim_value: 2 } } } } } } }
      output { name: "y" type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } }
    })");
  const std::string model = dir / "m.textproto";
  const ProgramResult open = RunProgram("nnrun " + model);
  CHECK(open.code == 3);
  CHECK(Contains(open.err,
                 "graph input \"s\" is a sequence: state its number of elements with "
                 "--length s=N, which become the inputs s[0], s[1] and so on"));
  const ProgramResult run = RunProgram("nnrun " + model + " --length s=2 --input 's[0]=[[1,2]]' " +
                                       "--input 's[1]=[[3,4]]' -o " + dir / "y.npz");
  CHECK_MESSAGE(run.code == 0, run.err);
  const auto arrays = ReadTensorArchive(*ReadFile(dir / "y.npz"));
  REQUIRE(arrays.has_value());
  REQUIRE(arrays->size() == 2);
  CHECK((*arrays)[1].name == "y[1]");
  CHECK((*arrays)[1].tensor.ToDoubles() == std::vector<double>{3, 4});
  for (const std::string target : {"m.tflite", "m.mlmodel", "m.onnx"}) {
    CAPTURE(target);
    const ProgramResult r = RunProgram("nnconvert --length s=3 " + model + " " + dir / target);
    CHECK_MESSAGE(r.code == 0, r.err);
    CHECK(Contains(r.out, "verified"));
  }
  CHECK(Contains(RunProgram("nninspect --length s=3 " + model).out, "Multiply-adds"));
  for (const std::string wrong : {"s=-1", "s", "s=x", "s=none", "s=70000"}) {
    CAPTURE(wrong);
    const ProgramResult r = RunProgram("nnrun " + model + " --length " + wrong);
    CHECK(r.code == 2);
    CHECK(!r.err.empty());
  }
}

}  // namespace
}  // namespace nn::test::nnrun_sequences_test

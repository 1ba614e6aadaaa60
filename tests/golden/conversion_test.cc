// A graph is written as the same bytes by every compiler, on every CPU.
#include <doctest/doctest.h>

#include "base/sha256.h"
#include "support/files.h"
#include "support/paths.h"

namespace nn::test::conversion_test {
namespace {

struct Row {
  std::string graph;  // of graphs/
  std::string format;
  std::string digest;  // SHA-256 of the file
};

const Row kRows[] = {
    {"mobile", "onnx", "sha256:48b20a203ec31a79a1a017662a997448194b235cceaadec91af76fe1634a7c19"},
    {"mobile", "tflite", "sha256:b3f93709790be9c66fbd9879ab9580ad3760b1349d28d650563b5f410276d8e1"},
    {"mobile", "mlmodel",
     "sha256:91b5951ec4bab7b0c5ef25f7b0980dd921fd5ef20abf17fa4fb8256d0d31e9ba"},
    {"mobile", "nnapi", "sha256:a7f7231ead99566a19933951b19539f1b61f542a06ea2d33f055b1246aa2e427"},
    {"tagger", "onnx", "sha256:5c81ceb711d575af2c47f5f7a3ca88468d4091b600bda32210f9def90c35af56"},
    {"tagger", "tflite", "sha256:d9ebd3e2610694beea791955d04a85a6ee2da176ffaeb7bfae1df1b8e140c9c1"},
    {"tagger", "mlmodel",
     "sha256:fddc7a91939c6f96b81d86a852386516d51ac7ffcc97765291a80a7c0cff90df"},
    {"ssd", "onnx", "sha256:400af5a35e9b6992ed88fed302d004342cc1033004461f8902c332dac5155855"},
    {"ssd", "tflite", "sha256:d440281ee0de822f2ef7c041195a87b1e9d6c069032b1a1aba5ee6607182c359"},
    {"ssd", "mlmodel", "sha256:9ba9e6be47abb15a2fcbb01ab3d8172b961a6e79562a1f1f987f97fc51137d4f"},
    {"attention", "onnx",
     "sha256:5b741409fbc7e9ec54aebacad35a24e41bb7fb56e8b04518ac44919b9eec589e"},
    {"attention", "tflite",
     "sha256:4d07d7aec5423f1318c3b7330e4a46f9d55164141d5e7e313af0932ef514748f"},
    {"attention", "mlmodel",
     "sha256:1faf191e646293e59d047333ce085ce35901a9e15ca74b0a65430b92e7285195"},
    {"unet", "onnx", "sha256:e03d4b45d57de0db6ac22dedc5ac2d5e34394ee668ec6a8885721aa866831619"},
    {"unet", "tflite", "sha256:079827d74fadd291af9c4d50de8140b4b95ca9521006b3d3e091c5d53df396c4"},
    {"unet", "mlmodel", "sha256:daf4bc4be0480507163447ebd543341607e273b00a4f80267557d41bfad812f8"},
    {"unet", "nnapi", "sha256:a67bb921b3f9bdc14c30e2cd15bd0996780799a802fca5305d3c92562d113663"},
};

TEST_CASE("golden: the bytes of converted models") {
  const TempDir dir;
  for (const Row& row : kRows) {
    CAPTURE(row.graph);
    CAPTURE(row.format);
    const std::string path = dir / (row.graph + "." + row.format);
    WriteModel(path, ReadText(SourcePath("tests/golden/graphs/") + row.graph + ".graph"));
    Sha256 hasher;
    hasher.Bytes(ReadText(path));
    CHECK(hasher.Finish() == row.digest);
  }
}

}  // namespace
}  // namespace nn::test::conversion_test

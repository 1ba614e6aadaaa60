#include "formats/coreml/export/half_weights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "base/half.h"
#include "coreml_neural_network.pb.h"
#include "formats/coreml/spec/signature_weight_list.h"

namespace nn::coreml {
namespace {

using google::protobuf::Message;
using W = pb::WeightParams;

// Numbers of a layer from which on it pays.
constexpr uint64_t kMinWeights = 64;

float FloatAt(std::span<const std::byte> bytes, size_t i) {
  float value;  // the data may be unaligned
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

bool AreHalves(const Blob& floats) {
  bool all = true;
  floats.Visit([&](std::span<const std::byte> piece) {
    for (size_t i = 0; all && i < piece.size() / sizeof(float); ++i) {
      const float x = FloatAt(piece, i);
      all = std::bit_cast<uint32_t>(HalfToFloat(FloatToHalf(x))) == std::bit_cast<uint32_t>(x);
    }
    return all;
  });
  return all;
}

// The halves of floats, without a copy of either before the file is written.
class Halves : public DeferredBytes {
 public:
  explicit Halves(Blob floats) : floats_(std::move(floats)) {}

  void Compute(size_t offset, std::span<std::byte> to) const override {
    // Pieces of a file may begin and end within a number.
    const size_t first = offset / sizeof(uint16_t);
    const size_t end = (offset + to.size() + 1) / sizeof(uint16_t);
    size_t at = 0;  // bytes of `to` that are written
    size_t skip = offset % sizeof(uint16_t);
    floats_.Slice(first * sizeof(float), (end - first) * sizeof(float))
        .Visit([&](std::span<const std::byte> piece) {
          for (size_t i = 0; i < piece.size() / sizeof(float); ++i) {
            const auto half =
                std::bit_cast<std::array<std::byte, 2>>(FloatToHalf(FloatAt(piece, i)));
            for (; skip < half.size() && at < to.size(); ++skip) to[at++] = half[skip];
            skip = 0;
          }
          return true;
        });
  }
  void Release() const override { DropResidentPages(floats_); }

 private:
  Blob floats_;
};

// The 32-bit weights of a layer; empty if it keeps them.
std::vector<const W*> WeightsToHalve(const pb::NeuralNetworkLayer& layer,
                                     const PayloadTable& payloads) {
  const auto size = [&](const Message& message, int field) {
    return ElementsOf(payloads, message, field);
  };
  std::vector<const W*> halves;
  uint64_t numbers = 0;
  for (const Weights& w : WeightsOf(layer, size)) {
    if (w.storage != Storage::kFloat) continue;
    const auto floats = payloads.Find(*w.params, W::kFloatValueFieldNumber);
    if (w.use == WeightUse::kFloats || !floats || !AreHalves(*floats)) return {};
    halves.push_back(w.params);
    numbers += w.values;
  }
  if (numbers < kMinWeights) halves.clear();
  return halves;
}

}  // namespace

Status StoreHalfWeights(Message* model, PayloadTable& payloads) {
  return ForEachMessage(model, [&](Message* message) -> Status {
    auto* const layer = dynamic_cast<pb::NeuralNetworkLayer*>(message);
    if (layer == nullptr) return {};
    const std::vector<const W*> halves = WeightsToHalve(*layer, payloads);
    if (halves.empty()) return {};
    return ForEachMessage(layer, [&](Message* part) -> Status {
      if (std::ranges::find(halves, part) == halves.end()) return {};
      Blob floats = *payloads.Find(*part, W::kFloatValueFieldNumber);
      const size_t bytes = floats.size() / 2;
      PayloadTable::Detach(part);
      payloads.Attach(part, W::kFloat16ValueFieldNumber,
                      Blob::Deferred(bytes, std::make_unique<Halves>(std::move(floats))));
      return {};
    });
  });
}

}  // namespace nn::coreml

#include "validators/coreml/layers/shapes.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/text/text.h"
#include "validators/coreml/layers/shape_layers.h"

namespace nn::coreml {
namespace {

// The maximum number of layer visits.
constexpr int64_t kMaxVisits = int64_t{1} << 21;
// The maximum number of bits that record which inputs each blob is connected to.
constexpr size_t kMaxBits = size_t{1} << 27;

// The inputs that each blob is connected to. The passes of the checker end when every blob is
// connected to all inputs, or when a pass adds no connection.
class Reach {
 public:
  Reach(size_t blobs, size_t inputs)
      : inputs_(inputs), words_((inputs + 63) / 64), bits_(blobs * words_) {}

  void Set(size_t blob, size_t input) {
    bits_[blob * words_ + input / 64] |= uint64_t{1} << (input % 64);
  }
  // Connects all of `to` to the inputs that any of `from` is connected to. Returns whether this
  // adds a connection.
  bool Add(const std::vector<size_t>& to, const std::vector<size_t>& from) {
    std::vector<uint64_t> all(words_);
    for (const size_t blob : from)
      for (size_t i = 0; i < words_; ++i) all[i] |= bits_[blob * words_ + i];
    bool added = false;
    for (const size_t blob : to)
      for (size_t i = 0; i < words_; ++i) {
        uint64_t& word = bits_[blob * words_ + i];
        added = added || (word | all[i]) != word;
        word |= all[i];
      }
    return added;
  }
  // Whether every blob is connected to every input.
  bool IsFull() const {
    size_t count = 0;
    for (const uint64_t word : bits_) count += static_cast<size_t>(std::popcount(word));
    return words_ == 0 || count == bits_.size() / words_ * inputs_;
  }

 private:
  size_t inputs_;
  size_t words_;
  std::vector<uint64_t> bits_;
};

class Shaper {
 public:
  explicit Shaper(const NetworkAt& network)
      : network_(network), description_(network.model->description()) {}

  std::optional<ShapeFault> Run() {
    Index();
    if (!Constrain(description_.input(), false)) return fault_;
    const auto inputs = static_cast<size_t>(description_.input_size());
    if (inputs * blobs_.size() > kMaxBits) return std::nullopt;
    Reach reach(blobs_.size(), inputs);
    for (size_t i = 0; i < inputs; ++i)
      reach.Set(ids_.at(description_.input(static_cast<int>(i)).name()), i);
    // Ends when every blob is connected to every input, or when a pass adds no connection. The
    // first pass always adds the blobs themselves.
    bool more = true;
    for (bool first = true; more; first = false) {
      bool added = first;
      if (!Pass(reach, false, added) || !Pass(reach, true, added)) return fault_;
      if (visits_ > kMaxVisits) return std::nullopt;
      more = added && !reach.IsFull();
    }
    Constrain(description_.output(), true);
    return fault_;
  }

 private:
  size_t IdOf(std::string_view name) {
    const auto [found, fresh] = ids_.try_emplace(name, blobs_.size());
    if (fresh) blobs_.emplace_back().name = name;
    return found->second;
  }

  void Index() {
    for (const auto& input : description_.input()) IdOf(input.name());
    for (const auto& layer : *network_.layers) {
      auto& blobs = layers_.emplace_back();
      for (const auto& input : layer.input()) blobs.inputs.push_back(IdOf(input));
      for (const auto& output : layer.output()) blobs.outputs.push_back(IdOf(output));
    }
  }

  bool Pass(Reach& reach, bool backwards, bool& added) {
    const int count = network_.layers->size();
    for (int k = 0; k < count; ++k) {
      const int i = backwards ? count - 1 - k : k;
      const auto& ids = layers_[static_cast<size_t>(i)];
      added =
          (backwards ? reach.Add(ids.inputs, ids.outputs) : reach.Add(ids.outputs, ids.inputs)) ||
          added;
      LayerBlobs blobs;
      for (const size_t in : ids.inputs) blobs.inputs.push_back(&blobs_[in]);
      for (const size_t out : ids.outputs) blobs.outputs.push_back(&blobs_[out]);
      std::string message = ShapeLayer(network_.layers->Get(i), blobs);
      if (!message.empty()) {
        fault_ = ShapeFault{i, std::move(message)};
        return false;
      }
      visits_ += static_cast<int64_t>(1 + ids.inputs.size() + ids.outputs.size());
    }
    return true;
  }

  // Applies the sizes that the description of the model gives its inputs or outputs.
  bool Constrain(const Features& features, bool outputs) {
    for (const auto& feature : features) {
      if (outputs && (feature.name() == description_.predictedprobabilitiesname() ||
                      feature.name() == description_.predictedfeaturename()))
        continue;
      const auto found = ids_.find(feature.name());
      if (found == ids_.end()) continue;
      BlobShape& blob = blobs_[found->second];
      std::string message =
          outputs ? ConstrainOutput(feature.type(), blob) : ConstrainInput(feature.type(), blob);
      if (message.empty()) continue;
      fault_ = ShapeFault{-1, std::move(message)};
      return false;
    }
    return true;
  }

  struct Ids {
    std::vector<size_t> inputs;
    std::vector<size_t> outputs;
  };

  const NetworkAt& network_;
  const pb::ModelDescription& description_;
  std::unordered_map<std::string_view, size_t> ids_;
  std::vector<BlobShape> blobs_;
  std::vector<Ids> layers_;
  int64_t visits_ = 0;
  std::optional<ShapeFault> fault_;
};

}  // namespace

std::optional<ShapeFault> FindShapeFault(const NetworkAt& network) {
  return Shaper(network).Run();
}

}  // namespace nn::coreml

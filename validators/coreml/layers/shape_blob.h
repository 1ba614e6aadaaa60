// A blob of a layer, and operations that narrow its sizes.
#pragma once

#include <string>
#include <utility>

#include "validators/coreml/layers/shape_layers.h"

namespace nn::coreml {

// Stores the first contradiction in `fault`; later operations have no effect.
class BlobView {
 public:
  BlobView(BlobShape& blob, std::string& fault) : blob_(blob), fault_(fault) {}

  const SizeSpan& operator[](Axis axis) const { return blob_.axes[axis]; }

  void Narrow(Axis axis, const SizeSpan& span);
  void Set(Axis axis, uint64_t size);
  void AtLeast(Axis axis, uint64_t size) { Narrow(axis, SizeSpan::From(size)); }
  void AtMost(Axis axis, const Bound& size) {
    if (!size.unbound) Narrow(axis, SizeSpan::Of(Bound(0), size));
  }
  void NarrowAll(const BlobView& other);
  // Gives both blobs the intersection of their sizes.
  void Share(Axis axis, BlobView& other);
  // The smallest size; an unbounded one is a contradiction.
  uint64_t Low(Axis axis);
  bool IsFixed() const {
    return blob_.axes[kChannel].IsFixed() && blob_.axes[kHeight].IsFixed() &&
           blob_.axes[kWidth].IsFixed();
  }

 private:
  BlobShape& blob_;
  std::string& fault_;
};

// Narrows the sizes of the blobs of one layer.
class LayerShaper {
 public:
  LayerShaper(const pb::NeuralNetworkLayer& layer, const LayerBlobs& blobs, std::string& fault);

  BlobView In(size_t i) { return {*blobs_.inputs[i], fault_}; }
  BlobView Out(size_t i) { return {*blobs_.outputs[i], fault_}; }

  void Convolution();
  void Pooling();
  void Recurrent(uint64_t in, uint64_t out, bool sequence, size_t states);
  void Other();

 private:
  void Deconvolve(Axis axis, int64_t kernel, int64_t stride, int64_t padding_a, int64_t padding_b);
  void Convolve(Axis axis, int64_t kernel, int64_t stride, int64_t padding);
  void PoolWithLastPixel(Axis axis, int64_t kernel, int64_t stride, int64_t padding, bool padded);
  void Product(uint64_t in, uint64_t out);
  void Crop();
  void Pad();
  void Resample(uint64_t height, uint64_t width);
  void Broadcast();
  void Dot();
  void Reduce();
  void Constant();
  void Reshape();
  void Flatten();
  void Permute();
  void Concat();
  void Split();
  void Repeat();
  void Reorganize();
  void Slice();
  void Resize();
  void CropResize();
  void ShareOuter(bool channel);

  const pb::NeuralNetworkLayer& layer_;
  const LayerBlobs& blobs_;
  std::string& fault_;
};

}  // namespace nn::coreml

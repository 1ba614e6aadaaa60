#include "convert/inputs/image_input.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/image/image.h"
#include "base/text/text.h"
#include "exec/program.h"
#include "ops/nn/resize/resize.h"

namespace nn {
namespace {

using nnsuite::ImageColor;
using nnsuite::ImageFit;
using nnsuite::ImageLayout;

static_assert(ImageOptions::kMaxPixels == kMaxImagePixels);

std::string_view ColorName(ImageColor color) {
  constexpr std::array<std::string_view, 3> kNames = {"rgb", "bgr", "gray"};
  return kNames[static_cast<size_t>(color)];
}

// The axes of an input that takes a picture.
struct ImageAxes {
  bool channels_last = false;
  size_t channels = 0, height = 0, width = 0;  // axes
};

std::span<const uint8_t> BytesOf(const Blob& file) {
  return {reinterpret_cast<const uint8_t*>(file.data()), file.size()};
}

bool IsChannels(const Dim& d) {
  return d.is_const() && (d.value() == 1 || d.value() == 3);
}
bool IsColors(const Dim& d) {
  return d.is_const() && d.value() == 3;
}

Result<ImageAxes> AxesOf(const Type& type, std::optional<ImageLayout> layout) {
  if (!type.ranked() || type.rank() < 3 || type.rank() > 4)
    return UsageError("{} cannot be fed from an image: it needs 3 axes, or 4 with a batch",
                      type.ToString());
  const auto rank = static_cast<size_t>(type.rank());
  const size_t first = rank - 3;
  const Dim &front = (*type.dims)[first], &back = (*type.dims)[rank - 1];
  const bool can_lead = IsChannels(front), can_trail = IsChannels(back);
  if (!can_lead && !can_trail)
    return UsageError("{} cannot be fed from an image: no axis has 1 or 3 channels",
                      type.ToString());
  if (can_lead && can_trail && !layout && IsColors(front) == IsColors(back))
    return UsageError("{} may have its channels first or last: choose with --layout",
                      type.ToString());
  ImageAxes axes;
  axes.channels_last =
      layout ? *layout == ImageLayout::kNhwc : !can_lead || (can_trail && IsColors(back));
  if (axes.channels_last ? !can_trail : !can_lead)
    return UsageError("{} does not have the layout {}", type.ToString(),
                      axes.channels_last ? "nhwc" : "nchw");
  axes.channels = axes.channels_last ? rank - 1 : first;
  axes.height = axes.channels_last ? first : first + 1;
  axes.width = axes.height + 1;
  return axes;
}

// "224" or "240x320".
Result<ImageSize> ParseSize(const std::string& text) {
  const auto number = [&](std::string_view part) {
    int64_t n = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), n);
    return error == std::errc() && end == part.data() + part.size() && n > 0 && n <= 65536 ? n : 0;
  };
  const size_t x = text.find('x');
  const int64_t height = number(text.substr(0, x));
  const int64_t width = x == std::string::npos ? height : number(text.substr(x + 1));
  if (height == 0 || width == 0)
    return UsageError("--image-size: {} is not a size; expected N or HEIGHTxWIDTH, 1 to 65536",
                      Quote(text));
  return ImageSize{height, width};
}

Result<ImageSize> TargetSize(const Type& type, const ImageAxes& axes, const ImageSize& own,
                             const std::string& option) {
  const Dim &height = (*type.dims)[axes.height], &width = (*type.dims)[axes.width];
  ImageSize size = own;
  if (!option.empty()) {
    NN_ASSIGN(size, ParseSize(option));
  }
  const auto differs = [](const Dim& d, int64_t n) { return d.is_const() && d.value() != n; };
  if (!option.empty() && (differs(height, size.height) || differs(width, size.width)))
    return UsageError("--image-size: the input is {}", type.ToString());
  if (height.is_const()) size.height = height.value();
  if (width.is_const()) size.width = width.value();
  return size;
}

// The size of the whole picture in the result, of which "crop" keeps the middle.
Result<ImageSize> ScaledSize(const ImageSize& from, const ImageSize& to, bool crop) {
  if (!crop) return to;
  // The larger of the two factors covers the size.
  const bool by_height = to.height * from.width >= to.width * from.height;
  const double factor = by_height
                            ? static_cast<double>(to.height) / static_cast<double>(from.height)
                            : static_cast<double>(to.width) / static_cast<double>(from.width);
  const auto scaled = [&](int64_t n, int64_t least) {
    return std::max(least, static_cast<int64_t>(std::lround(static_cast<double>(n) * factor)));
  };
  const ImageSize whole = {scaled(from.height, to.height), scaled(from.width, to.width)};
  if (whole.height > kMaxImagePixels / whole.width)
    return LimitError("--image-fit crop: the scaled picture would have {} x {} pixels; at most {}",
                      whole.width, whole.height, kMaxImagePixels);
  return whole;
}

// Resizes planes [1, 3, height, width] of one size.
class Resizer {
 public:
  static Result<Resizer> Make(const ImageSize& from, const ImageSize& to) {
    Graph graph;
    ResizeAttrs attrs;
    attrs.mode = ResizeMode::kLinear;
    attrs.sizes = {Dim(to.height), Dim(to.width)};
    attrs.antialias = true;
    attrs.exclude_outside = true;
    const Type type(DType::kF32, ToDims({1, 3, from.height, from.width}));
    NN_ASSIGN(const Node* const resize,
              graph.Append("resize", {graph.AddInput("x", type)}, std::move(attrs)));
    graph.AddOutput("y", resize->output());
    NN_ASSIGN(Program program, Program::Compile(std::move(graph), {}));
    return Resizer(std::move(program));
  }

  Result<Tensor> Run(const Tensor& image) const {
    NN_ASSIGN(auto results, program_.Run(std::span(&image, 1)));
    return std::move(results[0]);
  }

 private:
  explicit Resizer(Program program) : program_(std::move(program)) {}

  Program program_;
};

// Takes rows of a picture and makes them as wide as the result at once, a band at a time, so that
// the picture is never in memory as numbers. The height follows when all rows are there: the
// interpolation treats the axes one after the other, the last one first.
class PictureRows {
 public:
  static Result<PictureRows> Make(const ImageSize& from, int64_t width) {
    constexpr int64_t kBandPixels = int64_t{1} << 18;
    PictureRows out(from, width);
    out.band_ = std::clamp<int64_t>(kBandPixels / from.width, 1, from.height);
    NN_ASSIGN(TensorBuilder narrow, TensorBuilder::Create(DType::kF32, {1, 3, from.height, width}));
    out.narrow_ = std::move(narrow);
    NN_RETURN_IF_ERROR(out.StartBand());
    return out;
  }

  Status Take(std::span<const uint8_t> rgb) {
    for (; !rgb.empty(); rgb = rgb.subspan(static_cast<size_t>(3 * from_.width))) {
      const auto x = planes_.As<float>();
      const auto plane = static_cast<size_t>(band_ * from_.width);
      const auto at = static_cast<size_t>(filled_ * from_.width);
      for (size_t i = 0; i < static_cast<size_t>(from_.width); ++i)
        for (size_t c = 0; c < 3; ++c) x[c * plane + at + i] = rgb[3 * i + c];
      if (++filled_ == band_) NN_RETURN_IF_ERROR(EndBand());
    }
    return {};
  }

  // All rows, with the width of the result.
  Tensor Finish() { return narrow_.Finish(); }

 private:
  PictureRows(const ImageSize& from, int64_t width) : from_(from), width_(width) {}

  Status StartBand() {
    band_ = std::min(band_, from_.height - done_);
    filled_ = 0;
    if (band_ == 0) return {};
    NN_ASSIGN(planes_, TensorBuilder::Create(DType::kF32, {1, 3, band_, from_.width}));
    if (resizer_ && resizer_rows_ == band_) return {};
    NN_ASSIGN(resizer_, Resizer::Make({band_, from_.width}, {band_, width_}));
    resizer_rows_ = band_;
    return {};
  }

  Status EndBand() {
    Tensor band = planes_.Finish();
    if (width_ != from_.width) {
      NN_ASSIGN(band, resizer_->Run(band));
    }
    const auto x = band.As<float>();
    const auto y = narrow_.As<float>();
    const auto rows = static_cast<size_t>(band_ * width_);
    for (size_t c = 0; c < 3; ++c)
      std::ranges::copy(x.subspan(c * rows, rows),
                        y.subspan(c * static_cast<size_t>(from_.height * width_) +
                                  static_cast<size_t>(done_ * width_))
                            .begin());
    done_ += band_;
    return StartBand();
  }

  ImageSize from_;
  int64_t width_;
  int64_t band_ = 0, filled_ = 0, done_ = 0;
  TensorBuilder planes_, narrow_;
  std::optional<Resizer> resizer_;
  int64_t resizer_rows_ = 0;
};

// The middle of the image, rounded to whole numbers.
Result<Tensor> Middle(const Tensor& image, const ImageSize& whole, const ImageSize& to) {
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(DType::kF32, {1, 3, to.height, to.width}));
  const auto wide = image.As<float>();
  const auto y = out.As<float>();
  const int64_t top = (whole.height - to.height) / 2, left = (whole.width - to.width) / 2;
  size_t at = 0;
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t i = 0; i < to.height; ++i)
      for (int64_t j = 0; j < to.width; ++j) {
        const int64_t row = c * whole.height + top + i;
        const float v = wide[static_cast<size_t>(row * whole.width + left + j)];
        y[at++] = std::clamp(std::nearbyint(v), 0.0F, 255.0F);
      }
  return out.Finish();
}

// A damaged picture is a damaged file, not a wrong model.
Error FileError(const Error& error) {
  return error.code() == ErrorCode::kModel ? Error(ErrorCode::kParse, error.message()) : error;
}

// Red, green and blue of the picture as planes [1, 3, height, width] of whole numbers.
Result<Tensor> Resized(const Blob& file, const ImageSize& from, const ImageSize& to, bool crop) {
  NN_ASSIGN(const ImageSize whole, ScaledSize(from, to, crop));
  NN_ASSIGN(PictureRows rows, PictureRows::Make(from, whole.width));
  const Status decoded = DecodeImageRows(
      BytesOf(file), from, [&](std::span<const uint8_t> rgb) { return rows.Take(rgb); });
  if (!decoded) return tl::unexpected(FileError(decoded.error()));
  Tensor image = rows.Finish();
  if (whole.height != from.height) {
    NN_ASSIGN(const Resizer resizer, Resizer::Make({from.height, whole.width}, whole));
    NN_ASSIGN(image, resizer.Run(image));
  }
  return Middle(image, whole, to);
}

// The pixels as numbers of the input.
class Pixels {
 public:
  static Result<Pixels> Make(const PortType& input, const ImageOptions& options, size_t channels) {
    Pixels p;
    p.type_ = input.type;
    const DType dtype = input.type.dtype;
    if (!IsFloat(dtype) && !IsInteger(dtype))
      return UsageError("{} cannot be fed from an image", input.type.ToString());
    if (input.type.quantized() && input.type.quant->per_axis())
      return UsageError("{} cannot be fed from an image: it has several scales",
                        input.type.ToString());
    p.as_pixel_ = IsInteger(dtype) && !options.has_numbers();
    p.scale_ = options.scale.value_or(input.colors ? 1 : 1.0 / 255);
    const auto numbers = [&](const char* option, const std::vector<double>& given, double other,
                             std::array<double, 3>& out) -> Status {
      if (given.size() > 1 && given.size() != channels)
        return UsageError("{}: {} numbers for {} channels", option, given.size(), channels);
      for (size_t c = 0; c < 3; ++c)
        out[c] = given.empty() ? other : given[given.size() == 1 ? 0 : std::min(c, channels - 1)];
      return {};
    };
    NN_RETURN_IF_ERROR(numbers("--mean", options.mean, 0, p.mean_));
    NN_RETURN_IF_ERROR(numbers("--std", options.std, 1, p.std_));
    if (std::ranges::find(p.std_, 0.0) != p.std_.end())
      return UsageError("--std: 0 is no deviation");
    return p;
  }

  // The type of the elements that At() returns.
  double At(double pixel, size_t channel) const {
    if (as_pixel_) return type_.dtype == DType::kI8 ? pixel - 128 : pixel;
    const double real = (pixel * scale_ - mean_[channel]) / std_[channel];
    if (!type_.quantized()) return real;
    const Quant& q = *type_.quant;
    const double least = static_cast<double>(MinInteger(type_.dtype));
    const double most = static_cast<double>(MaxInteger(type_.dtype));
    const double stored = std::nearbyint(real / q.scale()) + static_cast<double>(q.zero_point());
    return std::clamp(stored, least, most);
  }

 private:
  Type type_;
  bool as_pixel_ = false;
  double scale_ = 1;
  std::array<double, 3> mean_{}, std_{};
};

// The size of the picture, if it and the work of decoding it are within the limits.
Result<ImageSize> SizeWithin(const Blob& file, const ImageOptions& options) {
  constexpr uint64_t kWork = 64;  // of a pixel: without a SIMD kernel
  const auto size = ReadImageSize(BytesOf(file), options.max_pixels);
  if (!size) return tl::unexpected(FileError(size.error()));
  const auto work = static_cast<uint64_t>(size->height * size->width) * kWork;
  if (work > options.max_work)
    return LimitError(
        "a picture of {} x {} pixels takes {} operations; at most {} are allowed "
        "(max-work)",
        size->width, size->height, work, options.max_work);
  return *size;
}

}  // namespace

bool IsImageFile(const Blob& file) {
  return IsImage(BytesOf(file));
}

Result<Tensor> ReadImage(const Blob& file, const PortType& input, const ImageOptions& options) {
  const Type& type = input.type;
  NN_ASSIGN(const ImageAxes axes, AxesOf(type, options.layout));
  if (type.rank() == 4 && (*type.dims)[0].is_const() && (*type.dims)[0].value() != 1)
    return UsageError("{} has a batch of {}; a single image fills only one", type.ToString(),
                      (*type.dims)[0].value());
  const auto channels = static_cast<size_t>((*type.dims)[axes.channels].value());
  NN_ASSIGN(const Pixels pixels, Pixels::Make(input, options, channels));
  const ImageColor color =
      options.color.value_or(channels == 1                       ? ImageColor::kGray
                             : input.colors == ImageColors::kBgr ? ImageColor::kBgr
                                                                 : ImageColor::kRgb);
  if ((color == ImageColor::kGray) != (channels == 1))
    return UsageError("--image-color {}: the input has {} channels", ColorName(color), channels);
  NN_ASSIGN(const ImageSize own, SizeWithin(file, options));
  NN_ASSIGN(const ImageSize size, TargetSize(type, axes, own, options.size));
  NN_ASSIGN(const Tensor image, Resized(file, own, size, options.fit == ImageFit::kCrop));

  const auto plane = static_cast<size_t>(size.height * size.width);
  const auto x = image.As<float>();
  const auto pixel = [&](size_t c, size_t i) -> double {
    if (color == ImageColor::kGray)
      return std::nearbyint(0.299 * x[i] + 0.587 * x[plane + i] + 0.114 * x[2 * plane + i]);
    return x[(color == ImageColor::kBgr ? 2 - c : c) * plane + i];
  };
  std::vector<int64_t> dims(static_cast<size_t>(type.rank()), 1);
  dims[axes.channels] = static_cast<int64_t>(channels);
  dims[axes.height] = size.height;
  dims[axes.width] = size.width;
  NN_ASSIGN(TensorBuilder out, TensorBuilder::Create(type.dtype, std::move(dims)));
  for (size_t c = 0; c < channels; ++c)
    for (size_t i = 0; i < plane; ++i) {
      const size_t at = axes.channels_last ? i * channels + c : c * plane + i;
      out.SetDouble(static_cast<int64_t>(at), pixels.At(pixel(c, i), c));
    }
  return out.Finish();
}

}  // namespace nn

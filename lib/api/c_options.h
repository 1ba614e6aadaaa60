// The options of the C interface: values by the names of the programs' options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/c_support.h"
#include "nnsuite/convert.h"
#include "nnsuite/options.h"
#include "nnsuite/shapes.h"

namespace nn::api {

// The functions that take options, as bits.
enum OptionUser : unsigned {
  kOpen = 1,
  kInspect = 2,
  kDraw = 4,
  kValidate = 8,
  kDump = 16,
  kWrite = 32,
  kConvert = 64,
  kEdit = 128,
  kCompile = 256,
};

using OptionValue = std::variant<int64_t, double, std::string, std::vector<std::string>>;

}  // namespace nn::api

struct nnsuite_options {
  std::map<std::string, nn::api::OptionValue, std::less<>> values;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::vector<std::vector<nnsuite::Tensor>> samples;
};

namespace nn::api {

// The options of a call. Names are those of the table in c_options.cc; asking for another one is a
// programming error.
class CallOptions {
 public:
  // kUsage if an option is not for `user`. `options` may be null.
  static Result<CallOptions> For(const nnsuite_options* options, OptionUser user);

  bool Flag(std::string_view name) const;
  std::optional<int64_t> Integer(std::string_view name) const;
  std::optional<double> Real(std::string_view name) const;
  std::string Text(std::string_view name) const;
  std::vector<std::string> Texts(std::string_view name) const;
  const nnsuite_options& all() const;

  // Values that several functions share. kUsage for numbers out of range.
  Result<nnsuite::ReadLimits> Limits() const;
  Result<nnsuite::RunLimits> LimitsOfRun() const;
  Result<size_t> Threads(size_t fallback) const;
  nnsuite::InputShapes Shapes() const;
  Result<nnsuite::ExternalData> DataFiles() const;
  Result<nnsuite::VerifyOptions> Verification() const;

 private:
  explicit CallOptions(const nnsuite_options* options) : options_(options) {}
  // Sets a number that must not be negative, or less than `least`.
  template <typename T>
  Status SetTo(std::string_view name, T& out, int64_t least = 0) const;

  const nnsuite_options* options_;
};

}  // namespace nn::api

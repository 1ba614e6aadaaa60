// Errors as values. Every fallible function of the library returns Status or Result<T>, and no
// exception leaves the library, except std::bad_alloc.
//
//   nnsuite::Result<nnsuite::Model> model = nnsuite::Model::Read("m.onnx");
//   if (!model) std::cerr << model.error().message() << "\n";
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace nnsuite {

// The kind of an error. It determines the exit code of a program (see ExitCode()).
enum class ErrorCode : uint8_t {
  kUsage,        // invalid arguments: unknown option, wrong input shape, missing input
  kIo,           // a file cannot be opened, read or written
  kParse,        // bytes that violate the file format
  kModel,        // a well-formed file with an invalid model: mismatched shapes, a cycle
  kUnsupported,  // a valid model that uses an unsupported feature
  kLimit,        // a resource limit was exceeded: size, depth, count, memory
  kInternal,     // a broken invariant of this library
};

// "usage", "io", ...
std::string_view ErrorCodeName(ErrorCode code);

// The exit code of the programs for an error: 1 model, 2 usage/file/parse/internal,
// 3 unsupported, 4 limit.
int ExitCode(ErrorCode code);

class Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error, prefixed with "context: " to say where it occurred.
  Error In(std::string_view context) const;

 private:
  ErrorCode code_;
  std::string message_;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

}  // namespace nnsuite

// Errors as values. Every fallible function of the library returns Status or Result<T>; exceptions
// of third-party code are caught where it is called.
//
//   Result<Graph> g = ReadText(src);
//   if (!g) return tl::unexpected(g.error());
//
// or, shorter, with the macros at the end of this file.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace nn {

// The kind of an error. It determines the exit code of a program (see ExitCode()).
enum class ErrorCode : uint8_t {
  kUsage,        // invalid arguments: unknown option, wrong input shape, missing input
  kIo,           // a file cannot be opened, read or written
  kParse,        // bytes that violate the file format
  kModel,        // a well-formed file with an invalid model: mismatched shapes, a cycle
  kUnsupported,  // a valid model that uses an unsupported feature
  kLimit,        // a resource limit was hit: size, depth, count, memory
  kInternal,     // a broken invariant of this library
};

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
  Error In(std::string_view context) const {
    return Error(code_, fmt::format("{}: {}", context, message_));
  }

 private:
  ErrorCode code_;
  std::string message_;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

// Factories: `return ParseError("tensor {}: {} bytes, needs {}", name, have, need);`
template <typename... A>
tl::unexpected<Error> MakeError(ErrorCode code, fmt::format_string<A...> f, A&&... a) {
  return tl::unexpected<Error>(Error(code, fmt::format(f, std::forward<A>(a)...)));
}
template <typename... A>
tl::unexpected<Error> UsageError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kUsage, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> IoError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kIo, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> ParseError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kParse, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> ModelError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kModel, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> UnsupportedError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kUnsupported, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> LimitError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kLimit, f, std::forward<A>(a)...);
}
template <typename... A>
tl::unexpected<Error> InternalError(fmt::format_string<A...> f, A&&... a) {
  return MakeError(ErrorCode::kInternal, f, std::forward<A>(a)...);
}

}  // namespace nn

#define NN_CONCAT_INNER(a, b) a##b
#define NN_CONCAT(a, b) NN_CONCAT_INNER(a, b)

// Returns the error of `expr` from the enclosing function if it has one.
#define NN_RETURN_IF_ERROR(expr)                                          \
  do {                                                                    \
    if (auto nn_status = (expr); !nn_status)                              \
      return ::tl::unexpected<::nn::Error>(std::move(nn_status).error()); \
  } while (false)

// NN_ASSIGN(auto x, MakeX()); assigns the value of a Result, or returns its error.
#define NN_ASSIGN(lhs, expr) NN_ASSIGN_INNER(NN_CONCAT(nn_result_, __LINE__), lhs, expr)
#define NN_ASSIGN_INNER(tmp, lhs, expr)                                   \
  auto tmp = (expr);                                                      \
  if (!tmp) return ::tl::unexpected<::nn::Error>(std::move(tmp).error()); \
  lhs = *std::move(tmp)

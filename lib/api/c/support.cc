#include "api/c/support.h"

#include <cstdlib>
#include <cstring>

#include "nnsuite/version.h"

namespace nn::api {
namespace {

// There is no memory for another one.
nnsuite_error& OutOfMemoryError() {
  static nnsuite_error error = {NNSUITE_LIMIT, ErrorCode::kLimit, "out of memory"};
  return error;
}
// Created before memory can run out.
[[maybe_unused]] const nnsuite_error& kOutOfMemory = OutOfMemoryError();

}  // namespace

int Report(nnsuite_error** error, const Error& what) noexcept {
  const int code = what.code() == ErrorCode::kInternal ? NNSUITE_INTERNAL : ExitCode(what.code());
  if (error == nullptr) return code;
  try {
    *error = new nnsuite_error{code, what.code(), what.message()};
  } catch (const std::bad_alloc&) {
    return ReportOutOfMemory(error);
  }
  return code;
}

int ReportOutOfMemory(nnsuite_error** error) noexcept {
  if (error != nullptr) *error = &OutOfMemoryError();
  return NNSUITE_LIMIT;
}

Status RequireArgument(const void* pointer, std::string_view name) {
  if (pointer == nullptr) return UsageError("the argument {} is NULL", name);
  return {};
}

Result<std::vector<int64_t>> ShapeOf(const int64_t* shape, size_t rank) {
  constexpr size_t kMax = 1024;
  if (rank > kMax) return UsageError("{} axes; a tensor has at most {}", rank, kMax);
  if (rank > 0) NN_RETURN_IF_ERROR(RequireArgument(shape, "shape"));
  return std::vector<int64_t>(shape, shape + rank);
}

char* CopyText(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace nn::api

extern "C" {

const char* nnsuite_version(void) {
  return nnsuite::Version().data();
}

int nnsuite_error_code(const nnsuite_error* error) {
  return error == nullptr ? NNSUITE_OK : error->code;
}

const char* nnsuite_error_kind(const nnsuite_error* error) {
  return error == nullptr ? "" : nnsuite::ErrorCodeName(error->kind).data();
}

const char* nnsuite_error_message(const nnsuite_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

void nnsuite_error_free(nnsuite_error* error) {
  if (error != &nn::api::OutOfMemoryError()) delete error;
}

void nnsuite_text_free(char* text) {
  std::free(text);
}

}  // extern "C"

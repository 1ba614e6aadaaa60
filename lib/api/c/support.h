// The handles of the C interface (nnsuite/nnsuite.h), and its border: no exception passes it.
// Design: docs/design/002-c-interface.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "nnsuite/error.h"
#include "nnsuite/model.h"
#include "nnsuite/nnsuite.h"
#include "nnsuite/program.h"
#include "nnsuite/tensor.h"

struct nnsuite_error {
  int code;
  nnsuite::ErrorCode kind;
  std::string message;
};

struct nnsuite_model {
  nnsuite::Model model;
  // For nnsuite_model_constant(), listed at its first call.
  mutable std::once_flag listed = {};
  mutable std::optional<nnsuite::Result<std::vector<nnsuite::StoredTensor>>> constants =
      std::nullopt;
};

struct nnsuite_program {
  // Of nnsuite_compile_for_inputs().
  struct Given {
    std::vector<std::optional<nnsuite::Tensor>> arrays;
    uint64_t seed = 0;
  };

  nnsuite::Program program;
  std::optional<Given> given = std::nullopt;
};

struct nnsuite_tensor {
  nnsuite::Tensor tensor;
};

struct nnsuite_tensor_list {
  explicit nnsuite_tensor_list(std::vector<nnsuite::NamedTensor> named);

  std::vector<std::string> names;
  std::vector<nnsuite_tensor> tensors;
};

namespace nn::api {

// Sets `*error` and returns the code. Without memory for the text, `*error` is a constant.
int Report(nnsuite_error** error, const Error& what) noexcept;
int ReportOutOfMemory(nnsuite_error** error) noexcept;

// The code of `f`, a function that returns Result<int>.
template <typename F>
int Guard(nnsuite_error** error, F&& f) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    const Result<int> code = std::forward<F>(f)();
    return code ? *code : Report(error, code.error());
  } catch (const std::bad_alloc&) {
    return ReportOutOfMemory(error);
  } catch (const std::exception& e) {
    return Report(error, Error(ErrorCode::kInternal, e.what()));
  } catch (...) {
    return Report(error, Error(ErrorCode::kInternal, "an unknown exception"));
  }
}

// kUsage, naming the argument, if a pointer is null.
Status RequireArgument(const void* pointer, std::string_view name);

// kUsage for a null pointer with axes, and for more axes than any tensor has.
Result<std::vector<int64_t>> ShapeOf(const int64_t* shape, size_t rank);

// A copy that nnsuite_text_free() frees. Throws std::bad_alloc.
char* CopyText(const std::string& text);

// An owner of borrowed memory, which releases it unless it was abandoned.
class Borrowed {
 public:
  Borrowed(nnsuite_release release, void* context)
      : state_(std::make_shared<State>(release, context)) {}

  std::shared_ptr<const void> owner() const { return state_; }
  // The memory stays with the caller until this is called.
  void Keep() { state_->armed = true; }

 private:
  struct State {
    State(nnsuite_release r, void* c) : release(r), context(c) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
      if (armed && release != nullptr) release(context);
    }
    nnsuite_release release;
    void* context;
    bool armed = false;
  };
  std::shared_ptr<State> state_;
};

}  // namespace nn::api

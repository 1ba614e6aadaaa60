#include "base/status.h"

namespace nnsuite {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kParse:
      return "parse";
    case ErrorCode::kModel:
      return "model";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kLimit:
      return "limit";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

int ExitCode(ErrorCode code) {
  switch (code) {
    case ErrorCode::kModel:
      return 1;
    case ErrorCode::kUnsupported:
      return 3;
    case ErrorCode::kLimit:
      return 4;
    default:
      return 2;
  }
}

Error Error::In(std::string_view context) const {
  return Error(code_, fmt::format("{}: {}", context, message_));
}

}  // namespace nnsuite

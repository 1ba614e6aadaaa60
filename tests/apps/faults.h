// Programs whose system calls or allocations fail (tests/faults).
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace nn::test {

struct Fault {
  std::string calls = "files";  // or "memory"
  std::string kind;             // "EIO", "KILL", ...: see tests/faults/faults.cc
  long at = 0;                  // the call that fails; 0: none
};

// How a program ended.
struct Ending {
  int code = -1;   // -1: by a signal
  int signal = 0;  // 0: not by a signal
  std::string err;
};

// Starts a program of the suite in `folder`; Wait() must follow. Standard output goes to /dev/null,
// standard error to the file "../err" beside the folder.
pid_t Start(const std::vector<std::string>& arguments, const std::string& folder,
            const std::vector<std::string>& environment = {});
Ending Wait(pid_t child, const std::string& folder);

Ending RunWith(const Fault& fault, const std::vector<std::string>& arguments,
               const std::string& folder);
// The number of calls in a run without a fault, which must succeed.
long CountCalls(const std::string& calls, const std::vector<std::string>& arguments,
                const std::string& folder);

// All files below a folder with their contents, names relative to it. Folders end in "/".
using Files = std::map<std::string, std::string>;
Files FilesIn(const std::string& folder);

}  // namespace nn::test

#include "apps/faults.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "support/files.h"
#include "support/paths.h"

namespace nn::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Environment(const Fault& fault) {
  return {"LD_PRELOAD=" + FaultsFile(), "NN_FAULT_CALLS=" + fault.calls, "NN_FAULT=" + fault.kind,
          fmt::format("NN_FAULT_AT={}", fault.at)};
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

pid_t Start(const std::vector<std::string>& arguments, const std::string& folder,
            const std::vector<std::string>& environment) {
  std::vector<std::string> words = arguments;
  words[0] = BinDir() + "/" + words[0];
  std::vector<std::string> settings = environment;
  for (const char* name : {"PATH", "HOME", "TMPDIR"})
    if (const char* value = std::getenv(name))
      settings.push_back(fmt::format("{}={}", name, value));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, (folder + "/../err").c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = -1;
  const int error = posix_spawn(&child, words[0].c_str(), &actions, nullptr, Pointers(words).data(),
                                Pointers(settings).data());
  posix_spawn_file_actions_destroy(&actions);
  REQUIRE(error == 0);
  return child;
}

Ending Wait(pid_t child, const std::string& folder) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) REQUIRE(errno == EINTR);
  Ending ending;
  if (WIFEXITED(status)) ending.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  ending.err = ReadText(folder + "/../err");
  return ending;
}

Ending RunWith(const Fault& fault, const std::vector<std::string>& arguments,
               const std::string& folder) {
  return Wait(Start(arguments, folder, Environment(fault)), folder);
}

long CountCalls(const std::string& calls, const std::vector<std::string>& arguments,
                const std::string& folder) {
  std::vector<std::string> environment = Environment({.calls = calls, .kind = ""});
  environment.push_back("NN_FAULT_COUNT=" + folder + "/../count");
  const Ending ending = Wait(Start(arguments, folder, environment), folder);
  REQUIRE_MESSAGE(ending.code == 0, ending.err);
  return std::stol(ReadText(folder + "/../count"));
}

Files FilesIn(const std::string& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_directory())
      files.emplace(name + "/", "");
    else
      files.emplace(name, ReadText(entry.path().string()));
  }
  return files;
}

}  // namespace nn::test

// nninspect as a diff driver of Git (gitattributes(5)): --git-diff, --git-text and --git-setup.
// Design: docs/design/064-git-drivers.md.
#pragma once

#include <string>

#include "apps/nninspect/options.h"
#include "base/status.h"

namespace nn::app {

// --git-diff: prints what changed in a file of a repository. The arguments are those that Git
// passes to an external diff program (GIT_EXTERNAL_DIFF in git(1)): 7, 9 for a renamed file, or 1
// for an unmerged one. Git stops at an exit code other than 0, so files that differ or cannot be
// read are not errors; the text says what they are.
Result<int> GitDiff(const InspectOptions& options);

// --git-text: prints a model as Git's textconv, a dump with digests of the weights. A file that
// cannot be read is one line that says why, for the same reason.
Result<int> GitText(const InspectOptions& options);

// --git-setup: a shell script that makes Git use both in the repository of the working directory.
std::string GitSetup();

}  // namespace nn::app

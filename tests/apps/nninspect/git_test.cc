#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "apps/program.h"
#include "support/files.h"
#include "support/skip.h"

// nninspect as a diff driver of Git, in repositories that the tests create.
namespace nn::test::nninspect_git_test {
namespace {

const std::string kModel = R"(graph "m" {
  in %x: f32[1, 3, 8, 8]
  const %w: f32[4, 3, 3, 3] = seeded(1, 0.3)
  %a = conv(%x, %w) {pads = [1, 1, 1, 1]} "first"
  %y = relu(%a) "act"
  out "y" = %y
})";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(Contains(text, from));
  return text.replace(text.find(from), from.size(), to);
}

// A repository with models/m.onnx, in which nninspect is set up.
class Repository {
 public:
  Repository() {
    const ProgramResult r = Run(
        "git init -q . && git config user.name Test && git config user.email test@example.com && "
        "mkdir models && nninspect --git-setup | sh");
    REQUIRE_MESSAGE(r.code == 0, r.err);
    WriteModel(dir_ / "models/m.onnx", kModel);
    Commit();
  }
  // Output of a script that must succeed.
  std::string operator()(const std::string& script) const {
    const ProgramResult r = Run(script);
    CHECK_MESSAGE(r.code == 0, r.err);
    CHECK(r.err.empty());
    return r.out;
  }
  void Commit() const { (*this)("git add -A && git commit -q -m change"); }
  ProgramResult Run(const std::string& script) const { return RunScript(dir_.path(), script); }
  std::string operator/(std::string_view name) const { return dir_ / name; }

 private:
  TempDir dir_;
};

const std::string kPointer =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n";

TEST_CASE("git: --git-setup configures a repository, once") {
  if (!HasCommand("git")) return Skip("git is not installed");
  const Repository repo;
  const std::string attributes = ReadText(repo / ".gitattributes");
  CHECK(attributes ==
        "*.onnx diff=nninspect\n*.tflite diff=nninspect\n*.mlmodel diff=nninspect\n"
        "*.nnapi diff=nninspect\n");
  // From a folder below the root, after a line without an end.
  WriteText(repo / ".gitattributes", "*.onnx filter=lfs diff=lfs merge=lfs -text");
  repo("cd models && nninspect --git-setup | sh && nninspect --git-setup | sh");
  CHECK(ReadText(repo / ".gitattributes") ==
        "*.onnx filter=lfs diff=lfs merge=lfs -text\n" + attributes);
  CHECK(repo("git check-attr diff models/m.onnx") == "models/m.onnx: diff: nninspect\n");
}

TEST_CASE("git: git diff shows what nninspect --diff says") {
  if (!HasCommand("git")) return Skip("git is not installed");
  const Repository repo;
  CHECK(repo("git diff").empty());
  WriteModel(repo / "models/m.onnx", Replaced(kModel, "relu", "sigmoid"));
  const std::string changed = repo("git diff");
  CHECK(
      changed.starts_with("nninspect --diff a/models/m.onnx b/models/m.onnx\n"
                          "a: a/models/m.onnx (ONNX)\nb: b/models/m.onnx (ONNX)\n"));
  for (const char* part : {"Relu act", "Sigmoid act"})
    CHECK_MESSAGE(Contains(changed, part), changed);
  repo.Commit();
  CHECK(repo("git diff HEAD~ HEAD") == changed);
  // The rest of what two runs of nninspect --diff print.
  repo("git show HEAD~:models/m.onnx >old.onnx");
  const ProgramResult direct = repo.Run("nninspect --diff old.onnx models/m.onnx");
  CHECK(direct.code == 1);
  CHECK(changed.substr(changed.find("operators in both")) ==
        direct.out.substr(direct.out.find("operators in both")));
  repo("rm old.onnx");

  WriteModel(repo / "models/m.onnx", Replaced(kModel, "\"act\"", "\"renamed\""));
  repo.Commit();
  WriteModel(repo / "models/m.onnx", kModel);
  CHECK(Contains(repo("git diff"), "no differences: 2 operators, 1 renamed, 1 constants\n"));
}

TEST_CASE("git: names are quoted as Git quotes them") {
  if (!HasCommand("git")) return Skip("git is not installed");
  const Repository repo;
  const std::string forged = "models/a\nforged \"x\"\\\x1b\t.onnx";
  WriteModel(repo / forged, kModel);
  repo("git add -A");
  const std::string text = repo("git diff --cached");
  const std::string quoted = "\"b/models/a\\nforged \\\"x\\\"\\\\\\033\\t.onnx\"";
  CHECK_MESSAGE(Contains(text, quoted), text);
  CHECK_FALSE(Contains(text, "\nforged"));
}

TEST_CASE("git: new, deleted, renamed and unmerged files, and modes") {
  if (!HasCommand("git")) return Skip("git is not installed");
  const Repository repo;
  repo("chmod +x models/m.onnx");
  CHECK(repo("git diff") ==
        "nninspect --diff a/models/m.onnx b/models/m.onnx\nold mode 100644\nnew mode 100755\n");
  repo("chmod -x models/m.onnx && cp models/m.onnx models/new.onnx && git add -N models/new.onnx");
  CHECK(Contains(repo("git diff"),
                 "nninspect --diff a/models/new.onnx b/models/new.onnx\nnew file mode 100644\n"
                 "b: b/models/new.onnx (ONNX): 2 operators, 108 parameters, "));
  repo("git rm -q --cached models/new.onnx && rm models/new.onnx models/m.onnx");
  CHECK(Contains(repo("git diff"),
                 "deleted file mode 100644\n"
                 "a: a/models/m.onnx (ONNX): 2 operators, 108 parameters, "));
  WriteModel(repo / "models/moved.onnx", Replaced(kModel, "relu", "sigmoid"));
  repo("git add -A");
  const std::string renamed = repo("git diff --cached -M10%");
  CHECK_MESSAGE(renamed.starts_with(
                    "nninspect --diff a/models/m.onnx b/models/moved.onnx\nsimilarity index "),
                renamed);
  for (const char* part : {"rename from models/m.onnx\nrename to models/moved.onnx\n",
                           "b: b/models/moved.onnx (ONNX)\n"})
    CHECK_MESSAGE(Contains(renamed, part), renamed);
  repo("git reset -q --hard");

  const auto commit_on = [&](const std::string& branch, const std::string& op) {
    repo("git checkout -q -b " + branch + " base");
    WriteModel(repo / "models/m.onnx", Replaced(kModel, "relu", op));
    repo.Commit();
  };
  repo("git branch base");
  commit_on("one", "sigmoid");
  commit_on("two", "tanh");
  CHECK(repo.Run("git merge one").code == 1);
  CHECK(repo("git diff --cached") == "models/m.onnx: unmerged\n");
}

TEST_CASE("git: files that are not models do not stop git diff") {
  if (!HasCommand("git")) return Skip("git is not installed");
  const Repository repo;
  WriteText(repo / "models/m.onnx", kPointer);
  WriteModel(repo / "models/z.onnx", kModel);
  repo("git add -N models/z.onnx");
  const std::string pointer = repo("git diff");
  for (const char* part :
       {"a: a/models/m.onnx (ONNX): 2 operators",
        "b: b/models/m.onnx: this is a Git LFS pointer, not the model itself; run \"git lfs pull\" "
        "in the repository "
        "(sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393, 12345 bytes)\n",
        "b: b/models/z.onnx (ONNX): 2 operators"})
    CHECK_MESSAGE(Contains(pointer, part), pointer);
  repo.Commit();
  WriteText(repo / "models/m.onnx", "\x1b[31m no model");
  const std::string bytes = repo("git diff");
  CHECK_MESSAGE(Contains(bytes, "b: b/models/m.onnx: "), bytes);
  CHECK(!Contains(bytes, "\x1b"));
  CHECK(!Contains(bytes, "git-blob"));  // a temporary name
}

TEST_CASE("git: a name like an option is a name") {
  if (!HasCommand("git")) return Skip("git is not installed");
  const Repository repo;
  WriteModel(repo / "--nodes.onnx", kModel);
  repo("git add -A");
  CHECK(Contains(repo("git diff --cached"), "b: b/--nodes.onnx (ONNX): 2 operators"));
}

TEST_CASE("git: git log -p and git show compare texts") {
  if (!HasCommand("git")) return Skip("git is not installed");
  const Repository repo;
  WriteModel(repo / "models/m.onnx", Replaced(kModel, "relu", "sigmoid"));
  repo.Commit();
  const std::string log = repo("git show HEAD");
  CHECK_MESSAGE(Contains(log, "\n-          \"op_type\": \"Relu\"\n"), log);
  CHECK(Contains(log, "\n+          \"op_type\": \"Sigmoid\"\n"));
  WriteText(repo / "models/m.onnx", kPointer);
  repo.Commit();
  CHECK(Contains(repo("git show HEAD"), "\n+this is a Git LFS pointer, "));
  // The text is that of a dump, and does not depend on the place of the file.
  WriteModel(repo / "models/m.onnx", kModel);
  CHECK(repo("nninspect --git-text models/m.onnx") ==
        repo("nninspect --dump --weights digest models/m.onnx"));
  CHECK(repo("cd models && nninspect --git-text m.onnx") ==
        repo("nninspect --git-text models/m.onnx"));
}

TEST_CASE("git: usage") {
  const TempDir dir;
  WriteModel(dir / "m.onnx", kModel);
  const std::string model = dir / "m.onnx";
  for (const std::string& bad :
       {"--git-diff " + model + " b", "--git-diff --git-text " + model,
        "--git-text --nodes " + model, "--git-diff --format json " + model, model + " b c"})
    CHECK_MESSAGE(RunProgram("nninspect " + bad).code == 2, bad);
  CHECK(RunProgram("nninspect --git-diff " + model).out == model + ": unmerged\n");
  CHECK(RunProgram("nninspect --git-text " + model + " b").code == 2);
  // The arguments of Git are for Git only.
  CHECK(RunProgram("nninspect --help").out.find("Usage: nninspect [OPTIONS] MODEL [OTHER]\n") !=
        std::string::npos);
}

}  // namespace
}  // namespace nn::test::nninspect_git_test

// The main function of the module: the first argument is the name of the program.
#include <cstdio>
#include <string_view>

int nninspect_main(int argc, char** argv);
int nnvalidate_main(int argc, char** argv);
int nnconvert_main(int argc, char** argv);
int nnrun_main(int argc, char** argv);

int main(int argc, char** argv) {
  struct Program {
    std::string_view name;
    int (*main)(int, char**);
  };
  constexpr Program kPrograms[] = {{"nninspect", nninspect_main},
                                   {"nnvalidate", nnvalidate_main},
                                   {"nnconvert", nnconvert_main},
                                   {"nnrun", nnrun_main}};
  if (argc > 1)
    for (const Program& program : kPrograms)
      if (program.name == argv[1]) return program.main(argc - 1, argv + 1);
  std::fputs("usage: nninspect|nnvalidate|nnconvert|nnrun ...\n", stderr);
  return 2;
}

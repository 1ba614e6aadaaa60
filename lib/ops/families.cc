#include "ops/families.h"

namespace nn {

const OpRegistry& Ops() {
  static const OpRegistry* const registry = [] {
    auto* ops = new OpRegistry();  // lives as long as the program: definitions are referred to
#define NN_REGISTER(family) Register##family##Ops(*ops);
    NN_OP_FAMILIES(NN_REGISTER)
#undef NN_REGISTER
    return ops;
  }();
  return *registry;
}

const DomainTable& Domains() {
  static const DomainTable* const table = [] {
    auto* domains = new DomainTable();  // lives as long as the program
#define NN_ADD(family) Add##family##Domains(*domains);
    NN_DOMAIN_FAMILIES(NN_ADD)
#undef NN_ADD
    return domains;
  }();
  return *table;
}

}  // namespace nn

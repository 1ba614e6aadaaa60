// Whether the build uses the address sanitizer, which reserves terabytes of address space for its
// shadow memory and replaces operator new.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define NN_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NN_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef NN_ADDRESS_SANITIZER
#define NN_ADDRESS_SANITIZER 0
#endif

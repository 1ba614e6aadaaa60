// Objects of which each thread has its own.
#pragma once

#include <pthread.h>

#include <new>

namespace nn {

// In place of `thread_local T`: the C library ends the process if memory is exhausted while it
// registers the destructor of such a variable; here, std::bad_alloc is thrown. The object of a
// thread lives until the thread ends, that of the main thread as long as the process. For static
// variables: keys are not returned.
template <typename T>
class PerThread {
 public:
  PerThread() {
    if (pthread_key_create(&key_, [](void* object) { delete static_cast<T*>(object); }) != 0)
      throw std::bad_alloc();
  }

  T& Get() {
    if (void* const object = pthread_getspecific(key_)) return *static_cast<T*>(object);
    T* const object = new T();
    if (pthread_setspecific(key_, object) != 0) {
      delete object;
      throw std::bad_alloc();
    }
    return *object;
  }

 private:
  pthread_key_t key_;
};

}  // namespace nn

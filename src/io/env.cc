#include "io/env.h"

#include "io/host.h"
#include "io/posix_fs.h"

namespace tidesdb {
namespace {

// Owns the objects that Env::Default() points to.
struct RealWorld {
  RealWorld() {
    env.fs = fs.get();
    env.clock = &clock;
    env.random_seed = clock.NowMicros() ^ (clock.WallSeconds() << 32);
    env.cpus = NumCpus();
    env.memory_bytes = MemoryLimitBytes();
    env.is_real = true;
  }

  const std::unique_ptr<FileSystem> fs = NewPosixFileSystem();
  RealClock clock;
  Env env;
};

}  // namespace

Env* Env::Default() {
  static RealWorld world;
  return &world.env;
}

void Env::LowerThreadPriority() const {
  if (is_real) tidesdb::LowerThreadPriority();
}

}  // namespace tidesdb

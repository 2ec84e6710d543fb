// A file system that tells a host's instruments of each call for a file.
#pragma once

#include <memory>

#include "io/file_system.h"
#include "tidesdb/instruments.h"

namespace tidesdb {

// Both outlive it. Its counters() count nothing: those of `fs` do.
std::unique_ptr<FileSystem> NewWatchedFs(FileSystem* fs, Instruments* instruments);

}  // namespace tidesdb

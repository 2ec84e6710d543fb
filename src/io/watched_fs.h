// A file system that reports each call for a file to a host's instruments.
#pragma once

#include <memory>

#include "io/file_system.h"
#include "tidesdb/instruments.h"

namespace tidesdb {

// Both outlive it. Its counters() stay 0: those of `fs` count.
std::unique_ptr<FileSystem> NewWatchedFs(FileSystem* fs, Instruments* instruments);

}  // namespace tidesdb

// The operating system's files.
#pragma once

#include <memory>

#include "io/file_system.h"

namespace tidesdb {

std::unique_ptr<FileSystem> NewPosixFileSystem();

}  // namespace tidesdb

// Small tasks made of FileSystem calls.
#pragma once

#include <string>

#include "io/file_system.h"

namespace tidesdb {

Result<std::string> ReadWholeFile(FileSystem& fs, const std::string& path);

// After a crash the file holds either its old contents or exactly data. Writes path + ".tmp", syncs
// it, renames it over path and syncs the directory.
Status WriteFileAtomically(FileSystem& fs, const std::string& path, Slice data);

// Deletes a directory and everything in it; OK if it does not exist.
Status RemoveTree(FileSystem& fs, const std::string& dir);

// Copies the contents into a new file and syncs it (not its directory).
Status CopyFile(FileSystem& fs, const std::string& from, const std::string& to);

}  // namespace tidesdb

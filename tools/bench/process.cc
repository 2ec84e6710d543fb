#include "tools/bench/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tools/bench/fatal.h"

namespace tidesdb::bench {
namespace {

// The number after `name` at the start of a line; 0 if there is none.
uint64_t Field(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) == 0) return std::strtoull(line.c_str() + name.size(), nullptr, 10);
  }
  return 0;
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

[[noreturn]] void BeChild(int to, const std::function<Json()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_DFL);  // The parent's handler is for cleaning up.
  const std::string text = work().dump();
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = write(to, text.data() + sent, text.size() - sent);
    if (count < 0) Fatal("a child cannot return its result");
    sent += static_cast<size_t>(count);
  }
  _exit(0);
}

std::string ReadAll(int from) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t count = read(from, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part, static_cast<size_t>(count));
  }
}

}  // namespace

ProcessFacts FactsOfThisProcess() {
  ProcessFacts facts;
  facts.resident_bytes = Field("/proc/self/status", "VmRSS:") << 10;
  facts.resident_peak_bytes = Field("/proc/self/status", "VmHWM:") << 10;
  facts.read_bytes = Field("/proc/self/io", "read_bytes:");
  facts.written_bytes = Field("/proc/self/io", "write_bytes:");
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  facts.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  return facts;
}

uint64_t DiskBytes(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    struct stat found;
    if (stat(entry.path().c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
      bytes += static_cast<uint64_t>(found.st_blocks) * 512;
    }
  }
  return bytes;
}

bool HasDirectIo(const std::string& directory) {
  const std::string path = directory + "/direct_io";
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_DIRECT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  unlink(path.c_str());
  return file >= 0;
}

std::optional<Json> RunInChild(const std::function<Json()>& work) {
  int ends[2];
  Require(pipe2(ends, O_CLOEXEC) == 0, "no pipe for a child");
  std::fflush(nullptr);
  const pid_t child = fork();
  Require(child >= 0, "cannot fork a child");
  if (child == 0) {
    close(ends[0]);
    BeChild(ends[1], work);
  }
  close(ends[1]);
  const std::string text = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return Json::parse(text);
}

}  // namespace tidesdb::bench

#include "tools/bench/works.h"

#include "tools/bench/open_works.h"
#include "tools/bench/read_works.h"
#include "tools/bench/write_works.h"

namespace tidesdb::bench {

const std::vector<Work>& AllWorks() {
  constexpr bool kHoldsAll = true;
  constexpr bool kQuarter = false;
  static const std::vector<Work> works = {
      {"fill_in_order", "fill, in order", Data::kOwn, kHoldsAll, true, RunFillInOrder},
      {"fill_scattered", "fill, scattered", Data::kMake, kHoldsAll, true, RunFillScattered},
      {"read", "read, cached", Data::kKept, kHoldsAll, true, RunRead},
      {"read_missing", "read what is not there, cached", Data::kKept, kHoldsAll, true, RunMissing},
      {"seek_10", "seek and 10 entries, cached", Data::kKept, kHoldsAll, true, RunSeek10},
      {"scan_100", "scan of 100, cached", Data::kKept, kHoldsAll, true, RunScan100},
      {"forward", "full scan, cached", Data::kKept, kHoldsAll, true, RunForward},
      {"backward", "full scan backwards, cached", Data::kKept, kHoldsAll, true, RunBackward},
      {"read_4x", "read, data 4 times the cache", Data::kKept, kQuarter, true, RunRead},
      {"seek_10_4x", "seek and 10, 4 times the cache", Data::kKept, kQuarter, true, RunSeek10},
      {"scan_100_4x", "scan of 100, 4 times the cache", Data::kKept, kQuarter, true, RunScan100},
      {"forward_4x", "full scan, 4 times the cache", Data::kKept, kQuarter, true, RunForward},
      {"overwrite", "overwrite", Data::kKept, kQuarter, true, RunOverwrite},
      {"read_modify_write", "read, change, write (locks)", Data::kKept, kQuarter, true,
       RunReadModifyWrite},
      {"queue", "queue: first out, one in", Data::kOwn, kHoldsAll, true, RunQueue},
      {"synced_1", "synced commits, 1 thread", Data::kOwn, kHoldsAll, true, RunSynced<1>},
      {"synced_2", "synced commits, 2 threads", Data::kOwn, kHoldsAll, true, RunSynced<2>},
      {"synced_8", "synced commits, 8 threads", Data::kOwn, kHoldsAll, true, RunSynced<8>},
      {"bulk", "bulk in one transaction", Data::kOwn, kHoldsAll, true, RunBulk},
      {"reopen_closed", "open again after a close", Data::kOwn, kHoldsAll, true, RunReopenClosed},
      {"reopen_killed", "open again after a kill", Data::kOwn, kHoldsAll, true, RunReopenKilled},
      {"families_create", "create families", Data::kMake, kHoldsAll, false, RunFamiliesCreate},
      {"families_write", "write into many families", Data::kKept, kHoldsAll, false,
       RunFamiliesWrite},
      {"families_reopen", "open with many families", Data::kKept, kHoldsAll, false,
       RunFamiliesReopen},
  };
  return works;
}

}  // namespace tidesdb::bench

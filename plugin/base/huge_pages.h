// Huge pages in a server that disables them for itself.
#pragma once

namespace tidesdb::plugin {

// The server disables all huge pages for itself (PR_SET_THP_DISABLE), because an allocator could
// get some that it did not ask for. The memtable does ask (madvise). This allows those, unless the
// system would then give huge pages to every allocation. A failure costs only speed.
void AllowHugePagesOnRequest();

}  // namespace tidesdb::plugin

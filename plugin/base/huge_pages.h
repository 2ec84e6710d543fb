// Huge pages in a server that forbids them to itself.
#pragma once

namespace tidesdb::plugin {

// The server forbids itself all huge pages (PR_SET_THP_DISABLE), lest an allocator that does not
// ask for them be given some. The memtable does ask (madvise): lets the process have those, unless
// the system would then hand them to everybody. Costs no more than speed when it cannot be done.
void AllowHugePagesOnRequest();

}  // namespace tidesdb::plugin

# HammerDB's client library for MariaDB, from Debian's mysqltcl: the same commands under other names.
package require mysqltcl
# A virtual user's interpreter loads this first, and needs it for xtprof.
package require hammerdb_zipfs
package provide mariatcl 1.0

# mysqlsel becomes mariasel, mysql::sel maria::sel. Renamed and not wrapped, so that a call costs what mysqltcl's own costs.
namespace eval ::maria {}
foreach command [info commands ::mysql::*] {
    rename $command ::maria::[namespace tail $command]
}
foreach command [info commands ::mysql*] {
    rename $command ::maria[string range [namespace tail $command] 5 end]
}
# The array in which each command leaves its outcome.
upvar #0 ::mysqlstatus ::mariastatus

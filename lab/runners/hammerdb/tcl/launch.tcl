# Starts HammerDB's command line under Debian's Tcl 8.6: tclsh8.6 launch.tcl HAMMERDB_DIR SCRIPT.
# HammerDB 5 and 6 want Tcl 9 with their own packages; what they use of those is stood in for by the packages beside this
# file, which TCLLIBPATH makes known to this interpreter and to each virtual user's.
lassign $argv hammerdb_dir script
package require hammerdb_zipfs
set argv0 [file join $hammerdb_dir hammerdbcli]
set argv [list tcl auto $script]
set argc [llength $argv]
cd $hammerdb_dir
# Each line is to be seen when it is written, in a pipe too.
fconfigure stdout -buffering line
source $argv0

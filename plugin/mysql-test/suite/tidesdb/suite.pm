package My::Suite::TidesDB;

@ISA = qw(My::Suite);

return "No TidesDB plugin" unless $ENV{HA_TIDESDB_SO};

sub is_default { 0 }

bless { };

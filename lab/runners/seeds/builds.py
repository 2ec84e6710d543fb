"""The builds that seeds 000, 001, 002 and 003 compare, as words of --build. Pure."""

LARGE_CACHE = "4G"  # All of the data here, as 16G was in the seed.
LARGE = "-large-cache"


def _server(wanted, pgo):
    path = (pgo and wanted.pgo_server) or wanted.plain_server
    return [f"server={wanted.server}", *([f"mariadbd={path}"] if path else [])]


def _plugin(wanted, pgo):
    return wanted.pgo_plugin if pgo else wanted.plain_plugin or "built"


def _build(wanted, engine, allocator, pgo):
    """LABEL KEY=VALUE ..."""
    label = f"{engine}-{allocator}" + ("-PGO" if pgo else "")
    return [label, *_server(wanted, pgo), f"engine={engine}",
            *([f"plugin={_plugin(wanted, pgo)}"] if engine == "TidesDB" else []),
            *([f"allocator={allocator}"] if allocator != "glibc" else [])]


def tprocc(wanted):
    """The builds that the wanted studies need, each once."""
    with_pgo = {"InnoDB": bool(wanted.pgo_server), "TidesDB": bool(wanted.pgo_plugin)}
    small = _build(wanted, "TidesDB", "jemalloc", with_pgo["TidesDB"])
    wished = {"002": [_build(wanted, engine, "glibc", False) for engine in with_pgo],
              # Builds to compare stand side by side, so that they are measured one after the other.
              "000": [_build(wanted, engine, allocator, pgo) for allocator in ("glibc", "jemalloc")
                      for engine, has in with_pgo.items() for pgo in ([False, True] if has else [False])],
              "001-cache": [small, [small[0] + LARGE, *small[1:], f"option=tidesdb_block_cache_size={LARGE_CACHE}"]]}
    found = {words[0]: words for study in ("000", "002", "001-cache") if study in wanted.studies for words in wished[study]}
    return list(found.values())


def pgo_pair(wanted, engine):
    """Without and with PGO; None if there is no build with PGO."""
    has = wanted.pgo_plugin if engine == "TidesDB" else wanted.pgo_server
    return [_build(wanted, engine, "glibc", pgo) for pgo in (False, True)] if has else None

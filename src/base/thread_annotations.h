// Lock facts that clang checks (-Wthread-safety); nothing for other compilers.
#pragma once

#if defined(__clang__)
#define TIDESDB_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define TIDESDB_THREAD_ATTRIBUTE(x)
#endif

#define CAPABILITY(x) TIDESDB_THREAD_ATTRIBUTE(capability(x))
#define SCOPED_CAPABILITY TIDESDB_THREAD_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(x) TIDESDB_THREAD_ATTRIBUTE(guarded_by(x))
#define PT_GUARDED_BY(x) TIDESDB_THREAD_ATTRIBUTE(pt_guarded_by(x))
#define REQUIRES(...) TIDESDB_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) TIDESDB_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) TIDESDB_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) TIDESDB_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define RELEASE(...) TIDESDB_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define ASSERT_CAPABILITY(x) TIDESDB_THREAD_ATTRIBUTE(assert_capability(x))
#define RETURN_CAPABILITY(x) TIDESDB_THREAD_ATTRIBUTE(lock_returned(x))
#define ACQUIRED_BEFORE(...) TIDESDB_THREAD_ATTRIBUTE(acquired_before(__VA_ARGS__))
#define ACQUIRED_AFTER(...) TIDESDB_THREAD_ATTRIBUTE(acquired_after(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS TIDESDB_THREAD_ATTRIBUTE(no_thread_safety_analysis)

//! Files in, pages out: one parser per kind of file, run in a child process with limits.

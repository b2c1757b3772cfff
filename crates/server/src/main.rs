//! The quire binary.

fn main() {}

//! Where everything is kept: catalog, index, limiter and blobs, each behind a seam of `engine`.

pub mod index;

//! The search path: query → recall → fuse → rerank → cite.

//! Users, boxes, roles, keys, files, jobs, usage and sessions.

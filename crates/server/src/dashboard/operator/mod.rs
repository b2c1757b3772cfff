//! Administering the server: accounts, plans, its health. Shows nothing of anybody's boxes.

pub(super) mod health;
pub(super) mod model;
pub(super) mod plans;
pub(super) mod system;
pub(super) mod users;

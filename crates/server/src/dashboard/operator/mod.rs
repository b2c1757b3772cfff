//! Looking after the server: accounts, plans, its health. Gives no sight of anybody's boxes.

pub(super) mod plans;
pub(super) mod system;
pub(super) mod users;

//! The language model that an operator chose.

use async_trait::async_trait;
use engine::{
    Fault,
    access::Operating,
    seams::catalog::{Choices, ChosenModel},
};

use super::Sql;
use crate::Error;

#[async_trait]
impl Choices for Sql {
    async fn chosen_model(&self) -> Result<Option<ChosenModel>, Fault> {
        let found = self.database.read(|t| {
            let row = t.first("select value from secrets where name = 'model'", &[])?;
            row.map(|row| row.text(0).map(str::to_string)).transpose()
        })?;
        let read = |text: String| {
            serde_json::from_str(&text).map_err(|error| Error::Corrupt(format!("the chosen model: {error}")))
        };
        Ok(found.map(read).transpose()?)
    }

    async fn choose_model(&self, _: &Operating, chosen: Option<ChosenModel>) -> Result<(), Fault> {
        let text = chosen.map(|chosen| serde_json::to_string(&chosen).expect("plain texts"));
        self.database
            .write_and_wipe(move |t| {
                t.execute("delete from secrets where name = 'model'", &[])?;
                if let Some(text) = text {
                    t.execute("insert into secrets (name, value) values ('model', $1)", &[text.into()])?;
                }
                Ok(())
            })
            .await
    }
}

//! Who answers questions: what the settings say or, where they leave that to the dashboard, the model that an operator chose there.

use std::sync::Arc;

use engine::{
    Fault, Reason,
    access::Operating,
    chat::Chat,
    seams::{
        answerer::Answerer,
        catalog::{Catalog, ChosenModel},
    },
};
use parking_lot::RwLock;

/// Prepares to talk to a model; nothing is sent yet.
pub type Open = Box<dyn Fn(&ChosenModel) -> Result<Arc<dyn Answerer>, Fault> + Send + Sync>;

/// Who answers now, which may change while the server runs.
pub struct Answers {
    now: RwLock<Arc<Now>>,
    /// How chosen models are opened; `None` where the settings decide.
    open: Option<Open>,
}

struct Now {
    chosen: Option<ChosenModel>,
    chat: Chat,
}

impl Answers {
    /// By this chat, as the settings say.
    pub fn set(chat: Chat) -> Self {
        Answers { now: RwLock::new(Arc::new(Now { chosen: None, chat })), open: None }
    }

    /// By the model that an operator chooses, and by quoting until then.
    pub fn chosen(chat: &Chat, open: Open) -> Self {
        let now = Now { chosen: None, chat: chat.quoting() };
        Answers { now: RwLock::new(Arc::new(now)), open: Some(open) }
    }

    /// The chat as it is now. A call keeps to one from its beginning to its end.
    pub(crate) fn chat(&self) -> Chat {
        self.now.read().chat.clone()
    }

    /// The model that was chosen here.
    pub(crate) fn model(&self) -> Option<ChosenModel> {
        self.now.read().chosen.clone()
    }

    /// Whether operators choose, and not the settings.
    pub(crate) fn can_be_chosen(&self) -> bool {
        self.open.is_some()
    }

    /// A model to be tried, or chosen.
    pub(crate) fn open(&self, model: &ChosenModel) -> Result<Arc<dyn Answerer>, Fault> {
        let open = self.open.as_ref().ok_or_else(decided)?;
        open(model)
    }

    /// Has this model answer from the next question on; `None`: quotes.
    pub(crate) async fn choose(
        &self,
        catalog: &dyn Catalog,
        operating: &Operating,
        model: Option<ChosenModel>,
    ) -> Result<(), Fault> {
        let answerer = model.as_ref().map(|model| self.open(model)).transpose()?;
        catalog.choose_model(operating, model.clone()).await?;
        self.answer_by(model, answerer);
        Ok(())
    }

    /// Does as the catalog says: at the start, and when an operator chose at another node.
    pub(crate) async fn follow(&self, catalog: &dyn Catalog) -> Result<(), Fault> {
        if !self.can_be_chosen() {
            return Ok(());
        }
        let model = catalog.chosen_model().await?;
        if model != self.model() {
            let answerer = model.as_ref().map(|model| self.open(model)).transpose()?;
            self.answer_by(model, answerer);
        }
        Ok(())
    }

    fn answer_by(&self, chosen: Option<ChosenModel>, answerer: Option<Arc<dyn Answerer>>) {
        let mut now = self.now.write();
        let chat = match answerer {
            Some(answerer) => now.chat.answered_by(answerer),
            None => now.chat.quoting(),
        };
        *now = Arc::new(Now { chosen, chat });
    }
}

fn decided() -> Fault {
    Fault::new(Reason::Conflict, "the settings of this server say how questions are answered")
        .hint("set answerer.kind to \"dashboard\" to choose here")
}

//! What the extractive answerer picks, by words alone.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::{
    ids::{ChunkId, FileId},
    later::Load,
    seams::{
        answerer::Turn,
        embedder::{Embedder, Embedding},
        index::Chunk,
        reranker::Reranker,
    },
};

/// Finds everything equally like.
struct Even;

#[async_trait]
impl Embedder for Even {
    fn id(&self) -> &str {
        "even"
    }
    fn dimensions(&self) -> usize {
        1
    }
    fn max_tokens(&self) -> usize {
        100
    }
    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
    async fn embed(&self, texts: Vec<String>, _: Role, _: bool) -> Result<Vec<Embedding>, Fault> {
        let one = |_| Embedding { vector: vec![0.7], tokens: vec![], token_ids: vec![] };
        Ok(texts.iter().map(one).collect())
    }
}

pub(in crate::chat) fn passage(text: &str, score: f32) -> Passage {
    let chunk = Chunk::plain(text);
    let id = ChunkId { file: FileId::generate(), ordinal: 0 };
    Passage { id, file_name: "a.md".into(), chunk, score }
}

fn brief(question: &str, passages: &[Passage]) -> Brief {
    let turns = vec![Turn { speaker: Speaker::User, text: question.into() }];
    Brief { question: question.into(), turns, passages: passages.to_vec(), ..Brief::default() }
}

/// Sure of whatever says a word, and sure that nothing else answers; busy where it has none.
struct Sure(Option<&'static str>);

#[async_trait]
impl Reranker for Sure {
    fn id(&self) -> &str {
        "sure"
    }
    async fn score(&self, _: &str, texts: Vec<String>) -> Result<Vec<f32>, Fault> {
        let Some(word) = self.0 else { return Err(Fault::new(Reason::Overloaded, "busy")) };
        // Only the sentence itself counts, not what stands around it.
        let own = |text: &String| text.split('‖').next().is_some_and(|own| own.contains(word));
        Ok(texts.iter().map(|text| if own(text) { 6.0 } else { -6.0 }).collect())
    }
}

/// What is said, citations left out.
async fn said(brief: Brief) -> Vec<String> {
    said_by(&Extractive::new(Arc::new(Even), Pickers::default()), brief).await
}

async fn said_by(extractive: &Extractive, brief: Brief) -> Vec<String> {
    let pieces = extractive.pieces(&brief).await.unwrap();
    let text = |piece| match piece {
        Piece::Quote(number, place) => brief.passages[number - 1].chunk.text[place].to_string(),
        Piece::Row(_, _, shown) | Piece::Plain(shown) => shown,
        other => panic!("{other:?} is not said"),
    };
    pieces.into_iter().map(text).collect()
}

async fn quoted(question: &str, passages: &[Passage]) -> Vec<String> {
    said(brief(question, passages)).await
}

#[tokio::test]
async fn a_picker_decides_and_where_it_is_busy_words_do() {
    let text = "The warranty of lamps lasts long. It ends after 24 months. It is sunny.";
    let passages = [passage(text, 0.6)];
    let by = async |word, question: &str| {
        let extractive = Extractive::new(Arc::new(Even), Pickers::new(Some(Arc::new(Sure(word)))));
        said_by(&extractive, brief(question, &passages)).await
    };
    let question = "How long does the warranty of lamps last?";
    assert_eq!(by(Some("24 months"), question).await, ["It ends after 24 months."]);
    assert!(by(Some("nowhere"), "Who makes the lamps?").await.is_empty());
    assert!(by(Some("24 months"), "How long does the warranty of Borealis lamps last?").await.is_empty());
    assert!(by(Some("24 months"), "How long did the warranty of lamps last in 1987?").await.is_empty());
    assert_eq!(by(None, question).await, quoted(question, &passages).await);
}

#[tokio::test]
async fn other_languages_have_a_picker_of_their_own_that_is_loaded_when_it_is_needed() {
    let loads = Arc::new(AtomicUsize::new(0));
    let counted = loads.clone();
    let load: Load<dyn Reranker> = Arc::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Sure(Some("24"))))
    });
    let pickers = Pickers::new(Some(Arc::new(Sure(Some("long"))))).with_multilingual("many".into(), load);
    let extractive = Extractive::new(Arc::new(Even), pickers);
    let english = [passage("The warranty of lamps lasts long. It ends after 24 months. It is sunny.", 0.6)];
    let spanish = [passage("La garantía de las lámparas es larga. Termina a los 24 meses. Hace sol.", 0.6)];
    let russian = [passage("Гарантия на лампы долгая. Она длится 24 месяца. Светит солнце.", 0.6)];
    let question = "How long does the warranty of lamps last?";
    let said =
        async |question: &str, passages: &[Passage]| said_by(&extractive, brief(question, passages)).await;
    assert_eq!(said(question, &english).await, ["The warranty of lamps lasts long."]);
    assert_eq!(loads.load(Ordering::Relaxed), 0);
    assert_eq!(
        said("¿Cuánto dura la garantía de las lámparas?", &spanish).await,
        ["Termina a los 24 meses."]
    );
    assert_eq!(said("Сколько длится гарантия на лампы?", &russian).await, ["Она длится 24 месяца."]);
    assert_eq!(said(question, &spanish).await, ["Termina a los 24 meses."]);
    assert_eq!(loads.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn the_sentence_that_answers_is_quoted() {
    let passages = [
        passage("# Terms\n\nLunch is at noon. The warranty lasts 24 months. It is sunny.", 0.9),
        passage("The cantine has no warranty.", 0.3),
    ];
    assert_eq!(
        quoted("How long does the warranty last?", &passages).await,
        ["The warranty lasts 24 months."]
    );
    assert!(quoted("Who painted the ceiling?", &passages[1..]).await.is_empty());
    assert!(quoted("?", &[]).await.is_empty());
}

#[test]
fn neighbours_are_one_quote_and_the_best_passage_comes_first() {
    let passages = [passage("One. Two. Three.", 0.5), passage("Four.", 0.9)];
    let asked = Wanted { question: "One Two", ..Wanted::default() };
    let all = Asked::of(&asked, &passages).sentences(&passages);
    let at = |passage, start| {
        all.iter().find(|found| (found.passage, found.place.start) == (passage, start)).unwrap().clone()
    };
    let chosen = [at(1, 0), at(0, 5), at(0, 0)];
    assert_eq!(quotes(&chosen, &passages), [Piece::Quote(2, 0..5), Piece::Quote(1, 0..9)]);
}

const DEVICES: &str = "# Devices\n\n| Model | Weight (kg) | Price |\n|---|---|---|\n| K2-35 | 4.2 | 310 EUR |\n| K2-40 | 5.1 | 340 EUR |\n";

#[tokio::test]
async fn a_cell_is_answered_by_its_row_and_column() {
    let devices = [passage(DEVICES, 0.6)];
    assert_eq!(quoted("What does the K2-35 weigh?", &devices).await, ["Devices – K2-35, Weight (kg): 4.2"]);
    assert_eq!(
        quoted("What is the price of the K2-40?", &devices).await,
        ["Devices – K2-40, Price: 340 EUR"]
    );
    assert!(quoted("What does the K2-90 weigh?", &devices).await.is_empty());
    let orders = [passage(
        "| order | customer | shipped |\n| - | - | - |\n| 1002 | Miller | 2024-03-01 |\n| 1003 | Wong | 2024-03-05 |",
        0.4,
    )];
    assert_eq!(quoted("When was order 1003 shipped?", &orders).await, ["order 1003, shipped: 2024-03-05"]);
    let items = [passage(
        "| order_id | customer | item | quantity |\n| - | - | - | - |\n| 1002 | Quinn | lamp | 10 |\n| 1003 | Santos | chair | 6 |",
        0.4,
    )];
    assert_eq!(
        quoted("How many chairs did Santos order?", &items).await,
        ["order id 1003, Santos, chair, quantity: 6"]
    );
    let ducks = [passage(
        "Ducks on the lake\n\n| Kind | 2020 | 2021 |\n|---|---|---|\n| Freshwater ducks | 120 | 131 |\n| Sea ducks | 40 | 52 |\n| Total ducks | 160 | 183 |",
        0.5,
    )];
    assert_eq!(
        quoted("How many freshwater ducks were there in 2021?", &ducks).await,
        ["Ducks on the lake – Freshwater ducks, 2021: 131"]
    );
}

#[tokio::test]
async fn a_unit_names_no_row_and_a_column_may_be_called_by_a_compound() {
    let mower = [passage(
        "# Mäher\n\n| Eigenschaft | Wert |\n|---|---|\n| Gewicht | 19,5 kg |\n| Lautstärke | 82 dB |\n",
        0.6,
    )];
    let wheels = [passage(
        "# Verleih\n\n| Rad | Tagespreis | Gewicht |\n|---|---|---|\n| Stadtrad | 12 Euro | 16 kg |\n| Lastenrad | 35 Euro | 38 kg |\n",
        0.6,
    )];
    assert_eq!(quoted("Wie schwer ist der Mäher?", &mower).await, ["Mäher – Gewicht, Wert: 19,5 kg"]);
    assert_eq!(quoted("Wie laut ist der Mäher?", &mower).await, ["Mäher – Lautstärke, Wert: 82 dB"]);
    assert_eq!(
        quoted("Was kostet das Lastenrad?", &wheels).await,
        ["Verleih – Lastenrad, Tagespreis: 35 Euro"]
    );
    assert_eq!(quoted("Wie schwer ist das Stadtrad?", &wheels).await, ["Verleih – Stadtrad, Gewicht: 16 kg"]);
}

#[tokio::test]
async fn the_column_is_the_one_that_the_question_means() {
    let machines = [passage(
        "# Technical data\n\n| | Brevita 20 | Brevita 20 Pro |\n|---|---|---|\n| Water tank | 1.8 l | 2.4 l |\n| Noise level | 62 dB | 58 dB |",
        0.6,
    )];
    let cell = |said: &str| [format!("Technical data – {said}")];
    let asked = async |question| quoted(question, &machines).await;
    assert_eq!(
        asked("How big is the water tank of the Brevita 20?").await,
        cell("Water tank, Brevita 20: 1.8 l")
    );
    assert_eq!(
        asked("How big is the water tank of the Brevita 20 Pro?").await,
        cell("Water tank, Brevita 20 Pro: 2.4 l")
    );
    assert_eq!(asked("How loud is the Brevita 20?").await, cell("Noise level, Brevita 20: 62 dB"));
    let tools = [passage(
        "| asset | item | location | borrowed_by |\n|---|---|---|---|\n| T-104 | Ladder | Yard | Lena Fischer |\n| T-105 | Tile cutter | Van 1 | Sven Aho |",
        0.6,
    )];
    assert_eq!(quoted("Where is the tile cutter?", &tools).await, ["T-105, Tile cutter, location: Van 1"]);
    assert!(quoted("What is the warranty on the ladder?", &tools).await.is_empty());
}

#[tokio::test]
async fn an_item_is_quoted_with_what_to_do_about_it() {
    let errors = [passage(
        "Error messages\n\n- F1: the tank is empty. Fill the tank.\n- F2: the grinder is blocked. Switch off. Empty the hopper.",
        0.6,
    )];
    for question in ["What should I do if the grinder is blocked?", "What does F2 mean?"] {
        let said = quoted(question, &errors).await;
        assert_eq!(said, ["F2: the grinder is blocked. Switch off. Empty the hopper."], "{question}");
    }
}

#[tokio::test]
async fn short_forms_are_known_in_full_and_dogs_from_one_dog() {
    let policy =
        [passage("Flights are approved by the Chief Operating Officer, Ruth Adeyemi. It is sunny.", 0.6)];
    assert_eq!(
        quoted("Who is the COO?", &policy).await,
        ["Flights are approved by the Chief Operating Officer, Ruth Adeyemi."]
    );
    let rules = [passage("Dogs have to stay outside. Shoes are worn inside.", 0.6)];
    assert_eq!(quoted("Can I bring my dog?", &rules).await, ["Dogs have to stay outside."]);
    let hours = [passage("The gym opens at 6.30 on weekdays and at 8.00 on Saturdays. It is sunny.", 0.6)];
    assert_eq!(
        quoted("When does the gym open on Saturdays?", &hours).await,
        ["The gym opens at 6.30 on weekdays and at 8.00 on Saturdays."]
    );
}

#[tokio::test]
async fn what_is_counted_or_called_otherwise_is_found() {
    let study = [passage("The trial ran for a year. In all, 212 nurses from nine wards were assigned.", 0.3)];
    assert_eq!(
        quoted("How many nurses took part?", &study).await,
        ["In all, 212 nurses from nine wards were assigned."]
    );
    let minutes =
        [passage("# Minutes of the meeting\n\nPresent: Ada Long, Ben Short.\n\nAbsent: Carla Diaz.", 0.4)];
    assert_eq!(quoted("Who missed the meeting?", &minutes).await, ["Absent: Carla Diaz."]);
    let figures = [passage("Net revenue rose from 31 to 35 million francs. The lake froze.", 0.4)];
    assert_eq!(
        quoted("What was the turnover?", &figures).await,
        ["Net revenue rose from 31 to 35 million francs."]
    );
}

#[tokio::test]
async fn a_follow_up_moves_on_instead_of_repeating() {
    let shops = [passage("Acme opened 12 shops in 2022. It closed 5 shops in the same year.", 0.8)];
    let turn = |speaker, text: &str| Turn { speaker, text: text.into() };
    let turns = vec![
        turn(Speaker::User, "How many shops did Acme open in 2022?"),
        turn(Speaker::Assistant, "Acme opened 12 shops in 2022. [1]"),
        turn(Speaker::User, "and how many did they close?"),
    ];
    let question = "and how many did they close? shops Acme open 2022".to_string();
    let follow_up = Brief { question, turns, passages: shops.to_vec(), ..Brief::default() };
    assert_eq!(said(follow_up).await, ["It closed 5 shops in the same year."]);
}

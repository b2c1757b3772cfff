//! Conversations: each their own person's, gone with what they cite, with the membership, and with time.

use engine::{
    access::Role,
    ids::{ConversationId, FileId},
    seams::catalog::NewTurn,
};

use super::{at, fresh, manage, upload};

fn turn(question: &str, files: &[FileId], second: i64) -> NewTurn {
    NewTurn {
        question: question.into(),
        answer: format!("An answer to {question}"),
        citations: r#"[{"index": 1}]"#.into(),
        files: files.to_vec(),
        at: at(second),
    }
}

#[tokio::test]
async fn a_conversation_is_its_persons_own() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    let other = fresh.box_of(&ada).await;
    let (reading, elsewhere) = (writing.reading(), other.reading());
    let first =
        fresh.catalog.add_turn(reading, ada.id, None, turn("one\n two", &[], 1)).await.unwrap().unwrap();
    assert_eq!(first.title, "one two");
    let again = fresh.catalog.add_turn(reading, ada.id, Some(first.id), turn("and?", &[], 2)).await.unwrap();
    assert_eq!(again.unwrap().changed_at, at(2));
    let second = fresh.catalog.add_turn(reading, ada.id, None, turn("later", &[], 3)).await.unwrap().unwrap();
    let listed = fresh.catalog.conversations(reading, ada.id).await.unwrap();
    assert_eq!(listed.iter().map(|one| one.id).collect::<Vec<_>>(), [second.id, first.id], "latest first");
    let (_, turns) = fresh.catalog.conversation(reading, ada.id, first.id).await.unwrap().unwrap();
    let said: Vec<_> = turns.iter().map(|turn| turn.question.as_str()).collect();
    assert_eq!(said, ["one\n two", "and?"]);
    assert_eq!(turns[1].answer.as_deref(), Some("An answer to and?"));
    // Nobody else's, and of no other box.
    for (reading, user) in [(reading, eve.id), (elsewhere, ada.id)] {
        assert!(fresh.catalog.conversation(reading, user, first.id).await.unwrap().is_none());
        assert!(fresh.catalog.conversations(reading, user).await.unwrap().is_empty());
        let more = fresh.catalog.add_turn(reading, user, Some(first.id), turn("mine?", &[], 4)).await;
        assert!(more.unwrap().is_none());
        assert!(!fresh.catalog.rename_conversation(reading, user, first.id, "x".into()).await.unwrap());
        assert!(!fresh.catalog.delete_conversation(reading, user, first.id).await.unwrap());
    }
    assert!(fresh.catalog.rename_conversation(reading, ada.id, first.id, "Warranty".into()).await.unwrap());
    assert!(fresh.catalog.delete_conversation(reading, ada.id, second.id).await.unwrap());
    let listed = fresh.catalog.conversations(reading, ada.id).await.unwrap();
    assert_eq!(listed.iter().map(|one| one.title.as_str()).collect::<Vec<_>>(), ["Warranty"]);
    let nothing = fresh.catalog.conversation(reading, ada.id, ConversationId::generate()).await.unwrap();
    assert!(nothing.is_none());
}

#[tokio::test]
async fn what_was_said_until_it_was_shared_can_be_read_in_the_box() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let (writing, other) = (fresh.box_of(&ada).await, fresh.box_of(&eve).await);
    let reading = writing.reading();
    let id = fresh.catalog.add_turn(reading, ada.id, None, turn("one", &[], 1)).await.unwrap().unwrap().id;
    let shown = async |reading| {
        let shared = fresh.catalog.shared_conversation(reading, id).await.unwrap()?;
        assert_eq!(shared.by, ada.email);
        Some(shared.turns.into_iter().map(|turn| turn.question).collect::<Vec<_>>())
    };
    assert_eq!(shown(reading).await, None, "not before it is shared");
    for (reading, user) in [(reading, eve.id), (other.reading(), ada.id)] {
        assert!(!fresh.catalog.share_conversation(reading, user, id, true).await.unwrap());
    }
    assert!(fresh.catalog.share_conversation(reading, ada.id, id, true).await.unwrap());
    fresh.catalog.add_turn(reading, ada.id, Some(id), turn("two", &[], 2)).await.unwrap();
    assert_eq!(shown(reading).await.unwrap(), ["one"], "what came later is not");
    assert_eq!(shown(other.reading()).await, None, "of no other box");
    let (record, turns) = fresh.catalog.conversation(reading, ada.id, id).await.unwrap().unwrap();
    assert_eq!((record.turns, record.shared, turns.len()), (2, Some(1), 2));
    fresh.catalog.share_conversation(reading, ada.id, id, true).await.unwrap();
    assert_eq!(shown(reading).await.unwrap(), ["one", "two"]);
    fresh.catalog.share_conversation(reading, ada.id, id, false).await.unwrap();
    assert_eq!(shown(reading).await, None);
}

#[tokio::test]
async fn what_is_deleted_takes_the_answers_that_cite_it_along() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let reading = writing.reading();
    let kept = fresh.file(&writing, upload("kept.txt", "1", None)).await.file.id;
    let gone = fresh.file(&writing, upload("gone.txt", "2", None)).await.file.id;
    let begun =
        fresh.catalog.add_turn(reading, ada.id, None, turn("kept?", &[kept], 1)).await.unwrap().unwrap();
    for (question, files) in [("gone?", vec![gone]), ("both?", vec![kept, gone])] {
        let turn = turn(question, &files, 2);
        fresh.catalog.add_turn(reading, ada.id, Some(begun.id), turn).await.unwrap();
    }
    fresh.catalog.begin_delete(&writing, gone).await.unwrap().unwrap();
    let answered = async || {
        let (_, turns) = fresh.catalog.conversation(reading, ada.id, begun.id).await.unwrap().unwrap();
        turns.iter().map(|turn| (turn.answer.is_some(), turn.citations.len() > 2)).collect::<Vec<_>>()
    };
    let expected = [(true, true), (false, false), (false, false)];
    assert_eq!(answered().await, expected);
    fresh.catalog.finish_delete(&writing, gone).await.unwrap();
    assert_eq!(answered().await, expected);
    // An answer that was made while the file went is not kept either.
    fresh.catalog.add_turn(reading, ada.id, Some(begun.id), turn("late?", &[gone], 3)).await.unwrap();
    assert_eq!(answered().await.last(), Some(&(false, false)));
}

#[tokio::test]
async fn conversations_end_with_the_membership_and_with_time() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    let (reading, managing) = (writing.reading(), manage(&writing));
    fresh.catalog.grant(&managing, eve.id, Role::Viewer).await.unwrap();
    for (user, second) in [(ada.id, 1), (ada.id, 9), (eve.id, 9)] {
        fresh.catalog.add_turn(reading, user, None, turn("what?", &[], second)).await.unwrap();
    }
    assert_eq!(fresh.catalog.forget_conversations(at(5)).await.unwrap(), 1);
    assert_eq!(fresh.catalog.forget_conversations(at(5)).await.unwrap(), 0);
    fresh.catalog.revoke(&managing, eve.id).await.unwrap();
    assert!(fresh.catalog.conversations(reading, eve.id).await.unwrap().is_empty());
    assert_eq!(fresh.catalog.conversations(reading, ada.id).await.unwrap().len(), 1);
}

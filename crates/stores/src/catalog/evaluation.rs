//! Evaluation sets, and how evaluations went.

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::Managing,
    ids::{BoxId, EvaluationQuestionId, EvaluationRunId},
    seams::catalog::{
        DETAILED_RUNS, EvaluationQuestion, EvaluationRun, Evaluations, Figures, MOST_QUESTIONS, MOST_RUNS,
        NewEvaluationQuestion, NewEvaluationRun,
    },
};

use super::{
    Sql,
    boxes::must_exist,
    sql::{Row, Transaction, Value},
    users::units,
};
use crate::Error;

/// Characters of a question.
const LONGEST_TEXT: usize = 4_000;
/// Characters of what is expected.
const LONGEST_EXPECTED: usize = 8_000;

#[async_trait]
impl Evaluations for Sql {
    async fn add_evaluation_questions(
        &self,
        managing: &Managing,
        questions: Vec<NewEvaluationQuestion>,
    ) -> Result<u64, Fault> {
        let box_id = managing.box_id();
        for question in &questions {
            fits("question", &question.text, LONGEST_TEXT)?;
            fits("facts", &question.expected, LONGEST_EXPECTED)?;
        }
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                let mut written = 0;
                for question in &questions {
                    written += u64::from(put(t, box_id, question)?);
                }
                let sql = "select count(*) from evaluation_questions where box_id = $1";
                let count = t.first(sql, &[box_id.into()])?.map_or(Ok(0), |row| units(&row, 0))?;
                if count > MOST_QUESTIONS as u64 {
                    let cause = format!("an evaluation set holds at most {MOST_QUESTIONS} questions");
                    return Err(Fault::new(Reason::QuotaExceeded, cause).hint("remove some of them first"));
                }
                Ok(written)
            })
            .await
    }

    async fn evaluation_set(&self, managing: &Managing) -> Result<Vec<EvaluationQuestion>, Fault> {
        let sql = "select id, text, expected from evaluation_questions where box_id = $1 order by id";
        let parameters = [managing.box_id().into()];
        let read = |row: &Row| {
            let (text, expected) = (row.text(1)?.to_string(), row.text(2)?.to_string());
            Ok(EvaluationQuestion { id: row.parse(0)?, text, expected })
        };
        Ok(self.database.read(|t| t.all(sql, &parameters)?.iter().map(read).collect::<Result<_, Error>>())?)
    }

    async fn expect_of_question(
        &self,
        managing: &Managing,
        id: EvaluationQuestionId,
        expected: String,
    ) -> Result<bool, Fault> {
        fits("facts", &expected, LONGEST_EXPECTED)?;
        let box_id = managing.box_id();
        let sql = "update evaluation_questions set expected = $1 where id = $2 and box_id = $3";
        self.database
            .write(move |t| Ok(t.execute(sql, &[expected.as_str().into(), id.into(), box_id.into()])? > 0))
            .await
    }

    async fn remove_evaluation_question(
        &self,
        managing: &Managing,
        id: EvaluationQuestionId,
    ) -> Result<bool, Fault> {
        let box_id = managing.box_id();
        let sql = "delete from evaluation_questions where id = $1 and box_id = $2";
        self.database.write_and_wipe(move |t| Ok(t.execute(sql, &[id.into(), box_id.into()])? > 0)).await
    }

    async fn add_evaluation_run(&self, managing: &Managing, run: NewEvaluationRun) -> Result<(), Fault> {
        let box_id = managing.box_id();
        self.database
            .write(move |t| {
                must_exist(t, box_id)?;
                record(t, box_id, &run)?;
                let latest =
                    "(select id from evaluation_runs where box_id = $1 order by at desc, id desc limit $2)";
                let of_older = format!("where box_id = $1 and id not in {latest}");
                let some = |most: usize| [box_id.into(), Value::Integer(most as i64)];
                t.execute(&format!("delete from evaluation_runs {of_older}"), &some(MOST_RUNS))?;
                let sql =
                    format!("update evaluation_runs set results = null {of_older} and results is not null");
                t.execute(&sql, &some(DETAILED_RUNS))?;
                Ok(())
            })
            .await
    }

    async fn evaluation_runs(&self, managing: &Managing) -> Result<Vec<EvaluationRun>, Fault> {
        let sql = "select id, at, questions, searched, found_1, found_3, found_10, ndcg, answered_right,
                   unanswerable, refused, latency_ms, units, results
                   from evaluation_runs where box_id = $1 order by at desc, id desc";
        let parameters = [managing.box_id().into()];
        Ok(self
            .database
            .read(|t| t.all(sql, &parameters)?.iter().map(read_run).collect::<Result<_, Error>>())?)
    }
}

/// Refuses a text that is empty or too long.
fn fits(name: &str, text: &str, most: usize) -> Result<(), Fault> {
    match text.chars().count() {
        0 => Err(Fault::invalid(name, format!("`{name}` is empty"))),
        length if length > most => {
            Err(Fault::invalid(name, format!("`{name}` has {length} characters; the limit is {most}")))
        }
        _ => Ok(()),
    }
}

/// Puts a question into the set; whether that changed anything.
fn put(t: &Transaction<'_>, box_id: BoxId, question: &NewEvaluationQuestion) -> Result<bool, Error> {
    let sql = "select id, expected from evaluation_questions where box_id = $1 and text = $2";
    let expected = question.expected.as_str();
    match t.first(sql, &[box_id.into(), question.text.as_str().into()])? {
        Some(row) if expected == "{}" || row.text(1)? == expected => Ok(false),
        Some(row) => {
            let sql = "update evaluation_questions set expected = $1 where id = $2";
            t.execute(sql, &[expected.into(), row.text(0)?.into()])?;
            Ok(true)
        }
        None => {
            let sql = "insert into evaluation_questions (id, box_id, text, expected) values ($1, $2, $3, $4)";
            let id = EvaluationQuestionId::generate();
            t.execute(sql, &[id.into(), box_id.into(), question.text.as_str().into(), expected.into()])?;
            Ok(true)
        }
    }
}

fn record(t: &Transaction<'_>, box_id: BoxId, run: &NewEvaluationRun) -> Result<(), Error> {
    let Figures { questions, searched, found, ndcg, right, unanswerable, refused, latency_ms, units } =
        run.figures;
    let [found_1, found_3, found_10] = found;
    let numbers = [
        questions,
        searched,
        found_1,
        found_3,
        found_10,
        ndcg,
        right,
        unanswerable,
        refused,
        latency_ms,
        units,
    ];
    let mut values: Vec<Value> = vec![EvaluationRunId::generate().into(), box_id.into(), run.at.into()];
    values.extend(numbers.map(|number| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))));
    values.push(run.results.as_str().into());
    t.execute(
        "insert into evaluation_runs (id, box_id, at, questions, searched, found_1, found_3, found_10, ndcg,
         answered_right, unanswerable, refused, latency_ms, units, results)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        &values,
    )?;
    Ok(())
}

fn read_run(row: &Row) -> Result<EvaluationRun, Error> {
    Ok(EvaluationRun {
        id: row.parse(0)?,
        at: row.time(1)?,
        figures: Figures {
            questions: units(row, 2)?,
            searched: units(row, 3)?,
            found: [units(row, 4)?, units(row, 5)?, units(row, 6)?],
            ndcg: units(row, 7)?,
            right: units(row, 8)?,
            unanswerable: units(row, 9)?,
            refused: units(row, 10)?,
            latency_ms: units(row, 11)?,
            units: units(row, 12)?,
        },
        results: row.optional(13, |row, column| row.text(column).map(str::to_string))?,
    })
}

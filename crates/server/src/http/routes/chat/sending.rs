//! An answer that is sent while it is made: goes on with the work when somebody reads, charges for what was done, and ends when
//! it must. What is written is up to a [`Script`].

use std::{collections::VecDeque, convert::Infallible, future::ready, pin::Pin, time::Duration};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, Sse},
};
use engine::{
    Fault,
    chat::{Answering, ChatWorkDone, Outcome},
    cost,
};
use futures::stream;

use crate::{
    http::{audience::Audience, idempotency::Failed, reply, request_id::RequestId},
    payer::{Charge, Usage},
};

/// How long an answer may take to begin before the stream is opened without it. Until then trouble is a plain error.
const PATIENCE: Duration = Duration::from_secs(10);

/// What an answer costs.
pub(super) fn price(work: ChatWorkDone) -> u64 {
    cost::chat(work.search_units, work.context_tokens, work.generated_tokens)
}

/// The events of a stream that are not sent yet.
pub(in super::super) type Events = VecDeque<Event>;

/// How a stream is written.
pub(in super::super) trait Script: Send + 'static {
    /// The first events, before there is anything to say.
    fn open(&mut self, events: &mut Events);

    /// What is known once the answer has begun.
    fn begun(&mut self, _answering: &Answering, _events: &mut Events) {}

    /// More of the text.
    fn text(&mut self, text: &str, events: &mut Events);

    /// The last events of an answer that went well.
    fn close(&mut self, outcome: Outcome, units: Usage, events: &mut Events);

    /// The last event of an answer that went wrong.
    fn fail(&mut self, fault: &Fault, events: &mut Events);
}

/// The next part of an answer on its way, and the answer to go on with.
type Step = Pin<Box<dyn Future<Output = Result<(Answering, Option<String>), Fault>> + Send>>;

fn step(mut answering: Answering) -> Step {
    Box::pin(async move {
        let text = answering.next().await?;
        Ok((answering, text))
    })
}

/// An answer that is being sent.
struct UnderWay {
    next: Step,
    charge: Charge,
}

/// A stream on its way.
pub(in super::super) struct Sending<S> {
    pub(super) script: S,
    audience: Audience,
    request: RequestId,
    pub(super) events: Events,
    begun: bool,
    /// Whether it ends with an error.
    failed: Failed,
}

impl<S: Script> Sending<S> {
    /// A stream that has said nothing but its beginning.
    pub(in super::super) fn new(mut script: S, audience: Audience, request: RequestId) -> Self {
        let mut events = Events::new();
        script.open(&mut events);
        Sending { script, audience, request, events, begun: false, failed: Failed::default() }
    }

    /// Sends an answer while it is made.
    pub(in super::super) async fn stream(
        self,
        answering: impl Future<Output = Result<Answering, Fault>> + Send + 'static,
        mut charge: Charge,
    ) -> Result<Response, Fault> {
        let mut first: Step = Box::pin(async move { step(answering.await?).await });
        let begun = tokio::select! {
            begun = tokio::time::timeout(PATIENCE, &mut first) => begun,
            fault = self.audience.ended() => return Err(fault),
        };
        let next: Step = match begun {
            Ok(begun) => {
                let begun = begun?;
                charge.spent(price(begun.0.work()));
                Box::pin(ready(Ok(begun)))
            }
            Err(_) => first,
        };
        Ok(self.respond(Some(UnderWay { next, charge })))
    }

    /// Sends what is said already.
    pub(super) fn end(self) -> Response {
        self.respond(None)
    }

    fn fail(&mut self, fault: &Fault) {
        if let Some(source) = &fault.source {
            tracing::error!(request.id = %self.request, error = %source, "A stream failed: {}", fault.reason.as_str());
        }
        self.failed.set();
        self.script.fail(fault, &mut self.events);
    }

    /// Goes on with the answer until there is something to send; nothing when all was sent.
    async fn go_on(&mut self, waiting: &mut Option<UnderWay>) {
        let Some(UnderWay { next, mut charge }) = waiting.take() else { return };
        let gone_on = tokio::select! {
            gone_on = next => gone_on,
            fault = self.audience.ended() => return self.stop(charge, &fault).await,
        };
        if let Err(fault) = self.audience.check().await {
            return self.stop(charge, &fault).await;
        }
        if let Ok((answering, _)) = &gone_on
            && !std::mem::replace(&mut self.begun, true)
        {
            self.script.begun(answering, &mut self.events);
        }
        match gone_on {
            Ok((answering, Some(text))) => {
                charge.spent(price(answering.work()));
                self.script.text(&text, &mut self.events);
                *waiting = Some(UnderWay { next: step(answering), charge });
            }
            Ok((answering, None)) => {
                let outcome = answering.outcome();
                charge.tokens(outcome.tokens);
                match charge.settle(price(outcome.work)).await {
                    Ok(usage) => {
                        self.audience.note(self.request, &outcome);
                        self.script.close(outcome, usage, &mut self.events);
                    }
                    Err(fault) => self.fail(&fault),
                }
            }
            Err(fault) => {
                // A failed call costs nothing.
                if let Err(fault) = charge.release().await {
                    tracing::error!(error = ?fault, "Could not settle the charge for a stream");
                }
                self.fail(&fault);
            }
        }
    }

    /// Ends an answer that was going well: what was done is charged.
    async fn stop(&mut self, charge: Charge, fault: &Fault) {
        if let Err(fault) = charge.stop().await {
            tracing::error!(error = ?fault, "Could not charge for a stream that was ended");
        }
        self.fail(fault);
    }

    /// The stream. Whoever goes away drops it, and with it the work and the charge.
    fn respond(self, under_way: Option<UnderWay>) -> Response {
        let failed = self.failed.clone();
        let events = stream::unfold((self, under_way), |(mut sending, mut under_way)| async move {
            while sending.events.is_empty() && under_way.is_some() {
                sending.go_on(&mut under_way).await;
            }
            let event = sending.events.pop_front()?;
            Some((Ok::<_, Infallible>(event), (sending, under_way)))
        });
        let mut response = Sse::new(events).keep_alive(reply::pings()).into_response();
        response.extensions_mut().insert(failed);
        response
    }
}

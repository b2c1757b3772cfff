//! Keeps the best of many.

/// The best `limit` of what is offered, in no order until asked.
pub(super) struct Top {
    limit: usize,
    /// What does not beat this cannot be among the best.
    bar: f32,
    kept: Vec<(f32, u32)>,
}

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Top { limit, bar: f32::NEG_INFINITY, kept: Vec::with_capacity(limit.saturating_mul(2).min(1 << 16)) }
    }

    /// Twice the limit is collected before the lesser half is thrown out, so most offers cost one comparison.
    pub(super) fn offer(&mut self, score: f32, slot: usize) {
        if score > self.bar {
            self.kept.push((score, slot as u32));
            if self.kept.len() >= 2 * self.limit.max(1) {
                self.cut();
            }
        }
    }

    /// The best, best first; equal scores in the order of slots.
    pub(super) fn into_sorted(mut self) -> Vec<(usize, f32)> {
        self.cut();
        self.kept.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.kept.into_iter().map(|(score, slot)| (slot as usize, score)).collect()
    }

    fn cut(&mut self) {
        if self.kept.len() > self.limit {
            if self.limit > 0 {
                self.kept
                    .select_nth_unstable_by(self.limit - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                self.bar = self.kept[self.limit - 1].0;
            }
            self.kept.truncate(self.limit);
        }
    }
}

//! The scan of bits against the exact one, on clustered vectors.

use rusqlite::params;

use super::*;

const DIMENSIONS: usize = 384;

struct Noise(u64);

impl Noise {
    /// About normal: the sum of four uniform numbers.
    fn next(&mut self) -> f32 {
        (0..4)
            .map(|_| {
                self.0 =
                    self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (self.0 >> 40) as f32 / (1u64 << 24) as f32 - 0.5
            })
            .sum()
    }

    /// Near one of the centres, as texts are near their subjects.
    fn vector(&mut self, centres: &[Vec<f32>]) -> Vec<f32> {
        let pick = ((self.next().abs() * 1e6) as usize) % centres.len().max(1);
        let mut vector: Vec<f32> =
            (0..DIMENSIONS).map(|at| centres.get(pick).map_or(0.0, |c| c[at]) + self.next()).collect();
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
        vector
    }
}

fn wanted(limit: usize) -> Wanted {
    Wanted { only: None, limit, exact_to: EXACT_TO }
}

#[test]
fn the_scan_of_bits_finds_what_the_exact_one_finds() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("create table vectors (chunk integer primary key, half blob not null)").unwrap();
    let mut noise = Noise(7);
    let centres: Vec<Vec<f32>> =
        (0..200).map(|_| (0..DIMENSIONS).map(|_| noise.next() * 1.5).collect()).collect();
    let (mut many, mut whole) = (Vectors::default(), Vectors::default());
    let (mut rows, mut mean) = (Vec::new(), Mean::default());
    for slot in 0..EXACT + 700 {
        let bytes = truth::halves_as_bytes(&noise.vector(&centres));
        mean.add(truth::halves(&bytes));
        many.push(truth::halves(&bytes));
        whole.halves.extend(truth::halves(&bytes));
        connection.execute("insert into vectors values (?1, ?2)", params![slot as i64 + 5, bytes]).unwrap();
        rows.push(bytes);
    }
    many.code_around(mean.of_all(), 0);
    (whole.dimensions, whole.count) = (DIMENSIONS, many.len());
    let mut coded = Vectors { halves: Vec::new(), codes: many.codes.take(), ..many };
    assert!(coded.bytes() < 3 << 20, "{} bytes", coded.bytes());
    let (mut found, mut there) = (0, 0);
    let everything = [0..coded.len() / 2, coded.len() / 2..coded.len()];
    let slots: Vec<usize> = (0..coded.len()).collect();
    for _ in 0..5 {
        let query = noise.vector(&centres);
        let exact = whole.exact(&query, &slots, 10);
        let near =
            coded.nearest(&connection, &query, &everything, &wanted(10), |slot| slot as i64 + 5).unwrap();
        assert!(near.is_sorted_by(|a, b| a.1 >= b.1));
        found += exact.iter().filter(|hit| near.contains(hit)).count();
        there += exact.len();
        let some = [100..150, 20_500..20_600];
        let filtered =
            coded.nearest(&connection, &query, &some, &wanted(10), |slot| slot as i64 + 5).unwrap();
        assert_eq!(filtered, whole.exact(&query, &some.iter().cloned().flatten().collect::<Vec<_>>(), 10));
    }
    assert!(found * 100 >= there * 98, "{found} of {there}");

    coded.keep(&[10..20, 20_000..20_010]);
    let query: Vec<f32> =
        truth::halves(&rows[20_003]).map(|bits| half::f16::from_bits(bits).to_f32()).collect();
    let numbers = |slot: usize| if slot < 10 { slot as i64 + 15 } else { slot as i64 + 19_995 };
    let near = coded.nearest(&connection, &query, &[0..10, 10..20], &wanted(1), numbers).unwrap();
    assert_eq!(near[0].0, 13);
}

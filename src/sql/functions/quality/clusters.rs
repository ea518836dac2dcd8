//! Rows of which some are alike, by the cluster that they name, such as their trace. The state is a list of clusters, so groups are
//! collected one at a time.

use super::answer::Answers;
use super::arguments::Asked;
use super::columns::{floats, integers};
use super::estimator::{self, Estimator, Loaded, Saved};
use crate::stats::by_cluster::{Cluster, Items};
use crate::stats::{ByCluster, Estimate, Paired, Rate, Weighted};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;
use sha2::{Digest, Sha256};
use std::fmt::Debug;
use std::sync::Arc;

/// The lists of a state: both halves of each cluster's number, and what its items come to.
const LISTS: [(&str, DataType); 4] = [
    ("high", DataType::Int64),
    ("low", DataType::Int64),
    ("weights", DataType::Float64),
    ("means", DataType::Float64),
];

/// An estimator that has an answer for rows of which some are alike.
pub trait Clustered: Estimator + Items {
    /// What is known; none without rows.
    fn answer_of(seen: &ByCluster<Self>, asked: &Asked) -> Option<Estimate>;
}

impl Clustered for Rate {
    fn answer_of(seen: &ByCluster<Self>, asked: &Asked) -> Option<Estimate> {
        seen.rate(asked.level)
    }
}

impl Clustered for Weighted {
    fn answer_of(seen: &ByCluster<Self>, asked: &Asked) -> Option<Estimate> {
        seen.mean(asked.level)
    }
}

impl Clustered for Paired {
    fn answer_of(seen: &ByCluster<Self>, asked: &Asked) -> Option<Estimate> {
        if asked.verdicts { seen.rate(asked.level) } else { seen.mean(asked.level) }
    }
}

/// The columns of the states of `E`, for the aggregate called `name`: all rows, those without a cluster, the clusters.
pub fn fields<E: Estimator>(name: &str) -> Vec<FieldRef> {
    let mut fields = estimator::fields::<E>(name);
    fields.extend(estimator::fields::<E>(&format!("{name}[alone]")));
    fields.extend(LISTS.map(|(part, kind)| {
        let kind = DataType::List(Arc::new(item(kind)));
        Arc::new(Field::new(format!("{name}[{part}]"), kind, false))
    }));
    fields
}

fn item(kind: DataType) -> Field {
    Field::new("item", kind, false)
}

/// The number of a cluster: the id itself if it is one as traces have them, else the first bytes of the hash of the text.
fn key(name: &str) -> u128 {
    own(name).unwrap_or_else(|| {
        let hash = Sha256::digest(name.as_bytes());
        hash.iter().take(16).fold(0, |number, byte| (number << 8) | u128::from(*byte))
    })
}

/// The number that 32 lower-case hexadecimal digits are.
fn own(name: &str) -> Option<u128> {
    if name.len() != 32 {
        return None;
    }
    name.bytes().try_fold(0_u128, |number, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        Some((number << 4) | u128::from(digit))
    })
}

/// Both halves of a number, as columns have them.
fn halves(key: u128) -> [i64; 2] {
    let half = |number: u128| u64::try_from(number).unwrap_or_default().cast_signed();
    [half(key >> 64), half(key & u128::from(u64::MAX))]
}

/// The number of two halves.
fn whole(high: i64, low: i64) -> u128 {
    (u128::from(high.cast_unsigned()) << 64) | u128::from(low.cast_unsigned())
}

/// The rows of one group.
#[derive(Debug)]
pub struct Clusters<E> {
    asked: Asked,
    /// Which argument is the cluster.
    at: usize,
    seen: ByCluster<E>,
}

impl<E: Clustered> Clusters<E> {
    /// Nothing seen yet; the argument `at` is the cluster.
    pub fn new(asked: Asked, at: usize) -> Self {
        Self { asked, at, seen: ByCluster::new() }
    }

    /// The clusters with a number, as lists of one row.
    fn lists(&self) -> Result<Vec<ScalarValue>> {
        let clusters: Vec<(u128, Cluster)> = self.seen.clusters().collect();
        let half = |at: usize| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(clusters.iter().map(|(key, _)| halves(*key)[at])))
        };
        let number = |of: fn(&Cluster) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(clusters.iter().map(|(_, cluster)| of(cluster))))
        };
        let columns = [half(0), half(1), number(|cluster| cluster.weight), number(|cluster| cluster.mean)];
        let list = |(column, (_, kind)): (ArrayRef, (&str, DataType))| -> Result<ScalarValue> {
            let offsets = OffsetBuffer::from_lengths([column.len()]);
            let list = ListArray::try_new(Arc::new(item(kind)), offsets, column, None)?;
            Ok(ScalarValue::List(Arc::new(list)))
        };
        columns.into_iter().zip(LISTS).map(list).collect()
    }
}

impl<E: Clustered> Accumulator for Clusters<E> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (batch, complete) = E::batch(values)?;
        let clusters = values.get(self.at).and_then(|array| array.as_string_view_opt());
        let clusters = clusters.ok_or_else(|| wrong("a cluster that is no text"))?;
        for row in 0..clusters.len() {
            if complete.as_ref().is_none_or(|complete| complete.is_valid(row)) {
                let mut one = E::default();
                one.push(&batch, row)?;
                let key = clusters.is_valid(row).then(|| key(clusters.value(row)));
                self.seen.push(key, &one);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut answers = Answers::new(1);
        answers.push(E::answer_of(&self.seen, &self.asked), &self.asked);
        Ok(ScalarValue::Struct(Arc::new(answers.finish()?)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.seen.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut columns = Saved::columns(std::slice::from_ref(self.seen.items()));
        columns.extend(Saved::columns(std::slice::from_ref(self.seen.alone())));
        let plain = columns.iter().map(|column| ScalarValue::try_from_array(column, 0));
        let mut state: Vec<ScalarValue> = plain.collect::<Result<_>>()?;
        state.extend(self.lists()?);
        Ok(state)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (counts, numbers) = E::STATE;
        let width = counts.len() + numbers.len();
        let (plain, lists) = states.split_at_checked(2 * width).ok_or_else(|| wrong("too few columns"))?;
        let (items, alone) = plain.split_at(width);
        let (mut items, mut alone) = (Loaded::new::<E>(items)?, Loaded::new::<E>(alone)?);
        let lists: Option<Vec<&ListArray>> = lists.iter().map(|array| array.as_list_opt::<i32>()).collect();
        let lists = lists.filter(|lists| lists.len() == LISTS.len()).ok_or_else(|| wrong("no lists"))?;
        for row in 0..items.rows() {
            let parts: Vec<ArrayRef> = lists.iter().map(|list| list.value(row)).collect();
            let (high, low) = (integers(&parts[0])?, integers(&parts[1])?);
            let (weights, means) = (floats(&parts[2])?, floats(&parts[3])?);
            let cluster = |at: usize| {
                let of = Cluster { weight: weights.value(at), mean: means.value(at) };
                (whole(high.value(at), low.value(at)), of)
            };
            let (items, alone): (E, E) = (items.state(row), alone.state(row));
            self.seen.merge(&items, &alone, (0..high.len()).map(cluster));
        }
        Ok(())
    }
}

fn wrong(what: &str) -> DataFusionError {
    DataFusionError::Internal(format!("quality function got {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_id_is_its_own_number_and_other_texts_have_one() {
        let id = "0af7651916cd43dd8448eb211c80319c";
        assert_eq!(key(id), 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c);
        let others = [id.to_uppercase(), id[1..].to_owned(), String::new(), "conversation 7".to_owned()];
        let mut keys: Vec<u128> = others.iter().map(|name| key(name)).chain([key(id)]).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 5);
        // The first 16 bytes of the SHA-256 of nothing.
        assert_eq!(key(""), 0xe3b0_c442_98fc_1c14_9afb_f4c8_996f_b924);
        for key in [0, 1, u128::MAX, key(id), key("")] {
            let [high, low] = halves(key);
            assert_eq!(whole(high, low), key);
        }
    }
}

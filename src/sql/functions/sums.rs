//! `sum` of whole numbers, which fails where the result is beyond 64 bits, or stops there: the engine's own goes round.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Int64Array};
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef, Int64Type};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::utils::memory::estimate_memory_size;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature,
    Volatility,
};
use datafusion::scalar::ScalarValue;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Digits of a sum on its way: enough for as many rows of 64 bits as there can be.
const DIGITS: u8 = 38;

/// The function, for an argument of 64 bits with a sign. It has the name of the engine's own, and columns are named after it.
pub fn checked_sum() -> AggregateUDF {
    sum(Beyond::Fails)
}

/// The same, but that a sum beyond 64 bits is the end of their range.
pub fn bounded_sum() -> AggregateUDF {
    sum(Beyond::Ends)
}

fn sum(beyond: Beyond) -> AggregateUDF {
    AggregateUDF::from(Sum { beyond, signature: Signature::any(1, Volatility::Immutable) })
}

/// What becomes of a sum beyond 64 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Beyond {
    /// The query fails.
    #[default]
    Fails,
    /// The end of the range stands for it.
    Ends,
}

impl Beyond {
    /// A sum as it is told; none of no rows.
    fn told(self, sum: Option<i128>) -> Result<Option<i64>> {
        let Some(sum) = sum else { return Ok(None) };
        match (i64::try_from(sum), self) {
            (Ok(sum), _) => Ok(Some(sum)),
            (Err(_), Beyond::Ends) => Ok(Some(if sum < 0 { i64::MIN } else { i64::MAX })),
            (Err(_), Beyond::Fails) => {
                let why =
                    "bigint out of range: a sum of whole numbers is beyond 64 bits; sum(x::numeric) is not";
                Err(DataFusionError::Execution(why.to_owned()))
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Sum {
    beyond: Beyond,
    signature: Signature,
}

impl AggregateUDFImpl for Sum {
    fn name(&self) -> &str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if args.is_distinct {
            let name = format!("{}[sum distinct]", args.name);
            let value = Field::new_list_field(DataType::Int64, true);
            return Ok(vec![Arc::new(Field::new_list(name, value, false))]);
        }
        let name = format!("{}[sum]", args.name);
        Ok(vec![Arc::new(Field::new(name, DataType::Decimal128(DIGITS, 0), true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let beyond = self.beyond;
        if args.is_distinct {
            return Ok(Box::new(Distinct { beyond, ..Distinct::default() }));
        }
        Ok(Box::new(One { beyond, ..One::default() }))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups { beyond: self.beyond, ..Groups::default() }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

fn numbers(values: &[ArrayRef]) -> Result<&Int64Array> {
    let numbers = values.first().and_then(|values| values.as_primitive_opt::<Int64Type>());
    numbers.ok_or_else(|| DataFusionError::Internal("sum has no column of whole numbers".to_owned()))
}

fn sums_so_far(states: &[ArrayRef]) -> Result<&Decimal128Array> {
    let sums = states.first().and_then(|states| states.as_primitive_opt::<Decimal128Type>());
    sums.ok_or_else(|| DataFusionError::Internal("sum has no column of sums".to_owned()))
}

/// The sum of one group.
#[derive(Debug, Default)]
struct One {
    beyond: Beyond,
    sum: i128,
    rows: usize,
}

impl One {
    fn so_far(&self) -> Option<i128> {
        (self.rows > 0).then_some(self.sum)
    }
}

/// The sum of the values of a column.
fn of_column(numbers: &Int64Array) -> i128 {
    match numbers.null_count() {
        0 => numbers.values().iter().copied().map(i128::from).sum(),
        _ => numbers.iter().flatten().map(i128::from).sum(),
    }
}

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let numbers = numbers(values)?;
        self.sum += of_column(numbers);
        self.rows += numbers.len() - numbers.null_count();
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let numbers = numbers(values)?;
        self.sum -= of_column(numbers);
        self.rows -= numbers.len() - numbers.null_count();
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.beyond.told(self.so_far()).map(ScalarValue::Int64)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Decimal128(self.so_far(), DIGITS, 0)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for sum in sums_so_far(states)?.iter().flatten() {
            self.sum += sum;
            self.rows += 1;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The sum of the different values of one group.
#[derive(Debug, Default)]
struct Distinct {
    beyond: Beyond,
    /// How often each value is there: a window takes rows back.
    times: HashMap<i64, usize>,
    sum: i128,
}

impl Distinct {
    fn add(&mut self, number: i64) {
        let times = self.times.entry(number).or_default();
        if *times == 0 {
            self.sum += i128::from(number);
        }
        *times += 1;
    }

    fn take_back(&mut self, number: i64) {
        let Entry::Occupied(mut times) = self.times.entry(number) else { return };
        *times.get_mut() -= 1;
        if *times.get() == 0 {
            times.remove();
            self.sum -= i128::from(number);
        }
    }
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        numbers(values)?.iter().flatten().for_each(|number| self.add(number));
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        numbers(values)?.iter().flatten().for_each(|number| self.take_back(number));
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = (!self.times.is_empty()).then_some(self.sum);
        self.beyond.told(sum).map(ScalarValue::Int64)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = Int64Array::from_iter_values(self.times.keys().copied());
        Ok(vec![SingleRowListArrayBuilder::new(Arc::new(values)).build_list_scalar()])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states.first().and_then(|states| states.as_list_opt::<i32>());
        let none = || DataFusionError::Internal("sum has no column of values".to_owned());
        for list in lists.ok_or_else(none)?.iter().flatten() {
            self.update_batch(&[list])?;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        estimate_memory_size::<(i64, usize)>(self.times.capacity(), size_of_val(self)).unwrap_or(usize::MAX)
    }
}

/// The sums of all groups.
#[derive(Debug, Default)]
struct Groups {
    beyond: Beyond,
    sums: Vec<i128>,
    has_rows: Vec<bool>,
}

impl Groups {
    fn grow(&mut self, groups: usize) {
        self.sums.resize(groups, 0);
        self.has_rows.resize(groups, false);
    }

    fn add(&mut self, group: usize, number: i128) {
        self.sums[group] += number;
        self.has_rows[group] = true;
    }

    fn taken(&mut self, emit_to: EmitTo) -> impl Iterator<Item = Option<i128>> + use<> {
        let sums = emit_to.take_needed(&mut self.sums);
        let has_rows = emit_to.take_needed(&mut self.has_rows);
        sums.into_iter().zip(has_rows).map(|(sum, has_rows)| has_rows.then_some(sum))
    }
}

/// Whether a filter lets a row pass; one that is NULL does not.
fn passes(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

fn states(sums: Decimal128Array) -> Result<Vec<ArrayRef>> {
    Ok(vec![Arc::new(sums.with_precision_and_scale(DIGITS, 0)?)])
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow(total_num_groups);
        let numbers = numbers(values)?;
        if opt_filter.is_none() && numbers.null_count() == 0 {
            for (group, number) in group_indices.iter().zip(numbers.values()) {
                self.add(*group, i128::from(*number));
            }
            return Ok(());
        }
        for (row, (group, number)) in group_indices.iter().zip(numbers).enumerate() {
            if let Some(number) = number
                && passes(opt_filter, row)
            {
                self.add(*group, i128::from(number));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let beyond = self.beyond;
        let sums: Int64Array = self.taken(emit_to).map(|sum| beyond.told(sum)).collect::<Result<_>>()?;
        Ok(Arc::new(sums))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        states(self.taken(emit_to).collect())
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow(total_num_groups);
        for (group, sum) in group_indices.iter().zip(sums_so_far(values)?) {
            if let Some(sum) = sum {
                self.add(*group, sum);
            }
        }
        Ok(())
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = numbers(values)?.iter().enumerate();
        let sums = rows.map(|(row, number)| number.filter(|_| passes(opt_filter, row)).map(i128::from));
        states(sums.collect())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sums.capacity() * size_of::<i128>() + self.has_rows.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(numbers: &[Option<i64>]) -> [ArrayRef; 1] {
        [Arc::new(Int64Array::from(numbers.to_vec()))]
    }

    #[test]
    fn a_sum_is_right_or_an_error() {
        let mut one = One::default();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(None));
        one.update_batch(&column(&[Some(i64::MAX), None, Some(1)])).unwrap();
        assert!(one.evaluate().unwrap_err().to_string().contains("bigint out of range"));
        let mut both = One::default();
        both.merge_batch(&[one.state().unwrap()[0].to_array().unwrap()]).unwrap();
        both.update_batch(&column(&[Some(-1)])).unwrap();
        assert_eq!(both.evaluate().unwrap(), ScalarValue::Int64(Some(i64::MAX)));
        one.retract_batch(&column(&[Some(i64::MAX), None])).unwrap();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(Some(1)));
        one.retract_batch(&column(&[Some(1)])).unwrap();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(None));
    }

    #[test]
    fn each_value_counts_once() {
        let mut one = Distinct::default();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(None));
        one.update_batch(&column(&[Some(i64::MAX), None, Some(i64::MAX)])).unwrap();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(Some(i64::MAX)));
        let mut both = Distinct::default();
        both.update_batch(&column(&[Some(1), Some(i64::MAX)])).unwrap();
        both.merge_batch(&[one.state().unwrap()[0].to_array().unwrap()]).unwrap();
        assert!(both.evaluate().unwrap_err().to_string().contains("bigint out of range"));
        one.update_batch(&column(&[Some(1)])).unwrap();
        assert!(one.evaluate().is_err());
        one.retract_batch(&column(&[Some(i64::MAX), Some(1)])).unwrap();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(Some(i64::MAX)), "it was there twice");
        let many: Vec<Option<i64>> = (0..10_000).map(Some).collect();
        both.update_batch(&column(&many)).unwrap();
        // A table of ten thousand has 16,384 places, each with a byte beside what it holds.
        assert!(both.size() >= 16_384 * 17, "{}", both.size());
        one.retract_batch(&column(&[Some(i64::MAX), None])).unwrap();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(None));
    }

    #[test]
    fn a_bounded_sum_stops_at_the_end() {
        let beyond = Beyond::Ends;
        let mut one = One { beyond, ..One::default() };
        one.update_batch(&column(&[Some(i64::MAX), Some(1)])).unwrap();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(Some(i64::MAX)));
        let mut groups = Groups { beyond, ..Groups::default() };
        groups.update_batch(&column(&[Some(i64::MIN), Some(-1), Some(4)]), &[0, 0, 1], None, 2).unwrap();
        let sums = groups.evaluate(EmitTo::All).unwrap();
        let sums: Vec<Option<i64>> = sums.as_primitive::<Int64Type>().iter().collect();
        assert_eq!(sums, [Some(i64::MIN), Some(4)]);
    }

    #[test]
    fn groups_have_sums_of_their_own() {
        let filter = BooleanArray::from(vec![Some(true), Some(true), None, Some(false), Some(true)]);
        let values = column(&[Some(1), None, Some(7), Some(9), Some(5)]);
        let mut groups = Groups::default();
        groups.update_batch(&values, &[0, 1, 0, 0, 2], Some(&filter), 3).unwrap();
        groups.update_batch(&column(&[Some(i64::MIN)]), &[0], None, 3).unwrap();
        let rows = groups.convert_to_state(&values, Some(&filter)).unwrap();
        groups.merge_batch(&rows, &[0, 0, 1, 1, 2], 3).unwrap();
        let sums = groups.evaluate(EmitTo::All).unwrap();
        let sums: Vec<Option<i64>> = sums.as_primitive::<Int64Type>().iter().collect();
        assert_eq!(sums, [Some(i64::MIN + 2), None, Some(10)]);
        groups.update_batch(&column(&[Some(i64::MIN), Some(-1)]), &[0, 0], None, 1).unwrap();
        assert!(groups.evaluate(EmitTo::All).is_err());
    }
}

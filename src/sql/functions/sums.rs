//! `sum` of whole numbers, which fails where the result is beyond 64 bits, or stops there: the engine's own goes round.

use arrow::array::{
    Array, ArrayRef, ArrowNativeTypeOp, AsArray, BooleanArray, Decimal128Array, PrimitiveArray,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Field, FieldRef, Int64Type, UInt64Type,
};
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
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

/// Digits of a sum on its way: enough for as many rows of 64 bits as there can be.
const DIGITS: u8 = 38;

/// The function, for an argument of 64 bits with a sign or without. It has the name of the engine's own, and columns are named after it.
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

/// Whole numbers of 64 bits.
trait Whole: ArrowPrimitiveType<Native: Into<i128> + TryFrom<i128> + Eq + Hash> + Debug + Send + Sync {}

impl Whole for Int64Type {}

impl Whole for UInt64Type {}

fn wide(number: impl Into<i128>) -> i128 {
    number.into()
}

/// What becomes of a sum beyond 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Beyond {
    /// The query fails.
    Fails,
    /// The end of the range stands for it.
    Ends,
}

impl Beyond {
    /// A sum as it is told; none of no rows.
    fn told<T: Whole>(self, sum: Option<i128>) -> Result<Option<T::Native>> {
        let Some(sum) = sum else { return Ok(None) };
        match (T::Native::try_from(sum), self) {
            (Ok(sum), _) => Ok(Some(sum)),
            (Err(_), Beyond::Ends) if sum < 0 => Ok(Some(<T::Native as ArrowNativeTypeOp>::MIN_TOTAL_ORDER)),
            (Err(_), Beyond::Ends) => Ok(Some(<T::Native as ArrowNativeTypeOp>::MAX_TOTAL_ORDER)),
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

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(if types == [DataType::UInt64] { DataType::UInt64 } else { DataType::Int64 })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if args.is_distinct {
            let name = format!("{}[sum distinct]", args.name);
            let value = Field::new_list_field(args.return_type().clone(), true);
            return Ok(vec![Arc::new(Field::new_list(name, value, false))]);
        }
        let name = format!("{}[sum]", args.name);
        Ok(vec![Arc::new(Field::new(name, DataType::Decimal128(DIGITS, 0), true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match args.return_type() {
            DataType::UInt64 => Ok(of_one::<UInt64Type>(self.beyond, args.is_distinct)),
            _ => Ok(of_one::<Int64Type>(self.beyond, args.is_distinct)),
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        match args.return_type() {
            DataType::UInt64 => Ok(Box::new(Groups::<UInt64Type>::new(self.beyond))),
            _ => Ok(Box::new(Groups::<Int64Type>::new(self.beyond))),
        }
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

fn of_one<T: Whole>(beyond: Beyond, is_distinct: bool) -> Box<dyn Accumulator> {
    if is_distinct { Box::new(Distinct::<T>::new(beyond)) } else { Box::new(One::<T>::new(beyond)) }
}

fn numbers<T: Whole>(values: &[ArrayRef]) -> Result<&PrimitiveArray<T>> {
    let numbers = values.first().and_then(|values| values.as_primitive_opt::<T>());
    numbers.ok_or_else(|| DataFusionError::Internal("sum has no column of whole numbers".to_owned()))
}

fn sums_so_far(states: &[ArrayRef]) -> Result<&Decimal128Array> {
    let sums = states.first().and_then(|states| states.as_primitive_opt::<Decimal128Type>());
    sums.ok_or_else(|| DataFusionError::Internal("sum has no column of sums".to_owned()))
}

/// The sum of one group.
#[derive(Debug)]
struct One<T> {
    beyond: Beyond,
    sum: i128,
    rows: usize,
    of: PhantomData<T>,
}

impl<T: Whole> One<T> {
    fn new(beyond: Beyond) -> Self {
        Self { beyond, sum: 0, rows: 0, of: PhantomData }
    }

    fn so_far(&self) -> Option<i128> {
        (self.rows > 0).then_some(self.sum)
    }
}

/// The sum of the values of a column.
fn of_column<T: Whole>(numbers: &PrimitiveArray<T>) -> i128 {
    match numbers.null_count() {
        0 => numbers.values().iter().copied().map(wide).sum(),
        _ => numbers.iter().flatten().map(wide).sum(),
    }
}

impl<T: Whole> Accumulator for One<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let numbers = numbers::<T>(values)?;
        self.sum += of_column(numbers);
        self.rows += numbers.len() - numbers.null_count();
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let numbers = numbers::<T>(values)?;
        self.sum -= of_column(numbers);
        self.rows -= numbers.len() - numbers.null_count();
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = self.beyond.told::<T>(self.so_far())?;
        ScalarValue::new_primitive::<T>(sum, &T::DATA_TYPE)
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
#[derive(Debug)]
struct Distinct<T: Whole> {
    beyond: Beyond,
    /// How often each value is there: a window takes rows back.
    times: HashMap<T::Native, usize>,
    sum: i128,
}

impl<T: Whole> Distinct<T> {
    fn new(beyond: Beyond) -> Self {
        Self { beyond, times: HashMap::new(), sum: 0 }
    }

    fn add(&mut self, number: T::Native) {
        let times = self.times.entry(number).or_default();
        if *times == 0 {
            self.sum += wide(number);
        }
        *times += 1;
    }

    fn take_back(&mut self, number: T::Native) {
        let Entry::Occupied(mut times) = self.times.entry(number) else { return };
        *times.get_mut() -= 1;
        if *times.get() == 0 {
            times.remove();
            self.sum -= wide(number);
        }
    }
}

impl<T: Whole> Accumulator for Distinct<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        numbers::<T>(values)?.iter().flatten().for_each(|number| self.add(number));
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        numbers::<T>(values)?.iter().flatten().for_each(|number| self.take_back(number));
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = (!self.times.is_empty()).then_some(self.sum);
        let sum = self.beyond.told::<T>(sum)?;
        ScalarValue::new_primitive::<T>(sum, &T::DATA_TYPE)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = PrimitiveArray::<T>::from_iter_values(self.times.keys().copied());
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
        estimate_memory_size::<(T::Native, usize)>(self.times.capacity(), size_of_val(self))
            .unwrap_or(usize::MAX)
    }
}

/// The sums of all groups.
#[derive(Debug)]
struct Groups<T> {
    beyond: Beyond,
    sums: Vec<i128>,
    has_rows: Vec<bool>,
    of: PhantomData<T>,
}

impl<T: Whole> Groups<T> {
    fn new(beyond: Beyond) -> Self {
        Self { beyond, sums: Vec::new(), has_rows: Vec::new(), of: PhantomData }
    }

    fn grow(&mut self, groups: usize) {
        self.sums.resize(groups, 0);
        self.has_rows.resize(groups, false);
    }

    fn add(&mut self, group: usize, number: i128) {
        self.sums[group] += number;
        self.has_rows[group] = true;
    }

    fn taken(&mut self, emit_to: EmitTo) -> impl Iterator<Item = Option<i128>> + use<T> {
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

impl<T: Whole> GroupsAccumulator for Groups<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow(total_num_groups);
        let numbers = numbers::<T>(values)?;
        if opt_filter.is_none() && numbers.null_count() == 0 {
            for (group, number) in group_indices.iter().zip(numbers.values()) {
                self.add(*group, wide(*number));
            }
            return Ok(());
        }
        for (row, (group, number)) in group_indices.iter().zip(numbers).enumerate() {
            if let Some(number) = number
                && passes(opt_filter, row)
            {
                self.add(*group, wide(number));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let beyond = self.beyond;
        let sums: Vec<Option<T::Native>> =
            self.taken(emit_to).map(|sum| beyond.told::<T>(sum)).collect::<Result<_>>()?;
        Ok(Arc::new(PrimitiveArray::<T>::from_iter(sums)))
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
        let rows = numbers::<T>(values)?.iter().enumerate();
        let sums = rows.map(|(row, number)| number.filter(|_| passes(opt_filter, row)).map(wide));
        states(sums.collect())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sums.capacity() * size_of::<i128>() + self.has_rows.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, UInt64Array};

    fn column(numbers: &[Option<i64>]) -> [ArrayRef; 1] {
        [Arc::new(Int64Array::from(numbers.to_vec()))]
    }

    #[test]
    fn a_sum_is_right_or_an_error() {
        let mut one = One::<Int64Type>::new(Beyond::Fails);
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(None));
        one.update_batch(&column(&[Some(i64::MAX), None, Some(1)])).unwrap();
        assert!(one.evaluate().unwrap_err().to_string().contains("bigint out of range"));
        let mut both = One::<Int64Type>::new(Beyond::Fails);
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
        let mut one = Distinct::<Int64Type>::new(Beyond::Fails);
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(None));
        one.update_batch(&column(&[Some(i64::MAX), None, Some(i64::MAX)])).unwrap();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(Some(i64::MAX)));
        let mut both = Distinct::<Int64Type>::new(Beyond::Fails);
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
        let mut one = One::<Int64Type>::new(Beyond::Ends);
        one.update_batch(&column(&[Some(i64::MAX), Some(1)])).unwrap();
        assert_eq!(one.evaluate().unwrap(), ScalarValue::Int64(Some(i64::MAX)));
        let mut groups = Groups::<Int64Type>::new(Beyond::Ends);
        groups.update_batch(&column(&[Some(i64::MIN), Some(-1), Some(4)]), &[0, 0, 1], None, 2).unwrap();
        let sums = groups.evaluate(EmitTo::All).unwrap();
        let sums: Vec<Option<i64>> = sums.as_primitive::<Int64Type>().iter().collect();
        assert_eq!(sums, [Some(i64::MIN), Some(4)]);
    }

    #[test]
    fn groups_have_sums_of_their_own() {
        let filter = BooleanArray::from(vec![Some(true), Some(true), None, Some(false), Some(true)]);
        let values = column(&[Some(1), None, Some(7), Some(9), Some(5)]);
        let mut groups = Groups::<Int64Type>::new(Beyond::Fails);
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

    #[test]
    fn numbers_without_a_sign_have_their_own_range() {
        let column = |numbers: &[u64]| -> [ArrayRef; 1] { [Arc::new(UInt64Array::from(numbers.to_vec()))] };
        let largest = ScalarValue::UInt64(Some(u64::MAX));
        let mut one = One::<UInt64Type>::new(Beyond::Fails);
        assert_eq!(one.evaluate().unwrap(), ScalarValue::UInt64(None));
        one.update_batch(&column(&[u64::MAX - 1, 1])).unwrap();
        assert_eq!(one.evaluate().unwrap(), largest);
        one.update_batch(&column(&[1])).unwrap();
        assert!(one.evaluate().unwrap_err().to_string().contains("bigint out of range"));
        let mut different = Distinct::<UInt64Type>::new(Beyond::Fails);
        different.update_batch(&column(&[u64::MAX, u64::MAX])).unwrap();
        assert_eq!(different.evaluate().unwrap(), largest);
        let mut both = Distinct::<UInt64Type>::new(Beyond::Fails);
        both.update_batch(&column(&[1])).unwrap();
        both.merge_batch(&[different.state().unwrap()[0].to_array().unwrap()]).unwrap();
        assert!(both.evaluate().is_err());
        for (beyond, told) in [(Beyond::Fails, None), (Beyond::Ends, Some(vec![u64::MAX, 3]))] {
            let mut groups = Groups::<UInt64Type>::new(beyond);
            groups.update_batch(&column(&[u64::MAX, 1, 3]), &[0, 0, 1], None, 2).unwrap();
            let sums = groups.evaluate(EmitTo::All).ok();
            let sums = sums.map(|sums| sums.as_primitive::<UInt64Type>().values().to_vec());
            assert_eq!(sums, told);
        }
    }
}

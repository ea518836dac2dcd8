//! `at_time_zone(time, zone)`: what `time AT TIME ZONE zone` is where the zone is a parameter. The engine's own is a cast to a type with
//! the zone in it, so it has constants alone; this is the same cast, once the value is known.

use arrow::array::timezone::Tz;
use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// The name of the function.
pub const AT_TIME_ZONE: &str = "at_time_zone";

/// The function. A zone that is NULL gives NULL.
pub fn at_time_zone() -> ScalarUDF {
    ScalarUDF::from(AtTimeZone { signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct AtTimeZone {
    signature: Signature,
}

impl ScalarUDFImpl for AtTimeZone {
    fn name(&self) -> &str {
        AT_TIME_ZONE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Err(DataFusionError::Internal(format!("the type of {AT_TIME_ZONE} has the zone in it")))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let zone = match args.scalar_arguments.get(1).copied().flatten() {
            Some(zone) if !zone.is_null() => zone.try_as_str().flatten().ok_or_else(|| {
                DataFusionError::Plan(format!("AT TIME ZONE takes the name of a zone, not {zone}"))
            })?,
            // A parameter without its value, or NULL.
            _ => "UTC",
        };
        if zone.parse::<Tz>().is_err() {
            return Err(DataFusionError::Plan(format!("time zone {zone:?} not recognized")));
        }
        let moment = DataType::Timestamp(TimeUnit::Nanosecond, Some(zone.into()));
        Ok(Arc::new(Field::new(AT_TIME_ZONE, moment, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let moment = args.return_type();
        match args.args.as_slice() {
            [_, ColumnarValue::Scalar(zone)] if zone.is_null() => {
                Ok(ColumnarValue::Scalar(ScalarValue::try_from(moment)?))
            }
            [time, ColumnarValue::Scalar(_)] => time.cast_to(moment, None),
            _ => {
                let why = "AT TIME ZONE takes a constant or a parameter, not a zone of each row";
                Err(DataFusionError::Execution(why.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::common::ParamValues;
    use datafusion::prelude::SessionContext;

    async fn said(sql: &str, values: Vec<ScalarValue>) -> Result<String> {
        let context = SessionContext::new();
        context.register_udf(at_time_zone());
        let plan = context.state().create_logical_plan(sql).await?;
        let plan = plan.replace_params_with_values(&ParamValues::from(values))?;
        let batches = context.execute_logical_plan(plan).await?.collect().await?;
        Ok(arrow::util::display::array_value_to_string(batches[0].column(0), 0)?)
    }

    #[tokio::test]
    async fn a_parameter_does_what_a_constant_does() {
        for time in [
            "TIMESTAMP '2026-07-01 10:00:00' AT TIME ZONE 'UTC'",
            "TIMESTAMP '2026-01-01 10:00:00'",
            "DATE '2026-01-01'",
        ] {
            for zone in ["Europe/Vienna", "+02:00", "UTC"] {
                let constant = said(&format!("SELECT {time} AT TIME ZONE '{zone}'"), vec![]).await.unwrap();
                let sql = format!("SELECT at_time_zone({time}, $1)");
                let parameter = said(&sql, vec![ScalarValue::from(zone)]).await.unwrap();
                assert_eq!(parameter, constant, "{time} {zone}");
                let sql = format!("SELECT date_trunc('day', x) FROM ({sql}) AS t(x)");
                let day = said(&sql, vec![ScalarValue::from(zone)]).await.unwrap();
                assert!(day.contains("T00:00:00"), "{time} {zone}: {day}");
            }
        }
    }

    #[tokio::test]
    async fn what_is_no_zone_is_an_error() {
        let now = "SELECT at_time_zone(now(), $1)";
        assert_eq!(said(now, vec![ScalarValue::Utf8(None)]).await.unwrap(), "");
        for (sql, zone, part) in [
            (now, ScalarValue::from("Nowhere"), "time zone \"Nowhere\" not recognized"),
            (now, ScalarValue::from(5i64), "the name of a zone"),
            ("SELECT at_time_zone(now(), z) FROM (VALUES ('UTC')) AS t(z)", ScalarValue::Null, "of each row"),
        ] {
            let why = said(sql, vec![zone]).await.expect_err(sql).strip_backtrace();
            assert!(why.contains(part), "{why}");
        }
    }
}

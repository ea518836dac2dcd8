//! The functions as DataFusion knows them.

use super::answer;
use super::arguments::{Asked, What};
use super::clusters::{self, Clusters};
use super::estimator;
use super::groups::Groups;
use super::quantile::{self, Quantile};
use super::single::Single;
use crate::stats::{Paired, Ppi, Rate, Total, Weighted};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility,
};

/// `quality_rate`, `quality_mean`, `quality_total`, `quality_quantile`, `quality_diff`, `ppi_rate` and `ppi_mean`.
pub fn quality() -> impl Iterator<Item = AggregateUDF> {
    let of = |what| Quality { what, signature: Signature::user_defined(Volatility::Immutable) };
    What::ALL.into_iter().map(move |what| AggregateUDF::from(of(what)))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Quality {
    what: What,
    signature: Signature,
}

impl AggregateUDFImpl for Quality {
    fn name(&self) -> &str {
        self.what.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.what.coerce(arg_types)
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(answer::fields()))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if self.what.is_clustered(args.input_fields) {
            return match self.what {
                What::Rate => Ok(clusters::fields::<Rate>(args.name)),
                What::Mean => Ok(clusters::fields::<Weighted>(args.name)),
                What::Diff => Ok(clusters::fields::<Paired>(args.name)),
                _ => Err(without_clusters()),
            };
        }
        Ok(match self.what {
            What::Rate => estimator::fields::<Rate>(args.name),
            What::Mean => estimator::fields::<Weighted>(args.name),
            What::Total => estimator::fields::<Total>(args.name),
            What::Quantile => quantile::fields(args.name),
            What::Diff => estimator::fields::<Paired>(args.name),
            What::PpiRate | What::PpiMean => estimator::fields::<Ppi>(args.name),
        })
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let asked = Asked::new(self.what, &args)?;
        if self.what.is_clustered(args.expr_fields) {
            let at = self.what.arity();
            return match self.what {
                What::Rate => Ok(Box::new(Clusters::<Rate>::new(asked, at))),
                What::Mean => Ok(Box::new(Clusters::<Weighted>::new(asked, at))),
                What::Diff => Ok(Box::new(Clusters::<Paired>::new(asked, at))),
                _ => Err(without_clusters()),
            };
        }
        Ok(match self.what {
            What::Rate => Box::new(Single::<Rate>::new(asked)),
            What::Mean => Box::new(Single::<Weighted>::new(asked)),
            What::Total => Box::new(Single::<Total>::new(asked)),
            What::Quantile => Box::new(Quantile::new(asked)),
            What::Diff => Box::new(Single::<Paired>::new(asked)),
            What::PpiRate | What::PpiMean => Box::new(Single::<Ppi>::new(asked)),
        })
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.what != What::Quantile && !self.what.is_clustered(args.expr_fields)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        let asked = Asked::new(self.what, &args)?;
        Ok(match self.what {
            What::Rate => Box::new(Groups::<Rate>::new(asked)),
            What::Mean => Box::new(Groups::<Weighted>::new(asked)),
            What::Total => Box::new(Groups::<Total>::new(asked)),
            What::Diff => Box::new(Groups::<Paired>::new(asked)),
            What::PpiRate | What::PpiMean => Box::new(Groups::<Ppi>::new(asked)),
            What::Quantile => {
                return Err(DataFusionError::Internal(
                    "quantiles are collected one group at a time".to_owned(),
                ));
            }
        })
    }
}

fn without_clusters() -> DataFusionError {
    DataFusionError::Internal("this quality function takes no cluster".to_owned())
}

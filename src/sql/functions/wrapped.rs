//! The engine's functions with something of ours around them: what they are called and what they take and give stays theirs.

use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature,
};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What stands around a function.
pub trait Around: fmt::Debug + Send + Sync + 'static {
    /// The name under which the function is registered.
    fn name(&self) -> &'static str;

    /// The answer to a batch of rows, of `inner` or in its place.
    ///
    /// # Errors
    /// Those of `inner`, and those of the bounds around it.
    fn invoke(&self, inner: &ScalarUDF, args: ScalarFunctionArgs) -> Result<ColumnarValue>;

    /// What the planner may make of a call; nothing by itself, because what it makes would be without the bounds.
    ///
    /// # Errors
    /// For constants that no row could be answered with.
    fn simplify(&self, _: &ScalarUDF, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        Ok(ExprSimplifyResult::Original(args))
    }
}

/// A function of the engine with `around` around it.
#[derive(Debug)]
pub struct Wrapped<A> {
    inner: Arc<ScalarUDF>,
    around: A,
}

impl<A: Around> Wrapped<A> {
    /// `inner` with `around` around it.
    pub fn new(inner: Arc<ScalarUDF>, around: A) -> Self {
        Self { inner, around }
    }
}

impl<A: Around> PartialEq for Wrapped<A> {
    fn eq(&self, other: &Self) -> bool {
        self.around.name() == other.around.name() && self.inner == other.inner
    }
}

impl<A: Around> Eq for Wrapped<A> {}

impl<A: Around> Hash for Wrapped<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.around.name().hash(state);
    }
}

impl<A: Around> ScalarUDFImpl for Wrapped<A> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.around.simplify(&self.inner, args, info)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.around.invoke(&self.inner, args)
    }
}

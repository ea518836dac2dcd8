//! Files of experiments for other programs: the frame of results, leaderboards, problems and insights, and an archive of all.
//!
//! | file | what |
//! |---|---|
//! | `side` | an experiment beside others, with what was answered |
//! | `results` | a row an item and experiment, a column a metric |
//! | `test_lab` | a test lab of H2O Eval Studio |
//! | `insights` | what stands out between experiments |
//! | `mlflow` | the same under the names of MLflow and Mosaic AI |
//! | `boards` | leaderboards: values, verdicts, classes |
//! | `written` | tables as CSV, Markdown and HTML |
//! | `part` | which part is wanted, in which form |

mod boards;
mod insights;
mod mlflow;
mod part;
mod results;
mod side;
mod test_lab;
mod written;

pub use part::{Form, Part, Written, all_files, written};
pub use side::Side;

//! The tables as DataFusion sees them.
//!
//! | file | what |
//! |---|---|
//! | `snapshots` | the snapshots that one query reads, each taken once |
//! | `stores` | object stores under a URL that no query can name |
//! | `time_range` | what the filters of a query say about a time column |
//! | `trace_filters` | which files may hold a trace, told by bloom filters in memory |
//! | `lake_table` | files and hot batches as one table; files outside the time range are not opened |
//! | `live` | tables that are not in the lake: what the server holds now |
//! | `chosen` | which rows are the newest, by hashes of what they are known by |
//! | `newest` | of all rows the newest version of each thing, as a node of a plan |
//! | `latest` | `scores_latest`: what of a query's filters may go below that choice |
//! | `revisions` | `scores_latest`, `datasets_latest` and its like, and the items of a dataset as they were at a version |
//! | `identities` | whether no score of production is a version of another, told by the kinds of the rows |
//! | `distinct` | whether no two scores of production have one id, told by hashes of the files' ids |
//! | `file_times` | when the spans of a file's rows began, for both of these |
//! | `traces` | `traces`: the spans of the traces that have one in the time that a query asks for |
//! | `readers` | readers of files that keep their footers with the page index |
//! | `tenant` | one tenant's rows: what a query with a tenant's token sees |
//! | `shown` | how stored columns are shown: order, and nanosecond times of spans |
//! | `catalog` | `table_columns`, the documentation of every column |

mod catalog;
mod chosen;
mod distinct;
mod file_times;
mod identities;
mod lake_table;
mod latest;
mod live;
mod newest;
mod readers;
mod revisions;
mod shown;
mod snapshots;
mod stores;
mod tenant;
mod time_range;
mod trace_filters;
mod traces;

pub use catalog::{column_docs, documented, type_name};
pub use lake_table::LakeTable;
pub use live::{LiveRows, LiveTable};
pub use revisions::{items_at, latest_rows};
pub use snapshots::{QuerySnapshots, Snapshots};
pub use stores::PrivateStores;
pub use traces::{ExpandTraces, TRACES, Traces};

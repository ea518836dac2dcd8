//! JSON texts: PostgreSQL's operators and functions of `json` and `jsonb` on columns of text.
//!
//! | file | what |
//! |---|---|
//! | `texts` | the texts of an argument |
//! | `keys` | paths of keys such as `{a,"b c",0}` |
//! | `get` | `->`, `->>`, `#>` and `#>>`: what lies behind a key or a path |
//! | `hold` | `@>`, `<@`, `?`, `?\|` and `?&`: whether a value holds another, or a key |
//! | `read` | `jsonb_array_length`, `jsonb_typeof`, `jsonb_extract_path` and others: what a value is, and its parts as lists |
//! | `make` | `to_jsonb`, `jsonb_build_object` and others: values as JSON text |
//! | `change` | what `\|\|`, `-` and `=` do to values of `jsonb` |
//! | `set` | `jsonb_set`: a value with another part at a path |
//! | `fields` | `json_fields`: one field of each object in an array |
//! | `pairs` | `json_object_of`: lists of pairs as objects |
//! | `path` | `jsonb_path_query`, `@?`, `@@` and others: SQL/JSON paths |
//! | `planner` | plans the operators as functions |

mod change;
mod fields;
mod get;
mod hold;
mod keys;
mod make;
mod pairs;
mod path;
mod planner;
mod read;
mod set;
mod texts;

pub use change::change_functions;
pub use fields::field_functions;
pub use get::json_functions;
pub use hold::hold_functions;
pub use make::make_functions;
pub use pairs::pair_functions;
pub use path::path_functions;
pub use planner::JsonPlanner;
pub use read::{list_of_texts, read_functions};
pub use set::jsonb_set;

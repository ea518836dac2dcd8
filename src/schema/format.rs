//! The numbers of what is on the disk.

/// Counts every change of what is stored: a table, a column, a part of a frame, a queue event. Each journal segment
/// carries the number of the release that began it, so that an older release refuses what it cannot read.
///
/// | format | what changed |
/// |---|---|
/// | 1 | the first |
/// | 2 | frames name the schema version of their rows; queue events name theirs; the queue has a log of its own |
/// | 3 | frames have a part for the state of alerts; rows of `alerts` say what is told |
/// | 4 | rows of `scores` tell the parts of an answer that failed it |
/// | 5 | tables of items to label and of answers; rows of `annotations` say what they answer and how it was drawn |
/// | 6 | the tables of datasets, experiments and runs; rows of `scores` tell the run |
/// | 7 | the state of alerts has acknowledgements, silences with what they keep back, and packed windows; datasets have purges; items of the queue and rows of `scores` name the prompt template; items know when their span ended and up to which frame its trace is in them |
/// | 8 | the tables of suites, their tests and checks, and of the results of checks |
/// | 9 | the state of alerts has what came of messages |
///
/// `tests/fixtures/shapes` has the shape of what is stored for each format since 7, and `schema/shape_tests.rs` holds the code to it.
pub const FORMAT: u32 = 9;

/// The version of frames that is written; older ones are read.
pub(super) const FRAME_VERSION: u8 = 2;
